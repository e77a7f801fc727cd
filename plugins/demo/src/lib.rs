//! The demo provisioner: no back end, behaviour by host name.

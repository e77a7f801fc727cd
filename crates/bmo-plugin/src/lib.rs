//! SDK for authors of provisioner plugins.

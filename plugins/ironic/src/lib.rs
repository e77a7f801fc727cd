//! The Ironic provisioner.

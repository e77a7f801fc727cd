//! Finds, loads and supervises provisioner plugins.

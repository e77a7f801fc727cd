//! The Ironic provisioner.

pub mod client;
pub mod config;
pub mod patch;

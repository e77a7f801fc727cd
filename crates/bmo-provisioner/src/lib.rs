//! The contract between the operator and a provisioner.

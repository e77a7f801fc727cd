//! The process `baremetal-operator`.

fn main() {}

//! The manager process `baremetal-operator`, as a library: the binary and `bmo up` both run it.
//!
//! [`Options`] are made of [`ManagerFlags`] and an [`Environment`]; [`run`] does the rest.

mod election;
mod environment;
mod flags;
pub mod go_flags;
mod health;
mod kube_access;
mod listen;
pub mod logging;
mod metrics_server;
mod options;
mod plugin_metrics;
mod provisioner;
mod run;
pub mod shutdown;
mod tls;

pub use environment::Environment;
pub use flags::ManagerFlags;
pub use kube_access::{KubeAccessError, KubeSource};
pub use options::{LeaderElection, Namespaces, Options, OptionsError, RequestLimit};
pub use provisioner::{FIXTURE, Provisioner, ProvisionerStartError};
pub use run::{Observers, RunError, run};
pub use tls::{TlsError, TlsPolicy};

/// The version of this build.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Chooses the cryptography of the process. Must be called before the first TLS connection; a second call changes
/// nothing.
pub fn install_crypto() {
    // Fails only where a provider is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
}

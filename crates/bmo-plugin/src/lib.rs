//! SDK for authors of provisioner plugins. The only crate of the operator's that a plugin names.
//!
//! A plugin is a `cdylib` with a [`ProvisionerFactory`](prelude::ProvisionerFactory), the
//! [`Provisioner`](prelude::Provisioner)s it makes, and [`export_provisioner!`]:
//!
//! ```no_run
//! use bmo_plugin::prelude::*;
//!
//! struct Lab;
//!
//! #[async_trait]
//! impl ProvisionerFactory for Lab {
//!     fn capabilities(&self) -> Capabilities {
//!         Capabilities::minimum()
//!     }
//!
//!     async fn new_provisioner(&self, host: HostData, _events: Arc<dyn EventPublisher>) -> Result<Box<dyn Provisioner>> {
//!         Ok(Box::new(Machine(host)))
//!     }
//! }
//!
//! struct Machine(HostData);
//!
//! #[async_trait]
//! impl Provisioner for Machine {
//!     async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
//!         Ok(Registration { provisioner_id: Some(self.0.name.clone()), progress: Progress::DONE })
//!     }
//!     async fn provision(&self, _request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
//!         Ok(Progress::DONE)
//!     }
//!     async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
//!         Ok(Progress::DONE)
//!     }
//!     async fn delete(&self) -> Result<Progress> {
//!         Ok(Progress::DONE)
//!     }
//!     async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
//!         Ok(Progress::DONE)
//!     }
//!     async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
//!         Ok(Progress::DONE)
//!     }
//! }
//!
//! export_provisioner!(name: "lab", factory: |_config: PluginConfig| Ok(Lab));
//! # fn main() {}
//! ```
//!
//! Everything the plugin does runs on a tokio runtime of the SDK's own (two threads, started with the first
//! message). What is logged with [`tracing`] goes to the operator's log. A panic becomes an error of the call it
//! happened in. With the feature `kube` (on unless turned off) [`PluginConfig`] holds real `kube::Client`s whose
//! transport is the operator.
//!
//! `docs/plugins.md` is the guide, [`testkit`] tests a factory without any operator.

#[cfg(panic = "abort")]
compile_error!(
    "a plugin must be built with panic = \"unwind\": with \"abort\" a panic in it would end the whole operator; remove \
     panic = \"abort\" from the plugin's Cargo profile"
);

mod config;
mod dispatch;
mod export;
mod ffi;
mod host;
mod log;
pub mod testkit;

#[cfg(feature = "kube")]
mod transport;

pub use bmo_api as api;
pub use bmo_provisioner as contract;
pub use config::{HostWaker, PluginConfig};
#[cfg(feature = "kube")]
pub use kube;
pub use tracing;

/// What a plugin needs in scope.
pub mod prelude {
    pub use std::sync::Arc;

    pub use async_trait::async_trait;
    pub use bmo_provisioner::wire::{CacheScope, HostConfigureInput, HostRequirements, TypeRef};
    pub use bmo_provisioner::*;

    pub use crate::export_provisioner;
    pub use crate::{HostWaker, PluginConfig};
}

/// For the macro only.
#[doc(hidden)]
pub mod private {
    pub use bmo_provisioner::abi::{ABI_VERSION, BmoBytes, BmoHost, BmoPlugin, DoneFn};

    pub use crate::export::{Definition, factory};
    pub use crate::ffi::{host_configure, new_factory};
}

//! The contract between the operator and a provisioner.
//!
//! A *provisioner* is what knows how to reach a machine: Ironic, a vendor's tool, a demo. The operator drives it
//! through two traits, whatever carries the calls (compiled in, a loaded `.so`, a child process):
//!
//! * [`ProvisionerFactory`] lives as long as the manager and makes a [`Provisioner`] for one host and one
//!   reconcile pass;
//! * every method of [`Provisioner`] is *polled*: it starts or looks at work, never waits for it, and says
//!   [`Progress::Pending`] until it is done.
//!
//! This crate has no I/O and no runtime. It holds data ([`data`]), results ([`progress`]), error kinds
//! ([`error`]), the groups of methods a provisioner may leave out ([`capability`]), what the operator offers
//! during a pass ([`services`]), the messages that carry all of it over a boundary ([`wire`]) and the shapes of the
//! C ABI that carries the messages ([`abi`]).
//!
//! Six methods have no default: registering, provisioning, deprovisioning, deleting, powering on and off. Every
//! other method has the answer the operator goes on with where a provisioner lacks the [`Capability`]; a method
//! whose capability is absent is never called over a boundary.

pub mod abi;
pub mod capability;
pub mod data;
pub mod error;
pub mod feature;
pub mod progress;
pub mod secret;
pub mod services;
pub mod wire;

mod provisioner;

pub use capability::{Capabilities, Capability};
pub use data::*;
pub use error::{ErrorKind, ProvisionerError, Result};
pub use feature::{HostFeature, HostFeatures};
pub use progress::{Health, Inspection, Preparation, Progress, Registration, Servicing};
pub use provisioner::{Provisioner, ProvisionerFactory};
pub use secret::SecretString;
pub use services::{EventPublisher, HostConfigData, NoEvents, NoHostConfig};

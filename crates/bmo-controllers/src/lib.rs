//! The controllers: each loads what a decision needs, lets `bmo-lifecycle` decide, and commits the decision.
//!
//! There is one so far, for BareMetalHosts: [`run`]. It watches hosts, their HardwareData and the Secrets that
//! carry the label `environment.metal3.io=baremetal`; a host is looked at when it, or a Secret it names, changes,
//! when a pass asked for it, and when the provisioner wakes it.
//!
//! Controllers of the other kinds (firmware settings and components, data images, event subscriptions,
//! preprovisioning images, host claims, switches) come later, and so do pull secrets of image registries.

mod api;
mod cache;
mod clock;
mod commit;
mod config_data;
mod controller;
mod events;
pub mod metrics;
mod pass;
mod queue;
mod secrets;

pub use clock::{Clock, SystemClock, TokioClock};
pub use controller::{ControllerContext, Namespaces, run};
pub use metrics::Metrics;
pub use queue::HostKey;

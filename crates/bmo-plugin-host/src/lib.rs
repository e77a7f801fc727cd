//! Finds, loads and supervises provisioner plugins.
//!
//! [`load()`] turns a [`PluginName`] and a [`PluginDir`] into a [`LoadedPlugin`]: the file is looked at, opened and
//! asked who it is, and every way in which that can fail has its own [`LoadError`]. The loaded plugin says what it
//! needs of the host ([`LoadedPlugin::host_configure`]) before anything is connected to a cluster, and becomes a
//! [`ProvisionerFactory`](bmo_provisioner::ProvisionerFactory) once there is a cluster for it
//! ([`LoadedPlugin::factory`]).
//!
//! What happens between the two sides:
//!
//! * [`carrier`] moves bytes over the C ABI, with a deadline for each call, and counts what a faulty plugin does;
//!   all `unsafe` code is in `carrier::ffi` and `load::library`.
//! * [`remote`] is the host's end of the contract: traits whose methods become messages.
//! * [`serve`] answers what plugins ask: events, the user's data, log, wake, Kubernetes.
//! * [`kube`] is the cluster as plugins see it, with the caches they asked for.
//! * [`health`] is what readiness and metrics read; [`check`] is `bmo plugin check`.
//!
//! A plugin shares the process: a crash of it is a crash of the operator. Its panics (in the SDK), its silence, its
//! double and late answers are not. Running it in a child process with the same messages is later work.

pub mod carrier;
pub mod check;
pub mod health;
pub mod kube;
pub mod load;
pub mod name;
pub mod plugin;
pub mod remote;
pub mod serve;

mod lock;
mod minimum;

pub use bmo_provisioner::wire::{
    BuildInfo, CacheScope, HostConfigureInput, HostRequirements, KubeReader, KubeRequest, KubeResponse,
    TypeRef,
};
pub use bmo_provisioner::{HostFeature, HostFeatures};
pub use check::{Report, check_plugin};
pub use health::{HealthSnapshot, PluginHealth};
pub use kube::{ClusterKube, KubeBackend, NoKube};
pub use load::{LoadError, LoadOptions, load, load_path};
pub use name::{NameError, PluginDir, PluginName};
pub use plugin::{Deadlines, LoadedPlugin, PluginConfig, PluginError};
pub use serve::{NoWake, WakeSink};

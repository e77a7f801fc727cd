//! A plugin that is loaded: what it said of itself, and the way to a factory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bmo_provisioner::abi::HostConfigureFn;
use bmo_provisioner::wire::method::{Configure, HostConfigure, Initialize};
use bmo_provisioner::wire::{
    BuildInfo, ConfigureRequest, HostConfigureInput, HostRequirements, InitializeRequest, InitializeResult,
    LogLevel, PROTOCOL,
};
use bmo_provisioner::{Capabilities, HostFeatures, ProvisionerError, ProvisionerFactory};
use tracing::level_filters::LevelFilter;

use crate::carrier::{Carrier, Via};
use crate::health::PluginHealth;
use crate::kube::KubeBackend;
use crate::name::PluginName;
use crate::remote::{Client, RemoteFactory};
use crate::serve::WakeSink;

/// How long the host waits for a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Hand-shake, `HostConfigure`, `configure`.
    pub handshake: Duration,
    /// `provisioner/new` and `provisioner/drop`, and the cheap questions of every pass (power failure, health).
    pub short: Duration,
    /// Every other method.
    pub call: Duration,
    /// A Kubernetes request of the plugin.
    pub kube: Duration,
    /// `shutdown`.
    pub shutdown: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(30),
            short: Duration::from_secs(30),
            call: Duration::from_mins(1),
            kube: Duration::from_secs(30),
            shutdown: Duration::from_secs(5),
        }
    }
}

/// What the manager hands a plugin once it is connected to a cluster.
#[derive(Clone)]
pub struct PluginConfig {
    /// Features of the operator that are on.
    pub features: HostFeatures,
    /// The namespace the operator runs in or watches; empty where it has none.
    pub provisioner_namespace: String,
    /// The cluster.
    pub kube: Arc<dyn KubeBackend>,
    /// Is told when the plugin wants a host reconciled.
    pub wake: Arc<dyn WakeSink>,
}

impl std::fmt::Debug for PluginConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginConfig")
            .field("features", &self.features)
            .field("provisioner_namespace", &self.provisioner_namespace)
            .finish_non_exhaustive()
    }
}

/// A loaded plugin refused a step of its start.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the plugin {plugin} ({}) failed in {step}: {reason}", .path.display())]
pub struct PluginError {
    /// Its name.
    pub plugin: PluginName,
    /// Its file.
    pub path: PathBuf,
    /// Which step.
    pub step: &'static str,
    /// Why.
    pub reason: ProvisionerError,
}

/// A loaded plugin. Clones are the same plugin; it is never unloaded.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// The file it was loaded from.
    pub path: PathBuf,
    /// Its name.
    pub name: PluginName,
    /// Its own version; may be empty.
    pub version: String,
    /// How it was built.
    pub build_info: BuildInfo,
    /// What it can implement beyond the minimum. The factory may have less, depending on the configuration.
    pub capabilities: Capabilities,
    /// The protocol version both sides speak.
    pub protocol: u32,
    /// The types and caches it asked for are known through this symbol, where it has one.
    pub(crate) host_configure: Option<HostConfigureFn>,
    pub(crate) client: Client,
}

impl LoadedPlugin {
    /// Asks what the plugin needs of the host. Nothing where it has no `HostConfigure`.
    ///
    /// # Errors
    /// The plugin failed, or did not answer in time.
    pub async fn host_configure(&self, input: HostConfigureInput) -> Result<HostRequirements, PluginError> {
        let Some(function) = self.host_configure else {
            return Ok(HostRequirements::default());
        };
        let deadline = self.client.deadlines.handshake;
        let answer = self
            .client
            .call_via::<HostConfigure>(Via::HostConfigure(function), &input, deadline)
            .await;
        answer.map_err(|reason| self.error("HostConfigure", reason))
    }

    /// Whether the plugin has the optional symbol `HostConfigure`.
    pub fn has_host_configure(&self) -> bool {
        self.host_configure.is_some()
    }

    /// Configures the plugin; from here on it reaches the cluster. Must run inside the tokio runtime that then
    /// serves the plugin's requests.
    ///
    /// # Errors
    /// The plugin failed, or did not answer in time.
    pub async fn factory(&self, config: PluginConfig) -> Result<Arc<dyn ProvisionerFactory>, PluginError> {
        let deadlines = self.client.deadlines;
        self.client
            .carrier
            .services
            .configure(config.kube, config.wake, deadlines.kube);
        let request = ConfigureRequest {
            features: config.features,
            provisioner_namespace: config.provisioner_namespace,
        };
        let answer = self.client.call::<Configure>(&request, deadlines.handshake).await;
        let answer = answer.map_err(|reason| self.error("NewProvisionerFactory", reason))?;
        let offered = answer.capabilities.unwrap_or_else(|| self.capabilities.clone());
        let capabilities = offered.iter().filter(|one| self.capabilities.has(*one)).collect();
        Ok(Arc::new(RemoteFactory::new(self.client.clone(), capabilities)))
    }

    /// What the host has counted about it.
    pub fn health(&self) -> PluginHealth {
        self.client.carrier.health().clone()
    }

    /// Lets the plugin end its work. Later calls fail.
    pub async fn shutdown(&self) {
        self.client
            .carrier
            .shut_down(self.client.deadlines.shutdown)
            .await;
    }

    fn error(&self, step: &'static str, reason: ProvisionerError) -> PluginError {
        PluginError {
            plugin: self.name.clone(),
            path: self.path.clone(),
            step,
            reason,
        }
    }
}

/// The hand-shake.
pub(crate) async fn initialize(
    name: &str,
    carrier: &Arc<Carrier>,
    deadlines: Deadlines,
    features: HostFeatures,
) -> Result<(Client, InitializeResult), ProvisionerError> {
    let client = Client {
        plugin: Arc::from(name),
        carrier: carrier.clone(),
        deadlines,
    };
    let request = InitializeRequest {
        protocol: PROTOCOL,
        host_version: env!("CARGO_PKG_VERSION").to_owned(),
        features,
        log_level: log_level(),
    };
    let answer = client.call::<Initialize>(&request, deadlines.handshake).await?;
    Ok((client, answer))
}

fn log_level() -> LogLevel {
    match LevelFilter::current() {
        LevelFilter::OFF | LevelFilter::ERROR => LogLevel::Error,
        LevelFilter::WARN => LogLevel::Warn,
        LevelFilter::INFO => LogLevel::Info,
        LevelFilter::DEBUG => LogLevel::Debug,
        LevelFilter::TRACE => LogLevel::Trace,
    }
}

//! The provisioner the manager was told to use: the compiled-in fixture, or a plugin.
//!
//! Two steps, because nothing may touch the cluster before the manager is built: [`Provisioner::load`] opens the
//! plugin and asks what it needs; [`Provisioner::start`] hands it the cluster and gets its factory.

use std::sync::Arc;

use bmo_controllers::HostKey;
use bmo_fixture::{Fixture, STATE_VARIABLE};
use bmo_plugin_host::{
    ClusterKube, HostConfigureInput, HostFeature, HostFeatures, HostRequirements, LoadError, LoadOptions,
    LoadedPlugin, NameError, PluginConfig, PluginDir, PluginError, PluginHealth, PluginName, WakeSink,
};
use bmo_provisioner::ProvisionerFactory;
use kube::Client;
use tokio::sync::mpsc::UnboundedSender;

use crate::environment::Environment;
use crate::options::Options;

/// Name of the provisioner that is compiled in.
pub const FIXTURE: &str = bmo_fixture::NAME;

/// The provisioner cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionerStartError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The plugin cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The plugin refused a step of its start.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// The fixture cannot be started.
    #[error("the fixture provisioner cannot be started: {0}")]
    Fixture(String),
}

/// A provisioner that is loaded.
#[derive(Debug)]
pub enum Provisioner {
    /// The compiled-in one; no file is opened for it.
    Fixture,
    /// A plugin.
    Plugin {
        /// The plugin.
        plugin: Box<LoadedPlugin>,
        /// What it asked of the host.
        requirements: HostRequirements,
    },
}

impl Provisioner {
    /// Loads the provisioner that the options name.
    ///
    /// # Errors
    /// See [`ProvisionerStartError`].
    pub async fn load(options: &Options) -> Result<Self, ProvisionerStartError> {
        if options.provisioner == FIXTURE {
            return Ok(Self::Fixture);
        }
        let name: PluginName = options.provisioner.parse()?;
        let dir = PluginDir::new(&options.plugin_dir);
        let load = LoadOptions {
            features: features(options),
            ..LoadOptions::default()
        };
        let plugin = bmo_plugin_host::load(&dir, &name, load).await?;
        let input = HostConfigureInput {
            features: features(options),
            provisioner_namespace: options.provisioner_namespace.clone(),
        };
        let requirements = plugin.host_configure(input).await?;
        Ok(Self::Plugin {
            plugin: Box::new(plugin),
            requirements,
        })
    }

    /// Hands the provisioner the cluster. Hosts it wants looked at go to `wakes`.
    ///
    /// # Errors
    /// See [`ProvisionerStartError`].
    pub async fn start(
        &self,
        options: &Options,
        env: &Environment,
        client: &Client,
        wakes: UnboundedSender<HostKey>,
    ) -> Result<Arc<dyn ProvisionerFactory>, ProvisionerStartError> {
        match self {
            Self::Fixture => fixture(env),
            Self::Plugin { plugin, requirements } => {
                let config = PluginConfig {
                    features: features(options),
                    provisioner_namespace: options.provisioner_namespace.clone(),
                    kube: Arc::new(ClusterKube::new(client.clone(), requirements)),
                    wake: Arc::new(Wakes(wakes)),
                };
                Ok(plugin.factory(config).await?)
            }
        }
    }

    /// What the host counts about the plugin, where there is one.
    pub fn health(&self) -> Option<PluginHealth> {
        match self {
            Self::Fixture => None,
            Self::Plugin { plugin, .. } => Some(plugin.health()),
        }
    }

    /// Lets the plugin end its work.
    pub async fn shutdown(&self) {
        if let Self::Plugin { plugin, .. } = self {
            plugin.shutdown().await;
        }
    }
}

fn features(options: &Options) -> HostFeatures {
    options
        .build_preprov_image
        .then_some(HostFeature::PreprovisioningImage)
        .into_iter()
        .collect()
}

/// Passes a plugin's wish to have a host looked at on to the controller.
struct Wakes(UnboundedSender<HostKey>);

impl WakeSink for Wakes {
    fn wake(&self, namespace: &str, name: &str) {
        // Fails only while the manager ends.
        drop(self.0.send(HostKey::new(namespace, name)));
    }
}

/// Machines in memory, or in the file that the environment names.
fn fixture(env: &Environment) -> Result<Arc<dyn ProvisionerFactory>, ProvisionerStartError> {
    let fixture = match env.non_empty(STATE_VARIABLE) {
        Some(path) => Fixture::with_state_file(path).map_err(|error| {
            let cause = std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default();
            ProvisionerStartError::Fixture(format!("{error} ({cause})"))
        })?,
        None => Fixture::new(),
    };
    Ok(Arc::new(fixture))
}

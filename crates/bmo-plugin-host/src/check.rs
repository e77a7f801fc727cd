//! `bmo plugin check`: everything the manager does with a plugin before it has a cluster, and a look at one host.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bmo_provisioner::{Capabilities, Capability, Health, HostData, NoEvents, ProvisionerError};

use crate::kube::NoKube;
use crate::load::{LoadError, LoadOptions, load_path};
use crate::name::PluginName;
use crate::plugin::{LoadedPlugin, PluginConfig, PluginError};
use crate::serve::NoWake;
use crate::{HostConfigureInput, HostRequirements};

/// Exit code of a check that found the plugin good.
pub const EXIT_OK: u8 = 0;
/// Exit code of a check that failed.
pub const EXIT_FAILED: u8 = 1;
/// Exit code of a check that was asked wrongly.
pub const EXIT_USAGE: u8 = 2;

/// What a check found.
#[derive(Debug)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// What is known of the plugin, as far as the check came.
    pub plugin: Option<LoadedPlugin>,
    /// What it asked of the host.
    pub requirements: Option<HostRequirements>,
    /// What it implements with an empty configuration.
    pub capabilities: Option<Capabilities>,
    /// Health of a host without data; meaningful when the check succeeded.
    pub health: Option<Health>,
    /// Why it failed, if it did.
    pub failure: Option<CheckError>,
}

/// Why a check failed.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It refused its configuration.
    #[error(transparent)]
    Start(#[from] PluginError),
    /// It made no provisioner.
    #[error("the plugin was configured but made no provisioner: {0}")]
    NoProvisioner(ProvisionerError),
    /// The health is not what it should be.
    #[error("the health is {found:?}, which does not contain {wanted:?}")]
    Health {
        /// What the plugin said.
        found: String,
        /// What was asked for.
        wanted: String,
    },
}

/// Loads the plugin at `path` as the manager would, configures it without a cluster, makes one provisioner and reads
/// its health. The name must be `expected`, or that of the file where none is given and the file has one.
pub async fn check_plugin(path: &Path, expected: Option<&PluginName>) -> Report {
    let mut report = Report {
        path: path.to_owned(),
        plugin: None,
        requirements: None,
        capabilities: None,
        health: None,
        failure: None,
    };
    let of_file = PluginName::of_file(path);
    let expected = expected.or(of_file.as_ref());
    if let Err(failure) = check(path, expected, &mut report).await {
        report.failure = Some(failure);
    }
    report
}

async fn check(path: &Path, expected: Option<&PluginName>, report: &mut Report) -> Result<(), CheckError> {
    let plugin = load_path(path, expected, LoadOptions::default()).await?;
    report.plugin = Some(plugin.clone());
    report.requirements = Some(plugin.host_configure(HostConfigureInput::default()).await?);
    let config = PluginConfig {
        features: HostConfigureInput::default().features,
        provisioner_namespace: String::new(),
        kube: Arc::new(NoKube),
        wake: Arc::new(NoWake),
    };
    let factory = plugin.factory(config).await?;
    report.capabilities = Some(factory.capabilities());
    let provisioner = factory
        .new_provisioner(HostData::default(), Arc::new(NoEvents))
        .await
        .map_err(CheckError::NoProvisioner)?;
    report.health = provisioner.get_health().await;
    Ok(())
}

impl Report {
    /// Fails a report whose health does not contain `wanted`.
    #[must_use]
    pub fn require_health(mut self, wanted: &str) -> Self {
        let found = self.health_text();
        if self.failure.is_none() && !found.contains(wanted) {
            self.failure = Some(CheckError::Health {
                found,
                wanted: wanted.to_owned(),
            });
        }
        self
    }

    /// [`EXIT_OK`] or [`EXIT_FAILED`].
    pub fn exit_code(&self) -> u8 {
        if self.failure.is_none() {
            EXIT_OK
        } else {
            EXIT_FAILED
        }
    }

    /// The health as upstream spells it; empty where unknown.
    pub fn health_text(&self) -> String {
        match &self.health {
            None => String::new(),
            Some(Health::Ok) => "OK".to_owned(),
            Some(Health::Warning) => "Warning".to_owned(),
            Some(Health::Critical) => "Critical".to_owned(),
            Some(Health::Other(text)) => text.clone(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "file:          {}", self.path.display())?;
        if let Some(plugin) = &self.plugin {
            writeln!(f, "name:          {}", plugin.name)?;
            writeln!(f, "version:       {}", or_unknown(&plugin.version))?;
            writeln!(f, "built with:    {}", plugin.build_info)?;
            writeln!(f, "protocol:      {}", plugin.protocol)?;
            writeln!(
                f,
                "HostConfigure: {}",
                if plugin.has_host_configure() { "yes" } else { "no" }
            )?;
        }
        if let Some(requirements) = &self.requirements {
            for resource in &requirements.extra_types {
                writeln!(
                    f,
                    "knows:         {} ({}/{})",
                    resource.kind, resource.group, resource.version
                )?;
            }
            for scope in &requirements.cache_by_type {
                let namespaces = scope.namespaces.join(", ");
                let place = if namespaces.is_empty() {
                    "all namespaces".to_owned()
                } else {
                    namespaces
                };
                writeln!(f, "caches:        {} in {place}", scope.resource.kind)?;
            }
        }
        if let Some(capabilities) = &self.capabilities {
            let names: Vec<&str> = capabilities.iter().map(Capability::name).collect();
            let names = if names.is_empty() {
                "the minimum".to_owned()
            } else {
                names.join(", ")
            };
            writeln!(f, "capabilities:  {names}")?;
        }
        match &self.failure {
            None => {
                writeln!(f, "health:        {}", or_unknown(&self.health_text()))?;
                writeln!(f, "result:        good")
            }
            Some(failure) => writeln!(f, "result:        {failure}"),
        }
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}

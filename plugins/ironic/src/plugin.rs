//! The crate as a plugin named `ironic`.

use std::sync::Arc;

use bmo_plugin::prelude::*;

use crate::client::{Gate, Http};
use crate::config::{Config, EnvironmentEndpoint};
use crate::factory::{EndpointSource, IronicFactory};
use crate::ironic_object::{self, IronicObject};
use crate::pace::Pace;

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The namespace of the Ironic object.
fn object_namespace(of_environment: &str, of_host: &str) -> String {
    if of_environment.is_empty() {
        of_host
    } else {
        of_environment
    }
    .to_owned()
}

/// Makes the factory. What is wrong in the environment ends the start; whether Ironic can be used does not matter yet.
pub fn make_factory(host: &PluginConfig) -> Result<IronicFactory> {
    let fatal = |error: String| ProvisionerError::transient(error);
    let config = Config::load(&environment, host.has_feature(HostFeature::PreprovisioningImage))
        .map_err(|error| fatal(error.to_string()))?;
    let namespace = object_namespace(&config.ironic_namespace, &host.provisioner_namespace);
    let source: Box<dyn EndpointSource> = if !config.ironic_name.is_empty() && !namespace.is_empty() {
        tracing::info!(%namespace, name = %config.ironic_name, "following an Ironic object");
        let (cached, direct) = (host.kube_client.clone(), host.api_reader.clone());
        Box::new(IronicObject::new(cached, direct, &namespace, &config.ironic_name))
    } else {
        if !config.ironic_name.is_empty() {
            tracing::warn!("IRONIC_NAME is ignored: no namespace is known; set IRONIC_NAMESPACE");
        }
        let endpoint = EnvironmentEndpoint::load(&environment).map_err(|error| fatal(error.to_string()))?;
        let resolved = endpoint
            .resolve(&config)
            .map_err(|error| fatal(error.to_string()))?;
        tracing::info!(url = %resolved.url, "using the Ironic of IRONIC_ENDPOINT");
        Http::new(resolved, Arc::new(Gate::default())).map_err(fatal)?;
        Box::new(endpoint)
    };
    Ok(IronicFactory::new(source, config, Pace::adaptive()))
}

/// What the plugin needs of the host before it is connected to a cluster.
pub fn host_configure(input: &HostConfigureInput) -> HostRequirements {
    let name = environment("IRONIC_NAME").unwrap_or_default();
    let of_environment = environment("IRONIC_NAMESPACE").unwrap_or_default();
    ironic_object::requirements(
        &name,
        &object_namespace(&of_environment, &input.provisioner_namespace),
    )
}

bmo_plugin::export_provisioner!(
    name: "ironic",
    factory: |config: PluginConfig| make_factory(&config),
    host_configure: |input: HostConfigureInput| Ok(host_configure(&input)),
);

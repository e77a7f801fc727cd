//! What the operator hands a plugin.

use bmo_provisioner::wire::WakeNotice;
use bmo_provisioner::wire::method::Wake;
use bmo_provisioner::{HostFeature, HostFeatures};

use crate::host::HostHandle;

/// The plugin's configuration. What is not here the plugin reads itself, from its environment or from files.
#[derive(Clone)]
pub struct PluginConfig {
    /// Features of the operator that are on.
    pub features: HostFeatures,
    /// The namespace the operator runs in or watches; empty where it has none.
    pub provisioner_namespace: String,
    /// Makes the operator look at a host now.
    pub waker: HostWaker,
    /// The cluster; reads come from the operator's cache where it has one of the type (see `HostConfigure`).
    /// Watches are refused.
    #[cfg(feature = "kube")]
    pub kube_client: kube::Client,
    /// The cluster; reads come from the API server.
    #[cfg(feature = "kube")]
    pub api_reader: kube::Client,
}

impl PluginConfig {
    /// Whether the feature is on.
    pub fn has_feature(&self, feature: HostFeature) -> bool {
        self.features.has(feature)
    }
}

impl std::fmt::Debug for PluginConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginConfig")
            .field("features", &self.features)
            .field("provisioner_namespace", &self.provisioner_namespace)
            .finish_non_exhaustive()
    }
}

/// Wakes hosts: for back ends that report what happens, so that nobody has to ask them again and again.
#[derive(Clone, Debug)]
pub struct HostWaker {
    pub(crate) host: HostHandle,
}

impl HostWaker {
    /// Has the BareMetalHost `namespace/name` reconciled now. May be called at any time and from any thread.
    pub fn wake(&self, namespace: &str, name: &str) {
        self.host.notify::<Wake>(&WakeNotice {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        });
    }
}

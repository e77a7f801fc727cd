//! Tests a factory without any operator: in the process of the test, with everything the operator would offer.
//!
//! [`conformance`] walks a host through its whole life and holds the answers to the rules of the contract. Run it in
//! a test of your own against your back end, or against a fake of it:
//!
//! ```no_run
//! # use bmo_plugin::testkit::{self, Life};
//! # async fn test(factory: impl bmo_plugin::prelude::ProvisionerFactory) {
//! testkit::conformance(&factory, &Life::default()).await.assert();
//! # }
//! ```

mod conformance;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bmo_provisioner::{EventPublisher, HostConfigData, HostFeatures, Result, SecretString};

pub use conformance::{Finding, Life, Verdict, conformance};

use crate::config::{HostWaker, PluginConfig};
use crate::host::{HostHandle, lock};

/// A configuration as an operator without a cluster would hand it over. With the feature `kube` it must be made
/// inside a tokio runtime; its clients fail every request.
pub fn config(features: HostFeatures, provisioner_namespace: &str) -> PluginConfig {
    let host = HostHandle::none();
    PluginConfig {
        features,
        provisioner_namespace: provisioner_namespace.to_owned(),
        waker: HostWaker { host },
        #[cfg(feature = "kube")]
        kube_client: crate::transport::client(
            host,
            bmo_provisioner::wire::KubeReader::Cached,
            provisioner_namespace,
        ),
        #[cfg(feature = "kube")]
        api_reader: crate::transport::client(
            host,
            bmo_provisioner::wire::KubeReader::Direct,
            provisioner_namespace,
        ),
    }
}

/// Keeps every event.
#[derive(Clone, Debug, Default)]
pub struct RecordedEvents {
    events: Arc<Mutex<Vec<(String, String)>>>,
}

impl RecordedEvents {
    /// Reasons and messages so far.
    pub fn list(&self) -> Vec<(String, String)> {
        lock(&self.events).clone()
    }
}

impl EventPublisher for RecordedEvents {
    fn publish(&self, reason: &str, message: &str) {
        lock(&self.events).push((reason.to_owned(), message.to_owned()));
    }
}

/// The user's data as fixed texts.
#[derive(Clone, Debug, Default)]
pub struct FixedHostConfig {
    /// User data.
    pub user_data: String,
    /// Network data.
    pub network_data: String,
    /// Meta data.
    pub meta_data: String,
}

#[async_trait]
impl HostConfigData for FixedHostConfig {
    async fn user_data(&self) -> Result<SecretString> {
        Ok(self.user_data.as_str().into())
    }

    async fn network_data(&self) -> Result<SecretString> {
        Ok(self.network_data.as_str().into())
    }

    async fn meta_data(&self) -> Result<SecretString> {
        Ok(self.meta_data.as_str().into())
    }
}

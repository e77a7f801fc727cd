//! What the operator offers a provisioner during a pass.

use async_trait::async_trait;

use crate::{Result, SecretString};

/// Takes events for the host of the pass. They become Kubernetes events when the pass ends.
pub trait EventPublisher: Send + Sync {
    /// Publishes an event: a reason in CamelCase and a sentence for the user.
    fn publish(&self, reason: &str, message: &str);
}

/// Drops every event.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventPublisher for NoEvents {
    fn publish(&self, _reason: &str, _message: &str) {}
}

/// The user's data for a host that is being provisioned, each read only when asked for.
///
/// An empty text means that the user gave none. A Secret that is missing or lacks its key is an error.
#[async_trait]
pub trait HostConfigData: Send + Sync {
    /// User data, as the user wrote it.
    async fn user_data(&self) -> Result<SecretString>;
    /// Network data, YAML or JSON.
    async fn network_data(&self) -> Result<SecretString>;
    /// Meta data, YAML or JSON.
    async fn meta_data(&self) -> Result<SecretString>;
}

/// A host without any data of the user's.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostConfig;

#[async_trait]
impl HostConfigData for NoHostConfig {
    async fn user_data(&self) -> Result<SecretString> {
        Ok(SecretString::default())
    }

    async fn network_data(&self) -> Result<SecretString> {
        Ok(SecretString::default())
    }

    async fn meta_data(&self) -> Result<SecretString> {
        Ok(SecretString::default())
    }
}

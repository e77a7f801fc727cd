//! The cluster as plugins see it: one HTTP request at a time, sent with the operator's credentials.

mod cache;
mod cluster;
mod path;

use async_trait::async_trait;
use bmo_provisioner::wire::{KubeRequest, KubeResponse};
use bmo_provisioner::{ProvisionerError, Result};

pub use cluster::ClusterKube;

/// Executes the Kubernetes requests of a plugin.
#[async_trait]
pub trait KubeBackend: Send + Sync {
    /// Executes one request. A status that is not 2xx is an answer, not an error.
    ///
    /// # Errors
    /// The API server was not reached, or there is none.
    async fn execute(&self, request: KubeRequest) -> Result<KubeResponse>;
}

/// No cluster: every request fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoKube;

#[async_trait]
impl KubeBackend for NoKube {
    async fn execute(&self, _request: KubeRequest) -> Result<KubeResponse> {
        Err(ProvisionerError::not_ready(
            "there is no cluster: the plugin runs without one, as in `bmo plugin check`",
        ))
    }
}

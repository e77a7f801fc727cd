//! The way to the Kubernetes API: where it is, who we are there, and how many requests we make.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::limit::RateLimitLayer;

use crate::environment::Environment;
use crate::options::{Options, RequestLimit};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// Where the Kubernetes API is.
#[derive(Clone)]
pub enum KubeSource {
    /// A cluster: `-kubeconfig`, `KUBECONFIG`, the service account of the pod, `~/.kube/config`, in this order.
    Cluster,
    /// An API in this process.
    InProcess(Client),
}

impl std::fmt::Debug for KubeSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cluster => "Cluster",
            Self::InProcess(_) => "InProcess",
        })
    }
}

/// There is no way to the Kubernetes API.
#[derive(Debug, thiserror::Error)]
pub enum KubeAccessError {
    /// A kubeconfig cannot be used.
    #[error("cannot use the kubeconfig {}: {error}", path.display())]
    Kubeconfig {
        /// Its path.
        path: PathBuf,
        /// Why; part of the text because it is all there is to know.
        error: KubeconfigError,
    },
    /// The files of KUBECONFIG cannot be used.
    #[error("cannot use the kubeconfig that KUBECONFIG or ~/.kube/config names: {0}")]
    DefaultKubeconfig(KubeconfigError),
    /// In a pod, but without what a pod has.
    #[error(
        "this looks like a pod (KUBERNETES_SERVICE_HOST is set), but its service account cannot be used: {0}"
    )]
    InCluster(kube::config::InClusterError),
    /// No client can be made of it.
    #[error("cannot make a client for the Kubernetes API: {0}")]
    Client(#[from] kube::Error),
}

/// Clients of the Kubernetes API.
#[derive(Clone)]
pub struct Clients {
    /// For everything that may wait its turn.
    pub limited: Client,
    /// For what must not: leases.
    pub unlimited: Client,
}

impl std::fmt::Debug for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clients")
    }
}

impl KubeSource {
    /// Makes clients. Nothing is sent yet.
    ///
    /// # Errors
    /// See [`KubeAccessError`].
    pub async fn clients(&self, options: &Options, env: &Environment) -> Result<Clients, KubeAccessError> {
        match self {
            Self::InProcess(client) => Ok(Clients {
                limited: client.clone(),
                unlimited: client.clone(),
            }),
            Self::Cluster => {
                let mut config = find_config(options.kubeconfig.as_deref(), env).await?;
                config.connect_timeout = Some(CONNECT);
                config
                    .headers
                    .push((USER_AGENT, HeaderValue::from_static(user_agent())));
                let unlimited = ClientBuilder::try_from(config.clone())?.build();
                let limited = match options.kube_api_limit {
                    Some(limit) => ClientBuilder::try_from(config)?
                        .with_layer(&limit.layer())
                        .build(),
                    None => unlimited.clone(),
                };
                Ok(Clients { limited, unlimited })
            }
        }
    }
}

impl RequestLimit {
    /// The burst, again and again, in the time it takes at the long-run rate.
    fn layer(self) -> RateLimitLayer {
        RateLimitLayer::new(
            self.burst.into(),
            Duration::from_secs_f64(f64::from(self.burst) / self.per_second),
        )
    }
}

fn user_agent() -> &'static str {
    concat!("baremetal-operator/", env!("CARGO_PKG_VERSION"))
}

async fn find_config(flag: Option<&Path>, env: &Environment) -> Result<Config, KubeAccessError> {
    let options = KubeConfigOptions::default();
    if let Some(path) = flag.filter(|path| !path.as_os_str().is_empty()) {
        let failed = |error| KubeAccessError::Kubeconfig {
            path: path.to_owned(),
            error,
        };
        let file = Kubeconfig::read_from(path).map_err(failed)?;
        return Config::from_custom_kubeconfig(file, &options)
            .await
            .map_err(failed);
    }
    if env.non_empty("KUBECONFIG").is_none() && env.non_empty("KUBERNETES_SERVICE_HOST").is_some() {
        return Config::incluster().map_err(KubeAccessError::InCluster);
    }
    Config::from_kubeconfig(&options)
        .await
        .map_err(KubeAccessError::DefaultKubeconfig)
}

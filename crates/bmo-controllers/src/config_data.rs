//! User, network and meta data of a host, read from Secrets when a provisioner asks for them.

use std::sync::Arc;

use async_trait::async_trait;
use bmo_api::{BareMetalHost, SecretReference};
use bmo_lifecycle::NetworkDataRead;
use bmo_provisioner::{HostConfigData, ProvisionerError, Result, SecretString};
use kube::ResourceExt;

use crate::metrics::{DataLabels, Metrics};
use crate::queue::HostKey;
use crate::secrets::{Claim, Secrets, text_of};

/// The key that is taken where a Secret lacks the one asked for.
const FALLBACK_KEY: &str = "value";

/// The data of one host during one pass.
pub(crate) struct ConfigData {
    host: Arc<BareMetalHost>,
    secrets: Arc<Secrets>,
    metrics: Arc<Metrics>,
}

/// Which of the three, by the key it has in a Secret.
#[derive(Clone, Copy)]
enum Kind {
    User,
    Network,
    Meta,
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::User => "userData",
            Self::Network => "networkData",
            Self::Meta => "metaData",
        }
    }
}

impl ConfigData {
    pub(crate) fn new(host: Arc<BareMetalHost>, secrets: Arc<Secrets>, metrics: Arc<Metrics>) -> Self {
        Self {
            host,
            secrets,
            metrics,
        }
    }

    async fn read(&self, kind: Kind, reference: Option<&SecretReference>) -> Result<SecretString> {
        let Some(reference) = reference else {
            return Ok(SecretString::default());
        };
        let namespace = self.host.namespace().unwrap_or_default();
        let wanted = reference
            .namespace
            .as_deref()
            .filter(|text| !text.is_empty())
            .unwrap_or(&namespace);
        let name = reference.name.as_deref().unwrap_or_default();
        if name.is_empty() {
            return Ok(SecretString::default());
        }
        if wanted != namespace {
            return Err(ProvisionerError::transient(format!(
                "the Secret {wanted}/{name} with {} is in another namespace than the host; it must be in {namespace}",
                kind.key()
            )));
        }
        let key = HostKey::new(namespace, name);
        let secret = self
            .secrets
            .claim(&key, Claim::default())
            .await
            .map_err(|error| {
                ProvisionerError::transient(format!(
                    "cannot read the Secret {key} with {}: {error}",
                    kind.key()
                ))
            })?;
        let Some(secret) = secret else {
            return Err(ProvisionerError::transient(format!(
                "the Secret {key} with {} does not exist; create it or remove it from the host's spec",
                kind.key()
            )));
        };
        let data = secret.data.as_ref();
        match text_of(data, kind.key()).or_else(|| text_of(data, FALLBACK_KEY)) {
            Some(text) => Ok(text.into()),
            None => self.missing_key(&key, kind),
        }
    }

    /// Network data may be left out; the others were meant to be there.
    fn missing_key(&self, secret: &HostKey, kind: Kind) -> Result<SecretString> {
        let labels = DataLabels {
            host_data_type: kind.key().to_owned(),
        };
        self.metrics.host_config_data_error.get_or_create(&labels).inc();
        match kind {
            Kind::Network => Ok(SecretString::default()),
            Kind::User | Kind::Meta => Err(ProvisionerError::transient(format!(
                "the Secret {secret} has neither the key {} nor {FALLBACK_KEY}",
                kind.key()
            ))),
        }
    }
}

#[async_trait]
impl HostConfigData for ConfigData {
    async fn user_data(&self) -> Result<SecretString> {
        self.read(Kind::User, self.host.spec.user_data.as_ref()).await
    }

    async fn network_data(&self) -> Result<SecretString> {
        let fallback = preprovisioning_reference(&self.host);
        self.read(
            Kind::Network,
            self.host.spec.network_data.as_ref().or(fallback.as_ref()),
        )
        .await
    }

    async fn meta_data(&self) -> Result<SecretString> {
        self.read(Kind::Meta, self.host.spec.meta_data.as_ref()).await
    }
}

fn preprovisioning_reference(host: &BareMetalHost) -> Option<SecretReference> {
    let name = &host.spec.preprovisioning_network_data_name;
    (!name.is_empty()).then(|| SecretReference {
        name: Some(name.clone()),
        namespace: None,
    })
}

/// Network data for the preprovisioning image, read on each pass of a managed host. The Secret gets our
/// finalizer unless the host is on its way out.
pub(crate) async fn preprovisioning_network_data(
    host: &BareMetalHost,
    secrets: &Secrets,
    metrics: &Metrics,
) -> NetworkDataRead {
    use bmo_api::ProvisioningState as State;
    let name = &host.spec.preprovisioning_network_data_name;
    let state = host.state();
    if name.is_empty() || host.is_paused() || matches!(state, State::None | State::Unmanaged) {
        return NetworkDataRead::NotNeeded;
    }
    let leaving =
        host.is_being_deleted() || matches!(state, State::Deleting | State::PoweringOffBeforeDelete);
    let key = HostKey::new(host.namespace().unwrap_or_default(), name);
    let secret = if leaving {
        secrets.find(&key).await
    } else {
        secrets
            .claim(
                &key,
                Claim {
                    owner: None,
                    finalizer: true,
                },
            )
            .await
    };
    match secret {
        Ok(Some(secret)) => {
            let data = secret.data.as_ref();
            let text = text_of(data, Kind::Network.key()).or_else(|| text_of(data, FALLBACK_KEY));
            if text.is_none() {
                let labels = DataLabels {
                    host_data_type: Kind::Network.key().to_owned(),
                };
                metrics.host_config_data_error.get_or_create(&labels).inc();
            }
            NetworkDataRead::Found(text.unwrap_or_default().into())
        }
        Ok(None) if leaving => NetworkDataRead::NotNeeded,
        Ok(None) => NetworkDataRead::Problem(format!(
            "the Secret {key} with network data does not exist; create it or empty spec.preprovisioningNetworkDataName"
        )),
        Err(error) => {
            NetworkDataRead::Problem(format!("cannot read the Secret {key} with network data: {error}"))
        }
    }
}

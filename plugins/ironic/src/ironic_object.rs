//! Ironic as an object of the cluster: where it is, how to log in, whom to trust.
//!
//! With `IRONIC_NAME` the operator follows the Ironic object of that name, which the Ironic operator keeps. It is
//! read from the host's cache, which is scoped to its namespace, whenever the connection is looked at; so a change of
//! it, of its credentials or of its certificate is picked up within seconds.

use async_trait::async_trait;
use bmo_plugin::prelude::{CacheScope, HostRequirements, TypeRef};
use bmo_provisioner::{ProvisionerError, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::{Client, Error};
use serde_json::{Value, json};
use url::Url;

use crate::client::{BasicAuth, Endpoint};
use crate::config::{Config, Pem, TlsMaterial};
use crate::factory::EndpointSource;

const GROUP: &str = "ironic.metal3.io";
const VERSION: &str = "v1alpha1";
const KIND: &str = "Ironic";
const PLURAL: &str = "ironics";
/// The host caches only Secrets with this label.
const LABEL: (&str, &str) = ("environment.metal3.io", "baremetal");

/// See the module.
#[derive(Clone)]
pub struct IronicObject {
    cached: Client,
    direct: Client,
    namespace: String,
    name: String,
}

impl std::fmt::Debug for IronicObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IronicObject({}/{})", self.namespace, self.name)
    }
}

/// What the plugin needs of the host: the type, and a cache of it in the namespace where it is, if that is known.
pub fn requirements(config_name: &str, namespace: &str) -> HostRequirements {
    let resource = TypeRef {
        group: GROUP.to_owned(),
        version: VERSION.to_owned(),
        kind: KIND.to_owned(),
        plural: PLURAL.to_owned(),
        namespaced: true,
    };
    let scoped = !config_name.is_empty() && !namespace.is_empty();
    let cache = CacheScope {
        resource: resource.clone(),
        namespaces: vec![namespace.to_owned()],
        label_selector: None,
        field_selector: None,
    };
    HostRequirements {
        extra_types: vec![resource],
        cache_by_type: scoped.then_some(cache).into_iter().collect(),
    }
}

impl IronicObject {
    /// The object `namespace/name`. `cached` reads from the host's caches, `direct` from the API server.
    pub fn new(cached: Client, direct: Client, namespace: &str, name: &str) -> Self {
        Self {
            cached,
            direct,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    async fn object(&self) -> Result<DynamicObject> {
        let resource = ApiResource {
            group: GROUP.to_owned(),
            version: VERSION.to_owned(),
            api_version: format!("{GROUP}/{VERSION}"),
            kind: KIND.to_owned(),
            plural: PLURAL.to_owned(),
        };
        let api: Api<DynamicObject> = Api::namespaced_with(self.cached.clone(), &self.namespace, &resource);
        api.get(&self.name).await.map_err(|error| match error {
            Error::Api(status) if status.code == 404 => {
                ProvisionerError::not_ready("there is no such object; create it or unset IRONIC_NAME")
            }
            error => ProvisionerError::transient(format!("failed to get Ironic resource: {error}")),
        })
    }

    /// A Secret from the host's cache; one that is not in it gets the label that brings it there.
    async fn secret(&self, name: &str) -> Result<Secret> {
        let failed = |error: Error| match error {
            Error::Api(status) if status.code == 404 => {
                ProvisionerError::not_ready(format!("Secret {name:?} does not exist"))
            }
            error => ProvisionerError::transient(format!("failed to fetch Secret {name:?}: {error}")),
        };
        let api: Api<Secret> = Api::namespaced(self.cached.clone(), &self.namespace);
        match api.get(name).await {
            Err(Error::Api(status)) if status.code == 404 => {}
            other => return other.map_err(failed),
        }
        let direct: Api<Secret> = Api::namespaced(self.direct.clone(), &self.namespace);
        let secret = direct.get(name).await.map_err(failed)?;
        let labelled = secret
            .metadata
            .labels
            .as_ref()
            .is_some_and(|labels| labels.contains_key(LABEL.0));
        if !labelled {
            let patch = json!({ "metadata": { "labels": { LABEL.0: LABEL.1 } } });
            direct
                .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
                .await
                .map_err(failed)?;
        }
        Ok(secret)
    }

    async fn read(&self, config: &Config) -> Result<Endpoint> {
        let object = self.object().await?;
        check_ready(&object)?;
        let spec = &object.data["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let certificate = text(&spec["tls"]["certificateName"]);
        let scheme = if certificate.is_empty() { "http" } else { "https" };
        let url = format!("{scheme}://{}.{}.svc/v1/", self.name, self.namespace);
        let url = Url::parse(&url).map_err(|error| ProvisionerError::transient(format!("{url}: {error}")))?;
        let auth = self.credentials(&text(&spec["apiCredentialsName"])).await?;
        let tls = if certificate.is_empty() {
            TlsMaterial::default()
        } else {
            self.trust(&certificate, config).await?
        };
        Ok(Endpoint {
            url,
            auth: Some(auth),
            tls,
            timeout: config.timeout,
        })
    }

    async fn credentials(&self, name: &str) -> Result<BasicAuth> {
        if name.is_empty() {
            return Err(ProvisionerError::not_ready(
                "spec.apiCredentialsName names no Secret",
            ));
        }
        let secret = self.secret(name).await?;
        let part = |key: &str| {
            let value = member(&secret, key).filter(|text| !text.is_empty());
            value.ok_or_else(|| {
                ProvisionerError::not_ready(format!("Secret {name:?} has no usable key {key:?}"))
            })
        };
        Ok(BasicAuth {
            username: part("username")?,
            password: part("password")?.into(),
        })
    }

    async fn trust(&self, name: &str, config: &Config) -> Result<TlsMaterial> {
        let secret = self
            .secret(name)
            .await
            .map_err(|error| error.context("failed to get TLS secret"))?;
        let mut tls = config
            .tls
            .read()
            .map_err(|error| ProvisionerError::transient(error.to_string()))?;
        if let Some(ByteString(pem)) = secret.data.and_then(|mut data| data.remove("tls.crt")) {
            tls.authorities = Some(Pem::new(
                pem,
                format!("key \"tls.crt\" of Secret {}/{name}", self.namespace),
            ));
        }
        Ok(tls)
    }
}

/// A text in a Secret.
fn member(secret: &Secret, key: &str) -> Option<String> {
    let ByteString(bytes) = secret.data.as_ref()?.get(key)?;
    String::from_utf8(bytes.clone()).ok()
}

/// Whether the object's operator says, about its present content, that Ironic is up.
fn check_ready(object: &DynamicObject) -> Result<()> {
    let conditions = object.data["status"]["conditions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready");
    let current = |condition: &&Value| condition["observedGeneration"].as_i64() == object.metadata.generation;
    let Some(ready) = ready.filter(current) else {
        return Err(ProvisionerError::not_ready(
            "not ready: reconciliation has not started yet",
        ));
    };
    if ready["status"] == "True" {
        return Ok(());
    }
    let message = ready["message"].as_str().unwrap_or("no reason is given");
    Err(ProvisionerError::not_ready(format!("not ready: {message}")))
}

#[async_trait]
impl EndpointSource for IronicObject {
    async fn endpoint(&self, config: &Config) -> Result<Endpoint> {
        self.read(config).await.map_err(|error| {
            error.context(format!(
                "failed to load configuration from Ironic resource {}/{}",
                self.namespace, self.name
            ))
        })
    }
}

//! Secrets that hosts use: reading, claiming and releasing them.
//!
//! Only Secrets with the label `environment.metal3.io=baremetal` are cached. One that is not in the cache is
//! looked for on the server, and gets the label with its claim, so that it is in the cache from then on.

use std::collections::BTreeMap;

use bmo_api::{BareMetalHost, annotations};
use bmo_lifecycle::{CredentialsProblem, CredentialsRead, CredentialsWish, SecretVersion};
use bmo_provisioner::BmcCredentials;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::PostParams;
use kube::{Api, Client, Resource, ResourceExt};

use crate::api::{ApiError, call, found};
use crate::cache::Cache;
use crate::queue::HostKey;

/// What a claim puts on a Secret besides the label.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claim<'a> {
    /// A host that becomes its owner.
    pub owner: Option<&'a BareMetalHost>,
    /// Whether it gets our finalizer.
    pub finalizer: bool,
}

/// Reads and changes Secrets.
pub(crate) struct Secrets {
    client: Client,
    pub(crate) cache: Cache<Secret>,
}

impl Secrets {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            cache: Cache::default(),
        }
    }

    fn api(&self, namespace: &str) -> Api<Secret> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// The Secret of that name, from the cache or the server.
    pub(crate) async fn find(&self, key: &HostKey) -> Result<Option<Secret>, ApiError> {
        if let Some(cached) = self.cache.get(key) {
            return Ok(Some(Secret::clone(&cached)));
        }
        found(call("read a Secret", self.api(&key.namespace).get(&key.name)).await)
    }

    /// The Secret of that name with label, owner and finalizer on it: at most one write.
    pub(crate) async fn claim(&self, key: &HostKey, claim: Claim<'_>) -> Result<Option<Secret>, ApiError> {
        let Some(mut secret) = self.find(key).await? else {
            return Ok(None);
        };
        if !claim_changes(&mut secret.metadata, claim) {
            return Ok(Some(secret));
        }
        self.write("claim a Secret", &secret).await.map(Some)
    }

    async fn write(&self, what: &'static str, secret: &Secret) -> Result<Secret, ApiError> {
        let key = crate::cache::key_of(secret);
        let written = call(
            what,
            self.api(&key.namespace)
                .replace(&key.name, &PostParams::default(), secret),
        )
        .await;
        match written {
            Ok(written) => {
                if has_label(&written.metadata) {
                    self.cache.put(written.clone());
                }
                Ok(written)
            }
            Err(error) => {
                // What we believed of it is wrong; the next look asks the server.
                if matches!(error, ApiError::Conflict { .. } | ApiError::NotFound { .. }) {
                    self.cache.remove(&key);
                }
                Err(error)
            }
        }
    }

    /// The BMC's credentials, as `wish` says.
    pub(crate) async fn credentials(&self, host: &BareMetalHost, wish: CredentialsWish) -> CredentialsRead {
        let result = match wish {
            CredentialsWish::NotNeeded => return CredentialsRead::NotNeeded,
            CredentialsWish::Read => self.read_credentials(host, None).await,
            CredentialsWish::Claim => {
                self.read_credentials(
                    host,
                    Some(Claim {
                        owner: Some(host),
                        finalizer: true,
                    }),
                )
                .await
            }
        };
        result.unwrap_or_else(CredentialsRead::Problem)
    }

    async fn read_credentials(
        &self,
        host: &BareMetalHost,
        claim: Option<Claim<'_>>,
    ) -> Result<CredentialsRead, CredentialsProblem> {
        let (namespace, name) = host.credentials_key();
        if name.is_empty() {
            return Err(CredentialsProblem::EmptyName);
        }
        let key = HostKey::new(namespace, name);
        let secret = match claim {
            Some(claim) => self.claim(&key, claim).await,
            None => self.find(&key).await,
        };
        let secret = secret
            .map_err(|error| CredentialsProblem::Unreadable {
                message: error.to_string(),
            })?
            .ok_or_else(|| CredentialsProblem::Missing {
                namespace: key.namespace.clone(),
                name: key.name.clone(),
            })?;
        if host.spec.bmc.address.is_empty() {
            return Err(CredentialsProblem::EmptyAddress);
        }
        let credentials = BmcCredentials {
            username: required(&secret, "username")?.into(),
            password: required(&secret, "password")?.into(),
        };
        let version = secret.metadata.resource_version.unwrap_or_default();
        let secret = SecretVersion {
            namespace: key.namespace,
            name: key.name,
            version,
        };
        Ok(CredentialsRead::Found { secret, credentials })
    }

    /// Takes our finalizer off a Secret, if it is there and carries it.
    pub(crate) async fn release(&self, key: &HostKey) -> Result<(), ApiError> {
        let Some(mut secret) = self.find(key).await? else {
            return Ok(());
        };
        let Some(finalizers) = &mut secret.metadata.finalizers else {
            return Ok(());
        };
        let before = finalizers.len();
        finalizers.retain(|name| name != annotations::SECRET_FINALIZER);
        if finalizers.len() == before {
            return Ok(());
        }
        found(self.write("release a Secret", &secret).await).map(|_| ())
    }

    /// Takes our finalizer off every Secret of a host: those it names, and every other one that has both our
    /// finalizer and the host as owner (from an earlier spec).
    pub(crate) async fn release_all(&self, host: &BareMetalHost) -> Result<(), ApiError> {
        let namespace = host.namespace().unwrap_or_default();
        let named = [
            &host.spec.bmc.credentials_name,
            &host.spec.preprovisioning_network_data_name,
        ];
        let mut keys: Vec<HostKey> = named
            .into_iter()
            .filter(|name| !name.is_empty())
            .map(|name| HostKey::new(&namespace, name))
            .collect();
        for secret in self.cache.select(|secret| is_owned_and_held(secret, host)) {
            let key = crate::cache::key_of(&*secret);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            self.release(&key).await?;
        }
        Ok(())
    }
}

/// Whether the host is among the owners of the Secret and our finalizer is on it.
fn is_owned_and_held(secret: &Secret, host: &BareMetalHost) -> bool {
    let uid = host.metadata.uid.as_deref().unwrap_or_default();
    !uid.is_empty()
        && secret.owner_references().iter().any(|owner| owner.uid == uid)
        && secret
            .finalizers()
            .iter()
            .any(|name| name == annotations::SECRET_FINALIZER)
}

fn has_label(meta: &ObjectMeta) -> bool {
    meta.labels
        .as_ref()
        .and_then(|labels| labels.get(annotations::SECRET_LABEL))
        .map(String::as_str)
        == Some(annotations::SECRET_LABEL_VALUE)
}

/// Puts the claim on the metadata; says whether anything changed. A label of another value is someone's choice
/// and stays.
fn claim_changes(meta: &mut ObjectMeta, claim: Claim<'_>) -> bool {
    let labels = meta.labels.get_or_insert_default();
    let mut changed = false;
    if !labels.contains_key(annotations::SECRET_LABEL) {
        labels.insert(
            annotations::SECRET_LABEL.to_owned(),
            annotations::SECRET_LABEL_VALUE.to_owned(),
        );
        changed = true;
    }
    if let Some(owner) = claim.owner.and_then(|host| host.owner_ref(&())) {
        changed |= set_owner(meta.owner_references.get_or_insert_default(), owner);
    }
    if claim.finalizer && meta.deletion_timestamp.is_none() {
        let finalizers = meta.finalizers.get_or_insert_default();
        if !finalizers
            .iter()
            .any(|name| name == annotations::SECRET_FINALIZER)
        {
            finalizers.push(annotations::SECRET_FINALIZER.to_owned());
            changed = true;
        }
    }
    changed
}

/// Sees that `owner` is among the owners, not as controller; an older reference to it as controller is rewritten.
fn set_owner(owners: &mut Vec<OwnerReference>, owner: OwnerReference) -> bool {
    match owners.iter_mut().find(|known| known.uid == owner.uid) {
        Some(known) if known.controller.is_none() => false,
        Some(known) => {
            *known = owner;
            true
        }
        None => {
            owners.push(owner);
            true
        }
    }
}

/// A value that must be there, surrounding white space removed.
fn required(secret: &Secret, key: &str) -> Result<String, CredentialsProblem> {
    let text = text_of(secret.data.as_ref(), key)
        .unwrap_or_default()
        .trim()
        .to_owned();
    if text.is_empty() {
        return Err(CredentialsProblem::Invalid {
            message: format!("Missing BMC connection detail '{key}' in credentials"),
        });
    }
    Ok(text)
}

/// A value as text; bytes that are none become replacement characters.
pub(crate) fn text_of(data: Option<&BTreeMap<String, ByteString>>, key: &str) -> Option<String> {
    data?
        .get(key)
        .map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned())
}

#[cfg(test)]
mod tests {
    use bmo_api::{BareMetalHost, BareMetalHostSpec, annotations};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::{Claim, claim_changes};

    fn host() -> BareMetalHost {
        let mut host = BareMetalHost::new("h", BareMetalHostSpec::default());
        host.metadata.uid = Some("u".into());
        host
    }

    #[test]
    fn a_claim_is_one_write_and_then_none() {
        let host = host();
        let claim = Claim {
            owner: Some(&host),
            finalizer: true,
        };
        let mut meta = ObjectMeta::default();
        assert!(claim_changes(&mut meta, claim));
        assert!(!claim_changes(&mut meta, claim));
        let owner = &meta.owner_references.as_ref().unwrap()[0];
        assert_eq!(
            (owner.kind.as_str(), owner.name.as_str(), owner.controller),
            ("BareMetalHost", "h", None)
        );
        assert_eq!(meta.finalizers.unwrap(), [annotations::SECRET_FINALIZER]);
        assert_eq!(
            meta.labels.unwrap()[annotations::SECRET_LABEL],
            annotations::SECRET_LABEL_VALUE
        );
    }

    #[test]
    fn what_others_put_there_stays() {
        let host = host();
        let mut meta = ObjectMeta {
            labels: Some([(annotations::SECRET_LABEL.to_owned(), "else".to_owned())].into()),
            finalizers: Some(vec!["theirs".into()]),
            ..ObjectMeta::default()
        };
        assert!(claim_changes(
            &mut meta,
            Claim {
                owner: Some(&host),
                finalizer: true
            }
        ));
        assert_eq!(meta.labels.unwrap()[annotations::SECRET_LABEL], "else");
        assert_eq!(
            meta.finalizers.unwrap(),
            ["theirs", annotations::SECRET_FINALIZER]
        );
    }

    #[test]
    fn an_owner_that_is_a_controller_is_made_plain() {
        let host = host();
        let mut meta = ObjectMeta::default();
        claim_changes(
            &mut meta,
            Claim {
                owner: Some(&host),
                finalizer: false,
            },
        );
        meta.owner_references.as_mut().unwrap()[0].controller = Some(true);
        assert!(claim_changes(
            &mut meta,
            Claim {
                owner: Some(&host),
                finalizer: false
            }
        ));
        assert_eq!(meta.owner_references.unwrap()[0].controller, None);
    }
}

//! When the BMC's credentials are needed, and comparing the Secret with those that were tried.

use bmo_api::{
    BareMetalHost, CredentialsStatus, OperationalStatus, ProvisioningState, SecretReference, annotations,
};

use crate::pass::{CredentialsWish, SecretVersion};

/// What a controller must do about the BMC's credentials before it decides about `host`.
///
/// A host that is not managed, paused, not yet marked with our finalizer or detached needs none: a detached host is
/// left alone, so a missing Secret must not turn it into a failed one. A host that is being deleted only reads them:
/// nothing new is put on a Secret that is about to be released.
pub fn credentials_wish(host: &BareMetalHost) -> CredentialsWish {
    if host.is_paused() || !has_finalizer(host) {
        return CredentialsWish::NotNeeded;
    }
    let state = host.state();
    let managed = !matches!(state, ProvisioningState::None | ProvisioningState::Unmanaged);
    if host.is_being_deleted() {
        return if managed {
            CredentialsWish::Read
        } else {
            CredentialsWish::NotNeeded
        };
    }
    if is_detached(host) || !(managed || host.has_bmc_details()) {
        return CredentialsWish::NotNeeded;
    }
    CredentialsWish::Claim
}

/// Whether the host carries our finalizer.
pub(crate) fn has_finalizer(host: &BareMetalHost) -> bool {
    host.metadata
        .finalizers
        .iter()
        .flatten()
        .any(|name| name == annotations::HOST_FINALIZER)
}

/// Whether the host was let go and is to stay so.
fn is_detached(host: &BareMetalHost) -> bool {
    host.annotation(annotations::DETACHED).is_some()
        && host
            .status
            .as_ref()
            .is_some_and(|status| status.operational_status == OperationalStatus::Detached)
}

impl SecretVersion {
    /// Whether `known` is exactly this version of this Secret.
    pub(crate) fn matches(&self, known: &CredentialsStatus) -> bool {
        known.matches(&self.namespace, &self.name, &self.version)
    }

    /// This version as it is stored in a status.
    pub(crate) fn to_status(&self) -> CredentialsStatus {
        CredentialsStatus {
            reference: Some(SecretReference {
                name: Some(self.name.clone()),
                namespace: Some(self.namespace.clone()),
            }),
            version: self.version.clone(),
        }
    }
}

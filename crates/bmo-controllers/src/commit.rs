//! Carries a decision out: as few writes as possible, each guarded by the version that was observed.
//!
//! The order is that of [`bmo_lifecycle::pass`]. The first write that fails ends the commit; the host is then
//! looked at again. Answers go into the caches at once, so that the next pass sees them.

use std::sync::Arc;

use bmo_api::{
    BareMetalHost, BareMetalHostStatus, HardwareData, HardwareDataSpec, HardwareDetails, annotations,
};
use bmo_lifecycle::{Decision, FinalizerChange, HardwareDataChange, Metric, Outcome, SecretsChange};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::{Value, json};

use crate::api::{ApiError, call, found};
use crate::cache::key_of;
use crate::controller::Shared;
use crate::metrics::{ErrorLabels, HostLabels, StateLabels};
use crate::queue::HostKey;

/// How often a status write is tried when others change the host meanwhile.
const STATUS_TRIES: u32 = 4;

/// Writes what `decision` says about `host`.
///
/// Events and those metrics that count what was done rather than what was stored are published even when a
/// write fails: the back end has done its part.
pub(crate) async fn commit(
    shared: &Shared,
    host: Arc<BareMetalHost>,
    decision: &Decision,
) -> Result<(), ApiError> {
    let mut commit = Commit {
        shared,
        host,
        status_saved: false,
    };
    let result = commit.write(decision).await;
    for metric in &decision.metrics {
        if !metric.only_when_saved() || commit.status_saved {
            count(shared, &key_of(&*commit.host), metric);
        }
    }
    shared
        .events
        .publish(&commit.host, &decision.events, shared.clock.now())
        .await;
    result
}

/// A commit under way: the host as it was last stored.
struct Commit<'a> {
    shared: &'a Shared,
    host: Arc<BareMetalHost>,
    status_saved: bool,
}

impl Commit<'_> {
    async fn write(&mut self, decision: &Decision) -> Result<(), ApiError> {
        if decision.finalizer == FinalizerChange::Add {
            self.patch_metadata("add the host's finalizer", finalizers_with(&self.host))
                .await?;
        }
        if let HardwareDataChange::Write(details) = &decision.hardware_data {
            self.write_hardware_data(details).await?;
        }
        if let Some(status) = &decision.status {
            self.write_status(status).await?;
        }
        if !decision.annotations_to_remove.is_empty() {
            let nulls: serde_json::Map<String, Value> = decision
                .annotations_to_remove
                .iter()
                .map(|key| (key.clone(), Value::Null))
                .collect();
            self.patch_metadata("remove annotations of the host", json!({ "annotations": nulls }))
                .await?;
        }
        if let SecretsChange::ReleaseFormer { namespace, name } = &decision.secrets {
            self.shared
                .secrets
                .release(&HostKey::new(namespace, name))
                .await?;
        }
        if decision.outcome == Outcome::Deleted {
            return self.let_go(decision).await;
        }
        if decision.hardware_data == HardwareDataChange::ReleaseFinalizer {
            self.release_hardware_data().await?;
        }
        Ok(())
    }

    /// The last writes of a host's life.
    async fn let_go(&mut self, decision: &Decision) -> Result<(), ApiError> {
        if decision.secrets == SecretsChange::ReleaseAll {
            self.shared.secrets.release_all(&self.host).await?;
        }
        if decision.hardware_data == HardwareDataChange::ReleaseFinalizer {
            self.release_hardware_data().await?;
        }
        if decision.finalizer == FinalizerChange::Remove {
            let left = finalizers_without(
                self.host.metadata.finalizers.as_ref(),
                annotations::HOST_FINALIZER,
            );
            self.patch_metadata("remove the host's finalizer", json!({ "finalizers": left }))
                .await?;
        }
        Ok(())
    }

    fn hosts(&self) -> Api<BareMetalHost> {
        Api::namespaced(
            self.shared.client.clone(),
            &self.host.namespace().unwrap_or_default(),
        )
    }

    /// Takes the answer to a write of ours as the host of the rest of the commit and of the next pass.
    fn take(&mut self, host: BareMetalHost) {
        self.shared.hosts.put(host.clone());
        self.host = Arc::new(host);
    }

    /// Changes the host's metadata, guarded by its version. A patch, so that members of the spec which this
    /// version does not know survive.
    async fn patch_metadata(&mut self, what: &'static str, mut metadata: Value) -> Result<(), ApiError> {
        metadata["resourceVersion"] = json!(self.host.metadata.resource_version);
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        let name = self.host.name_any();
        let patched = call(what, self.hosts().patch(&name, &PatchParams::default(), &patch)).await;
        match patched {
            Ok(host) => {
                self.take(host);
                Ok(())
            }
            Err(error) => {
                self.refresh_after(&error).await;
                Err(error)
            }
        }
    }

    /// Stores the status. Nobody else writes it; so where only the rest of the host was changed meanwhile, the
    /// status that was decided is still what happened, and is stored on top of that change.
    async fn write_status(&mut self, status: &BareMetalHostStatus) -> Result<(), ApiError> {
        let observed = self.host.status.clone();
        for _ in 0..STATUS_TRIES {
            let mut wanted = BareMetalHost::clone(&self.host);
            wanted.status = Some(status.clone());
            let name = self.host.name_any();
            let (api, params) = (self.hosts(), PostParams::default());
            match call(
                "store the host's status",
                api.replace_subresource("status", &name, &params, &wanted),
            )
            .await
            {
                Ok(host) => {
                    self.status_saved = true;
                    self.take(host);
                    return Ok(());
                }
                Err(error @ ApiError::Conflict { .. }) => {
                    let before = self.host.metadata.uid.clone();
                    self.refresh_after(&error).await;
                    let same = self.host.metadata.uid == before && self.host.status == observed;
                    if !same {
                        return Err(error);
                    }
                }
                Err(error) => {
                    self.refresh_after(&error).await;
                    return Err(error);
                }
            }
        }
        Err(ApiError::Conflict {
            what: "store the host's status",
        })
    }

    /// After a failed write: what was believed of the host may be wrong, so the server is asked.
    async fn refresh_after(&mut self, error: &ApiError) {
        let key = key_of(&*self.host);
        match error {
            ApiError::Conflict { .. } => {
                if let Ok(Some(host)) = found(call("read the host", self.hosts().get(&key.name)).await) {
                    self.shared.hosts.replace(host.clone());
                    self.host = Arc::new(host);
                }
            }
            ApiError::NotFound { .. } => {
                self.shared.hosts.remove(&key);
            }
            _ => {}
        }
    }

    fn hardware_data_api(&self) -> Api<HardwareData> {
        Api::namespaced(
            self.shared.client.clone(),
            &self.host.namespace().unwrap_or_default(),
        )
    }

    /// Creates the HardwareData or updates its content in place.
    async fn write_hardware_data(&self, details: &HardwareDetails) -> Result<(), ApiError> {
        let key = key_of(&*self.host);
        let api = self.hardware_data_api();
        let mut known = self.shared.hardware_data.get(&key);
        if known.is_none() {
            let object = self.new_hardware_data(details);
            match call(
                "create the HardwareData",
                api.create(&PostParams::default(), &object),
            )
            .await
            {
                Ok(created) => {
                    self.shared.hardware_data.put(created);
                    return Ok(());
                }
                Err(ApiError::Exists { .. }) => {
                    let found = call("read the HardwareData", api.get(&key.name)).await?;
                    known = Some(Arc::new(found));
                }
                Err(error) => return Err(error),
            }
        }
        let Some(known) = known else { return Ok(()) };
        if known.spec.hardware.as_ref() == Some(details) {
            return Ok(());
        }
        let mut wanted = HardwareData::clone(&known);
        wanted.spec.hardware = Some(details.clone());
        let written = call(
            "update the HardwareData",
            api.replace(&key.name, &PostParams::default(), &wanted),
        )
        .await?;
        self.shared.hardware_data.put(written);
        Ok(())
    }

    fn new_hardware_data(&self, details: &HardwareDetails) -> HardwareData {
        let mut object = HardwareData::new(
            &self.host.name_any(),
            HardwareDataSpec {
                hardware: Some(details.clone()),
            },
        );
        object.metadata.namespace = self.host.namespace();
        object.metadata.finalizers = Some(vec![annotations::HARDWARE_DATA_FINALIZER.to_owned()]);
        object.metadata.owner_references = self.host.controller_owner_ref(&()).map(|mut owner| {
            owner.block_owner_deletion = Some(true);
            vec![owner]
        });
        object
    }

    async fn release_hardware_data(&self) -> Result<(), ApiError> {
        let key = key_of(&*self.host);
        let Some(known) = self.shared.hardware_data.get(&key) else {
            return Ok(());
        };
        if !known
            .finalizers()
            .iter()
            .any(|name| name == annotations::HARDWARE_DATA_FINALIZER)
        {
            return Ok(());
        }
        let left = finalizers_without(
            known.metadata.finalizers.as_ref(),
            annotations::HARDWARE_DATA_FINALIZER,
        );
        let patch =
            json!({ "metadata": { "resourceVersion": known.metadata.resource_version, "finalizers": left } });
        let patched = call(
            "release the HardwareData",
            self.hardware_data_api()
                .patch(&key.name, &PatchParams::default(), &Patch::Merge(patch)),
        )
        .await;
        match found(patched) {
            Ok(Some(written)) => {
                self.shared.hardware_data.put(written);
                Ok(())
            }
            Ok(None) => {
                self.shared.hardware_data.remove(&key);
                Ok(())
            }
            Err(error) => {
                if let ApiError::Conflict { .. } = error
                    && let Ok(current) =
                        call("read the HardwareData", self.hardware_data_api().get(&key.name)).await
                {
                    self.shared.hardware_data.replace(current);
                }
                Err(error)
            }
        }
    }
}

/// The host's finalizers and ours, as metadata to merge.
fn finalizers_with(host: &BareMetalHost) -> Value {
    let mut finalizers = host.metadata.finalizers.clone().unwrap_or_default();
    finalizers.push(annotations::HOST_FINALIZER.to_owned());
    json!({ "finalizers": finalizers })
}

/// Finalizers without one of them; null where none is left.
fn finalizers_without(finalizers: Option<&Vec<String>>, ours: &str) -> Value {
    let left: Vec<&String> = finalizers
        .into_iter()
        .flatten()
        .filter(|name| *name != ours)
        .collect();
    if left.is_empty() { Value::Null } else { json!(left) }
}

/// Counts one metric of a decision.
fn count(shared: &Shared, key: &HostKey, metric: &Metric) {
    let m = &shared.metrics;
    let labels = HostLabels::from(key);
    match metric {
        Metric::HostError(error) => {
            m.host_error
                .get_or_create(&ErrorLabels {
                    error_type: error.event_reason().to_owned(),
                })
                .inc();
        }
        Metric::PowerChange { on } => m.count_power_change(key, *on),
        Metric::CredentialsMissing => drop(m.credentials_missing.inc()),
        Metric::CredentialsInvalid => drop(m.credentials_invalid.inc()),
        Metric::CredentialsUnhandledError => drop(m.credentials_unhandled_error.inc()),
        Metric::CredentialsUpdated => drop(m.credentials_updated.inc()),
        Metric::NoManagementAccess => drop(m.credentials_no_management_access.inc()),
        Metric::DelayedProvisioning => drop(m.delayed_provisioning.get_or_create(&labels).inc()),
        Metric::DelayedDeprovisioning => drop(m.delayed_deprovisioning.get_or_create(&labels).inc()),
        Metric::StateChange { from, to } => {
            let labels = StateLabels {
                prev_state: from.to_string(),
                new_state: to.to_string(),
            };
            m.state_change.get_or_create(&labels).inc();
        }
        Metric::OperationDuration { operation, duration } => {
            use bmo_lifecycle::TimedOperation as Timed;
            let histogram = match operation {
                Timed::Register => &m.register_duration,
                Timed::Inspect => &m.inspect_duration,
                Timed::Provision => &m.provision_duration,
                Timed::Deprovision => &m.deprovision_duration,
            };
            histogram.get_or_create(&labels).observe(duration.as_secs_f64());
        }
        Metric::RegistrationRequired => drop(m.host_registration_required.inc()),
        Metric::HostUnmanaged => drop(m.host_unmanaged.inc()),
        Metric::ProvisionerNotReady => drop(m.provisioner_not_ready.inc()),
        Metric::DeleteDelayedForDetached => drop(m.delete_delayed_for_detached.inc()),
        Metric::DeleteWithoutDeprovisioning => drop(m.delete_without_deprovisioning.inc()),
        Metric::DeleteWithoutPoweringOff => drop(m.delete_without_powering_off.inc()),
        Metric::WaitingForPreprovisioningImage => drop(m.waiting_for_preprov_image.inc()),
    }
}

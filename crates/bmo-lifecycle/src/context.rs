//! What a pass works on: the observed host, a working copy of its status, and everything collected on the way.

use std::sync::{Arc, Mutex, PoisonError};

use bmo_api::{BareMetalHost, BareMetalHostStatus, HardwareDetails, ProvisioningState, Time};
use bmo_provisioner::{BmcAccess, BmcCredentials, EventPublisher, HostData, Provisioner, ProvisionerFactory};

use crate::pass::{
    CredentialsRead, EventKind, HardwareDataChange, HostEvent, Metric, Observed, Operation, PassError,
    Policy, SecretVersion, SecretsChange, Services,
};

/// One pass over one host.
pub(crate) struct Pass<'a> {
    pub observed: &'a Observed,
    pub host: &'a BareMetalHost,
    pub policy: &'a Policy,
    pub services: Services<'a>,
    backend: &'a dyn ProvisionerFactory,
    provisioner: Option<Arc<dyn Provisioner>>,
    /// The status as stored.
    pub stored: BareMetalHostStatus,
    /// The status as it will be stored.
    pub status: BareMetalHostStatus,
    pub annotations_to_remove: Vec<String>,
    pub hardware_data: HardwareDataChange,
    pub secrets: SecretsChange,
    pub events: Arc<EventLog>,
    pub metrics: Vec<Metric>,
    /// Registration has succeeded in this pass.
    pub registered: bool,
    /// The back end was asked for a slot in this pass.
    pub capacity_asked: bool,
    checkpoint: Checkpoint,
}

/// What is undone when a handler fails half-way: the pass then ends as if the handler had not begun.
#[derive(Clone)]
struct Checkpoint {
    status: BareMetalHostStatus,
    annotations_to_remove: Vec<String>,
    hardware_data: HardwareDataChange,
    secrets: SecretsChange,
}

/// Events of a pass, the provisioner's and ours, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct EventLog(Mutex<Vec<HostEvent>>);

impl EventLog {
    fn push(&self, event: HostEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    pub(crate) fn take(&self) -> Vec<HostEvent> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventPublisher for EventLog {
    fn publish(&self, reason: &str, message: &str) {
        self.push(HostEvent {
            kind: EventKind::Normal,
            reason: reason.to_owned(),
            message: message.to_owned(),
        });
    }
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        observed: &'a Observed,
        policy: &'a Policy,
        backend: &'a dyn ProvisionerFactory,
        services: Services<'a>,
    ) -> Self {
        let stored = observed.host.status.clone().unwrap_or_default();
        let checkpoint = Checkpoint {
            status: stored.clone(),
            annotations_to_remove: Vec::new(),
            hardware_data: HardwareDataChange::Keep,
            secrets: SecretsChange::Keep,
        };
        Self {
            observed,
            host: &observed.host,
            policy,
            services,
            backend,
            provisioner: None,
            status: stored.clone(),
            stored,
            annotations_to_remove: Vec::new(),
            hardware_data: HardwareDataChange::Keep,
            secrets: SecretsChange::Keep,
            events: Arc::default(),
            metrics: Vec::new(),
            registered: false,
            capacity_asked: false,
            checkpoint,
        }
    }

    /// The state the host is in, transitions of this pass included.
    pub(crate) fn state(&self) -> &ProvisioningState {
        &self.status.provisioning.state
    }

    /// Whether the *stored* status already names the present state: only then may a destructive call be made.
    pub(crate) fn state_is_stored(&self) -> bool {
        self.stored.provisioning.state == self.status.provisioning.state
    }

    /// The time of the pass as it is stored, in whole seconds.
    pub(crate) fn now(&self) -> Time {
        bmo_api::time::whole_seconds(self.observed.now)
    }

    /// The Secret and its content, where it can be used.
    pub(crate) fn credentials(&self) -> Option<(&'a SecretVersion, &'a BmcCredentials)> {
        match &self.observed.credentials {
            CredentialsRead::Found { secret, credentials } => Some((secret, credentials)),
            CredentialsRead::NotNeeded | CredentialsRead::Problem(_) => None,
        }
    }

    /// The provisioner of this pass, made at the first call.
    pub(crate) async fn provisioner(&mut self) -> Result<Arc<dyn Provisioner>, PassError> {
        if let Some(provisioner) = &self.provisioner {
            return Ok(Arc::clone(provisioner));
        }
        let events: Arc<dyn EventPublisher> = Arc::clone(&self.events) as Arc<dyn EventPublisher>;
        let made = self.backend.new_provisioner(self.host_data(), events).await;
        let made: Arc<dyn Provisioner> = made
            .map_err(|error| PassError::BackEnd {
                operation: Operation::Connect,
                error,
            })?
            .into();
        self.provisioner = Some(Arc::clone(&made));
        Ok(made)
    }

    /// The provisioner, if this pass has made one.
    pub(crate) fn provisioner_made(&self) -> Option<Arc<dyn Provisioner>> {
        self.provisioner.clone()
    }

    fn host_data(&self) -> HostData {
        let metadata = &self.host.metadata;
        let bmc = &self.host.spec.bmc;
        let credentials = self
            .credentials()
            .map(|(_, credentials)| credentials.clone())
            .unwrap_or_default();
        HostData {
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            labels: metadata.labels.clone().unwrap_or_default(),
            annotations: metadata.annotations.clone().unwrap_or_default(),
            bmc: (!bmc.address.is_empty()).then(|| BmcAccess {
                address: bmc.address.clone(),
                credentials,
                disable_certificate_verification: bmc.disable_certificate_verification,
            }),
            boot_mac_address: self.host.spec.boot_mac_address.clone(),
            provisioner_id: self.stored.provisioning.id.clone(),
        }
    }

    /// The CPU architecture to assume: the user's, else the one found, else the operator's own.
    pub(crate) fn cpu_architecture(&self) -> String {
        let found = |details: Option<&HardwareDetails>| {
            details
                .map(|details| details.cpu.arch.clone())
                .unwrap_or_default()
        };
        let data = self
            .observed
            .hardware_data
            .as_ref()
            .and_then(|data| data.spec.hardware.as_ref());
        [
            self.host.spec.architecture.clone(),
            found(self.status.hardware.as_ref()),
            found(data),
        ]
        .into_iter()
        .find(|known| !known.is_empty())
        .unwrap_or_else(|| self.policy.operator_architecture.clone())
    }

    /// Publishes an event of the operator's own.
    pub(crate) fn event(&mut self, kind: EventKind, reason: &str, message: impl Into<String>) {
        self.events.push(HostEvent {
            kind,
            reason: reason.to_owned(),
            message: message.into(),
        });
    }

    /// Counts something.
    pub(crate) fn count(&mut self, metric: Metric) {
        self.metrics.push(metric);
    }

    /// Asks for an annotation to be removed when the pass is committed.
    pub(crate) fn remove_annotation(&mut self, key: &str) {
        if self.host.annotation(key).is_some() && !self.annotations_to_remove.iter().any(|known| known == key)
        {
            self.annotations_to_remove.push(key.to_owned());
        }
    }

    /// Remembers what to return to when the next handler fails.
    pub(crate) fn set_checkpoint(&mut self) {
        self.checkpoint = Checkpoint {
            status: self.status.clone(),
            annotations_to_remove: self.annotations_to_remove.clone(),
            hardware_data: self.hardware_data.clone(),
            secrets: self.secrets.clone(),
        };
    }

    /// Returns to the last checkpoint.
    pub(crate) fn return_to_checkpoint(&mut self) {
        let Checkpoint {
            status,
            annotations_to_remove,
            hardware_data,
            secrets,
        } = self.checkpoint.clone();
        self.status = status;
        self.annotations_to_remove = annotations_to_remove;
        self.hardware_data = hardware_data;
        self.secrets = secrets;
    }
}

/// Names the operation of a failed call.
pub(crate) trait Called<T> {
    /// The answer, or the error with the operation it belongs to.
    fn called(self, operation: Operation) -> Result<T, PassError>;
}

impl<T> Called<T> for bmo_provisioner::Result<T> {
    fn called(self, operation: Operation) -> Result<T, PassError> {
        self.map_err(|error| PassError::BackEnd { operation, error })
    }
}

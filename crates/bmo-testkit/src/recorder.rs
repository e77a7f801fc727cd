//! Stands before any provisioner and notes each call together with the state that was stored at that moment.
//!
//! What is stored is told by whoever commits ([`Recorder::stored`]). A call is noted before it is passed on, so that
//! a test sees it whatever becomes of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bmo_api::{ProvisioningState, RebootMode};
use bmo_provisioner::{
    AdoptRequest, Capabilities, DeprovisionRequest, DetachRequest, EventPublisher, HardwareState, Health,
    HostConfigData, HostData, InspectRequest, Inspection, PowerOffRequest, PowerOnRequest, Preparation,
    PrepareRequest, Progress, ProvisionRequest, Provisioner, ProvisionerFactory, RegisterRequest,
    Registration, Result,
};

use crate::scripted::Method;

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which method.
    pub method: Method,
    /// The state that was stored at that moment.
    pub stored: ProvisioningState,
    /// What it was asked with, as far as tests want to know.
    pub detail: Detail,
}

/// What a call was made with.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Nothing of interest.
    None,
    /// A registration.
    Register(Box<RegisterRequest>),
    /// A preparation; whether something is to be changed.
    Prepare {
        /// Something wanted differs from what there is.
        unprepared: bool,
    },
    /// A deployment.
    Provision(Box<ProvisionRequest>),
    /// A detachment.
    Detach {
        /// Whether running work is aborted.
        force: bool,
    },
    /// Switching off.
    PowerOff {
        /// How.
        mode: RebootMode,
    },
}

impl Call {
    /// Whether the call must not be made unless the stored state says so, and which state that is.
    pub fn needs_stored(&self) -> Option<ProvisioningState> {
        match (self.method, &self.detail) {
            (Method::Provision, _) => Some(ProvisioningState::Provisioning),
            (Method::Deprovision, _) => Some(ProvisioningState::Deprovisioning),
            (Method::Delete, _) => Some(ProvisioningState::Deleting),
            (Method::Prepare, Detail::Prepare { unprepared: true }) => Some(ProvisioningState::Preparing),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Notes {
    stored: ProvisioningState,
    calls: Vec<Call>,
}

/// The factory that notes and passes on.
#[derive(Clone)]
pub struct Recorder {
    inner: Arc<dyn ProvisionerFactory>,
    notes: Arc<Mutex<Notes>>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// Notes what is called on `inner`.
    pub fn new(inner: Arc<dyn ProvisionerFactory>) -> Self {
        Self {
            inner,
            notes: Arc::default(),
        }
    }

    /// Tells what is stored from now on.
    pub fn stored(&self, state: ProvisioningState) {
        self.lock().stored = state;
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// The calls of one method so far.
    pub fn calls_of(&self, method: Method) -> Vec<Call> {
        self.calls()
            .into_iter()
            .filter(|call| call.method == method)
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ProvisionerFactory for Recorder {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        let inner = self.inner.new_provisioner(host, events).await?;
        Ok(Box::new(RecordedProvisioner {
            inner,
            notes: Arc::clone(&self.notes),
        }))
    }
}

struct RecordedProvisioner {
    inner: Box<dyn Provisioner>,
    notes: Arc<Mutex<Notes>>,
}

impl RecordedProvisioner {
    fn note(&self, method: Method, detail: Detail) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = notes.stored.clone();
        notes.calls.push(Call {
            method,
            stored,
            detail,
        });
    }
}

#[async_trait]
impl Provisioner for RecordedProvisioner {
    async fn register(&self, request: RegisterRequest) -> Result<Registration> {
        self.note(Method::Register, Detail::Register(Box::new(request.clone())));
        self.inner.register(request).await
    }

    async fn provision(&self, request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress> {
        self.note(Method::Provision, Detail::Provision(Box::new(request.clone())));
        self.inner.provision(request, config).await
    }

    async fn deprovision(&self, request: DeprovisionRequest) -> Result<Progress> {
        self.note(Method::Deprovision, Detail::None);
        self.inner.deprovision(request).await
    }

    async fn delete(&self) -> Result<Progress> {
        self.note(Method::Delete, Detail::None);
        self.inner.delete().await
    }

    async fn power_on(&self, request: PowerOnRequest) -> Result<Progress> {
        self.note(Method::PowerOn, Detail::None);
        self.inner.power_on(request).await
    }

    async fn power_off(&self, request: PowerOffRequest) -> Result<Progress> {
        self.note(Method::PowerOff, Detail::PowerOff { mode: request.mode });
        self.inner.power_off(request).await
    }

    async fn inspect_hardware(&self, request: InspectRequest) -> Result<Inspection> {
        self.note(Method::Inspect, Detail::None);
        self.inner.inspect_hardware(request).await
    }

    async fn update_hardware_state(&self) -> Result<HardwareState> {
        self.note(Method::ReadPower, Detail::None);
        self.inner.update_hardware_state().await
    }

    async fn adopt(&self, request: AdoptRequest) -> Result<Progress> {
        self.note(Method::Adopt, Detail::None);
        self.inner.adopt(request).await
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        self.note(
            Method::Prepare,
            Detail::Prepare {
                unprepared: request.unprepared,
            },
        );
        self.inner.prepare(request).await
    }

    async fn detach(&self, request: DetachRequest) -> Result<Progress> {
        self.note(Method::Detach, Detail::Detach { force: request.force });
        self.inner.detach(request).await
    }

    async fn has_capacity(&self) -> Result<bool> {
        self.note(Method::Capacity, Detail::None);
        self.inner.has_capacity().await
    }

    async fn has_power_failure(&self) -> bool {
        self.inner.has_power_failure().await
    }

    async fn get_health(&self) -> Option<Health> {
        self.inner.get_health().await
    }
}

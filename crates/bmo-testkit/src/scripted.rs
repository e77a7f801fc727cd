//! A provisioner whose answers a test writes down.
//!
//! Each method has a queue of answers, then a standing answer. Without either it says that it is done at once, as a
//! back end does that never has to wait: registration gives the id `scripted`, inspection finds [`Answer::Details`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bmo_api::HardwareDetails;
use bmo_provisioner::{
    AdoptRequest, Capabilities, DeprovisionRequest, DetachRequest, EventPublisher, HardwareState, Health,
    HostConfigData, HostData, InspectRequest, Inspection, PowerOffRequest, PowerOnRequest, Preparation,
    PrepareRequest, Progress, ProvisionRequest, Provisioner, ProvisionerError, ProvisionerFactory,
    RegisterRequest, Registration, Result,
};

/// A method of a provisioner, as far as hosts call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// `new_provisioner`; only [`Answer::Error`] counts.
    New,
    /// `register`.
    Register,
    /// `inspect_hardware`.
    Inspect,
    /// `prepare`.
    Prepare,
    /// `provision`.
    Provision,
    /// `deprovision`.
    Deprovision,
    /// `adopt`.
    Adopt,
    /// `detach`.
    Detach,
    /// `delete`.
    Delete,
    /// `power_on`.
    PowerOn,
    /// `power_off`.
    PowerOff,
    /// `update_hardware_state`.
    ReadPower,
    /// `has_capacity`.
    Capacity,
    /// `has_power_failure`.
    PowerFailure,
    /// `get_health`.
    Health,
}

/// What a method answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Done.
    Done,
    /// Done, without having started anything (inspection, preparation).
    DoneNotStarted,
    /// Look again after so many seconds.
    Pending(u64),
    /// Failed with this text.
    Failed(&'static str),
    /// The call fails.
    Error(ProvisionerError),
    /// Registration: the id, then what follows.
    Id(&'static str, Box<Answer>),
    /// Inspection: done with these details.
    Details(Box<HardwareDetails>),
    /// Power state, capacity, power failure.
    Flag(bool),
    /// Power state: unknown.
    Unknown,
    /// Health.
    Health(Health),
}

#[derive(Debug, Default)]
struct Script {
    queued: BTreeMap<Method, VecDeque<Answer>>,
    standing: BTreeMap<Method, Answer>,
}

/// The factory; its clones share the script.
#[derive(Clone, Debug, Default)]
pub struct ScriptedProvisioner {
    script: Arc<Mutex<Script>>,
}

impl ScriptedProvisioner {
    /// Everything is done at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// What `method` answers from now on, once queued answers are used up.
    #[must_use]
    pub fn always(self, method: Method, answer: Answer) -> Self {
        self.set(method, answer);
        self
    }

    /// As [`Self::always`], in the middle of a test.
    pub fn set(&self, method: Method, answer: Answer) {
        self.lock().standing.insert(method, answer);
    }

    /// What `method` answers next, once.
    pub fn next(&self, method: Method, answers: impl IntoIterator<Item = Answer>) {
        self.lock().queued.entry(method).or_default().extend(answers);
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, method: Method) -> Answer {
        let mut script = self.lock();
        let queued = script.queued.get_mut(&method).and_then(VecDeque::pop_front);
        queued
            .or_else(|| script.standing.get(&method).cloned())
            .unwrap_or(Answer::Done)
    }

    fn progress(&self, method: Method) -> Result<Progress> {
        progress(self.answer(method))
    }
}

fn progress(answer: Answer) -> Result<Progress> {
    Ok(match answer {
        Answer::Pending(seconds) => Progress::pending(Duration::from_secs(seconds), "the script"),
        Answer::Failed(message) => Progress::failed(message),
        Answer::Error(error) => return Err(error),
        Answer::Id(_, then) => return progress(*then),
        _ => Progress::DONE,
    })
}

#[async_trait]
impl ProvisionerFactory for ScriptedProvisioner {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    async fn new_provisioner(
        &self,
        _host: HostData,
        _events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        match self.answer(Method::New) {
            Answer::Error(error) => Err(error),
            _ => Ok(Box::new(self.clone())),
        }
    }
}

#[async_trait]
impl Provisioner for ScriptedProvisioner {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        let answer = self.answer(Method::Register);
        let id = if let Answer::Id(id, _) = &answer {
            *id
        } else {
            "scripted"
        };
        Ok(Registration {
            provisioner_id: Some(id.to_owned()),
            progress: progress(answer)?,
        })
    }

    async fn provision(&self, _request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
        self.progress(Method::Provision)
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        self.progress(Method::Deprovision)
    }

    async fn delete(&self) -> Result<Progress> {
        self.progress(Method::Delete)
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        self.progress(Method::PowerOn)
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        self.progress(Method::PowerOff)
    }

    async fn inspect_hardware(&self, _request: InspectRequest) -> Result<Inspection> {
        let answer = self.answer(Method::Inspect);
        let started = !matches!(answer, Answer::DoneNotStarted);
        let details = match &answer {
            Answer::Details(details) => details.clone(),
            _ => Box::new(HardwareDetails {
                hostname: "scripted".to_owned(),
                ..HardwareDetails::default()
            }),
        };
        Ok(Inspection {
            started,
            progress: progress(answer)?.map(|()| details),
        })
    }

    async fn update_hardware_state(&self) -> Result<HardwareState> {
        match self.answer(Method::ReadPower) {
            Answer::Flag(on) => Ok(HardwareState { powered_on: Some(on) }),
            Answer::Error(error) => Err(error),
            _ => Ok(HardwareState::default()),
        }
    }

    async fn adopt(&self, _request: AdoptRequest) -> Result<Progress> {
        self.progress(Method::Adopt)
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        let answer = self.answer(Method::Prepare);
        let started = request.unprepared && !matches!(answer, Answer::DoneNotStarted);
        Ok(Preparation {
            started,
            progress: progress(answer)?,
        })
    }

    async fn detach(&self, _request: DetachRequest) -> Result<Progress> {
        self.progress(Method::Detach)
    }

    async fn has_capacity(&self) -> Result<bool> {
        match self.answer(Method::Capacity) {
            Answer::Flag(free) => Ok(free),
            Answer::Error(error) => Err(error),
            _ => Ok(true),
        }
    }

    async fn has_power_failure(&self) -> bool {
        matches!(self.answer(Method::PowerFailure), Answer::Flag(true))
    }

    async fn get_health(&self) -> Option<Health> {
        match self.answer(Method::Health) {
            Answer::Health(health) => Some(health),
            _ => None,
        }
    }
}

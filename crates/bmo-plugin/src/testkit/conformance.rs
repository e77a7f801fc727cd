//! The life of one host, as the operator drives it, and the rules each answer must keep.
//!
//! Every pass makes a new provisioner, as the operator does: nothing may hang on one that is gone. Every finished step
//! is asked for once more, because the operator may have crashed before it stored the answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bmo_api::{Image, ProvisioningState};
use bmo_provisioner::{
    BmcAccess, BmcCredentials, Capability, DeprovisionRequest, ErrorKind, HostData, InspectRequest,
    PowerOffRequest, PowerOnRequest, PrepareRequest, Progress, ProvisionRequest, Provisioner,
    ProvisionerError, ProvisionerFactory, RegisterRequest,
};

use super::{FixedHostConfig, RecordedEvents};

/// The host that is walked through its life.
#[derive(Clone, Debug)]
pub struct Life {
    /// Its data; the id is filled in from registration.
    pub host: HostData,
    /// The image it gets.
    pub image: Option<Image>,
    /// The user's data it gets.
    pub config: FixedHostConfig,
    /// How often a step may be pending before it counts as never ending.
    pub patience: u32,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            host: HostData {
                namespace: "conformance".to_owned(),
                name: "host-0".to_owned(),
                uid: "6a0c2b1e-0000-4000-8000-000000000001".to_owned(),
                bmc: Some(BmcAccess {
                    address: "redfish://192.0.2.1/redfish/v1/Systems/1".to_owned(),
                    credentials: BmcCredentials {
                        username: "user".into(),
                        password: "password".into(),
                    },
                    disable_certificate_verification: true,
                }),
                boot_mac_address: "00:00:5e:00:53:01".to_owned(),
                ..HostData::default()
            },
            image: None,
            config: FixedHostConfig::default(),
            patience: 1000,
        }
    }
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// In which step.
    pub step: &'static str,
    /// What was found, and what the contract asks for.
    pub text: String,
}

/// What the suite found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Steps that were walked.
    pub steps: Vec<&'static str>,
    /// Rules that were broken; none if the factory conforms.
    pub findings: Vec<Finding>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} steps, {} findings", self.steps.len(), self.findings.len())?;
        for finding in &self.findings {
            writeln!(f, "  {}: {}", finding.step, finding.text)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// Panics with every finding, for tests.
    #[allow(clippy::panic, reason = "fails a test")]
    #[track_caller]
    pub fn assert(&self) {
        assert!(
            self.findings.is_empty(),
            "the factory breaks the contract: {self}"
        );
    }

    fn found(&mut self, step: &'static str, text: impl Into<String>) {
        self.findings.push(Finding {
            step,
            text: text.into(),
        });
    }
}

/// Walks `life` through the factory. Waits as long as the provisioner asks to (in a test with tokio's paused clock
/// that takes no time).
pub async fn conformance(factory: &dyn ProvisionerFactory, life: &Life) -> Verdict {
    let mut walk = Walk {
        factory,
        life,
        host: life.host.clone(),
        verdict: Verdict::default(),
    };
    walk.whole_life().await;
    walk.verdict
}

struct Walk<'a> {
    factory: &'a dyn ProvisionerFactory,
    life: &'a Life,
    host: HostData,
    verdict: Verdict,
}

/// A step that did not end; the reason is among the findings.
struct Stuck;

type Step = Result<(), Stuck>;

/// Runs a polled method to its end in fresh passes, and then once more.
macro_rules! step {
    ($walk:ident, $name:literal, |$p:ident| $call:expr) => {{
        $walk.verdict.steps.push($name);
        let mut pending = 0;
        loop {
            let $p = $walk.pass($name).await?;
            let progress = $walk.answer($name, $call)?;
            drop($p);
            if $walk.ended($name, progress, &mut pending).await? {
                break;
            }
        }
        let $p = $walk.pass($name).await?;
        let again = $walk.answer($name, $call)?;
        if let Progress::Failed { message } = again {
            $walk.verdict.found(
                $name,
                format!("failed when asked again after it was done: {message}"),
            );
        }
    }};
}

impl Walk<'_> {
    async fn whole_life(&mut self) {
        if self.register().await.is_err() {
            return;
        }
        self.cheap_questions().await;
        let _ = self.work().await;
        let _ = self.removal().await;
    }

    async fn register(&mut self) -> Step {
        const STEP: &str = "register";
        self.verdict.steps.push(STEP);
        let mut pending = 0;
        loop {
            let provisioner = self.pass(STEP).await?;
            let request = RegisterRequest {
                state: ProvisioningState::Registering,
                ..RegisterRequest::default()
            };
            let registration = self.answer(STEP, provisioner.register(request).await)?;
            if let Some(id) = registration.provisioner_id.filter(|id| !id.is_empty()) {
                self.host.provisioner_id = id;
            }
            if self.ended(STEP, registration.progress, &mut pending).await? {
                break;
            }
        }
        if self.host.provisioner_id.is_empty() {
            self.verdict.found(
                STEP,
                "complete, but no provisionerID was ever given; the operator stores it and passes it back",
            );
        }
        let known = self.host.provisioner_id.clone();
        let provisioner = self.pass(STEP).await?;
        let again = self.answer(STEP, provisioner.register(RegisterRequest::default()).await)?;
        if again
            .provisioner_id
            .is_some_and(|id| !id.is_empty() && id != known)
        {
            self.verdict.found(
                STEP,
                "another provisionerID when asked again; a host keeps its id",
            );
        }
        if let Progress::Failed { message } = again.progress {
            self.verdict.found(
                STEP,
                format!("failed when asked again after it was done: {message}"),
            );
        }
        Ok(())
    }

    async fn work(&mut self) -> Step {
        if self.factory.capabilities().has(Capability::Inspection) {
            self.inspect().await?;
        }
        step!(self, "prepare", |p| p
            .prepare(PrepareRequest::default())
            .await
            .map(|answer| answer.progress));
        let (image, config) = (self.life.image.clone(), self.life.config.clone());
        let provision = ProvisionRequest {
            image,
            ..ProvisionRequest::default()
        };
        step!(self, "provision", |p| p
            .provision(provision.clone(), &config)
            .await);
        step!(self, "power_on", |p| p.power_on(PowerOnRequest::default()).await);
        step!(self, "power_off", |p| p
            .power_off(PowerOffRequest::default())
            .await);
        step!(self, "deprovision", |p| p
            .deprovision(DeprovisionRequest::default())
            .await);
        Ok(())
    }

    async fn inspect(&mut self) -> Step {
        const STEP: &str = "inspect_hardware";
        self.verdict.steps.push(STEP);
        let mut pending = 0;
        loop {
            let provisioner = self.pass(STEP).await?;
            let inspection = self.answer(
                STEP,
                provisioner.inspect_hardware(InspectRequest::default()).await,
            )?;
            if self
                .ended(STEP, inspection.progress.map(|_details| ()), &mut pending)
                .await?
            {
                return Ok(());
            }
        }
    }

    /// The record goes, and a host without one is no error for those who want it gone.
    async fn removal(&mut self) -> Step {
        const STEP: &str = "delete";
        self.verdict.steps.push(STEP);
        let mut pending = 0;
        loop {
            let provisioner = self.pass(STEP).await?;
            match gone(provisioner.delete().await) {
                Ok(progress) => {
                    if self.ended(STEP, progress, &mut pending).await? {
                        break;
                    }
                }
                Err(error) => return self.failed(STEP, &error),
            }
        }
        let provisioner = self.pass(STEP).await?;
        if let Err(error) = gone(provisioner.delete().await) {
            self.verdict.found(
                STEP,
                format!("an error when asked again after it was done: {error}"),
            );
        }
        Ok(())
    }

    /// Questions asked on most passes: they must have an answer.
    async fn cheap_questions(&mut self) {
        const STEP: &str = "questions";
        self.verdict.steps.push(STEP);
        let Ok(p) = self.pass(STEP).await else { return };
        let answers = [
            (
                "update_hardware_state",
                p.update_hardware_state().await.map(|_| ()),
            ),
            ("has_capacity", p.has_capacity().await.map(|_| ())),
            ("preprovisioning_image_formats", self.formats(&*p).await),
        ];
        for (method, answer) in answers {
            if let Err(error) = answer {
                self.verdict.found(STEP, format!("{method}: {error}"));
            }
        }
        p.has_power_failure().await;
        p.get_health().await;
    }

    async fn formats(&self, p: &dyn Provisioner) -> Result<(), ProvisionerError> {
        match p.preprovisioning_image_formats().await? {
            Some(formats) if formats.is_empty() => Err(ProvisionerError::transient(
                "an empty list; answer None where no image is to be built",
            )),
            _ => Ok(()),
        }
    }

    async fn pass(&mut self, step: &'static str) -> Result<Box<dyn Provisioner>, Stuck> {
        let events = Arc::new(RecordedEvents::default());
        for _ in 0..self.life.patience {
            match self
                .factory
                .new_provisioner(self.host.clone(), events.clone())
                .await
            {
                Ok(provisioner) => return Ok(provisioner),
                Err(error) if error.kind == ErrorKind::NotReady => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Err(error) => return self.failed(step, &error.context("no provisioner")),
            }
        }
        self.verdict.found(step, "the factory is never ready");
        Err(Stuck)
    }

    fn answer<T>(&mut self, step: &'static str, outcome: Result<T, ProvisionerError>) -> Result<T, Stuck> {
        outcome.or_else(|error| self.failed(step, &error))
    }

    fn failed<T>(&mut self, step: &'static str, error: &ProvisionerError) -> Result<T, Stuck> {
        self.verdict
            .found(step, format!("error ({:?}): {error}", error.kind));
        Err(Stuck)
    }

    /// Whether a step is done; waits where it is not.
    async fn ended(
        &mut self,
        step: &'static str,
        progress: Progress,
        pending: &mut u32,
    ) -> Result<bool, Stuck> {
        match progress {
            Progress::Complete { .. } => Ok(true),
            Progress::Failed { message } => {
                self.verdict.found(step, format!("failed: {message}"));
                Err(Stuck)
            }
            Progress::Pending { after, waiting_for } => {
                *pending += 1;
                if *pending > self.life.patience {
                    self.verdict.found(
                        step,
                        format!("pending {pending} times, waiting for {waiting_for:?}"),
                    );
                    return Err(Stuck);
                }
                tokio::time::sleep(after).await;
                Ok(false)
            }
        }
    }
}

/// A record that is not there is as good as deleted.
fn gone(outcome: Result<Progress, ProvisionerError>) -> Result<Progress, ProvisionerError> {
    match outcome {
        Err(error) if error.kind == ErrorKind::NeedsRegistration => Ok(Progress::DONE),
        other => other,
    }
}

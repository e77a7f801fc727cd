//! Hosts without a cluster: one host, its Secret and HardwareData, passes and commits in virtual time.
//!
//! A commit is carried out write by write, in the order a controller must keep. [`World::crash_after_writes`] ends it
//! between any two writes, as a crash or a conflict would; the next pass then starts from what is stored.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that goes wrong ends here"
)]

use std::sync::Arc;
use std::time::Duration;

use bmo_api::{
    BareMetalHost, BareMetalHostStatus, HardwareData, HardwareDataSpec, ObjectMeta, ProvisioningState, Time,
    annotations,
};
use bmo_lifecycle::{
    CredentialsProblem, CredentialsRead, CredentialsWish, Decision, FinalizerChange, HardwareDataChange,
    HostEvent, Metric, NetworkDataRead, NoPullSecrets, Observed, Outcome, Policy, SecretVersion,
    SecretsChange, Services, credentials_wish, decide,
};
use bmo_provisioner::{BmcCredentials, NoHostConfig, ProvisionerFactory};
use jiff::Timestamp;

use crate::hosts::SECRET_VERSION;
use crate::recorder::Recorder;

/// When every world begins.
pub const START: Timestamp = Timestamp::UNIX_EPOCH;

/// A write to the API, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The host: finalizer or annotations.
    Host,
    /// The host's status.
    Status,
    /// A Secret.
    Secret,
    /// The HardwareData.
    HardwareData,
}

/// The Secret with the BMC's credentials.
#[derive(Clone, Debug)]
pub struct Secret {
    /// What it holds, or why that cannot be used.
    pub content: Result<BmcCredentials, CredentialsProblem>,
    /// Its version.
    pub version: String,
    /// Whether it has our label, owner and finalizer.
    pub claimed: bool,
}

/// What became of a pass.
#[derive(Clone, Debug)]
pub struct PassReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the status was written.
    pub status_written: bool,
    /// Whether the commit was cut off.
    pub crashed: bool,
    /// What was counted.
    pub metrics: Vec<Metric>,
}

/// One host and what belongs to it.
#[derive(Debug)]
pub struct World {
    /// The host; none once it is gone.
    pub host: Option<BareMetalHost>,
    /// Its HardwareData.
    pub hardware_data: Option<HardwareData>,
    /// Its Secret; none if it does not exist.
    pub secret: Option<Secret>,
    /// Network data for the preprovisioning image.
    pub network_data: NetworkDataRead,
    /// Policy of all passes.
    pub policy: Policy,
    /// The provisioner, with notes of all calls.
    pub backend: Recorder,
    /// The present time.
    pub now: Timestamp,
    /// Every write so far.
    pub writes: Vec<Write>,
    /// Every event so far.
    pub events: Vec<HostEvent>,
    /// Every state that was stored, in order, without repetitions.
    pub states: Vec<ProvisioningState>,
    /// How many writes the next commit still gets through before it is cut off; `None`: all of them.
    pub crash_after_writes: Option<usize>,
}

impl World {
    /// A world around `host`, with a good Secret that is not claimed yet.
    pub fn new(host: BareMetalHost, backend: impl ProvisionerFactory + 'static) -> Self {
        let content = Ok(BmcCredentials {
            username: "admin".into(),
            password: "secret".into(),
        });
        let mut world = Self {
            host: Some(host),
            hardware_data: None,
            secret: Some(Secret {
                content,
                version: SECRET_VERSION.to_owned(),
                claimed: false,
            }),
            network_data: NetworkDataRead::NotNeeded,
            policy: Policy {
                operator_architecture: "x86_64".to_owned(),
                ..Policy::default()
            },
            backend: Recorder::new(Arc::new(backend)),
            now: START,
            writes: Vec::new(),
            events: Vec::new(),
            states: Vec::new(),
            crash_after_writes: None,
        };
        world.note_stored();
        world
    }

    /// The stored host.
    ///
    /// # Panics
    /// If it is gone.
    pub fn stored(&self) -> &BareMetalHost {
        self.host.as_ref().expect("the host is gone")
    }

    /// The stored status; the default where there is none.
    pub fn status(&self) -> BareMetalHostStatus {
        self.host
            .as_ref()
            .and_then(|host| host.status.clone())
            .unwrap_or_default()
    }

    /// The stored state.
    pub fn state(&self) -> ProvisioningState {
        self.status().provisioning.state
    }

    /// Changes the spec as a user does.
    pub fn edit(&mut self, change: impl FnOnce(&mut BareMetalHost)) {
        let host = self.host.as_mut().expect("the host is gone");
        let before = host.spec.clone();
        change(host);
        if host.spec != before {
            host.metadata.generation = host.metadata.generation.map(|generation| generation + 1);
        }
    }

    /// Sets an annotation as a user does.
    pub fn annotate(&mut self, key: &str, value: &str) {
        self.edit(|host| {
            host.metadata
                .annotations
                .get_or_insert_default()
                .insert(key.to_owned(), value.to_owned());
        });
    }

    /// Removes an annotation as a user does.
    pub fn remove_annotation(&mut self, key: &str) {
        self.edit(|host| {
            host.metadata.annotations.get_or_insert_default().remove(key);
        });
    }

    /// Deletes the host as a user does.
    pub fn delete(&mut self) {
        let now = self.time();
        self.edit(|host| {
            host.metadata.deletion_timestamp.get_or_insert(now);
            host.metadata.generation = host.metadata.generation.map(|generation| generation + 1);
        });
    }

    /// Puts other content into the Secret, which gives it another version.
    pub fn change_secret(&mut self, content: Result<BmcCredentials, CredentialsProblem>) {
        if let Some(secret) = &mut self.secret {
            secret.content = content;
            secret.version.push('0');
        }
    }

    fn time(&self) -> Time {
        bmo_api::time::whole_seconds(self.now)
    }

    /// Tells the recorder what is stored.
    fn note_stored(&mut self) {
        let state = self.state();
        self.backend.stored(state.clone());
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
    }

    /// One pass and its commit.
    pub async fn pass(&mut self) -> PassReport {
        let observed = self.observe();
        let services = Services {
            config: &NoHostConfig,
            pull_secrets: &NoPullSecrets,
        };
        let decision = decide(&observed, &self.policy, &self.backend, services).await;
        let report = PassReport {
            outcome: decision.outcome.clone(),
            status_written: decision.status.is_some(),
            crashed: false,
            metrics: decision.metrics.clone(),
        };
        let crashed = self.commit(decision).is_err();
        self.note_stored();
        PassReport { crashed, ..report }
    }

    fn observe(&mut self) -> Observed {
        let host = self.stored().clone();
        let credentials = self.read_credentials(&host);
        Observed {
            host,
            hardware_data: self.hardware_data.clone(),
            credentials,
            preprovisioning_network_data: self.network_data.clone(),
            now: self.now,
            jitter: 0.5,
        }
    }

    fn read_credentials(&mut self, host: &BareMetalHost) -> CredentialsRead {
        let wish = credentials_wish(host);
        if wish == CredentialsWish::NotNeeded {
            return CredentialsRead::NotNeeded;
        }
        let (namespace, name) = host.credentials_key();
        if name.is_empty() {
            return CredentialsRead::Problem(CredentialsProblem::EmptyName);
        }
        let Some(secret) = &mut self.secret else {
            return CredentialsRead::Problem(CredentialsProblem::Missing { namespace, name });
        };
        if wish == CredentialsWish::Claim && !secret.claimed {
            secret.claimed = true;
            self.writes.push(Write::Secret);
        }
        if host.spec.bmc.address.is_empty() {
            return CredentialsRead::Problem(CredentialsProblem::EmptyAddress);
        }
        match &secret.content {
            Ok(credentials) => CredentialsRead::Found {
                secret: SecretVersion {
                    namespace,
                    name,
                    version: secret.version.clone(),
                },
                credentials: credentials.clone(),
            },
            Err(problem) => CredentialsRead::Problem(problem.clone()),
        }
    }

    /// Counts a write, unless the commit is cut off before it.
    fn write(&mut self, write: Write) -> Result<(), Crash> {
        if let Some(left) = &mut self.crash_after_writes {
            if *left == 0 {
                self.crash_after_writes = None;
                return Err(Crash);
            }
            *left -= 1;
        }
        self.writes.push(write);
        Ok(())
    }

    fn commit(&mut self, decision: Decision) -> Result<(), Crash> {
        let Decision {
            status,
            finalizer,
            annotations_to_remove,
            hardware_data,
            secrets,
            events,
            ..
        } = decision;
        if finalizer == FinalizerChange::Add {
            self.write(Write::Host)?;
            let host = self.host.as_mut().expect("the host is gone");
            host.metadata
                .finalizers
                .get_or_insert_default()
                .push(annotations::HOST_FINALIZER.to_owned());
        }
        if let HardwareDataChange::Write(details) = &hardware_data {
            let metadata = ObjectMeta {
                finalizers: Some(vec![annotations::HARDWARE_DATA_FINALIZER.to_owned()]),
                ..self.stored().metadata.clone()
            };
            self.write(Write::HardwareData)?;
            self.hardware_data = Some(HardwareData {
                metadata,
                spec: HardwareDataSpec {
                    hardware: Some(*details.clone()),
                },
            });
        }
        if let Some(status) = status {
            self.write(Write::Status)?;
            self.host.as_mut().expect("the host is gone").status = Some(*status);
            self.note_stored();
        }
        if !annotations_to_remove.is_empty() {
            self.write(Write::Host)?;
            for key in &annotations_to_remove {
                self.remove_annotation(key);
            }
        }
        self.release(&secrets, &hardware_data, finalizer)?;
        self.events.extend(events);
        Ok(())
    }

    fn release(
        &mut self,
        secrets: &SecretsChange,
        hardware_data: &HardwareDataChange,
        finalizer: FinalizerChange,
    ) -> Result<(), Crash> {
        if *secrets == SecretsChange::ReleaseAll && self.secret.as_ref().is_some_and(|secret| secret.claimed)
        {
            self.write(Write::Secret)?;
            self.secret.iter_mut().for_each(|secret| secret.claimed = false);
        }
        if *hardware_data == HardwareDataChange::ReleaseFinalizer
            && self
                .hardware_data
                .as_ref()
                .is_some_and(|data| data.metadata.finalizers.is_some())
        {
            self.write(Write::HardwareData)?;
            self.hardware_data
                .iter_mut()
                .for_each(|data| data.metadata.finalizers = None);
        }
        if finalizer == FinalizerChange::Remove {
            self.write(Write::Host)?;
            self.host = None;
        }
        Ok(())
    }

    /// Lets the time pass that the last pass asked for.
    pub fn wait(&mut self, outcome: &Outcome) {
        let wait = match outcome {
            Outcome::Requeue { after, .. } => *after,
            Outcome::Error(_) => Duration::from_secs(1),
            Outcome::Again | Outcome::Stop { .. } | Outcome::Deleted => Duration::ZERO,
        };
        self.now += wait;
    }

    /// Runs passes until `reached`, at most `limit` of them.
    ///
    /// # Panics
    /// If it is not reached by then, or the host stops before.
    pub async fn run_until(&mut self, limit: usize, reached: impl Fn(&Self) -> bool) {
        for _ in 0..limit {
            if reached(self) {
                return;
            }
            assert!(self.host.is_some(), "the host is gone");
            let report = Box::pin(self.pass()).await;
            self.wait(&report.outcome);
            if let Outcome::Stop { reason } = report.outcome {
                assert!(reached(self), "stopped: {reason}");
            }
        }
        assert!(
            reached(self),
            "not reached after {limit} passes; status: {:#?}",
            self.status()
        );
    }

    /// Runs passes until the host is in `state`.
    ///
    /// # Panics
    /// If it does not get there.
    pub async fn run_to(&mut self, state: ProvisioningState) {
        Box::pin(self.run_until(50, |world| world.state() == state)).await;
    }

    /// Runs passes until nothing is left to do at once: the host waits for something, or is gone.
    ///
    /// # Panics
    /// If it never comes to rest.
    pub async fn settle(&mut self) -> Outcome {
        for _ in 0..50 {
            let report = Box::pin(self.pass()).await;
            let waits = matches!(&report.outcome, Outcome::Requeue { after, .. } if *after >= Duration::from_secs(30));
            if waits || matches!(report.outcome, Outcome::Stop { .. } | Outcome::Deleted) {
                return report.outcome;
            }
            self.wait(&report.outcome);
        }
        panic!("never comes to rest; status: {:#?}", self.status())
    }
}

/// The commit was cut off.
#[derive(Debug)]
struct Crash;

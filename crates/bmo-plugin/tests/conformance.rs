//! The conformance suite finds what an author gets wrong, and says what to do.
#![allow(clippy::panic, reason = "a test")]

use std::time::Duration;

use bmo_plugin::prelude::*;
use bmo_plugin::testkit::{Life, conformance};

/// One way of getting it wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    NoId,
    OtherIdAgain,
    NeverReady,
    NeverDeployed,
    DeployFails,
    DeployFailsAgain,
    DeletedIsAnError,
    EmptyFormats,
    AsksForever,
}

struct Factory(Fault);

#[async_trait]
impl ProvisionerFactory for Factory {
    fn capabilities(&self) -> Capabilities {
        Capabilities::minimum()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        _events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        if self.0 == Fault::NeverReady {
            return Err(ProvisionerError::not_ready("starting"));
        }
        Ok(Box::new(Machine { host, fault: self.0 }))
    }
}

struct Machine {
    host: HostData,
    fault: Fault,
}

static DEPLOYED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

#[async_trait]
impl Provisioner for Machine {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        let known = !self.host.provisioner_id.is_empty();
        let id = match self.fault {
            Fault::NoId => None,
            Fault::OtherIdAgain if known => Some(format!("{}x", self.host.provisioner_id)),
            _ => Some("id".to_owned()),
        };
        Ok(Registration {
            provisioner_id: id,
            progress: Progress::DONE,
        })
    }

    async fn provision(&self, _request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
        Ok(match self.fault {
            Fault::NeverDeployed => Progress::pending(Duration::from_secs(10), "the agent"),
            Fault::DeployFails => Progress::failed("no disk"),
            Fault::DeployFailsAgain if DEPLOYED.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 => {
                Progress::failed("already deployed")
            }
            _ => Progress::DONE,
        })
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn delete(&self) -> Result<Progress> {
        match self.fault {
            Fault::DeletedIsAnError => Err(ProvisionerError::transient("404")),
            Fault::AsksForever => Ok(Progress::pending(Duration::ZERO, "")),
            _ => Err(ProvisionerError::needs_registration("gone")),
        }
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn preprovisioning_image_formats(&self) -> Result<Option<Vec<PreprovisioningImageFormat>>> {
        Ok((self.fault == Fault::EmptyFormats).then(Vec::new))
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_is_found_in_its_step() {
    let table = [
        (Fault::None, None),
        (Fault::NoId, Some(("register", "no provisionerID was ever given"))),
        (Fault::OtherIdAgain, Some(("register", "a host keeps its id"))),
        (
            Fault::NeverReady,
            Some(("register", "the factory is never ready")),
        ),
        (
            Fault::NeverDeployed,
            Some(("provision", "pending 51 times, waiting for \"the agent\"")),
        ),
        (Fault::DeployFails, Some(("provision", "failed: no disk"))),
        (
            Fault::DeployFailsAgain,
            Some((
                "provision",
                "failed when asked again after it was done: already deployed",
            )),
        ),
        (
            Fault::DeletedIsAnError,
            Some(("delete", "error (Transient): 404")),
        ),
        (
            Fault::EmptyFormats,
            Some(("questions", "answer None where no image is to be built")),
        ),
        (Fault::AsksForever, Some(("delete", "pending 51 times"))),
    ];
    for (fault, wanted) in table {
        let verdict = conformance(
            &Factory(fault),
            &Life {
                patience: 50,
                ..Life::default()
            },
        )
        .await;
        match wanted {
            None => assert_eq!(verdict.findings, [], "{fault:?}"),
            Some((step, text)) => {
                let finding = verdict
                    .findings
                    .first()
                    .unwrap_or_else(|| panic!("{fault:?} was not found"));
                assert_eq!(finding.step, step, "{fault:?}");
                assert!(finding.text.contains(text), "{fault:?}: {}", finding.text);
            }
        }
    }
}

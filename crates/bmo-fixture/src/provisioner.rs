//! What the fixture does with one machine in one pass.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bmo_api::FirmwareComponentStatus;
use bmo_provisioner::{
    AdoptRequest, AttachDataImageRequest, DeprovisionRequest, DetachRequest, EventPublisher,
    EventSubscription, EventSubscriptionRequest, FirmwareSettings, FirmwareSettingsRequest, HardwareState,
    Health, HostConfigData, HostData, InspectRequest, Inspection, PowerOffRequest, PowerOnRequest,
    Preparation, PrepareRequest, Progress, ProvisionRequest, Provisioner, ProvisionerError, RegisterRequest,
    Registration, Result, ServiceRequest, Servicing,
};
use tracing::info;

use crate::state::MachineState;
use crate::{Behaviour, Fixture, hardware_details};

const REGISTER: Duration = Duration::from_secs(5);
const INSPECT: Duration = Duration::from_secs(2);
const ADOPT: Duration = Duration::from_secs(3);
const DEPLOY: Duration = Duration::from_secs(10);

const IMAGE: &str = "Image";
const CUSTOM_DEPLOY: &str = "Custom deploy";

/// The id of every registered machine.
const ID: &str = "temporary-fake-id";

pub(crate) struct FixtureProvisioner {
    pub(crate) fixture: Fixture,
    pub(crate) key: String,
    pub(crate) host: HostData,
    pub(crate) behaviour: Behaviour,
    pub(crate) events: Arc<dyn EventPublisher>,
}

impl FixtureProvisioner {
    /// Changes the machine; the change is kept before the call is answered.
    fn change<T>(&self, change: impl FnOnce(&mut MachineState) -> T) -> Result<T> {
        let kept = self.fixture.lock().machines.change(&self.key, change);
        kept.map_err(|error| {
            let cause = std::error::Error::source(&error)
                .map(ToString::to_string)
                .unwrap_or_default();
            ProvisionerError::transient(format!("{error} ({cause})"))
        })
    }

    /// Removes the record of the machine, which takes one more call to be seen.
    fn forget(&self) -> Result<Progress> {
        let known = self.change(|machine| !std::mem::replace(&mut machine.deleted, true))?;
        Ok(if known {
            Progress::pending(Duration::ZERO, "the record to go")
        } else {
            Progress::DONE
        })
    }
}

/// Makes a machine run what it does not run yet, and says what: of a custom deploy method and an image, the method.
fn deploy(machine: &mut MachineState, request: &ProvisionRequest) -> Option<&'static str> {
    let method = request.custom_deploy.as_ref().map(|deploy| deploy.method.clone());
    let url = request.image.as_ref().map(|image| image.url.clone());
    let kind = match (
        method.filter(|method| !method.is_empty()),
        url.filter(|url| !url.is_empty()),
    ) {
        (Some(method), _) if machine.custom_deploy.is_none() => {
            machine.custom_deploy = Some(method);
            CUSTOM_DEPLOY
        }
        (_, Some(url)) if machine.image.is_none() => {
            machine.image = Some(url);
            IMAGE
        }
        _ => return None,
    };
    machine.deploys += 1;
    Some(kind)
}

/// Removes what a machine runs, and says what that was.
fn clear(machine: &mut MachineState) -> Option<&'static str> {
    let image = machine.image.take().map(|_| IMAGE);
    image.or_else(|| machine.custom_deploy.take().map(|_| CUSTOM_DEPLOY))
}

#[async_trait]
impl Provisioner for FixtureProvisioner {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        if let Some(message) = &self.behaviour.registration_error {
            return Ok(Registration {
                provisioner_id: None,
                progress: Progress::failed(message),
            });
        }
        self.change(|machine| machine.deleted = false)?;
        if self.host.provisioner_id.is_empty() {
            self.events.publish("Registered", "Registered new host");
            let progress = Progress::pending(REGISTER, "the BMC to answer");
            return Ok(Registration {
                provisioner_id: Some(ID.to_owned()),
                progress,
            });
        }
        Ok(Registration {
            provisioner_id: Some(self.host.provisioner_id.clone()),
            progress: Progress::DONE,
        })
    }

    async fn provision(&self, request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
        let begun = self.change(|machine| deploy(machine, &request).map(|kind| (kind, machine.deploys)))?;
        let Some((kind, deploys)) = begun else {
            return Ok(Progress::DONE);
        };
        info!(machine = self.key, deploys, "fixture deploys");
        self.events
            .publish("ProvisioningComplete", &format!("{kind} provisioning completed"));
        Ok(Progress::pending(DEPLOY, "the image to be written"))
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        if let Some(kind) = self.change(clear)? {
            self.events
                .publish("DeprovisionStarted", &format!("{kind} deprovisioning started"));
            return Ok(Progress::pending(DEPLOY, "the disks to be cleaned"));
        }
        self.events
            .publish("DeprovisionComplete", "Image deprovisioning completed");
        Ok(Progress::DONE)
    }

    async fn delete(&self) -> Result<Progress> {
        self.forget()
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        if self.change(|machine| std::mem::replace(&mut machine.powered_on, true))? {
            return Ok(Progress::DONE);
        }
        self.events.publish("PowerOn", "Host powered on");
        Ok(Progress::pending(Duration::ZERO, "the machine to start"))
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        if self.behaviour.disable_power_off {
            self.change(|machine| machine.reboot_called = true)?;
            return Ok(Progress::pending(Duration::ZERO, "the machine to reboot"));
        }
        if !self.change(|machine| std::mem::replace(&mut machine.powered_on, false))? {
            return Ok(Progress::DONE);
        }
        self.events.publish("PowerOff", "Host powered off");
        Ok(Progress::pending(Duration::ZERO, "the machine to stop"))
    }

    async fn inspect_hardware(&self, request: InspectRequest) -> Result<Inspection> {
        let running = self
            .change(|machine| std::mem::replace(&mut machine.inspection_started, true) && !request.refresh)?;
        if !running {
            let progress = Progress::pending(INSPECT, "the hardware to be looked at");
            return Ok(Inspection {
                started: true,
                progress,
            });
        }
        self.events
            .publish("InspectionComplete", "Hardware inspection completed");
        Ok(Inspection {
            started: false,
            progress: Progress::complete(Box::new(hardware_details())),
        })
    }

    async fn update_hardware_state(&self) -> Result<HardwareState> {
        Ok(HardwareState {
            powered_on: Some(self.change(|machine| machine.powered_on)?),
        })
    }

    async fn adopt(&self, _request: AdoptRequest) -> Result<Progress> {
        let known = self.change(|machine| std::mem::replace(&mut machine.adopted, true))?;
        Ok(if known {
            Progress::DONE
        } else {
            Progress::pending(ADOPT, "the machine to be adopted")
        })
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        Ok(Preparation {
            started: request.unprepared,
            progress: Progress::DONE,
        })
    }

    async fn service(&self, request: ServiceRequest) -> Result<Servicing> {
        let progress = if request.unprepared {
            Progress::pending(Duration::ZERO, "the firmware to be changed")
        } else {
            Progress::DONE
        };
        Ok(Servicing {
            started: request.unprepared,
            progress,
        })
    }

    async fn detach(&self, _request: DetachRequest) -> Result<Progress> {
        self.forget()
    }

    async fn get_firmware_settings(&self, request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        let mut settings = self.behaviour.firmware_settings.clone();
        if !request.include_schema {
            settings.schema.clear();
        }
        Ok(settings)
    }

    async fn get_firmware_components(&self) -> Result<Vec<FirmwareComponentStatus>> {
        Ok(self.behaviour.firmware_components.clone())
    }

    async fn add_bmc_event_subscription(
        &self,
        _request: EventSubscriptionRequest,
    ) -> Result<EventSubscription> {
        Ok(EventSubscription::default())
    }

    async fn remove_bmc_event_subscription(&self, _request: EventSubscription) -> Result<()> {
        Ok(())
    }

    async fn attach_data_image(&self, _request: AttachDataImageRequest) -> Result<()> {
        Ok(())
    }

    async fn detach_data_image(&self) -> Result<()> {
        Ok(())
    }

    async fn has_power_failure(&self) -> bool {
        self.behaviour.power_failure
    }

    async fn get_health(&self) -> Option<Health> {
        self.behaviour.health.clone()
    }
}

//! The two traits.

use std::sync::Arc;

use async_trait::async_trait;
use bmo_api::FirmwareComponentStatus;

use crate::{
    AdoptRequest, AttachDataImageRequest, Capabilities, DeprovisionRequest, DetachRequest, EventPublisher,
    EventSubscription, EventSubscriptionRequest, FirmwareSettings, FirmwareSettingsRequest, HardwareState,
    Health, HostConfigData, HostData, InspectRequest, Inspection, PowerOffRequest, PowerOnRequest,
    Preparation, PrepareRequest, PreprovisioningImageFormat, Progress, ProvisionRequest, ProvisionerError,
    RegisterRequest, Registration, Result, ServiceRequest, Servicing,
};

/// Makes provisioners. Lives as long as the manager.
#[async_trait]
pub trait ProvisionerFactory: Send + Sync {
    /// What its provisioners implement beyond the minimum.
    fn capabilities(&self) -> Capabilities;

    /// A provisioner for one host and one reconcile pass.
    ///
    /// # Errors
    /// [`ErrorKind::NotReady`](crate::ErrorKind::NotReady) while the back end cannot be used; anything else fails
    /// the pass.
    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>>;
}

/// Acts on one host during one reconcile pass.
///
/// No method blocks on the machine: each starts or looks at work and says how far it is. Each may be called
/// again after a crash at any moment, and must then find what it had begun.
#[async_trait]
pub trait Provisioner: Send + Sync {
    /// Creates the host's record in the back end or brings it up to date, and proves that the BMC can be reached.
    /// Called on every pass of a managed host with readable credentials.
    async fn register(&self, request: RegisterRequest) -> Result<Registration>;

    /// Writes the image or runs the custom deploy. Called only in a pass whose stored state is `provisioning`.
    async fn provision(&self, request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress>;

    /// Removes what was provisioned. Called only in a pass whose stored state is `deprovisioning`.
    async fn deprovision(&self, request: DeprovisionRequest) -> Result<Progress>;

    /// Removes the host's record; pending until it is gone. Called only in a pass whose stored state is `deleting`.
    async fn delete(&self) -> Result<Progress>;

    /// Sees that the machine is on.
    async fn power_on(&self, request: PowerOnRequest) -> Result<Progress>;

    /// Sees that the machine is off.
    async fn power_off(&self, request: PowerOffRequest) -> Result<Progress>;

    /// Formats of preprovisioning image it can use, best first. `None`: none is to be built; an empty list is an
    /// error for the host.
    async fn preprovisioning_image_formats(&self) -> Result<Option<Vec<PreprovisioningImageFormat>>> {
        Ok(None)
    }

    /// Finds out what the machine is made of.
    async fn inspect_hardware(&self, _request: InspectRequest) -> Result<Inspection> {
        Ok(Inspection {
            started: true,
            progress: Progress::complete(Box::default()),
        })
    }

    /// Reads the power state. Must be cheap: called about once a minute for every host.
    async fn update_hardware_state(&self) -> Result<HardwareState> {
        Ok(HardwareState::default())
    }

    /// Tells the back end that the machine already runs a workload.
    async fn adopt(&self, _request: AdoptRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    /// Configures RAID and firmware of a machine that is not in use.
    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        Ok(prepare_nothing(&request))
    }

    /// Configures firmware of a provisioned machine while it reboots.
    async fn service(&self, request: ServiceRequest) -> Result<Servicing> {
        let progress = if request.unprepared {
            Progress::failed(
                "this provisioner cannot service a provisioned host; remove the HostUpdatePolicy or deprovision the host first",
            )
        } else {
            Progress::DONE
        };
        Ok(Servicing {
            started: true,
            progress,
        })
    }

    /// Lets the machine go without disturbing it.
    async fn detach(&self, _request: DetachRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    /// Whether there is room for one more host being worked on.
    async fn has_capacity(&self) -> Result<bool> {
        Ok(true)
    }

    /// Reads BIOS settings, and their schema when asked.
    async fn get_firmware_settings(&self, _request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        Ok(FirmwareSettings::default())
    }

    /// Reads versions of BIOS, BMC and NIC firmware.
    async fn get_firmware_components(&self) -> Result<Vec<FirmwareComponentStatus>> {
        Ok(Vec::new())
    }

    /// Asks the BMC to send events somewhere.
    async fn add_bmc_event_subscription(
        &self,
        _request: EventSubscriptionRequest,
    ) -> Result<EventSubscription> {
        Err(ProvisionerError::unsupported(
            "this provisioner cannot subscribe to BMC events",
        ))
    }

    /// Takes such a wish back.
    async fn remove_bmc_event_subscription(&self, _request: EventSubscription) -> Result<()> {
        Err(ProvisionerError::unsupported(
            "this provisioner cannot subscribe to BMC events",
        ))
    }

    /// Whether a virtual medium is inserted.
    async fn get_data_image_status(&self) -> Result<bool> {
        Ok(false)
    }

    /// Inserts a virtual medium.
    async fn attach_data_image(&self, _request: AttachDataImageRequest) -> Result<()> {
        Err(ProvisionerError::unsupported(
            "this provisioner cannot attach data images",
        ))
    }

    /// Ejects it.
    async fn detach_data_image(&self) -> Result<()> {
        Err(ProvisionerError::unsupported(
            "this provisioner cannot attach data images",
        ))
    }

    /// Whether the back end has lost power control of the machine. Called on most passes: must be cheap.
    async fn has_power_failure(&self) -> bool {
        false
    }

    /// Health of the machine; `None` where unknown. Called on most passes: must be cheap.
    async fn get_health(&self) -> Option<Health> {
        None
    }
}

/// The answer of a provisioner that configures nothing: done where nothing is asked for, failed where something is.
fn prepare_nothing(request: &PrepareRequest) -> Preparation {
    let wants_raid = request.target_raid_config.as_ref().is_some_and(|raid| {
        raid.hardware_raid_volumes
            .as_ref()
            .is_some_and(|list| !list.is_empty())
            || raid
                .software_raid_volumes
                .as_ref()
                .is_some_and(|list| !list.is_empty())
    });
    let missing = if request.unprepared && wants_raid {
        Some("RAID volumes; remove spec.raid")
    } else if request.unprepared && !request.target_firmware_settings.is_empty() {
        Some("BIOS settings; empty the HostFirmwareSettings' spec")
    } else if request.unprepared && !request.target_firmware_components.is_empty() {
        Some("firmware updates; empty the HostFirmwareComponents' spec")
    } else {
        None
    };
    match missing {
        Some(what) => Preparation {
            started: false,
            progress: Progress::failed(format!(
                "this provisioner cannot configure {what} or use another provisioner"
            )),
        },
        None => Preparation {
            started: true,
            progress: Progress::DONE,
        },
    }
}

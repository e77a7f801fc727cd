//! The contract's methods, each kept in a file of its own.

use async_trait::async_trait;
use bmo_api::FirmwareComponentStatus;
use bmo_provisioner::{
    AdoptRequest, AttachDataImageRequest, DeprovisionRequest, DetachRequest, EventSubscription,
    EventSubscriptionRequest, FirmwareSettings, FirmwareSettingsRequest, HardwareState, Health,
    HostConfigData, InspectRequest, Inspection, PowerOffRequest, PowerOnRequest, Preparation, PrepareRequest,
    PreprovisioningImageFormat, Progress, ProvisionRequest, Provisioner, RegisterRequest, Registration,
    Result, ServiceRequest, Servicing,
};

use crate::pass::Pass;

#[async_trait]
impl Provisioner for Pass {
    async fn register(&self, request: RegisterRequest) -> Result<Registration> {
        self.register_host(request).await
    }

    async fn provision(&self, request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress> {
        self.provision_host(request, config).await
    }

    async fn deprovision(&self, request: DeprovisionRequest) -> Result<Progress> {
        self.deprovision_host(request).await
    }

    async fn delete(&self) -> Result<Progress> {
        self.delete_host().await
    }

    async fn power_on(&self, request: PowerOnRequest) -> Result<Progress> {
        self.switch_on(request).await
    }

    async fn power_off(&self, request: PowerOffRequest) -> Result<Progress> {
        self.switch_off(request).await
    }

    async fn preprovisioning_image_formats(&self) -> Result<Option<Vec<PreprovisioningImageFormat>>> {
        self.image_formats()
    }

    async fn inspect_hardware(&self, request: InspectRequest) -> Result<Inspection> {
        self.inspect(request).await
    }

    async fn update_hardware_state(&self) -> Result<HardwareState> {
        self.hardware_state().await
    }

    async fn adopt(&self, request: AdoptRequest) -> Result<Progress> {
        self.adopt_host(request).await
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        self.prepare_host(request).await
    }

    async fn service(&self, request: ServiceRequest) -> Result<Servicing> {
        self.service_host(request).await
    }

    async fn detach(&self, request: DetachRequest) -> Result<Progress> {
        self.detach_host(request).await
    }

    async fn has_capacity(&self) -> Result<bool> {
        self.capacity().await
    }

    async fn get_firmware_settings(&self, request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        self.firmware_settings(request).await
    }

    async fn get_firmware_components(&self) -> Result<Vec<FirmwareComponentStatus>> {
        self.firmware_components().await
    }

    async fn add_bmc_event_subscription(
        &self,
        request: EventSubscriptionRequest,
    ) -> Result<EventSubscription> {
        self.subscribe(request).await
    }

    async fn remove_bmc_event_subscription(&self, request: EventSubscription) -> Result<()> {
        self.unsubscribe(request).await
    }

    async fn get_data_image_status(&self) -> Result<bool> {
        self.data_image_status().await
    }

    async fn attach_data_image(&self, request: AttachDataImageRequest) -> Result<()> {
        self.attach_image(request).await
    }

    async fn detach_data_image(&self) -> Result<()> {
        self.detach_image().await
    }

    async fn has_power_failure(&self) -> bool {
        self.power_failure().await
    }

    async fn get_health(&self) -> Option<Health> {
        self.health().await
    }
}

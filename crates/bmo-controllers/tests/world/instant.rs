//! A back end in which everything is done at once, as in the demo plugin.

use std::sync::Arc;

use async_trait::async_trait;
use bmo_provisioner::{
    Capabilities, DeprovisionRequest, EventPublisher, HostConfigData, HostData, PowerOffRequest,
    PowerOnRequest, Progress, ProvisionRequest, Provisioner, ProvisionerFactory, RegisterRequest,
    Registration, Result,
};

pub struct Instant;

#[async_trait]
impl ProvisionerFactory for Instant {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        _: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        Ok(Box::new(Machine(host)))
    }
}

struct Machine(HostData);

#[async_trait]
impl Provisioner for Machine {
    async fn register(&self, _: RegisterRequest) -> Result<Registration> {
        let new = self.0.provisioner_id.is_empty();
        let progress = if new {
            Progress::pending(std::time::Duration::ZERO, "")
        } else {
            Progress::DONE
        };
        Ok(Registration {
            provisioner_id: new.then(|| self.0.name.clone()),
            progress,
        })
    }

    async fn provision(&self, _: ProvisionRequest, _: &dyn HostConfigData) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn deprovision(&self, _: DeprovisionRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn delete(&self) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_on(&self, _: PowerOnRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_off(&self, _: PowerOffRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }
}

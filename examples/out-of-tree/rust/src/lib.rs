//! A provisioner plugin as an outsider writes it: one dependency on the operator, the SDK.
//!
//! It stands in for a lab where machines are always wired up: hosts register, are provisioned after a short while, and
//! report their health. What a real plugin does where this one looks at a clock is ask its back end.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bmo_plugin::prelude::*;
use bmo_plugin::tracing::info;

/// How long writing an image takes in this lab.
const DEPLOY_TIME: Duration = Duration::from_millis(300);

/// The lab: which hosts are being deployed, since when.
pub struct Lab {
    deployments: Arc<Mutex<HashMap<String, Instant>>>,
}

impl Lab {
    /// Configuration beyond what the operator hands over is read here, from the environment or from files.
    pub fn new(config: PluginConfig) -> Result<Self> {
        info!(namespace = config.provisioner_namespace, "the lab is open");
        Ok(Self {
            deployments: Arc::default(),
        })
    }
}

#[async_trait]
impl ProvisionerFactory for Lab {
    fn capabilities(&self) -> Capabilities {
        [Capability::Health].into()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        Ok(Box::new(Machine {
            host,
            events,
            deployments: self.deployments.clone(),
        }))
    }
}

struct Machine {
    host: HostData,
    events: Arc<dyn EventPublisher>,
    deployments: Arc<Mutex<HashMap<String, Instant>>>,
}

impl Machine {
    fn deployments(&self) -> std::sync::MutexGuard<'_, HashMap<String, Instant>> {
        self.deployments
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl Provisioner for Machine {
    /// The id is stored by the operator before anything else is asked of the host.
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        if self.host.provisioner_id.is_empty() {
            self.events.publish("Registered", "The lab knows the host now");
            let id = format!("lab-{}", self.host.uid);
            return Ok(Registration {
                provisioner_id: Some(id),
                progress: Progress::pending(Duration::ZERO, ""),
            });
        }
        Ok(Registration {
            provisioner_id: None,
            progress: Progress::DONE,
        })
    }

    /// Called again and again until it is done; the first call starts the work, the others look at it.
    async fn provision(&self, request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress> {
        let user_data = config.user_data().await?;
        let id = self.host.provisioner_id.clone();
        let begun = *self.deployments().entry(id).or_insert_with(|| {
            let image = request.image.map(|image| image.url).unwrap_or_default();
            info!(image, user_data = !user_data.is_empty(), "writing the image");
            Instant::now()
        });
        if begun.elapsed() < DEPLOY_TIME {
            return Ok(Progress::pending(DEPLOY_TIME, "the image to be written"));
        }
        Ok(Progress::DONE)
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        self.deployments().remove(&self.host.provisioner_id);
        Ok(Progress::DONE)
    }

    async fn delete(&self) -> Result<Progress> {
        self.deployments().remove(&self.host.provisioner_id);
        Ok(Progress::DONE)
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn get_health(&self) -> Option<Health> {
        Some(Health::Ok)
    }
}

export_provisioner!(
    name: "rustdemo",
    capabilities: [Capability::Health].into(),
    factory: Lab::new,
);

//! The demo provisioner: no back end, nothing remembered; what happens to a host is decided by its name.
//!
//! The names and what they do are those of upstream's demo, so that its examples work here too. Delays are exact.

mod behaviour;
mod hardware;

use std::time::Duration;

use bmo_plugin::api::HardwareDetails;
use bmo_plugin::prelude::*;

use behaviour::Behaviour;

/// How long a host that is stuck on purpose asks to be left alone.
const STUCK: Duration = Duration::from_secs(5);

/// Makes demo provisioners. Never fails, needs no configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemoFactory;

/// What the demo answers beyond the minimum.
pub fn capabilities() -> Capabilities {
    Capabilities::all()
}

#[async_trait]
impl ProvisionerFactory for DemoFactory {
    fn capabilities(&self) -> Capabilities {
        capabilities()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        Ok(Box::new(Demo {
            behaviour: Behaviour::of(&host.name),
            host,
            events,
        }))
    }
}

struct Demo {
    behaviour: Behaviour,
    host: HostData,
    events: Arc<dyn EventPublisher>,
}

fn stuck<T>() -> Progress<T> {
    Progress::pending(
        STUCK,
        "nothing: the demo never ends this step for a host of this name",
    )
}

impl Demo {
    /// `prepare` and `service` differ only in the word of their failure.
    fn configure(&self, unprepared: bool, failure: &str) -> Preparation {
        match self.behaviour {
            Behaviour::PreparingError => Preparation {
                started: false,
                progress: Progress::failed(failure),
            },
            Behaviour::Preparing => Preparation {
                started: unprepared,
                progress: stuck(),
            },
            _ => Preparation {
                started: true,
                progress: Progress::DONE,
            },
        }
    }
}

#[async_trait]
impl Provisioner for Demo {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        let (provisioner_id, progress) = match self.behaviour {
            Behaviour::RegistrationError => (None, Progress::failed("failed to register new host")),
            Behaviour::Registering => (None, stuck()),
            _ if self.host.provisioner_id.is_empty() => (
                Some(self.host.name.clone()),
                Progress::pending(Duration::ZERO, "the id to be stored"),
            ),
            _ => (None, Progress::DONE),
        };
        Ok(Registration {
            provisioner_id,
            progress,
        })
    }

    async fn provision(&self, _request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
        Ok(match self.behaviour {
            Behaviour::ValidationError => Progress::failed("validation failed"),
            Behaviour::Provisioning => stuck(),
            _ => Progress::DONE,
        })
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn delete(&self) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        Ok(Progress::DONE)
    }

    async fn inspect_hardware(&self, _request: InspectRequest) -> Result<Inspection> {
        if self.behaviour == Behaviour::Inspecting {
            return Ok(Inspection {
                started: true,
                progress: stuck(),
            });
        }
        self.events
            .publish("InspectionComplete", "Hardware inspection completed");
        let details: Box<HardwareDetails> = Box::new(hardware::details());
        Ok(Inspection {
            started: true,
            progress: Progress::complete(details),
        })
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        Ok(self.configure(request.unprepared, "preparing failed"))
    }

    async fn service(&self, request: ServiceRequest) -> Result<Servicing> {
        Ok(self.configure(request.unprepared, "servicing failed"))
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
}

bmo_plugin::export_provisioner!(
    name: "demo",
    capabilities: capabilities(),
    factory: |_config: PluginConfig| Ok(DemoFactory),
);

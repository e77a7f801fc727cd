//! A plugin for the host's tests, by the SDK: what each method does is decided by the host's name, so that a test can
//! see every way a call ends and every way back into the host.
#![allow(clippy::panic, reason = "panicking is what it is for")]

use std::time::Duration;

use bmo_plugin::kube::api::{Api, DynamicObject, ListParams};
use bmo_plugin::kube::core::{ApiResource, GroupVersionKind};
use bmo_plugin::kube::{self};
use bmo_plugin::prelude::*;
use bmo_plugin::tracing;

struct Factory(PluginConfig);

#[async_trait]
impl ProvisionerFactory for Factory {
    /// Fewer than the hand-shake says: what the configured factory has counts.
    fn capabilities(&self) -> Capabilities {
        [
            Capability::Health,
            Capability::Capacity,
            Capability::FirmwareSettings,
        ]
        .into()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        match host.name.as_str() {
            "new-panics" => panic!("no provisioner for {}", host.name),
            "new-not-ready" => Err(ProvisionerError::not_ready("the back end starts")),
            _ => Ok(Box::new(Machine {
                host,
                events,
                config: self.0.clone(),
            })),
        }
    }
}

struct Machine {
    host: HostData,
    events: Arc<dyn EventPublisher>,
    config: PluginConfig,
}

#[async_trait]
impl Provisioner for Machine {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        match self.host.name.as_str() {
            "panics" => panic!("register of {} went wrong", self.host.name),
            "hangs" => std::future::pending().await,
            "blocks" => {
                std::thread::sleep(Duration::from_millis(1500));
                Ok(Registration {
                    provisioner_id: None,
                    progress: Progress::DONE,
                })
            }
            "busy" => Err(ProvisionerError::busy("the machine is being cleaned")),
            "logs" => {
                tracing::warn!(attempts = 3, "the BMC is slow");
                Ok(Registration {
                    provisioner_id: None,
                    progress: Progress::DONE,
                })
            }
            "wakes" => {
                self.config.waker.wake("n", "other");
                Ok(Registration {
                    provisioner_id: None,
                    progress: Progress::DONE,
                })
            }
            "events" => {
                self.events.publish("Registered", "the host is known");
                Ok(Registration {
                    provisioner_id: Some("7".to_owned()),
                    progress: Progress::DONE,
                })
            }
            _ => Err(ProvisionerError::needs_registration("unknown host")),
        }
    }

    /// Hands back the bytes of everything the user gave, as numbers.
    async fn provision(&self, _request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress> {
        let texts = [
            config.user_data().await?,
            config.network_data().await?,
            config.meta_data().await?,
        ];
        Ok(Progress::failed(format!(
            "{:?}",
            texts.each_ref().map(|text| text.expose().as_bytes())
        )))
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

    /// Reads the cluster as its host's name says, and answers with what it found.
    async fn get_firmware_settings(&self, _request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        let found = look_around(&self.config, &self.host)
            .await
            .map_err(|error| ProvisionerError::transient(error.to_string()))?;
        Ok(FirmwareSettings {
            settings: [("found".to_owned(), found)].into(),
            ..FirmwareSettings::default()
        })
    }

    /// Not among the factory's capabilities: must never be called.
    async fn adopt(&self, _request: AdoptRequest) -> Result<Progress> {
        panic!("adopt was called though the factory lacks the capability");
    }

    async fn has_power_failure(&self) -> bool {
        panic!("has_power_failure was called though the factory lacks the capability");
    }

    async fn get_health(&self) -> Option<Health> {
        match self.host.name.as_str() {
            "health-panics" => panic!("no pulse"),
            _ => Some(Health::Other("fair".to_owned())),
        }
    }
}

fn ironic() -> ApiResource {
    let kind = GroupVersionKind::gvk("ironic.metal3.io", "v1alpha1", "Ironic");
    ApiResource::from_gvk_with_plural(&kind, "ironics")
}

async fn look_around(config: &PluginConfig, host: &HostData) -> kube::Result<String> {
    let (namespace, name) = (host.namespace.as_str(), host.provisioner_id.as_str());
    let cached: Api<DynamicObject> = Api::namespaced_with(config.kube_client.clone(), namespace, &ironic());
    let direct: Api<DynamicObject> = Api::namespaced_with(config.api_reader.clone(), namespace, &ironic());
    let names = |list: Vec<DynamicObject>| {
        let mut names: Vec<String> = list
            .into_iter()
            .filter_map(|object| object.metadata.name)
            .collect();
        names.sort();
        names.join(",")
    };
    match host.name.as_str() {
        "get-cached" => Ok(cached
            .get_opt(name)
            .await?
            .map_or("none".to_owned(), |object| object.data["spec"].to_string())),
        "get-direct" => Ok(direct
            .get_opt(name)
            .await?
            .map_or("none".to_owned(), |object| object.data["spec"].to_string())),
        "list-cached" => Ok(names(cached.list(&ListParams::default()).await?.items)),
        "list-labelled" => Ok(names(
            cached.list(&ListParams::default().labels("a=b")).await?.items,
        )),
        "create" => {
            let mut object = DynamicObject::new(name, &ironic());
            object.data = serde_json::json!({ "spec": { "made": true } });
            let made = cached.create(&kube::api::PostParams::default(), &object).await?;
            Ok(made.metadata.name.unwrap_or_default())
        }
        "delete" => {
            cached.delete(name, &kube::api::DeleteParams::default()).await?;
            Ok("deleted".to_owned())
        }
        "watch" => {
            let started = cached
                .watch(&kube::api::WatchParams::default(), "0")
                .await
                .map(|_| "a watch".to_owned());
            Ok(started.unwrap_or_else(|error| error.to_string()))
        }
        _ => Ok(String::new()),
    }
}

fn requirements(input: HostConfigureInput) -> Result<HostRequirements> {
    if input.provisioner_namespace == "refused" {
        return Err(ProvisionerError::transient("no such namespace"));
    }
    assert!(
        input.provisioner_namespace != "panics",
        "HostConfigure went wrong"
    );
    let resource = TypeRef {
        group: "ironic.metal3.io".to_owned(),
        version: "v1alpha1".to_owned(),
        kind: "Ironic".to_owned(),
        plural: "ironics".to_owned(),
        namespaced: true,
    };
    let scope = CacheScope {
        resource: resource.clone(),
        namespaces: vec![input.provisioner_namespace],
        label_selector: None,
        field_selector: None,
    };
    Ok(HostRequirements {
        extra_types: vec![resource],
        cache_by_type: vec![scope],
    })
}

bmo_plugin::export_provisioner!(
    name: "panicking",
    factory: |config: PluginConfig| Ok(Factory(config)),
    host_configure: requirements,
);

//! The host's end of the contract: a factory and provisioners whose methods are messages to a plugin.
//!
//! A method whose capability the plugin lacks is never sent: the contract's own default ([`Minimum`]) answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bmo_api::FirmwareComponentStatus;
use bmo_provisioner::wire::rpc::{Response, RpcError, code};
use bmo_provisioner::wire::{
    Method, NewProvisionerRequest, OnProvisioner, ProvisionerHandle, Request, method,
};
use bmo_provisioner::{
    AdoptRequest, AttachDataImageRequest, Capabilities, Capability, DeprovisionRequest, DetachRequest,
    EventPublisher, EventSubscription, EventSubscriptionRequest, FirmwareSettings, FirmwareSettingsRequest,
    HardwareState, Health, HostConfigData, HostData, InspectRequest, Inspection, PowerOffRequest,
    PowerOnRequest, Preparation, PrepareRequest, PreprovisioningImageFormat, Progress, ProvisionRequest,
    Provisioner, ProvisionerError, ProvisionerFactory, RegisterRequest, Registration, Result, ServiceRequest,
    Servicing,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::carrier::{CallError, Carrier, Via};
use crate::minimum::Minimum;
use crate::plugin::Deadlines;
use crate::serve::{ConfigPart, ConfigRead, Pass};

/// Questions for the user's data that may wait at a time.
const CONFIG_READS: usize = 16;

/// Sends messages to one plugin.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) plugin: Arc<str>,
    pub(crate) carrier: Arc<Carrier>,
    pub(crate) deadlines: Deadlines,
}

impl Client {
    pub(crate) async fn call<M: Method>(&self, params: &M::Params, deadline: Duration) -> Result<M::Result>
    where
        M::Params: Serialize + Sync,
        M::Result: DeserializeOwned,
    {
        self.call_via::<M>(Via::Table, params, deadline).await
    }

    pub(crate) async fn call_via<M: Method>(
        &self,
        via: Via,
        params: &M::Params,
        deadline: Duration,
    ) -> Result<M::Result>
    where
        M::Params: Serialize + Sync,
        M::Result: DeserializeOwned,
    {
        let mut unwritable = None;
        let encode = |token| {
            serde_json::to_vec(&Request::new(token, M::NAME, params)).unwrap_or_else(|error| {
                unwritable = Some(error);
                Vec::new()
            })
        };
        let answer = self.carrier.call(via, encode, deadline).await;
        if let Some(error) = unwritable {
            return Err(self.transient(M::NAME, &format!("its parameters cannot be written: {error}")));
        }
        let bytes = answer.map_err(|error| self.no_answer(M::NAME, &error))?;
        let response: Response<M::Result> = serde_json::from_slice(&bytes).map_err(|error| {
            self.carrier.health().malformed();
            self.transient(M::NAME, &format!("its answer cannot be read: {error}"))
        })?;
        response
            .into_result()
            .map_err(|error| self.failed(M::NAME, error))
    }

    fn no_answer(&self, method: &str, error: &CallError) -> ProvisionerError {
        match error {
            CallError::Unhealthy(_) | CallError::ShutDown => {
                ProvisionerError::not_ready(format!("plugin {}: {method}: {error}", self.plugin))
            }
            CallError::Deadline(_) | CallError::NoFunction => self.transient(method, &error.to_string()),
        }
    }

    /// An error the plugin answered with. Kinds of the contract are the back end's own words and pass as they are;
    /// what is wrong with the plugin itself names it.
    fn failed(&self, method: &str, error: RpcError) -> ProvisionerError {
        if error.code == code::INTERNAL_ERROR {
            self.carrier.health().crashed();
            tracing::error!(plugin = %self.plugin, method, message = %error.message, "the plugin failed inside");
        }
        let foreign = error.code <= 0;
        let error = ProvisionerError::from(error);
        if foreign {
            error.context(format!("plugin {}: {method}", self.plugin))
        } else {
            error
        }
    }

    fn transient(&self, method: &str, text: &str) -> ProvisionerError {
        ProvisionerError::transient(format!("plugin {}: {method}: {text}", self.plugin))
    }
}

/// Makes provisioners that live in a plugin.
#[derive(Debug)]
pub(crate) struct RemoteFactory {
    client: Client,
    capabilities: Arc<Capabilities>,
}

/// Handles are unique in the process, so that an answer can never meet the wrong pass.
static LAST_HANDLE: AtomicU64 = AtomicU64::new(0);

impl RemoteFactory {
    pub(crate) fn new(client: Client, capabilities: Capabilities) -> Self {
        Self {
            client,
            capabilities: Arc::new(capabilities),
        }
    }
}

#[async_trait]
impl ProvisionerFactory for RemoteFactory {
    fn capabilities(&self) -> Capabilities {
        (*self.capabilities).clone()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        let handle = LAST_HANDLE.fetch_add(1, Ordering::Relaxed) + 1;
        let pass = Arc::new(Pass::new(events));
        self.client.carrier.services.add_pass(handle, pass.clone());
        let provisioner = RemoteProvisioner {
            client: self.client.clone(),
            capabilities: self.capabilities.clone(),
            host: format!("{}/{}", host.namespace, host.name),
            handle,
            pass,
        };
        let request = NewProvisionerRequest {
            provisioner: handle,
            host,
        };
        // A failure drops the provisioner, and with it whatever the plugin may have made of it.
        self.client
            .call::<method::NewProvisioner>(&request, self.client.deadlines.short)
            .await?;
        Ok(Box::new(provisioner))
    }
}

/// A provisioner that lives in a plugin until it is dropped.
struct RemoteProvisioner {
    client: Client,
    capabilities: Arc<Capabilities>,
    /// `namespace/name`, for the log.
    host: String,
    handle: ProvisionerHandle,
    pass: Arc<Pass>,
}

impl Drop for RemoteProvisioner {
    fn drop(&mut self) {
        self.client.carrier.services.remove_pass(self.handle);
        let (client, handle) = (self.client.clone(), self.handle);
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let request = OnProvisioner { provisioner: handle, request: () };
            if let Err(error) = client.call::<method::DropProvisioner>(&request, client.deadlines.short).await {
                tracing::debug!(plugin = %client.plugin, handle, %error, "the plugin did not drop a provisioner");
            }
        });
    }
}

impl RemoteProvisioner {
    /// Sends a method of this provisioner, with a trace of both ways. Secrets have a type that hides them there.
    async fn call<M, P>(&self, request: P) -> Result<M::Result>
    where
        M: Method<Params = OnProvisioner<P>>,
        M::Result: DeserializeOwned + std::fmt::Debug,
        P: Serialize + Default + std::fmt::Debug + Send + Sync,
    {
        self.call_within::<M, P>(request, self.client.deadlines.call)
            .await
    }

    async fn call_within<M, P>(&self, request: P, deadline: Duration) -> Result<M::Result>
    where
        M: Method<Params = OnProvisioner<P>>,
        M::Result: DeserializeOwned + std::fmt::Debug,
        P: Serialize + Default + std::fmt::Debug + Send + Sync,
    {
        let (plugin, host) = (&*self.client.plugin, self.host.as_str());
        tracing::debug!(plugin, host, method = M::NAME, ?request, "call");
        let params = OnProvisioner {
            provisioner: self.handle,
            request,
        };
        let outcome = self.client.call::<M>(&params, deadline).await;
        match &outcome {
            Ok(result) => tracing::debug!(plugin, host, method = M::NAME, ?result, "answer"),
            Err(error) => {
                tracing::debug!(plugin, host, method = M::NAME, kind = ?error.kind, %error, "error");
            }
        }
        outcome
    }

    fn has(&self, capability: Capability) -> bool {
        self.capabilities.has(capability)
    }

    /// The part of a preparation the plugin has no capability for; the rest is left at its defaults.
    fn beyond_capabilities(&self, request: &PrepareRequest) -> PrepareRequest {
        let mut rest = PrepareRequest {
            unprepared: request.unprepared,
            ..PrepareRequest::default()
        };
        if !self.has(Capability::Raid) {
            rest.target_raid_config.clone_from(&request.target_raid_config);
        }
        if !self.has(Capability::FirmwareSettings) {
            rest.target_firmware_settings
                .clone_from(&request.target_firmware_settings);
        }
        if !self.has(Capability::FirmwareComponents) {
            rest.target_firmware_components
                .clone_from(&request.target_firmware_components);
        }
        rest
    }

    fn prepares_anything(&self) -> bool {
        [
            Capability::Raid,
            Capability::FirmwareSettings,
            Capability::FirmwareComponents,
        ]
        .into_iter()
        .any(|capability| self.has(capability))
    }
}

/// Answers questions for the user's data until `call` ends.
async fn serve_config<T>(
    call: impl Future<Output = T>,
    mut questions: mpsc::Receiver<ConfigRead>,
    config: &dyn HostConfigData,
) -> T {
    let mut call = std::pin::pin!(call);
    loop {
        tokio::select! {
            outcome = &mut call => return outcome,
            Some(question) = questions.recv() => {
                let data = async {
                    match question.part {
                        ConfigPart::User => config.user_data().await,
                        ConfigPart::Network => config.network_data().await,
                        ConfigPart::Meta => config.meta_data().await,
                    }
                };
                // Reading must not hold up the call's deadline.
                tokio::select! {
                    outcome = &mut call => return outcome,
                    data = data => question.answer(data),
                }
            }
        }
    }
}

#[async_trait]
impl Provisioner for RemoteProvisioner {
    async fn register(&self, request: RegisterRequest) -> Result<Registration> {
        self.call::<method::Register, _>(request).await
    }

    async fn provision(&self, request: ProvisionRequest, config: &dyn HostConfigData) -> Result<Progress> {
        let (sender, questions) = mpsc::channel(CONFIG_READS);
        self.pass.read_config_through(Some(sender));
        let outcome = serve_config(self.call::<method::Provision, _>(request), questions, config).await;
        self.pass.read_config_through(None);
        outcome
    }

    async fn deprovision(&self, request: DeprovisionRequest) -> Result<Progress> {
        self.call::<method::Deprovision, _>(request).await
    }

    async fn delete(&self) -> Result<Progress> {
        self.call::<method::Delete, _>(()).await
    }

    async fn power_on(&self, request: PowerOnRequest) -> Result<Progress> {
        self.call::<method::PowerOn, _>(request).await
    }

    async fn power_off(&self, request: PowerOffRequest) -> Result<Progress> {
        self.call::<method::PowerOff, _>(request).await
    }

    async fn preprovisioning_image_formats(&self) -> Result<Option<Vec<PreprovisioningImageFormat>>> {
        if self.has(Capability::PreprovisioningImages) {
            self.call::<method::PreprovisioningImageFormats, _>(()).await
        } else {
            Minimum.preprovisioning_image_formats().await
        }
    }

    async fn inspect_hardware(&self, request: InspectRequest) -> Result<Inspection> {
        if self.has(Capability::Inspection) {
            self.call::<method::InspectHardware, _>(request).await
        } else {
            Minimum.inspect_hardware(request).await
        }
    }

    async fn update_hardware_state(&self) -> Result<HardwareState> {
        if self.has(Capability::PowerState) {
            self.call::<method::UpdateHardwareState, _>(()).await
        } else {
            Minimum.update_hardware_state().await
        }
    }

    async fn adopt(&self, request: AdoptRequest) -> Result<Progress> {
        if self.has(Capability::Adoption) {
            self.call::<method::Adopt, _>(request).await
        } else {
            Minimum.adopt(request).await
        }
    }

    async fn prepare(&self, request: PrepareRequest) -> Result<Preparation> {
        let beyond = Minimum.prepare(self.beyond_capabilities(&request)).await?;
        if matches!(beyond.progress, Progress::Failed { .. }) || !self.prepares_anything() {
            return Ok(beyond);
        }
        self.call::<method::Prepare, _>(request).await
    }

    async fn service(&self, request: ServiceRequest) -> Result<Servicing> {
        if self.has(Capability::Servicing) {
            self.call::<method::Service, _>(request).await
        } else {
            Minimum.service(request).await
        }
    }

    async fn detach(&self, request: DetachRequest) -> Result<Progress> {
        if self.has(Capability::Detachment) {
            self.call::<method::Detach, _>(request).await
        } else {
            Minimum.detach(request).await
        }
    }

    async fn has_capacity(&self) -> Result<bool> {
        if self.has(Capability::Capacity) {
            self.call::<method::HasCapacity, _>(()).await
        } else {
            Minimum.has_capacity().await
        }
    }

    async fn get_firmware_settings(&self, request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        if self.has(Capability::FirmwareSettings) {
            self.call::<method::GetFirmwareSettings, _>(request).await
        } else {
            Minimum.get_firmware_settings(request).await
        }
    }

    async fn get_firmware_components(&self) -> Result<Vec<FirmwareComponentStatus>> {
        if self.has(Capability::FirmwareComponents) {
            self.call::<method::GetFirmwareComponents, _>(()).await
        } else {
            Minimum.get_firmware_components().await
        }
    }

    async fn add_bmc_event_subscription(
        &self,
        request: EventSubscriptionRequest,
    ) -> Result<EventSubscription> {
        if self.has(Capability::EventSubscriptions) {
            self.call::<method::AddBmcEventSubscription, _>(request).await
        } else {
            Minimum.add_bmc_event_subscription(request).await
        }
    }

    async fn remove_bmc_event_subscription(&self, request: EventSubscription) -> Result<()> {
        if self.has(Capability::EventSubscriptions) {
            self.call::<method::RemoveBmcEventSubscription, _>(request).await
        } else {
            Minimum.remove_bmc_event_subscription(request).await
        }
    }

    async fn get_data_image_status(&self) -> Result<bool> {
        if self.has(Capability::DataImages) {
            self.call::<method::GetDataImageStatus, _>(()).await
        } else {
            Minimum.get_data_image_status().await
        }
    }

    async fn attach_data_image(&self, request: AttachDataImageRequest) -> Result<()> {
        if self.has(Capability::DataImages) {
            self.call::<method::AttachDataImage, _>(request).await
        } else {
            Minimum.attach_data_image(request).await
        }
    }

    async fn detach_data_image(&self) -> Result<()> {
        if self.has(Capability::DataImages) {
            self.call::<method::DetachDataImage, _>(()).await
        } else {
            Minimum.detach_data_image().await
        }
    }

    async fn has_power_failure(&self) -> bool {
        if !self.has(Capability::PowerFailure) {
            return Minimum.has_power_failure().await;
        }
        self.call_within::<method::HasPowerFailure, _>((), self.client.deadlines.short)
            .await
            .unwrap_or_default()
    }

    async fn get_health(&self) -> Option<Health> {
        if !self.has(Capability::Health) {
            return Minimum.get_health().await;
        }
        self.call_within::<method::GetHealth, _>((), self.client.deadlines.short)
            .await
            .unwrap_or_default()
    }
}

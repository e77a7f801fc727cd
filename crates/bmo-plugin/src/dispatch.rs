//! From messages to the author's traits and back.
//!
//! Each call is a task of the SDK's runtime: it can be cancelled, and a panic in it becomes its answer.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bmo_provisioner::wire::method as m;
use bmo_provisioner::wire::rpc::{Head, Params, code};
use bmo_provisioner::wire::{
    BuildInfo, ConfigureRequest, ConfigureResult, InitializeRequest, InitializeResult, Method,
    NewProvisionerRequest, OnProvisioner, PROTOCOL, ProvisionerHandle, Response, RpcError,
};
use bmo_provisioner::{Provisioner, ProvisionerFactory, Result};
use futures::FutureExt as _;
use futures::future::{AbortHandle, Abortable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tracing::Instrument as _;

use crate::config::{HostWaker, PluginConfig};
use crate::export::Definition;
use crate::ffi::Reply;
use crate::host::{HostConfig, HostEvents, HostHandle, lock};
use crate::log;

/// Threads of the runtime. Provisioners wait far more than they compute.
const THREADS: usize = 2;

type Outcome<T> = std::result::Result<T, RpcError>;

/// The plugin as one host loaded it.
pub(crate) struct Instance {
    definition: &'static Definition,
    host: HostHandle,
    factory: Mutex<Option<Arc<dyn ProvisionerFactory>>>,
    provisioners: Mutex<HashMap<ProvisionerHandle, Arc<Pass>>>,
    running: Mutex<HashMap<u64, AbortHandle>>,
}

/// A provisioner and the host it acts on.
struct Pass {
    provisioner: Box<dyn Provisioner>,
    host: String,
}

/// The plugin's runtime. It has its own copy of tokio, so the operator's is of no use to it.
fn runtime() -> Outcome<&'static Runtime> {
    static RUNTIME: OnceLock<std::result::Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("provisioner")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    });
    runtime.as_ref().map_err(|error| {
        RpcError::new(
            code::INTERNAL_ERROR,
            format!("no runtime for the plugin: {error}"),
        )
    })
}

impl Instance {
    pub(crate) fn new(definition: &'static Definition, host: HostHandle) -> Self {
        Self {
            definition,
            host,
            factory: Mutex::default(),
            provisioners: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// Begins a call. Answers through `reply`, whatever happens.
    pub(crate) fn call(&'static self, document: Vec<u8>, reply: Reply) {
        let token = reply.token();
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return reply.send(&encode::<()>(token, Err(error))),
        };
        let (cancel, cancelled) = AbortHandle::new_pair();
        lock(&self.running).insert(token, cancel);
        let work = AssertUnwindSafe(self.dispatch(token, document)).catch_unwind();
        runtime.spawn(async move {
            let response = match Abortable::new(work, cancelled).await {
                Ok(Ok(response)) => response,
                Ok(Err(panic)) => encode::<()>(token, Err(panicked(panic.as_ref()))),
                Err(_) => encode::<()>(token, Err(RpcError::new(code::CANCELLED, "cancelled"))),
            };
            lock(&self.running).remove(&token);
            reply.send(&response);
        });
    }

    pub(crate) fn cancel(&self, token: u64) {
        if let Some(running) = lock(&self.running).remove(&token) {
            running.abort();
        }
    }

    /// Cancels what runs, and waits a little for it to end.
    pub(crate) fn shutdown(&self) {
        for (_, running) in lock(&self.running).iter() {
            running.abort();
        }
        for _ in 0..100 {
            if lock(&self.running).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The request behind the symbol `HostConfigure`, answered at once.
    pub(crate) fn host_configure(&self, document: &[u8], reply: Reply) {
        let configure = || -> Outcome<_> {
            let input = params::<m::HostConfigure>(document)?;
            let function = self
                .definition
                .host_configure
                .ok_or_else(|| unknown(m::HostConfigure::NAME))?;
            Ok(function(input)?)
        };
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(configure));
        let outcome = outcome.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
        let token = reply.token();
        reply.send(&encode(token, outcome));
    }

    async fn dispatch(&'static self, id: u64, document: Vec<u8>) -> Vec<u8> {
        let head: Head = match serde_json::from_slice(&document) {
            Ok(head) => head,
            Err(error) => {
                return encode::<()>(
                    id,
                    Err(RpcError::new(code::PARSE_ERROR, format!("no request: {error}"))),
                );
            }
        };
        match head.method.as_str() {
            m::Initialize::NAME => encode(
                id,
                params::<m::Initialize>(&document).map(|request| self.initialize(&request)),
            ),
            m::Configure::NAME => encode(
                id,
                params::<m::Configure>(&document).and_then(|request| self.configure(request)),
            ),
            m::NewProvisioner::NAME => match params::<m::NewProvisioner>(&document) {
                Ok(request) => encode(id, self.new_provisioner(request).await),
                Err(error) => encode::<()>(id, Err(error)),
            },
            m::DropProvisioner::NAME => {
                let outcome = params::<m::DropProvisioner>(&document).map(|request| {
                    lock(&self.provisioners).remove(&request.provisioner);
                });
                encode(id, outcome)
            }
            method => self.on_provisioner(id, method, &document).await,
        }
    }

    fn initialize(&self, request: &InitializeRequest) -> InitializeResult {
        log::install(self.host, request.log_level);
        InitializeResult {
            protocol: PROTOCOL,
            name: self.definition.name.to_owned(),
            version: self.definition.version.to_owned(),
            build: BuildInfo {
                compiler: env!("BMO_PLUGIN_COMPILER").to_owned(),
                sdk: concat!("bmo-plugin ", env!("CARGO_PKG_VERSION")).to_owned(),
                revision: String::new(),
            },
            capabilities: (self.definition.capabilities)(),
        }
    }

    /// Runs the author's constructor. It runs inside the runtime, which the Kubernetes clients need.
    fn configure(&self, request: ConfigureRequest) -> Outcome<ConfigureResult> {
        let config = PluginConfig {
            #[cfg(feature = "kube")]
            kube_client: crate::transport::client(
                self.host,
                bmo_provisioner::wire::KubeReader::Cached,
                &request.provisioner_namespace,
            ),
            #[cfg(feature = "kube")]
            api_reader: crate::transport::client(
                self.host,
                bmo_provisioner::wire::KubeReader::Direct,
                &request.provisioner_namespace,
            ),
            features: request.features,
            provisioner_namespace: request.provisioner_namespace,
            waker: HostWaker { host: self.host },
        };
        let factory = (self.definition.factory)(config)?;
        let capabilities = factory.capabilities();
        *lock(&self.factory) = Some(factory);
        Ok(ConfigureResult {
            capabilities: Some(capabilities),
        })
    }

    async fn new_provisioner(&self, request: NewProvisionerRequest) -> Outcome<()> {
        let factory = lock(&self.factory).clone();
        let factory = factory.ok_or_else(|| {
            RpcError::new(
                code::INVALID_REQUEST,
                "the plugin is not configured; send `configure` first",
            )
        })?;
        let events = Arc::new(HostEvents {
            host: self.host,
            provisioner: request.provisioner,
        });
        let host = format!("{}/{}", request.host.namespace, request.host.name);
        let span = tracing::info_span!("call", host = %host, method = m::NewProvisioner::NAME);
        let provisioner = factory
            .new_provisioner(request.host, events)
            .instrument(span)
            .await?;
        lock(&self.provisioners).insert(request.provisioner, Arc::new(Pass { provisioner, host }));
        Ok(())
    }

    fn pass(&self, handle: ProvisionerHandle) -> Outcome<Arc<Pass>> {
        lock(&self.provisioners).get(&handle).cloned().ok_or_else(|| {
            RpcError::new(
                code::INVALID_PARAMS,
                format!("there is no provisioner {handle}; it was dropped or never made"),
            )
        })
    }

    /// Runs one method of a provisioner.
    async fn act<M, P, F>(
        &self,
        id: u64,
        document: &[u8],
        act: impl FnOnce(Arc<Pass>, P, ProvisionerHandle) -> F,
    ) -> Vec<u8>
    where
        M: Method<Params = OnProvisioner<P>>,
        M::Result: Serialize,
        P: Default + DeserializeOwned,
        F: Future<Output = Result<M::Result>>,
    {
        let begun = params::<M>(document).and_then(|call| Ok((self.pass(call.provisioner)?, call)));
        let (pass, call) = match begun {
            Ok(begun) => begun,
            Err(error) => return encode::<()>(id, Err(error)),
        };
        let span = tracing::info_span!("call", host = %pass.host, method = M::NAME);
        let outcome = act(pass, call.request, call.provisioner).instrument(span).await;
        encode(id, outcome.map_err(RpcError::from))
    }

    async fn on_provisioner(&self, id: u64, method: &str, document: &[u8]) -> Vec<u8> {
        /// The method's name, its type, and what the trait does with its input.
        macro_rules! methods {
            ($($ty:ident => |$p:ident, $input:pat_param, $handle:pat_param| $body:expr;)*) => {
                match method {
                    $(m::$ty::NAME => {
                        self.act::<m::$ty, _, _>(id, document, |pass, $input, $handle| async move {
                            let $p = &pass.provisioner;
                            $body
                        }).await
                    })*
                    other => encode::<()>(id, Err(unknown(other))),
                }
            };
        }
        let host = self.host;
        methods! {
            Register => |p, request, _| p.register(request).await;
            Provision => |p, request, provisioner| p.provision(request, &HostConfig { host, provisioner }).await;
            Deprovision => |p, request, _| p.deprovision(request).await;
            Delete => |p, (), _| p.delete().await;
            PowerOn => |p, request, _| p.power_on(request).await;
            PowerOff => |p, request, _| p.power_off(request).await;
            PreprovisioningImageFormats => |p, (), _| p.preprovisioning_image_formats().await;
            InspectHardware => |p, request, _| p.inspect_hardware(request).await;
            UpdateHardwareState => |p, (), _| p.update_hardware_state().await;
            Adopt => |p, request, _| p.adopt(request).await;
            Prepare => |p, request, _| p.prepare(request).await;
            Service => |p, request, _| p.service(request).await;
            Detach => |p, request, _| p.detach(request).await;
            HasCapacity => |p, (), _| p.has_capacity().await;
            GetFirmwareSettings => |p, request, _| p.get_firmware_settings(request).await;
            GetFirmwareComponents => |p, (), _| p.get_firmware_components().await;
            AddBmcEventSubscription => |p, request, _| p.add_bmc_event_subscription(request).await;
            RemoveBmcEventSubscription => |p, request, _| p.remove_bmc_event_subscription(request).await;
            GetDataImageStatus => |p, (), _| p.get_data_image_status().await;
            AttachDataImage => |p, request, _| p.attach_data_image(request).await;
            DetachDataImage => |p, (), _| p.detach_data_image().await;
            HasPowerFailure => |p, (), _| Ok(p.has_power_failure().await);
            GetHealth => |p, (), _| Ok(p.get_health().await);
        }
    }
}

fn params<M: Method>(document: &[u8]) -> Outcome<M::Params>
where
    M::Params: DeserializeOwned,
{
    serde_json::from_slice::<Params<M::Params>>(document)
        .map(|params| params.params)
        .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("wrong parameters: {error}")))
}

fn encode<R: Serialize>(id: u64, outcome: Outcome<R>) -> Vec<u8> {
    serde_json::to_vec(&Response::new(id, outcome)).unwrap_or_else(|error| {
        let error = RpcError::new(
            code::INTERNAL_ERROR,
            format!("the answer cannot be written: {error}"),
        );
        serde_json::to_vec(&Response::<()>::new(id, Err(error))).unwrap_or_default()
    })
}

fn unknown(method: &str) -> RpcError {
    RpcError::new(
        code::METHOD_NOT_FOUND,
        format!("the plugin's SDK does not know the method {method:?}"),
    )
}

fn panicked(payload: &(dyn std::any::Any + Send)) -> RpcError {
    RpcError::new(
        code::INTERNAL_ERROR,
        format!("the plugin panicked: {}", log::panic_text(payload)),
    )
}

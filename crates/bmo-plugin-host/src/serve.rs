//! Answers what a plugin asks and takes what it tells: events, the user's data, log, wake, Kubernetes.
//!
//! Nothing of the cluster is to be had before [`Services::configure`]: a plugin that asks earlier gets an error
//! that says so.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmo_provisioner::wire::method::{Event, KubeCall, Log, MetaData, NetworkData, UserData, Wake};
use bmo_provisioner::wire::rpc::{Head, Params, code};
use bmo_provisioner::wire::{
    EventNotice, KubeRequest, LogLevel, LogNotice, Method, Notification, OfProvisioner, ProvisionerHandle,
    Response, RpcError, WakeNotice,
};
use bmo_provisioner::{EventPublisher, ProvisionerError, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

use crate::carrier::Reply;
use crate::health::PluginHealth;
use crate::kube::KubeBackend;
use crate::lock::lock;

/// Kubernetes requests of one plugin that run at a time; more wait.
const KUBE_AT_ONCE: usize = 32;

/// Is told that a host should be reconciled now.
pub trait WakeSink: Send + Sync {
    /// Something happened to the BareMetalHost `namespace/name`.
    fn wake(&self, namespace: &str, name: &str);
}

/// Wakes nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWake;

impl WakeSink for NoWake {
    fn wake(&self, _namespace: &str, _name: &str) {}
}

/// Which of the user's data is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigPart {
    User,
    Network,
    Meta,
}

/// A question for the user's data, answered by the pass that provisions.
#[derive(Debug)]
pub(crate) struct ConfigRead {
    pub(crate) part: ConfigPart,
    reply: Reply,
}

impl ConfigRead {
    pub(crate) fn answer(self, data: Result<SecretString, ProvisionerError>) {
        respond(self.reply, data.map_err(RpcError::from));
    }
}

/// A provisioner's pass as far as the plugin can reach it.
pub(crate) struct Pass {
    events: Arc<dyn EventPublisher>,
    config: Mutex<Option<mpsc::Sender<ConfigRead>>>,
}

impl Pass {
    pub(crate) fn new(events: Arc<dyn EventPublisher>) -> Self {
        Self {
            events,
            config: Mutex::default(),
        }
    }

    /// From now on questions for the user's data go to `reader`; `None` ends that.
    pub(crate) fn read_config_through(&self, reader: Option<mpsc::Sender<ConfigRead>>) {
        *lock(&self.config) = reader;
    }
}

#[derive(Clone)]
struct Cluster {
    kube: Arc<dyn KubeBackend>,
    wake: Arc<dyn WakeSink>,
    runtime: Handle,
    kube_deadline: Duration,
    slots: Arc<Semaphore>,
}

/// What one plugin may reach.
pub(crate) struct Services {
    plugin: String,
    health: PluginHealth,
    passes: Mutex<HashMap<ProvisionerHandle, Arc<Pass>>>,
    cluster: Mutex<Option<Cluster>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services")
            .field("plugin", &self.plugin)
            .finish_non_exhaustive()
    }
}

impl Services {
    pub(crate) fn new(plugin: String, health: PluginHealth) -> Self {
        Self {
            plugin,
            health,
            passes: Mutex::default(),
            cluster: Mutex::default(),
        }
    }

    pub(crate) fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Hands over the cluster. Must run inside a tokio runtime, which then serves the plugin.
    pub(crate) fn configure(
        &self,
        kube: Arc<dyn KubeBackend>,
        wake: Arc<dyn WakeSink>,
        kube_deadline: Duration,
    ) {
        let slots = Arc::new(Semaphore::new(KUBE_AT_ONCE));
        *lock(&self.cluster) = Some(Cluster {
            kube,
            wake,
            runtime: Handle::current(),
            kube_deadline,
            slots,
        });
    }

    pub(crate) fn add_pass(&self, handle: ProvisionerHandle, pass: Arc<Pass>) {
        lock(&self.passes).insert(handle, pass);
    }

    pub(crate) fn remove_pass(&self, handle: ProvisionerHandle) {
        lock(&self.passes).remove(&handle);
    }

    /// A line of plain text for the log.
    pub(crate) fn log_line(&self, level: i32, text: &[u8]) {
        let message = String::from_utf8_lossy(text);
        emit(
            &self.plugin,
            LogLevel::from_number(level),
            &self.plugin,
            &message,
            "",
        );
    }

    /// A notification.
    pub(crate) fn notified(&self, document: &[u8]) {
        let taken = serde_json::from_slice::<Head>(document).and_then(|head| match head.method.as_str() {
            Event::NAME => params(document).map(|event| self.event(&event)),
            Wake::NAME => params(document).map(|wake| self.wake(&wake)),
            Log::NAME => params(document).map(|log| self.log(&log)),
            other => {
                tracing::debug!(plugin = %self.plugin, method = other, "the plugin told something this version does not know; ignored");
                Ok(())
            }
        });
        if let Err(error) = taken {
            self.health.malformed();
            tracing::warn!(plugin = %self.plugin, %error, "a notification of the plugin cannot be read; ignored");
        }
    }

    /// A request. It is answered through `reply`, now or later.
    pub(crate) fn asked(self: &Services, document: &[u8], reply: Reply) {
        let head = match serde_json::from_slice::<Head>(document) {
            Ok(head) => head,
            Err(error) => {
                return self.refuse(
                    reply,
                    code::PARSE_ERROR,
                    format!("the request cannot be read: {error}"),
                );
            }
        };
        match head.method.as_str() {
            UserData::NAME => self.config(document, reply, ConfigPart::User),
            NetworkData::NAME => self.config(document, reply, ConfigPart::Network),
            MetaData::NAME => self.config(document, reply, ConfigPart::Meta),
            KubeCall::NAME => self.kube(document, reply),
            other => {
                let text = format!(
                    "the operator has no method {other:?}; see docs/protocol/README.md for those it has"
                );
                self.refuse(reply, code::METHOD_NOT_FOUND, text);
            }
        }
    }

    fn refuse(&self, reply: Reply, code: i64, text: String) {
        if code != code::METHOD_NOT_FOUND {
            self.health.malformed();
        }
        tracing::warn!(plugin = %self.plugin, code, "{text}");
        respond::<()>(reply, Err(RpcError::new(code, text)));
    }

    fn event(&self, event: &EventNotice) {
        let pass = lock(&self.passes).get(&event.provisioner).cloned();
        match pass {
            Some(pass) => pass.events.publish(&event.reason, &event.message),
            None => {
                tracing::warn!(plugin = %self.plugin, reason = %event.reason, "the plugin published an event after its pass had ended; dropped");
            }
        }
    }

    fn wake(&self, wake: &WakeNotice) {
        let sink = lock(&self.cluster).as_ref().map(|cluster| cluster.wake.clone());
        if let Some(sink) = sink {
            sink.wake(&wake.namespace, &wake.name);
        }
    }

    fn log(&self, log: &LogNotice) {
        let target = if log.target.is_empty() {
            &self.plugin
        } else {
            &log.target
        };
        let fields = if log.fields.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&log.fields).unwrap_or_default()
        };
        emit(&self.plugin, log.level, target, &log.message, &fields);
    }

    fn config(&self, document: &[u8], reply: Reply, part: ConfigPart) {
        let of: OfProvisioner = match params(document) {
            Ok(of) => of,
            Err(error) => {
                return self.refuse(reply, code::INVALID_PARAMS, format!("wrong parameters: {error}"));
            }
        };
        let pass = lock(&self.passes).get(&of.provisioner).cloned();
        let reader = pass.and_then(|pass| lock(&pass.config).clone());
        let Some(reader) = reader else {
            let text =
                "the user's data are to be had only while provisioner/provision runs; ask then".to_owned();
            return self.refuse(reply, code::INVALID_REQUEST, text);
        };
        // A reader that is full or gone drops the question, which answers it.
        let _ = reader.try_send(ConfigRead { part, reply });
    }

    fn kube(&self, document: &[u8], reply: Reply) {
        let request: KubeRequest = match params(document) {
            Ok(request) => request,
            Err(error) => {
                return self.refuse(reply, code::INVALID_PARAMS, format!("wrong parameters: {error}"));
            }
        };
        let Some(cluster) = lock(&self.cluster).clone() else {
            tracing::warn!(plugin = %self.plugin, "the plugin asked for the cluster before it was configured; refused");
            let error = ProvisionerError::not_ready(
                "the cluster is not to be had before the operator has sent `configure`; ask for nothing at load time and \
                 in HostConfigure",
            );
            return respond::<()>(reply, Err(error.into()));
        };
        let plugin = self.plugin.clone();
        let runtime = cluster.runtime.clone();
        runtime.spawn(async move {
            let outcome = kube_request(&plugin, &cluster, request).await;
            respond(reply, outcome.map_err(RpcError::from));
        });
    }
}

async fn kube_request(
    plugin: &str,
    cluster: &Cluster,
    request: KubeRequest,
) -> Result<bmo_provisioner::wire::KubeResponse, ProvisionerError> {
    let line = format!("{} {}", request.method, request.path);
    let work = async {
        // The semaphore is never closed.
        let _slot = cluster.slots.acquire().await.ok();
        cluster.kube.execute(request).await
    };
    let outcome = tokio::time::timeout(cluster.kube_deadline, work)
        .await
        .unwrap_or_else(|_| {
            let seconds = cluster.kube_deadline.as_secs();
            Err(ProvisionerError::transient(format!(
                "{line}: the API server did not answer within {seconds} s"
            )))
        });
    match &outcome {
        Ok(response) => {
            tracing::debug!(plugin, request = %line, status = response.status, "request of the plugin to the cluster");
        }
        Err(error) => {
            tracing::debug!(plugin, request = %line, %error, "request of the plugin to the cluster failed");
        }
    }
    outcome
}

fn params<P: DeserializeOwned>(document: &[u8]) -> serde_json::Result<P> {
    serde_json::from_slice::<Params<P>>(document).map(|params| params.params)
}

fn respond<R: Serialize>(reply: Reply, outcome: Result<R, RpcError>) {
    let response = Response::new(reply.token(), outcome);
    // What cannot be written is dropped, which answers it with an error.
    if let Ok(bytes) = serde_json::to_vec(&response) {
        reply.send(&bytes);
    }
}

/// Writes to the operator's log; tracing wants its levels to be constants.
fn emit(plugin: &str, level: LogLevel, source: &str, message: &str, fields: &str) {
    match level {
        LogLevel::Error => tracing::error!(target: "plugin", plugin, source, fields, "{message}"),
        LogLevel::Warn => tracing::warn!(target: "plugin", plugin, source, fields, "{message}"),
        LogLevel::Info => tracing::info!(target: "plugin", plugin, source, fields, "{message}"),
        LogLevel::Debug => tracing::debug!(target: "plugin", plugin, source, fields, "{message}"),
        LogLevel::Trace => tracing::trace!(target: "plugin", plugin, source, fields, "{message}"),
    }
}

//! The host as the rest of the SDK sees it: something to call and to tell.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use bmo_provisioner::wire::method::{Event, MetaData, NetworkData, UserData};
use bmo_provisioner::wire::rpc::Notice;
use bmo_provisioner::wire::{
    EventNotice, Method, Notification, OfProvisioner, ProvisionerHandle, Request, Response,
};
use bmo_provisioner::{EventPublisher, HostConfigData, ProvisionerError, Result, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::ffi::HostTable;

/// A host, or none in tests.
#[derive(Clone, Copy)]
pub(crate) struct HostHandle(Option<&'static HostTable>);

impl fmt::Debug for HostHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "HostHandle(connected)"
        } else {
            "HostHandle(none)"
        })
    }
}

/// Calls to the host that have no answer yet. Tokens are unique in the plugin, whichever host they go to.
#[derive(Default)]
struct Pending {
    last: AtomicU64,
    calls: Mutex<HashMap<u64, oneshot::Sender<Vec<u8>>>>,
}

fn pending() -> &'static Pending {
    static PENDING: OnceLock<Pending> = OnceLock::new();
    PENDING.get_or_init(Pending::default)
}

/// Takes the host's answer to the call `token`.
pub(crate) fn host_answered(token: u64, response: &[u8]) {
    if let Some(waiting) = lock(&pending().calls).remove(&token) {
        // The caller may have gone away.
        let _ = waiting.send(response.to_vec());
    }
}

/// Forgets a call whose caller goes away before the answer.
struct Forget(u64);

impl Drop for Forget {
    fn drop(&mut self) {
        lock(&pending().calls).remove(&self.0);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostHandle {
    pub(crate) fn new(table: &'static HostTable) -> Self {
        Self(Some(table))
    }

    /// A host that hears nothing and answers nothing, for tests.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// A line for the log, for what happens outside of `tracing`.
    pub(crate) fn log_line(self, level: i32, text: &str) {
        if let Some(table) = self.0 {
            table.log(level, text.as_bytes());
        }
    }

    pub(crate) fn notify<N: Notification>(self, params: &N::Params)
    where
        N::Params: Serialize,
    {
        let Some(table) = self.0 else { return };
        if let Ok(document) = serde_json::to_vec(&Notice::new(N::NAME, params)) {
            table.notify(&document);
        }
    }

    pub(crate) async fn call<M: Method>(self, params: &M::Params) -> Result<M::Result>
    where
        M::Params: Serialize + Sync,
        M::Result: DeserializeOwned,
    {
        let failed = |text: &dyn fmt::Display| ProvisionerError::transient(format!("{}: {text}", M::NAME));
        let Some(table) = self.0 else {
            return Err(ProvisionerError::not_ready(
                "there is no operator: the provisioner runs in a test",
            ));
        };
        let token = pending().last.fetch_add(1, Ordering::Relaxed) + 1;
        let document =
            serde_json::to_vec(&Request::new(token, M::NAME, params)).map_err(|error| failed(&error))?;
        let (sender, answer) = oneshot::channel();
        lock(&pending().calls).insert(token, sender);
        let _forget = Forget(token);
        table.call(&document, token);
        let bytes = answer.await.map_err(|_| failed(&"the operator did not answer"))?;
        let response: Response<M::Result> = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
        response.into_result().map_err(ProvisionerError::from)
    }
}

/// Publishes the events of one pass.
#[derive(Debug)]
pub(crate) struct HostEvents {
    pub(crate) host: HostHandle,
    pub(crate) provisioner: ProvisionerHandle,
}

impl EventPublisher for HostEvents {
    fn publish(&self, reason: &str, message: &str) {
        self.host.notify::<Event>(&EventNotice {
            provisioner: self.provisioner,
            reason: reason.to_owned(),
            message: message.to_owned(),
        });
    }
}

/// The user's data of the host that is being provisioned.
#[derive(Debug)]
pub(crate) struct HostConfig {
    pub(crate) host: HostHandle,
    pub(crate) provisioner: ProvisionerHandle,
}

#[async_trait]
impl HostConfigData for HostConfig {
    async fn user_data(&self) -> Result<SecretString> {
        self.host
            .call::<UserData>(&OfProvisioner {
                provisioner: self.provisioner,
            })
            .await
    }

    async fn network_data(&self) -> Result<SecretString> {
        self.host
            .call::<NetworkData>(&OfProvisioner {
                provisioner: self.provisioner,
            })
            .await
    }

    async fn meta_data(&self) -> Result<SecretString> {
        self.host
            .call::<MetaData>(&OfProvisioner {
                provisioner: self.provisioner,
            })
            .await
    }
}

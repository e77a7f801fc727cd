//! The in-process carrier: requests and answers as bytes over the C ABI.
//!
//! Contexts and tokens that a plugin hands back are integers looked up in maps, never pointers that are followed:
//! a plugin that answers twice, late, or with a context it made up does no harm.
//!
//! `call` runs on threads of the carrier's own ([`threads`]), so that a plugin that blocks in it holds up none of
//! the operator's. A call ends by its answer, its deadline, or because its caller went away; after the last two
//! the plugin is told to stop, and the call counts as abandoned until it answers.

mod calls;
mod ffi;
mod threads;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bmo_provisioner::abi::{BmoHost, HostConfigureFn, NewProvisionerFactoryFn};

pub(crate) use calls::Answer;
use calls::Calls;
pub(crate) use ffi::Reply;
use ffi::{HostTable, PluginTable};
use threads::Threads;

use crate::health::PluginHealth;
use crate::lock::lock;
use crate::serve::Services;

/// Threads on which calls run; a plugin that blocks holds one of them for each call.
const CALL_THREADS: usize = 64;
/// Threads on which cancellations run.
const CANCEL_THREADS: usize = 2;

/// Why a call yielded no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("it did not answer within {} s and was told to stop", .0.as_secs_f32())]
    Deadline(Duration),
    #[error("{0}")]
    Unhealthy(String),
    #[error("the plugin was shut down")]
    ShutDown,
    #[error("it has no function for it")]
    NoFunction,
}

/// Through which function a request goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Via {
    /// The table's `call`.
    Table,
    /// The symbol `HostConfigure`.
    HostConfigure(HostConfigureFn),
}

/// One plugin's carrier.
#[derive(Debug)]
pub(crate) struct Carrier {
    id: usize,
    host: &'static HostTable,
    plugin: OnceLock<PluginTable>,
    calls: Calls,
    threads: Threads,
    cancels: Threads,
    health: PluginHealth,
    pub(crate) services: Services,
    shut_down: OnceLock<()>,
}

/// Every carrier there is, by the id that plugins know as a context. Never removed: plugins are never unloaded.
fn carriers() -> &'static Mutex<HashMap<usize, Arc<Carrier>>> {
    static CARRIERS: OnceLock<Mutex<HashMap<usize, Arc<Carrier>>>> = OnceLock::new();
    CARRIERS.get_or_init(Mutex::default)
}

fn carrier(id: usize) -> Option<Arc<Carrier>> {
    lock(carriers()).get(&id).cloned()
}

impl Carrier {
    /// A carrier for the plugin `name`, not connected to it yet.
    pub(crate) fn new(name: &str, health: PluginHealth) -> Arc<Self> {
        let mut all = lock(carriers());
        let id = all.len() + 1;
        let carrier = Arc::new(Self {
            id,
            host: HostTable::leak(id),
            plugin: OnceLock::new(),
            calls: Calls::default(),
            threads: Threads::new(format!("plugin-{name}"), CALL_THREADS),
            cancels: Threads::new(format!("cancel-{name}"), CANCEL_THREADS),
            health: health.clone(),
            services: Services::new(name.to_owned(), health),
            shut_down: OnceLock::new(),
        });
        all.insert(id, carrier.clone());
        carrier
    }

    /// Connects the carrier by calling the symbol `NewProvisionerFactory`, on a thread of its own.
    ///
    /// # Errors
    /// A text that says what is wrong with the plugin's table, or the number it returned.
    pub(crate) async fn connect(
        &self,
        open: NewProvisionerFactoryFn,
        deadline: Duration,
    ) -> Result<(), String> {
        let (host, (done, opened)) = (ffi::Shared(self.host_table()), tokio::sync::oneshot::channel());
        self.threads.run(move || {
            // Nobody waits any more after the deadline.
            let _ = done.send(ffi::open(open, host));
        });
        let table = match tokio::time::timeout(deadline, opened).await {
            Ok(Ok(table)) => table?,
            Ok(Err(_)) | Err(_) => {
                return Err(format!(
                    "it did not return within {} s; it must only hand over the table, and do its work when `configure` comes",
                    deadline.as_secs_f32()
                ));
            }
        };
        self.plugin
            .set(table)
            .map_err(|_| "it is connected already".to_owned())
    }

    fn host_table(&self) -> &'static BmoHost {
        self.host.table()
    }

    pub(crate) fn health(&self) -> &PluginHealth {
        &self.health
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub(crate) async fn call(
        self: &Arc<Self>,
        via: Via,
        request: impl FnOnce(u64) -> Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, CallError> {
        if self.shut_down.get().is_some() {
            return Err(CallError::ShutDown);
        }
        if let Some(problem) = self.health.problem() {
            return Err(CallError::Unhealthy(problem));
        }
        let table = *self.plugin.get().ok_or(CallError::NoFunction)?;
        let (token, answer) = self.calls.begin();
        self.health.call_begun();
        let mut call = OpenCall {
            carrier: self,
            token,
            answered: false,
        };
        self.begin(via, table, request(token), token);
        match tokio::time::timeout(deadline, answer).await {
            Ok(Ok(bytes)) => {
                call.answered = true;
                self.health.call_answered();
                Ok(bytes)
            }
            Ok(Err(_)) => Err(CallError::ShutDown),
            Err(_) => {
                self.health.timed_out();
                Err(CallError::Deadline(deadline))
            }
        }
    }

    fn begin(self: &Arc<Self>, via: Via, table: PluginTable, request: Vec<u8>, token: u64) {
        let (id, host) = (self.id, self.host_table());
        let host = ffi::Shared(host);
        self.threads.run(move || match via {
            Via::Table => table.call(&request, id, token),
            Via::HostConfigure(function) => ffi::host_configure(function, host, &request, id, token),
        });
    }

    /// Takes an answer; called by the plugin on any thread.
    fn answered(&self, token: u64, bytes: &[u8]) {
        match self.calls.answer(token, bytes) {
            Answer::Taken => {}
            Answer::Late => self.health.answered_late(),
            Answer::Stray => {
                self.health.answered_unasked();
                tracing::warn!(plugin = %self.services.plugin(), token, "the plugin answered a call twice, or one that was never made; ignored");
            }
        }
    }

    /// Tells the plugin that the process is about to end, and waits a little for it.
    pub(crate) async fn shut_down(&self, patience: Duration) {
        if self.shut_down.set(()).is_err() {
            return;
        }
        let Some(table) = self.plugin.get().copied() else {
            return;
        };
        let (done, waiting) = tokio::sync::oneshot::channel();
        self.cancels.run(move || {
            table.shutdown();
            let _ = done.send(());
        });
        if tokio::time::timeout(patience, waiting).await.is_err() {
            tracing::warn!(plugin = %self.services.plugin(), "the plugin did not shut down within {} s; going on without it", patience.as_secs());
        }
    }
}

/// A call that is waited for. Dropped without an answer it is abandoned.
struct OpenCall<'a> {
    carrier: &'a Arc<Carrier>,
    token: u64,
    answered: bool,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        if !self.carrier.calls.abandon(self.token) {
            // Answered between the deadline and now.
            self.carrier.health.call_answered();
            return;
        }
        self.carrier.health.call_abandoned();
        if let Some(table) = self.carrier.plugin.get().copied() {
            let token = self.token;
            self.carrier.cancels.run(move || table.cancel(token));
        }
    }
}

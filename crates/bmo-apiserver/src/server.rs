//! The server: store, registry, and what tests get their hands on.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use crate::audit::Audit;
use crate::builtin::{self, Builtin};
use crate::clock::Clock;
use crate::error::ApiError;
use crate::faults::Faults;
use crate::http;
use crate::mutate::{FieldValidation, Mutation, Part};
use crate::object;
use crate::patch::PatchKind;
use crate::private;
use crate::resource::{Registry, Resource, Resources};
use crate::store::redb::RedbStorage;
use crate::store::{DEFAULT_HISTORY, StorageError, Store};

/// The file of a data directory that holds all objects.
pub const DATA_FILE: &str = "objects.redb";

/// How a server is opened.
#[derive(Debug, Default)]
pub struct OpenOptions {
    /// Directory of the data file, made if missing (mode 0700); in memory without one.
    pub data: Option<PathBuf>,
    /// Where timestamps come from: by default the machine's clock with a directory, tokio's clock in memory.
    pub clock: Option<Clock>,
    /// How many changes a watcher can be behind; 2048 by default.
    pub history: Option<usize>,
}

impl OpenOptions {
    /// Nothing is kept; timestamps follow tokio's clock.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Everything is kept in this directory.
    pub fn in_directory(path: impl Into<PathBuf>) -> Self {
        Self {
            data: Some(path.into()),
            ..Self::default()
        }
    }
}

/// Why a server could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot make the data directory {path}: {source}")]
    Directory { path: PathBuf, source: std::io::Error },
    #[error("cannot open the data: {0}")]
    Storage(#[from] StorageError),
}

/// A definition that could not be installed.
#[derive(Debug, thiserror::Error)]
#[error("cannot install the CustomResourceDefinition {name}: {reason}")]
pub struct InstallError {
    pub name: String,
    pub reason: String,
}

/// An API server. Everything that serves it (routers, clients, listeners) shares one store.
#[derive(Debug)]
pub struct ApiServer {
    store: Store,
    registry: Registry,
    clock: Clock,
    faults: Faults,
    audit: Audit,
    ready: tokio::sync::OnceCell<()>,
}

impl ApiServer {
    /// Opens a server. Must be called within a tokio runtime.
    ///
    /// A data directory can be open once at a time; a second opening says so.
    pub fn open(options: OpenOptions) -> Result<Arc<Self>, OpenError> {
        let history = options.history.unwrap_or(DEFAULT_HISTORY);
        let (store, clock) = match &options.data {
            None => (Store::in_memory(history), Clock::tokio()),
            Some(path) => {
                private::create_dir(path).map_err(|source| OpenError::Directory {
                    path: path.clone(),
                    source,
                })?;
                let storage = RedbStorage::open(&path.join(DATA_FILE))?;
                (Store::open(Box::new(storage), history)?, Clock::system())
            }
        };
        let server = Arc::new(Self {
            store,
            registry: Registry::default(),
            clock: options.clock.unwrap_or(clock),
            faults: Faults::default(),
            audit: Audit::default(),
            ready: tokio::sync::OnceCell::new(),
        });
        crate::background::start(&server);
        Ok(server)
    }

    /// The API as a tower service. `kube::Client::new(server.router(), "default")` talks to it without a socket.
    pub fn router(self: &Arc<Self>) -> Router {
        http::router(self.clone())
    }

    /// An in-process client whose default namespace is `default`.
    pub fn client(self: &Arc<Self>) -> kube::Client {
        kube::Client::new(self.router(), "default")
    }

    /// Creates or updates definitions; what is installed already just so is left alone. The kinds are served when
    /// this returns.
    pub async fn install_crds(&self, crds: Vec<CustomResourceDefinition>) -> Result<(), InstallError> {
        self.ready().await;
        let resource = builtin::of(Builtin::CustomResourceDefinition);
        for crd in crds {
            let name = crd.metadata.name.clone().unwrap_or_default();
            let failed = |reason: String| InstallError {
                name: name.clone(),
                reason,
            };
            let mut value = serde_json::to_value(crd).map_err(|error| failed(error.to_string()))?;
            object::take(&mut value, "status");
            let mut mutation = self.internal(resource, "", "bmo-apiserver");
            let applied = mutation.patch(&name, PatchKind::Apply, value, true).await;
            applied.map_err(|error| failed(error.message))?;
        }
        Ok(())
    }

    /// Stops taking writes, ends all watches and closes the data file.
    pub async fn close(&self) {
        self.store.close().await;
        self.faults.drop_watches();
    }

    /// Faults on purpose, for tests.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Counts of the requests so far.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Makes watchers that are behind list again, as a compaction would.
    pub fn forget_history(&self) {
        self.store.forget_history();
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn resources(&self) -> Arc<Resources> {
        self.registry.resources(&self.store)
    }

    /// A write by the server itself, which no fault meets and nobody counts.
    pub(crate) fn internal<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: &'a str,
        manager: &'a str,
    ) -> Mutation<'a> {
        Mutation {
            server: self,
            resource,
            namespace,
            api_version: resource.api_version(),
            part: Part::Whole,
            manager,
            dry_run: false,
            validation: FieldValidation::Ignore,
            warnings: Vec::new(),
        }
    }

    /// Makes what has to be there before the first request is answered.
    pub(crate) async fn ready(&self) {
        let made = self.ready.get_or_try_init(|| self.make_first_namespaces()).await;
        if let Err(error) = made {
            tracing::error!(error = %error.message, "the first namespaces could not be made");
        }
    }

    /// Makes the namespaces that are always there.
    async fn make_first_namespaces(&self) -> Result<(), ApiError> {
        for name in ["default", "kube-system"] {
            if self.store.get(&format!("/namespaces//{name}")).is_some() {
                continue;
            }
            let value: Value = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.internal(builtin::of(Builtin::Namespace), "", "bmo-apiserver")
                .create(value)
                .await?;
        }
        Ok(())
    }
}

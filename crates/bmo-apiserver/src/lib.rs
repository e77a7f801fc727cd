//! An embedded Kubernetes-style API server: enough of the API that `kubectl`, kube-rs and client-go work against it.
//!
//! It serves Namespaces, Secrets, ConfigMaps, Events, Leases, CustomResourceDefinitions and every kind so defined.
//! Objects are kept in one file (or in memory), see [`store`]. It is meant for one machine: there is one user, who may
//! do everything, and no pods, service accounts or admission plugins.
//!
//! Not done: CEL rules of definitions are accepted and not evaluated; conversion webhooks are refused; answers are
//! always JSON (protobuf is read, not written).
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = bmo_apiserver::ApiServer::open(bmo_apiserver::OpenOptions::in_memory())?;
//! let client = server.client();
//! # Ok(()) }
//! ```

pub mod audit;
mod background;
mod builtin;
pub mod clock;
mod crd;
mod discovery;
mod error;
pub mod faults;
mod http;
mod jsonpath;
mod metacheck;
mod mutate;
mod object;
mod openapi;
mod patch;
mod private;
mod protobuf;
mod resource;
mod schema;
mod selector;
mod serve;
mod server;
mod ssa;
pub mod store;
mod table;
mod tls;

pub use clock::Clock;
pub use serve::{Running, ServeError, ServeOptions};
pub use server::{ApiServer, DATA_FILE, InstallError, OpenError, OpenOptions};
pub use tls::TlsError;

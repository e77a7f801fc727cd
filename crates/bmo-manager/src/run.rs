//! The manager's start, work and end.
//!
//! The order matters: the plugin is loaded and asked for its needs before there is a client; the client is made
//! before the factory; the endpoints are up before leadership; controllers start with leadership.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bmo_controllers::{ControllerContext, Metrics, SystemClock};
use bmo_lifecycle::Policy;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::election::{Elector, LEASE_NAME, identity};
use crate::environment::Environment;
use crate::kube_access::{Clients, KubeAccessError, KubeSource};
use crate::listen::bind;
use crate::metrics_server::{self, MetricsServerError};
use crate::options::{Namespaces, Options};
use crate::plugin_metrics::PluginCollector;
use crate::provisioner::{Provisioner, ProvisionerStartError};
use crate::{health, version};

/// How long a plugin has to end its work.
const PLUGIN_END: Duration = Duration::from_secs(6);

/// Why the manager ended, other than by being asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The provisioner cannot be used.
    #[error(transparent)]
    Provisioner(#[from] ProvisionerStartError),
    /// There is no way to the Kubernetes API.
    #[error(transparent)]
    Kube(#[from] KubeAccessError),
    /// A server cannot listen.
    #[error("cannot listen on {address} for the {what} endpoint (flag -{flag}): {error}")]
    Listen {
        /// Which endpoint.
        what: &'static str,
        /// The flag with its address.
        flag: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// The metrics endpoint cannot be started.
    #[error(transparent)]
    Metrics(#[from] MetricsServerError),
    /// Another manager may lead now.
    #[error("the lease {LEASE_NAME} could not be renewed in time; another manager may lead now")]
    LostLease,
}

/// What others may want to know of a manager that runs.
#[derive(Debug, Default)]
pub struct Observers {
    /// Set once hosts are being looked after.
    pub working: Option<watch::Sender<bool>>,
}

/// Runs the manager until `shutdown`.
///
/// # Errors
/// It cannot start, or lost its lease; see [`RunError`].
pub async fn run(
    options: Options,
    env: &Environment,
    kube: KubeSource,
    shutdown: CancellationToken,
    observers: Observers,
) -> Result<(), RunError> {
    say_what_is_run(&options);
    let provisioner = Provisioner::load(&options).await?;
    let clients = kube.clients(&options, env).await?;
    let (wakes, woken) = mpsc::unbounded_channel();
    let factory = provisioner.start(&options, env, &clients.limited, wakes).await?;
    let metrics = Arc::new(Metrics::new());
    if let Some(health) = provisioner.health() {
        let collector = PluginCollector::new(&options.provisioner, health);
        metrics.with_registry(|registry| registry.register_collector(Box::new(collector)));
    }
    let mut servers = JoinSet::new();
    serve_endpoints(
        &mut servers,
        &options,
        &clients,
        &metrics,
        &provisioner,
        &shutdown,
    )?;
    let context = ControllerContext {
        client: clients.limited.clone(),
        namespaces: match &options.namespaces {
            Namespaces::All => bmo_controllers::Namespaces::All,
            Namespaces::List(list) => bmo_controllers::Namespaces::List(list.clone()),
        },
        factory,
        provisioner: options.provisioner.clone(),
        policy: Policy {
            max_provisioning_retries: options.max_provisioning_retries,
            ..Policy::default()
        },
        metrics: metrics.clone(),
        concurrency: options.concurrency,
        wakes: woken,
        shutdown: shutdown.clone(),
        clock: Arc::new(SystemClock),
        synced: observers.working,
    };
    let result = work(&options, &clients, &metrics, context, &shutdown).await;
    shutdown.cancel();
    let _ = tokio::time::timeout(PLUGIN_END, provisioner.shutdown()).await;
    while servers.join_next().await.is_some() {}
    result
}

fn say_what_is_run(options: &Options) {
    tracing::info!(
        version = version(),
        provisioner = options.provisioner,
        "the manager starts"
    );
    for note in options.tls.notes.iter().chain(&options.concurrency_note) {
        tracing::warn!("{note}");
    }
    if options.webhook_port.is_some() {
        tracing::info!("webhooks are not served by this version; objects are checked by their schemas");
    }
    if options.hostclaims {
        tracing::warn!("-hostclaims has no effect in this version: HostClaims are not served yet");
    }
    if options.build_preprov_image {
        tracing::warn!(
            "-build-preprov-image only tells the plugin in this version: images are not built yet"
        );
    }
}

/// Starts the health and metrics endpoints.
fn serve_endpoints(
    servers: &mut JoinSet<()>,
    options: &Options,
    clients: &Clients,
    metrics: &Arc<Metrics>,
    provisioner: &Provisioner,
    shutdown: &CancellationToken,
) -> Result<(), RunError> {
    if let Some(address) = options.health_addr {
        let failed = |error| RunError::Listen {
            what: "health",
            flag: "health-addr",
            address,
            error,
        };
        let listener = bind(address).map_err(failed)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        let plugin = provisioner.health();
        let check: health::Check = Arc::new(move || {
            plugin
                .as_ref()
                .and_then(bmo_plugin_host::PluginHealth::problem)
                .map_or(Ok(()), Err)
        });
        let app = health::router(vec![("provisioner", check)]);
        let shutdown = shutdown.clone();
        servers.spawn(async move {
            let served = axum::serve(listener, app)
                .with_graceful_shutdown(shutdown.cancelled_owned())
                .await;
            if let Err(error) = served {
                tracing::error!(%error, "the health endpoint ended");
            }
        });
    }
    if let Some(address) = options.metrics_addr {
        let failed = |error| RunError::Listen {
            what: "metrics",
            flag: "metrics-addr",
            address,
            error,
        };
        let listener = bind(address).map_err(failed)?;
        let tls = metrics_server::tls_config(&options.tls)?;
        let server = metrics_server::serve(
            listener,
            tls,
            clients.limited.clone(),
            metrics.clone(),
            shutdown.clone(),
        );
        servers.spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the metrics endpoint ended");
            }
        });
    }
    Ok(())
}

/// Runs the controllers, with leadership where that is wanted.
async fn work(
    options: &Options,
    clients: &Clients,
    metrics: &Metrics,
    context: ControllerContext,
    shutdown: &CancellationToken,
) -> Result<(), RunError> {
    let Some(settings) = options.leader_election.clone() else {
        bmo_controllers::run(context).await;
        return Ok(());
    };
    let master = master_status(metrics);
    let mut elector = Elector::new(clients.unlimited.clone(), identity(), settings);
    tracing::info!(lease = LEASE_NAME, "waiting for leadership");
    tokio::select! {
        () = elector.acquire() => {}
        () = shutdown.cancelled() => return Ok(()),
    }
    tracing::info!(lease = LEASE_NAME, "this manager leads");
    master.set(1);
    tokio::select! {
        () = bmo_controllers::run(context) => {}
        () = elector.keep() => {
            master.set(0);
            return Err(RunError::LostLease);
        }
    }
    elector.release().await;
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LeaseLabels {
    name: &'static str,
}

fn master_status(metrics: &Metrics) -> Gauge {
    let family: Family<LeaseLabels, Gauge> = Family::default();
    metrics.with_registry(|registry| {
        registry.register(
            "leader_election_master_status",
            "Whether this manager leads",
            family.clone(),
        );
    });
    family.get_or_create(&LeaseLabels { name: LEASE_NAME }).clone()
}

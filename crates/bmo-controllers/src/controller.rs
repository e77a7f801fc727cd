//! The BareMetalHost controller: watches, the work queue, and the workers that make passes.

use std::sync::Arc;
use std::time::Duration;

use bmo_api::{BareMetalHost, HardwareData, annotations};
use bmo_lifecycle::Policy;
use bmo_provisioner::ProvisionerFactory;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::watcher::{self, Config, watcher};
use kube::runtime::{WatchStreamExt, watcher::Event};
use kube::{Api, Client, Resource};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cache::{Cache, Change, Listing, key_of};
use crate::clock::Clock;
use crate::events::Events;
use crate::metrics::{Metrics, PassResult};
use crate::pass::run_pass;
use crate::queue::{HostKey, Next, WorkQueue};
use crate::secrets::Secrets;

/// A pass that takes longer gives its place to another host, so that back ends which hang delay only their own
/// hosts. It goes on all the same: a host has one pass at a time, however long.
const PLACE_HELD: Duration = Duration::from_secs(5);
/// How long passes that are being made may go on after the shutdown was asked for.
const GRACE: Duration = Duration::from_secs(5);

/// Which namespaces are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// The whole cluster.
    All,
    /// These.
    List(Vec<String>),
}

/// What the controller works with.
pub struct ControllerContext {
    /// The Kubernetes API.
    pub client: Client,
    /// Where hosts are looked for.
    pub namespaces: Namespaces,
    /// Makes the provisioner of each pass.
    pub factory: Arc<dyn ProvisionerFactory>,
    /// The provisioner's name, for the log.
    pub provisioner: String,
    /// What an administrator sets for all hosts.
    pub policy: Policy,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Most hosts worked on at once.
    pub concurrency: usize,
    /// Hosts the provisioner wants looked at now.
    pub wakes: mpsc::UnboundedReceiver<HostKey>,
    /// Ends the controller.
    pub shutdown: CancellationToken,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Set once the first lists have been read.
    pub synced: Option<watch::Sender<bool>>,
}

impl std::fmt::Debug for ControllerContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControllerContext")
            .field("namespaces", &self.namespaces)
            .field("provisioner", &self.provisioner)
            .finish_non_exhaustive()
    }
}

/// What every pass works with.
pub(crate) struct Shared {
    pub client: Client,
    pub factory: Arc<dyn ProvisionerFactory>,
    pub provisioner: String,
    pub policy: Policy,
    pub metrics: Arc<Metrics>,
    pub clock: Arc<dyn Clock>,
    pub hosts: Cache<BareMetalHost>,
    pub hardware_data: Cache<HardwareData>,
    pub secrets: Arc<Secrets>,
    pub events: Events,
}

/// Runs the controller until its shutdown is asked for; passes being made then get some seconds to end.
pub async fn run(context: ControllerContext) {
    let ControllerContext {
        client,
        namespaces,
        wakes,
        shutdown,
        concurrency,
        synced,
        ..
    } = context;
    let concurrency = concurrency.max(1);
    context
        .metrics
        .max_workers
        .set(i64::try_from(concurrency).unwrap_or(i64::MAX));
    let shared = Arc::new(Shared {
        client: client.clone(),
        factory: context.factory,
        provisioner: context.provisioner,
        policy: context.policy,
        metrics: context.metrics.clone(),
        clock: context.clock,
        hosts: Cache::default(),
        hardware_data: Cache::default(),
        secrets: Arc::new(Secrets::new(client.clone())),
        events: Events::new(client.clone()),
    });
    let queue = Arc::new(WorkQueue::new(context.metrics));
    let mut tasks = JoinSet::new();
    let ready = spawn_watches(&mut tasks, &client, &namespaces, &shared, &queue);
    tasks.spawn(forward_wakes(wakes, shared.clone(), queue.clone()));
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = ready.wait() => {
            if let Some(synced) = synced {
                let _ = synced.send(true);
            }
            dispatch(shared, queue, concurrency, &shutdown).await;
        }
    }
    tasks.shutdown().await;
}

/// Which watches have read their first list.
struct Ready(Vec<watch::Receiver<bool>>);

impl Ready {
    async fn wait(self) {
        for mut receiver in self.0 {
            // An error means that the watch's task ended, which it does only with the controller.
            let _ = receiver.wait_for(|listed| *listed).await;
        }
    }
}

/// Starts a watch for each kind in each namespace.
fn spawn_watches(
    tasks: &mut JoinSet<()>,
    client: &Client,
    namespaces: &Namespaces,
    shared: &Arc<Shared>,
    queue: &Arc<WorkQueue>,
) -> Ready {
    let scopes: Vec<Option<String>> = match namespaces {
        Namespaces::All => vec![None],
        Namespaces::List(list) => list.iter().cloned().map(Some).collect(),
    };
    let labelled = format!(
        "{}={}",
        annotations::SECRET_LABEL,
        annotations::SECRET_LABEL_VALUE
    );
    let mut receivers = Vec::new();
    for scope in scopes {
        let (shared_, queue_) = (shared.clone(), queue.clone());
        let hosts = events_of::<BareMetalHost>(client, scope.as_deref(), Config::default());
        receivers.push(spawn_watch(
            tasks,
            hosts,
            scope.clone(),
            move |event, scope, listing| {
                for change in shared_.hosts.apply(event, scope, listing) {
                    host_changed(&shared_, &queue_, &change);
                }
            },
        ));
        let shared_ = shared.clone();
        let data = events_of::<HardwareData>(client, scope.as_deref(), Config::default());
        receivers.push(spawn_watch(
            tasks,
            data,
            scope.clone(),
            move |event, scope, listing| {
                shared_.hardware_data.apply(event, scope, listing);
            },
        ));
        let (shared_, queue_) = (shared.clone(), queue.clone());
        let secrets = events_of::<Secret>(client, scope.as_deref(), Config::default().labels(&labelled));
        receivers.push(spawn_watch(
            tasks,
            secrets,
            scope,
            move |event, scope, listing| {
                for change in shared_.secrets.cache.apply(event, scope, listing) {
                    secret_changed(&shared_, &queue_, &change);
                }
            },
        ));
    }
    Ready(receivers)
}

/// The events of a watch, tried again for ever with growing delays.
fn events_of<K>(
    client: &Client,
    namespace: Option<&str>,
    config: Config,
) -> impl Stream<Item = Result<Event<K>, watcher::Error>> + Send + use<K>
where
    K: Resource<DynamicType = ()> + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + 'static,
    K: Resource<Scope = kube::core::NamespaceResourceScope>,
{
    let api = match namespace {
        Some(namespace) => Api::<K>::namespaced(client.clone(), namespace),
        None => Api::<K>::all(client.clone()),
    };
    watcher(api, config).default_backoff()
}

/// Runs a watch; the receiver turns true when its first list is complete.
fn spawn_watch<K>(
    tasks: &mut JoinSet<()>,
    events: impl Stream<Item = Result<Event<K>, watcher::Error>> + Send + 'static,
    scope: Option<String>,
    take: impl Fn(Event<K>, Option<&str>, &mut Listing) + Send + 'static,
) -> watch::Receiver<bool>
where
    K: Resource<DynamicType = ()> + Send + 'static,
{
    let (listed, receiver) = watch::channel(false);
    tasks.spawn(async move {
        let mut listing = Listing::default();
        let mut failing = false;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    failing = false;
                    let complete = matches!(event, Event::InitDone);
                    take(event, scope.as_deref(), &mut listing);
                    if complete {
                        let _ = listed.send(true);
                    }
                }
                Err(error) => {
                    // Said once per outage; the watch is tried again by itself.
                    if !std::mem::replace(&mut failing, true) {
                        let kind = K::kind(&());
                        tracing::warn!(%error, %kind, namespace = scope.as_deref().unwrap_or(""), "a watch failed and is tried again");
                    }
                }
            }
        }
    });
    receiver
}

/// Wakes a host whose change may matter: our own status writes do not.
fn host_changed(shared: &Shared, queue: &WorkQueue, change: &Change<BareMetalHost>) {
    match change {
        Change::Updated { old, new } => {
            let matters = old.as_ref().is_none_or(|old| {
                let (old, new) = (&old.metadata, &new.metadata);
                old.uid != new.uid
                    || old.generation != new.generation
                    || old.finalizers != new.finalizers
                    || old.annotations != new.annotations
                    || old.deletion_timestamp != new.deletion_timestamp
            });
            if matters {
                queue.wake(&key_of(&**new));
            }
        }
        Change::Removed { old } => {
            let key = key_of(&**old);
            shared.metrics.forget_host(&key);
            queue.wake(&key);
        }
    }
}

/// Wakes the hosts that use a Secret whose content changed, appeared or went. That we put a claim on it does
/// not matter.
fn secret_changed(shared: &Shared, queue: &WorkQueue, change: &Change<Secret>) {
    let secret = match change {
        Change::Updated { old, new } => {
            if old
                .as_ref()
                .is_some_and(|old| old.metadata.uid == new.metadata.uid && old.data == new.data)
            {
                return;
            }
            new
        }
        Change::Removed { old } => old,
    };
    let key = key_of(&**secret);
    for host in shared.hosts.select(|host| uses_secret(host, &key)) {
        queue.wake(&key_of(&*host));
    }
}

/// Whether the host names that Secret anywhere.
fn uses_secret(host: &BareMetalHost, key: &HostKey) -> bool {
    let spec = &host.spec;
    let by_reference = [&spec.user_data, &spec.network_data, &spec.meta_data];
    host.metadata.namespace.as_deref() == Some(&key.namespace)
        && (spec.bmc.credentials_name == key.name
            || spec.preprovisioning_network_data_name == key.name
            || by_reference
                .into_iter()
                .flatten()
                .any(|reference| reference.name.as_deref() == Some(&key.name)))
}

/// Wakes hosts that the provisioner names, as long as they exist.
async fn forward_wakes(
    mut wakes: mpsc::UnboundedReceiver<HostKey>,
    shared: Arc<Shared>,
    queue: Arc<WorkQueue>,
) {
    while let Some(key) = wakes.recv().await {
        if shared.hosts.get(&key).is_some() {
            queue.wake(&key);
        }
    }
}

/// Makes passes, at most `concurrency` at once, until the shutdown.
async fn dispatch(
    shared: Arc<Shared>,
    queue: Arc<WorkQueue>,
    concurrency: usize,
    shutdown: &CancellationToken,
) {
    let places = Arc::new(Semaphore::new(concurrency));
    let mut passes = JoinSet::new();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, queue.next().await)
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            Some(_) = passes.join_next() => {}
            (place, key) = next => {
                passes.spawn(handle(shared.clone(), queue.clone(), key, place.ok()));
            }
        }
    }
    let ended = tokio::time::timeout(GRACE, async { while passes.join_next().await.is_some() {} }).await;
    if ended.is_err() {
        tracing::warn!(
            passes = passes.len(),
            "passes did not end in time and are dropped; they are made again after the restart"
        );
    }
}

/// Makes one pass in a task of its own, so that a panic ends that pass only.
async fn handle(
    shared: Arc<Shared>,
    queue: Arc<WorkQueue>,
    key: HostKey,
    place: Option<tokio::sync::OwnedSemaphorePermit>,
) {
    let metrics = shared.metrics.clone();
    let began = Instant::now();
    metrics.active_workers.inc();
    let mut pass = JoinSet::new();
    let key_ = key.clone();
    pass.spawn(async move { Box::pin(run_pass(&shared, &key_)).await });
    let joined = tokio::select! {
        joined = pass.join_next() => joined,
        () = tokio::time::sleep(PLACE_HELD) => {
            drop(place);
            pass.join_next().await
        }
    };
    let next = match joined {
        Some(Ok(next)) => next,
        Some(Err(error)) if error.is_panic() => {
            metrics.pass_panics.inc();
            tracing::error!(
                host.namespace = key.namespace,
                host.name = key.name,
                panic = panic_text(error),
                "the pass panicked; the host is tried again later"
            );
            Next::Retry
        }
        _ => Next::Retry,
    };
    metrics.active_workers.dec();
    let took = began.elapsed().as_secs_f64();
    metrics.pass_time.observe(took);
    metrics.work_duration.observe(took);
    metrics.count_pass(match next {
        Next::OnWake => PassResult::Success,
        Next::After(_) => PassResult::RequeueAfter,
        Next::Now => PassResult::Requeue,
        Next::Retry => PassResult::Error,
    });
    if next == Next::Retry {
        metrics.pass_errors.inc();
        metrics.reconcile_error.inc();
    }
    queue.finished(&key, next);
}

fn panic_text(error: tokio::task::JoinError) -> String {
    let payload = error.into_panic();
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a text".to_owned())
}

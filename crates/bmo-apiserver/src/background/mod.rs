//! What the server does on its own, as Kubernetes' controllers do: deletes what lost its owners, empties namespaces
//! and definitions that are being deleted, forgets old events.
//!
//! One task follows the changes of the store. It is driven by state, not by the changes themselves: each change only
//! says which objects to look at, so that after a restart looking at everything once is enough. A namespace that waits
//! for finalizers of its content shows so by its phase only; the conditions Kubernetes adds are not set.

mod collect;
mod graph;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior};

use crate::object;
use crate::server::ApiServer;
use crate::store::Object;
use graph::Graph;

/// How long events are kept after they were last seen.
const EVENT_LIFE: Duration = Duration::from_hours(1);
const EVENT_SWEEP: Duration = Duration::from_mins(1);
/// When a failed look at an object is repeated.
const RETRY: Duration = Duration::from_secs(1);

/// Starts the task; it ends when the server is dropped.
pub fn start(server: &Arc<ApiServer>) {
    let changed = server.store().subscribe();
    tokio::spawn(run(Arc::downgrade(server), changed));
}

async fn run(server: Weak<ApiServer>, mut changed: tokio::sync::watch::Receiver<u64>) {
    let mut graph = Graph::default();
    let mut due: BTreeSet<String> = BTreeSet::new();
    let mut sweep = tokio::time::interval_at(Instant::now() + EVENT_SWEEP, EVENT_SWEEP);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(strong) = server.upgrade() else { return };
        changed.borrow_and_update();
        due.extend(graph.update(strong.store()));
        let mut failed = BTreeSet::new();
        for key in std::mem::take(&mut due) {
            if let Err(error) = collect::look_at(&strong, &graph, &key).await {
                tracing::debug!(%key, error = %error.message, "the background task tries again");
                failed.insert(key);
            }
        }
        let retry = !failed.is_empty();
        due = failed;
        drop(strong);
        tokio::select! {
            more = changed.changed() => if more.is_err() { return },
            () = tokio::time::sleep(RETRY), if retry => {}
            _ = sweep.tick() => {
                let Some(strong) = server.upgrade() else { return };
                forget_events(&strong).await;
            }
        }
    }
}

async fn forget_events(server: &ApiServer) {
    let events = server.store().list("/events/").objects;
    let limit = server.clock().now().checked_sub(EVENT_LIFE);
    let Ok(limit) = limit else { return };
    for event in events
        .iter()
        .filter(|event| last_seen(event).is_some_and(|seen| seen < limit))
    {
        let resource = crate::builtin::of(crate::builtin::Builtin::Event);
        let namespace = object::namespace(&event.value).to_owned();
        let name = object::name(&event.value);
        let options = crate::mutate::DeleteOptions {
            resource_version: Some(event.rev.to_string()),
            ..crate::mutate::DeleteOptions::default()
        };
        // One that was seen again in between stays.
        let _ = server
            .internal(resource, &namespace, "bmo-apiserver")
            .delete(name, &options)
            .await;
    }
}

fn last_seen(event: &Object) -> Option<Timestamp> {
    [
        "/metadata/creationTimestamp",
        "/lastTimestamp",
        "/series/lastObservedTime",
    ]
    .into_iter()
    .filter_map(|pointer| event.value.pointer(pointer).and_then(Value::as_str)?.parse().ok())
    .max()
}

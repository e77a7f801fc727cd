//! Events of hosts, as core/v1 objects with the fields upstream's have.
//!
//! An event that says the same as one of the last hour is counted on that one instead of becoming another
//! object. A failure to store an event is logged and forgotten: events tell, they do not steer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bmo_api::BareMetalHost;
use bmo_lifecycle::{EventKind, HostEvent};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::time::Instant;

use crate::api::{ApiError, call};

/// How long an event is remembered for counting; the API server itself forgets events after an hour.
const REMEMBERED: Duration = Duration::from_hours(1);
/// How many are remembered.
const MOST: usize = 4096;
/// Component that reports.
const COMPONENT: &str = "metal3-baremetal-controller";
/// Controller that reports, in the newer form.
const REPORTER: &str = "metal3.io/baremetal-controller";
/// Longest message an event may have, in bytes.
const LONGEST_MESSAGE: usize = 1024;

/// Stores events.
pub(crate) struct Events {
    client: Client,
    seen: Mutex<HashMap<Said, Seen>>,
}

/// What was said of which host.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Said {
    uid: String,
    warning: bool,
    reason: String,
    message: String,
}

/// The object in which it was said last.
#[derive(Clone)]
struct Seen {
    name: String,
    count: i32,
    last: Instant,
}

impl Events {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            seen: Mutex::default(),
        }
    }

    /// Stores the events of a pass, in order.
    pub(crate) async fn publish(&self, host: &BareMetalHost, events: &[HostEvent], now: Timestamp) {
        for event in events {
            if let Err(error) = self.publish_one(host, event, now).await {
                tracing::warn!(%error, reason = event.reason, "an event could not be stored");
            }
        }
    }

    async fn publish_one(
        &self,
        host: &BareMetalHost,
        event: &HostEvent,
        now: Timestamp,
    ) -> Result<(), ApiError> {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &host.namespace().unwrap_or_default());
        let said = Said::new(host, event);
        if let Some(seen) = self.recall(&said) {
            let count = seen.count.saturating_add(1);
            let patch = json!({ "count": count, "lastTimestamp": whole_seconds(now) });
            let patched = call(
                "count an event",
                api.patch(&seen.name, &PatchParams::default(), &Patch::Merge(patch)),
            )
            .await;
            match patched {
                Ok(_) => {
                    self.remember(
                        said,
                        Seen {
                            count,
                            last: Instant::now(),
                            ..seen
                        },
                    );
                    return Ok(());
                }
                Err(ApiError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let object = new_event(host, event, now);
        let created = call("store an event", api.create(&PostParams::default(), &object)).await?;
        self.remember(
            said,
            Seen {
                name: created.name_any(),
                count: 1,
                last: Instant::now(),
            },
        );
        Ok(())
    }

    fn recall(&self, said: &Said) -> Option<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(said)
            .filter(|seen| seen.last.elapsed() < REMEMBERED)
            .cloned()
    }

    fn remember(&self, said: Said, what: Seen) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST {
            seen.retain(|_, seen| seen.last.elapsed() < REMEMBERED);
        }
        if seen.len() >= MOST {
            seen.clear();
        }
        seen.insert(said, what);
    }
}

impl Said {
    fn new(host: &BareMetalHost, event: &HostEvent) -> Self {
        Self {
            uid: host.metadata.uid.clone().unwrap_or_default(),
            warning: event.kind == EventKind::Warning,
            reason: event.reason.clone(),
            message: event.message.clone(),
        }
    }
}

fn whole_seconds(moment: Timestamp) -> Time {
    bmo_api::time::whole_seconds(moment)
}

fn new_event(host: &BareMetalHost, event: &HostEvent, now: Timestamp) -> Event {
    let namespace = host.namespace();
    Event {
        metadata: ObjectMeta {
            // In lower case: names of other letters are taken for events only, and not by every server.
            generate_name: Some(format!("{}-", event.reason.to_lowercase())),
            namespace: namespace.clone(),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            kind: Some(BareMetalHost::kind(&()).into_owned()),
            namespace,
            name: Some(host.name_any()),
            uid: host.metadata.uid.clone(),
            api_version: Some(BareMetalHost::api_version(&()).into_owned()),
            ..ObjectReference::default()
        },
        related: host.spec.consumer_ref.clone(),
        reason: Some(event.reason.clone()),
        message: Some(shortened(&event.message)),
        type_: Some(
            if event.kind == EventKind::Warning {
                "Warning"
            } else {
                "Normal"
            }
            .to_owned(),
        ),
        count: Some(1),
        first_timestamp: Some(whole_seconds(now)),
        last_timestamp: Some(whole_seconds(now)),
        source: Some(EventSource {
            component: Some(COMPONENT.to_owned()),
            host: None,
        }),
        reporting_component: Some(REPORTER.to_owned()),
        ..Event::default()
    }
}

/// A message that the API server takes.
fn shortened(message: &str) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message.to_owned();
    }
    let mut end = LONGEST_MESSAGE - '…'.len_utf8();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &message[..end])
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_MESSAGE, shortened};

    #[test]
    fn long_messages_are_cut_between_letters() {
        assert_eq!(shortened("short"), "short");
        let long = shortened(&"ä".repeat(2000));
        assert!(long.len() <= LONGEST_MESSAGE && long.ends_with('…'));
    }
}

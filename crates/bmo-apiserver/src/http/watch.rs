//! `watch`: a stream of events that ends at its timeout, when the client falls behind, or when the server closes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Value, json};
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

use super::form::Form;
use super::{Call, list, reply};
use crate::error::{ApiError, FieldError, Problem, Result};
use crate::resource::Resource;
use crate::selector::Selector;
use crate::server::ApiServer;
use crate::store::{Change, ChangeKind, Object};
use crate::table;

/// How often a client that asked for bookmarks gets one.
const BOOKMARKS: Duration = Duration::from_mins(1);
/// How long a watch lives if the client does not say.
const TIMEOUT: Duration = Duration::from_mins(45);

struct Watch {
    server: Arc<ApiServer>,
    resource: Arc<Resource>,
    prefix: String,
    selector: Selector,
    form: Form,
    /// Whether a table's columns were sent.
    header_sent: bool,
    /// Changes up to here were sent.
    rev: u64,
    changed: Receiver<u64>,
    dropped: Receiver<u64>,
    pending: VecDeque<Bytes>,
    bookmark_at: Option<Instant>,
    deadline: Instant,
    ended: bool,
}

pub(super) fn watch(call: &Call) -> Result<Response> {
    let form = call.form()?;
    let selector = list::selector(call)?;
    let timeout = call
        .params
        .number("timeoutSeconds")?
        .filter(|seconds| *seconds > 0);
    let bookmarks = call.params.flag("allowWatchBookmarks");
    let asked = call.params.resource_version()?.unwrap_or(0);
    let initial = initial_events(call, bookmarks)?;
    let store = call.server.store();
    let mut watch = Watch {
        prefix: call.resource.prefix(&call.path.namespace),
        selector,
        form,
        header_sent: false,
        rev: asked,
        changed: store.subscribe(),
        dropped: call.server.faults().watch_drops(),
        pending: VecDeque::new(),
        bookmark_at: bookmarks.then(|| Instant::now() + BOOKMARKS),
        deadline: Instant::now() + timeout.map_or(TIMEOUT, Duration::from_secs),
        ended: false,
        resource: call.resource.clone(),
        server: call.server.clone(),
    };
    match initial {
        Initial::Events { end_bookmark } => {
            let snapshot = store.list(&watch.prefix);
            watch.rev = snapshot.rev;
            for object in &snapshot.objects {
                if watch.selector.matches(&object.value) {
                    watch.push("ADDED", object);
                }
            }
            if end_bookmark {
                watch.bookmark(true);
            }
        }
        Initial::None { from_now } => {
            if from_now {
                watch.rev = store.rev();
            }
        }
    }
    let stream = futures::stream::unfold(watch, |mut watch| async move {
        let next = watch.next().await?;
        Some((Ok::<_, Infallible>(next), watch))
    });
    Ok(reply::stream(Body::from_stream(stream)))
}

enum Initial {
    /// What is there now is sent first.
    Events {
        end_bookmark: bool,
    },
    None {
        from_now: bool,
    },
}

fn initial_events(call: &Call, bookmarks: bool) -> Result<Initial> {
    let asked = call.params.resource_version()?;
    let wants = call.params.text("sendInitialEvents");
    let rule = call.params.text("resourceVersionMatch");
    match (wants, rule) {
        ("", "") => Ok(match asked {
            None | Some(0) => Initial::Events { end_bookmark: false },
            Some(_) => Initial::None { from_now: false },
        }),
        ("", _) => Err(refused(
            rule,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )),
        (_, "NotOlderThan") => Ok(match wants {
            "true" | "1" => Initial::Events {
                end_bookmark: bookmarks,
            },
            _ => Initial::None {
                from_now: asked.unwrap_or(0) == 0,
            },
        }),
        _ => Err(refused(
            rule,
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )),
    }
}

fn refused(rule: &str, why: &str) -> ApiError {
    let field = "resourceVersionMatch";
    let mut errors = vec![FieldError::forbidden(field, why)];
    if !matches!(rule, "" | "NotOlderThan") {
        errors.push(FieldError::new(
            field,
            Problem::Unsupported(rule.into(), vec!["NotOlderThan".into()]),
        ));
    }
    ApiError::options("ListOptions", &errors)
}

impl Watch {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            self.changed.borrow_and_update();
            match self.server.store().changes(&self.prefix, self.rev) {
                Ok((rev, changes)) => {
                    self.rev = self.rev.max(rev);
                    for change in &changes {
                        self.change(change);
                    }
                }
                Err(old) => {
                    let status = ApiError::too_old(old.asked, old.oldest).to_status();
                    self.pending
                        .push_back(event("ERROR", status.to_string().as_bytes()));
                    self.ended = true;
                }
            }
            if self.pending.is_empty() && !self.ended {
                self.wait().await;
            }
        }
    }

    /// Until something is to be sent or the watch ends.
    async fn wait(&mut self) {
        let bookmark = async {
            match self.bookmark_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = self.changed.changed() => self.ended = changed.is_err(),
            _ = self.dropped.changed() => self.ended = true,
            () = tokio::time::sleep_until(self.deadline) => self.ended = true,
            () = bookmark => {
                self.bookmark_at = Some(Instant::now() + BOOKMARKS);
                self.bookmark(false);
            }
        }
    }

    /// An object that comes to match is added for this client, one that no longer matches is deleted.
    fn change(&mut self, change: &Change) {
        let before = change
            .previous
            .as_ref()
            .is_some_and(|old| self.selector.matches(&old.value));
        let after = change.kind != ChangeKind::Deleted && self.selector.matches(&change.object.value);
        match (before, after) {
            (false, false) => {}
            (false, true) => self.push("ADDED", &change.object),
            (true, true) => self.push("MODIFIED", &change.object),
            (true, false) if change.kind == ChangeKind::Deleted => self.push("DELETED", &change.object),
            (true, false) => {
                // The client knows the old state; it gets that with the version of the change.
                let Some(previous) = &change.previous else { return };
                let mut value = previous.value.clone();
                let version = change.object.rev.to_string();
                crate::object::set_meta(&mut value, "resourceVersion", Some(version.into()));
                let now = self.server.clock().now();
                let body = self.rendered_value(&value, now);
                self.pending
                    .push_back(event("DELETED", body.to_string().as_bytes()));
            }
        }
    }

    fn push(&mut self, kind: &str, object: &Object) {
        let now = self.server.clock().now();
        let sent = match self.form {
            Form::Table(_) => event(
                kind,
                self.rendered_value(&object.value, now).to_string().as_bytes(),
            ),
            form => event(kind, &form.render(&self.resource, object, now)),
        };
        self.pending.push_back(sent);
    }

    fn rendered_value(&mut self, value: &Value, now: jiff::Timestamp) -> Value {
        match self.form {
            Form::Table(include) => {
                let view = self.resource.view(value);
                let meta = json!({"resourceVersion": crate::object::meta(&view, "resourceVersion")});
                let header = !std::mem::replace(&mut self.header_sent, true);
                table::render(&self.resource, &[view.as_ref()], include, header, now, &meta)
            }
            form => form.render_value(&self.resource, value, now),
        }
    }

    /// Tells the client how far it is, so that it can go on from there.
    fn bookmark(&mut self, initial_events_end: bool) {
        let mut meta = json!({ "resourceVersion": self.rev.to_string() });
        if initial_events_end {
            meta["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object =
            json!({"kind": self.resource.kind, "apiVersion": self.resource.api_version(), "metadata": meta});
        let object = match self.form {
            Form::Object => object,
            Form::PartialMetadata => super::form::partial(&object),
            Form::Table(include) => {
                let meta = json!({"resourceVersion": self.rev.to_string()});
                table::render(
                    &self.resource,
                    &[&object],
                    include,
                    false,
                    self.server.clock().now(),
                    &meta,
                )
            }
        };
        self.pending
            .push_back(event("BOOKMARK", object.to_string().as_bytes()));
    }
}

fn event(kind: &str, object: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(object.len() + 40);
    line.put_slice(br#"{"type":""#);
    line.put_slice(kind.as_bytes());
    line.put_slice(br#"","object":"#);
    line.put_slice(object);
    line.put_slice(b"}\n");
    line.freeze()
}

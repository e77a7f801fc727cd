//! `get` and `list`.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, BytesMut};
use serde_json::{Value, json};

use super::form::{Form, partial};
use super::{Call, reply};
use crate::error::{ApiError, FieldError, Result};
use crate::selector::Selector;
use crate::store::{Object, Snapshot};
use crate::table;

/// How long a list for a revision that is not there yet waits for it.
const WAIT_FOR_REVISION: Duration = Duration::from_secs(3);

pub(super) fn get(call: &Call) -> Result<Response> {
    let form = call.form()?;
    let name = call.path.name.as_deref().unwrap_or_default();
    let key = call.resource.key(&call.path.namespace, name);
    let object = call
        .server
        .store()
        .get(&key)
        .ok_or_else(|| ApiError::not_found(call.resource.names(), name))?;
    Ok(reply::bytes(
        200,
        form.render(&call.resource, &object, call.server.clock().now()),
    ))
}

pub(super) fn selector(call: &Call) -> Result<Selector> {
    Selector::parse(
        &call.resource,
        call.params.text("labelSelector"),
        call.params.text("fieldSelector"),
    )
}

/// Where a list in pages goes on.
struct Continue {
    rev: u64,
    /// The last key that was given out.
    after: String,
}

impl Continue {
    fn parse(text: &str) -> Result<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let invalid = || ApiError::bad_request("continue key is not valid: it was not made by this server");
        let bytes = URL_SAFE_NO_PAD
            .decode(text.trim_end_matches('='))
            .map_err(|_| invalid())?;
        let json: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        let rev = json.get("rv").and_then(Value::as_u64).ok_or_else(invalid)?;
        let after = json
            .get("start")
            .and_then(Value::as_str)
            .ok_or_else(invalid)?
            .to_owned();
        Ok(Some(Self { rev, after }))
    }

    fn to_text(&self) -> String {
        URL_SAFE_NO_PAD
            .encode(json!({"v": "meta.k8s.io/v1", "rv": self.rev, "start": self.after}).to_string())
    }
}

/// One page of a list.
struct Page {
    rev: u64,
    objects: Vec<Arc<Object>>,
    next: Option<Continue>,
    remaining: Option<usize>,
}

pub(super) async fn list(call: &Call) -> Result<Response> {
    let form = call.form()?;
    let page = page(call).await?;
    let mut meta = json!({"resourceVersion": page.rev.to_string()});
    if let Some(next) = &page.next {
        meta["continue"] = json!(next.to_text());
        if let Some(remaining) = page.remaining {
            meta["remainingItemCount"] = json!(remaining);
        }
    }
    let resource = &call.resource;
    let now = call.server.clock().now();
    match form {
        Form::Object => Ok(reply::bytes(200, objects(call, &page.objects, &meta))),
        Form::PartialMetadata => {
            let items: Vec<Value> = page
                .objects
                .iter()
                .map(|object| partial(&resource.view(&object.value)))
                .collect();
            let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "items": items});
            Ok(reply::json(200, &list))
        }
        Form::Table(include) => {
            let views: Vec<_> = page
                .objects
                .iter()
                .map(|object| resource.view(&object.value))
                .collect();
            let views: Vec<&Value> = views.iter().map(AsRef::as_ref).collect();
            Ok(reply::json(
                200,
                &table::render(resource, &views, include, true, now, &meta),
            ))
        }
    }
}

/// The list object, put together from the rendered items.
fn objects(call: &Call, objects: &[Arc<Object>], meta: &Value) -> bytes::Bytes {
    let resource = &call.resource;
    let now = call.server.clock().now();
    let head = format!(
        r#"{{"apiVersion":{},"kind":{},"metadata":{meta},"items":["#,
        json!(resource.api_version()),
        json!(resource.list_kind)
    );
    let mut body = BytesMut::from(head.as_bytes());
    for (index, object) in objects.iter().enumerate() {
        if index > 0 {
            body.put_u8(b',');
        }
        body.put(Form::Object.render(resource, object, now));
    }
    body.put_slice(b"]}\n");
    body.freeze()
}

async fn page(call: &Call) -> Result<Page> {
    let selector = selector(call)?;
    let limit = call.params.number("limit")?.filter(|limit| *limit > 0);
    let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let next = Continue::parse(call.params.text("continue"))?;
    let prefix = call.resource.prefix(&call.path.namespace);
    let snapshot = snapshot(call, &prefix, next.as_ref(), limit.is_some()).await?;
    let after = next.map(|next| next.after);
    let mut matching = snapshot
        .objects
        .into_iter()
        .filter(|object| after.as_ref().is_none_or(|after| object.key > *after))
        .filter(|object| selector.matches(&object.value));
    let Some(limit) = limit else {
        return Ok(Page {
            rev: snapshot.rev,
            objects: matching.collect(),
            next: None,
            remaining: None,
        });
    };
    let objects: Vec<_> = matching.by_ref().take(limit).collect();
    let remaining = matching.count();
    let next = (remaining > 0).then(|| Continue {
        rev: snapshot.rev,
        after: objects
            .last()
            .map_or_else(String::new, |object| object.key.clone()),
    });
    // As with etcd, the count is not known where a selector filters.
    let remaining = selector.is_empty().then_some(remaining);
    Ok(Page {
        rev: snapshot.rev,
        objects,
        next,
        remaining,
    })
}

async fn snapshot(call: &Call, prefix: &str, next: Option<&Continue>, paged: bool) -> Result<Snapshot> {
    let store = call.server.store();
    let asked = call.params.resource_version()?;
    let exact = match call.params.text("resourceVersionMatch") {
        "" => false,
        "NotOlderThan" if asked.is_some() => false,
        "Exact" if asked.is_some_and(|asked| asked > 0) => true,
        other => {
            let why = match asked {
                None => "resourceVersionMatch is forbidden unless resourceVersion is provided".to_owned(),
                Some(rev) => format!(
                    "resourceVersionMatch {:?} is forbidden for resourceVersion \"{rev}\"",
                    other.to_lowercase()
                ),
            };
            return Err(ApiError::options(
                "ListOptions",
                &[FieldError::forbidden("resourceVersionMatch", why)],
            ));
        }
    };
    if let Some(next) = next {
        return store.list_at(prefix, next.rev).map_err(|_| {
            ApiError::expired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.")
        });
    }
    match asked {
        None | Some(0) => Ok(store.list(prefix)),
        // With a limit and no rule, a version means exactly that one.
        Some(rev) if exact || (paged && call.params.text("resourceVersionMatch").is_empty()) => {
            reached(call, rev).await?;
            store
                .list_at(prefix, rev)
                .map_err(|_| ApiError::expired("The resourceVersion for the provided list is too old."))
        }
        Some(rev) => {
            reached(call, rev).await?;
            Ok(store.list(prefix))
        }
    }
}

/// Waits until a revision has been written.
async fn reached(call: &Call, rev: u64) -> Result<()> {
    let mut changed = call.server.store().subscribe();
    let wait = async {
        while *changed.borrow_and_update() < rev {
            if changed.changed().await.is_err() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(WAIT_FOR_REVISION, wait).await;
    let current = call.server.store().rev();
    if current < rev {
        Err(ApiError::too_large_resource_version(rev, current))
    } else {
        Ok(())
    }
}

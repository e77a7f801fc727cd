//! One look at one object: what the server has to do about it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::graph::Graph;
use crate::builtin::Builtin;
use crate::crd::CLEANUP_FINALIZER;
use crate::error::Result;
use crate::mutate::{DeleteOptions, FOREGROUND, ORPHAN, Part, Propagation};
use crate::object;
use crate::patch::PatchKind;
use crate::resource::Resource;
use crate::server::ApiServer;
use crate::store::Object;

/// Who owns the fields the garbage collector writes.
const MANAGER: &str = "bmo-garbage-collector";

/// An object that is there, with its resource.
struct Found {
    object: Arc<Object>,
    resource: Arc<Resource>,
}

impl Found {
    fn of(server: &ApiServer, key: &str) -> Option<Self> {
        let object = server.store().get(key)?;
        let resources = server.resources();
        let resource = resources
            .storages()
            .find(|one| key.starts_with(&one.key_prefix))?
            .clone();
        Some(Self { object, resource })
    }

    fn value(&self) -> &Value {
        &self.object.value
    }

    fn has_finalizer(&self, finalizer: &str) -> bool {
        object::finalizers(self.value()).contains(&finalizer)
    }

    async fn delete(&self, server: &ApiServer, propagation: Propagation) -> Result<()> {
        let options = DeleteOptions {
            uid: Some(object::meta(self.value(), "uid").to_owned()),
            propagation,
            ..DeleteOptions::default()
        };
        let namespace = object::namespace(self.value());
        let mut mutation = server.internal(&self.resource, namespace, MANAGER);
        not_found_is_fine(
            mutation
                .delete(object::name(self.value()), &options)
                .await
                .map(drop),
        )
    }

    async fn merge(&self, server: &ApiServer, part: Part, patch: Value) -> Result<()> {
        let namespace = object::namespace(self.value());
        let mut mutation = server.internal(&self.resource, namespace, MANAGER);
        mutation.part = part;
        let name = object::name(self.value());
        not_found_is_fine(
            mutation
                .patch(name, PatchKind::Merge, patch, false)
                .await
                .map(drop),
        )
    }

    async fn remove_finalizer(&self, server: &ApiServer, finalizer: &str) -> Result<()> {
        let left: Vec<&str> = object::finalizers(self.value())
            .into_iter()
            .filter(|one| *one != finalizer)
            .collect();
        let version = object::meta(self.value(), "resourceVersion");
        self.merge(
            server,
            Part::Whole,
            json!({"metadata": {"finalizers": left, "resourceVersion": version}}),
        )
        .await
    }
}

fn not_found_is_fine(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.code == 404 => Ok(()),
        other => other,
    }
}

/// Does what is to be done about an object. An error means: look again.
pub async fn look_at(server: &ApiServer, graph: &Graph, key: &str) -> Result<()> {
    let Some(found) = Found::of(server, key) else {
        return Ok(());
    };
    if object::is_deleting(found.value()) {
        match found.resource.builtin() {
            Some(Builtin::Namespace) => empty_namespace(server, &found).await?,
            Some(Builtin::CustomResourceDefinition) if found.has_finalizer(CLEANUP_FINALIZER) => {
                return empty_definition(server, &found).await;
            }
            _ => {}
        }
        if found.has_finalizer(ORPHAN) {
            return orphan(server, graph, &found).await;
        }
        if found.has_finalizer(FOREGROUND) {
            return delete_dependents(server, graph, &found).await;
        }
        return Ok(());
    }
    check_owners(server, graph, &found).await
}

async fn empty_namespace(server: &ApiServer, found: &Found) -> Result<()> {
    let name = object::name(found.value());
    let resources = server.resources();
    let mut left = false;
    for resource in resources.storages().filter(|one| one.namespaced) {
        for object in server.store().list(&resource.prefix(name)).objects {
            let inner = Found {
                object,
                resource: resource.clone(),
            };
            if !object::is_deleting(inner.value()) {
                inner.delete(server, Propagation::Background).await?;
            }
            left |= server.store().get(&inner.object.key).is_some();
        }
    }
    let held = found
        .value()
        .pointer("/spec/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty());
    if left || !held {
        return Ok(());
    }
    found
        .merge(server, Part::Finalize, json!({"spec": {"finalizers": []}}))
        .await
}

async fn empty_definition(server: &ApiServer, found: &Found) -> Result<()> {
    let text = |pointer: &str| {
        found
            .value()
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
    let resources = server.resources();
    if let Some(resource) = resources
        .storages()
        .find(|one| one.group == group && one.kind == kind)
    {
        let mut left = false;
        for object in server.store().list(&resource.key_prefix).objects {
            let inner = Found {
                object,
                resource: resource.clone(),
            };
            if !object::is_deleting(inner.value()) {
                inner.delete(server, Propagation::Background).await?;
            }
            left |= server.store().get(&inner.object.key).is_some();
        }
        if left {
            return Ok(());
        }
    }
    found.remove_finalizer(server, CLEANUP_FINALIZER).await
}

/// The dependents of an object that are still there and really name it.
fn dependents(server: &ApiServer, graph: &Graph, uid: &str) -> Vec<Found> {
    graph
        .dependents(uid)
        .filter_map(|key| Found::of(server, key))
        .filter(|found| object::owner_references(found.value()).any(|owner| owner["uid"] == uid))
        .collect()
}

async fn orphan(server: &ApiServer, graph: &Graph, found: &Found) -> Result<()> {
    let uid = object::meta(found.value(), "uid");
    for dependent in dependents(server, graph, uid) {
        remove_owners(server, &dependent, |owner| owner["uid"] == uid).await?;
    }
    found.remove_finalizer(server, ORPHAN).await
}

async fn remove_owners(server: &ApiServer, found: &Found, gone: impl Fn(&Value) -> bool) -> Result<()> {
    let left: Vec<&Value> = object::owner_references(found.value())
        .filter(|owner| !gone(owner))
        .collect();
    let version = object::meta(found.value(), "resourceVersion");
    let patch = json!({"metadata": {"ownerReferences": left, "resourceVersion": version}});
    found.merge(server, Part::Whole, patch).await
}

async fn delete_dependents(server: &ApiServer, graph: &Graph, found: &Found) -> Result<()> {
    let uid = object::meta(found.value(), "uid");
    let blocks = |dependent: &Found| {
        object::owner_references(dependent.value())
            .any(|owner| owner["uid"] == uid && owner["blockOwnerDeletion"] == true)
    };
    let mut waiting = false;
    for dependent in dependents(server, graph, uid) {
        if !object::is_deleting(dependent.value()) {
            let own = graph
                .dependents(object::meta(dependent.value(), "uid"))
                .next()
                .is_some();
            let propagation = if own {
                Propagation::Foreground
            } else {
                Propagation::Background
            };
            dependent.delete(server, propagation).await?;
        }
        waiting |= blocks(&dependent) && server.store().get(&dependent.object.key).is_some();
    }
    if waiting {
        Ok(())
    } else {
        found.remove_finalizer(server, FOREGROUND).await
    }
}

/// What became of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    There,
    Gone,
    /// Of a kind that is not served here: nobody can say.
    Unknown,
}

fn owner_state(server: &ApiServer, graph: &Graph, namespace: &str, owner: &Value) -> Owner {
    let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
    let resources = server.resources();
    let Some(resource) = resources.of_kind(object::group_of(text("apiVersion")), text("kind")) else {
        return Owner::Unknown;
    };
    let current = graph.key_of(text("uid")).and_then(|key| server.store().get(key));
    let there = current.is_some_and(|current| {
        let same_place = !resource.namespaced || object::namespace(&current.value) == namespace;
        same_place && object::meta(&current.value, "uid") == text("uid")
    });
    if there { Owner::There } else { Owner::Gone }
}

/// Deletes an object all of whose owners are gone; where some are left, only the references to the others go.
async fn check_owners(server: &ApiServer, graph: &Graph, found: &Found) -> Result<()> {
    let namespace = object::namespace(found.value()).to_owned();
    let state = |owner: &Value| owner_state(server, graph, &namespace, owner);
    let states: Vec<Owner> = object::owner_references(found.value()).map(state).collect();
    if !states.contains(&Owner::Gone) {
        return Ok(());
    }
    if states.iter().all(|state| *state == Owner::Gone) {
        return found.delete(server, Propagation::Background).await;
    }
    remove_owners(server, found, |owner| state(owner) == Owner::Gone).await
}

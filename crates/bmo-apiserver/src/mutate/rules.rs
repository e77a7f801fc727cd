//! The fields that belong to the system: uid, timestamps, generation, and what each endpoint may change.

use serde_json::{Value, json};
use uuid::Uuid;

use super::Part;
use crate::builtin::Builtin;
use crate::error::{ApiError, FieldError, Result};
use crate::object;
use crate::resource::Resource;

/// Letters of generated names: no vowels, so that no words come out.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Five random letters for `generateName`.
pub fn suffix() -> String {
    Uuid::new_v4().as_bytes()[..5]
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
        .collect()
}

/// Sets the system's fields of a new object.
pub fn new_object(resource: &Resource, value: &mut Value, now: &str) {
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "generation",
        "resourceVersion",
    ] {
        object::set_meta(value, field, None);
    }
    object::set_meta(value, "uid", Some(Uuid::new_v4().to_string().into()));
    object::set_meta(value, "creationTimestamp", Some(now.into()));
    if resource.has_generation() {
        object::set_meta(value, "generation", Some(1.into()));
    }
    if resource.has_status {
        object::take(value, "status");
    }
}

/// A write names the object it means by uid and version, where it does. A wrong uid in a PUT means another object; in
/// a patch it is an attempt to change the uid.
pub fn check_preconditions(resource: &Resource, old: &Value, sent: &Value, is_put: bool) -> Result<()> {
    let name = object::name(old);
    let (uid, version) = (object::meta(sent, "uid"), object::meta(sent, "resourceVersion"));
    if !uid.is_empty() && uid != object::meta(old, "uid") {
        if !is_put {
            let error = FieldError::invalid("metadata.uid", uid, "field is immutable");
            return Err(ApiError::invalid(
                resource.kind_names(),
                name,
                &[error.clone(), error],
            ));
        }
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            object::meta(old, "uid")
        );
        return Err(ApiError::conflict(resource.names(), name, &why));
    }
    if !version.is_empty() && version != object::meta(old, "resourceVersion") {
        return Err(ApiError::modified(resource.names(), name));
    }
    Ok(())
}

/// Takes over from the old object what this endpoint cannot change.
pub fn keep_system_fields(resource: &Resource, part: Part, old: &Value, new: &mut Value) -> Result<()> {
    match part {
        Part::Status => {
            let (status, managed) = (
                new.get("status").cloned(),
                new.pointer("/metadata/managedFields").cloned(),
            );
            *new = old.clone();
            object::set(new, "status", status);
            object::set_meta(new, "managedFields", managed);
            return Ok(());
        }
        Part::Finalize => {
            let spec = new.get("spec").cloned();
            *new = old.clone();
            object::set(new, "spec", spec);
            return Ok(());
        }
        Part::Whole => {}
    }
    if resource.has_status {
        object::set(new, "status", old.get("status").cloned());
    }
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "selfLink",
    ] {
        object::copy_meta(old, new, field);
    }
    let name = object::name(old);
    if object::name(new) != name || object::namespace(new) != object::namespace(old) {
        let field = if object::name(new) == name {
            "namespace"
        } else {
            "name"
        };
        let error = FieldError::invalid(
            format!("metadata.{field}"),
            object::meta(new, field),
            "field is immutable",
        );
        return Err(ApiError::invalid(resource.kind_names(), name, &[error]));
    }
    if object::is_deleting(old) {
        let before = object::finalizers(old);
        let added: Vec<&str> = object::finalizers(new)
            .into_iter()
            .filter(|one| !before.contains(one))
            .collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added
                    .iter()
                    .map(|one| format!("{one:?}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            let error = FieldError::forbidden("metadata.finalizers", detail);
            // Kubernetes checks the metadata of custom resources twice and says so.
            let times = if resource.builtin().is_none() { 2 } else { 1 };
            return Err(ApiError::invalid(
                resource.kind_names(),
                name,
                &vec![error; times],
            ));
        }
    }
    Ok(())
}

/// Raises `metadata.generation` when something other than metadata (and status, where that is apart) changed.
pub fn bump_generation(resource: &Resource, old: &Value, new: &mut Value) {
    if !resource.has_generation() {
        return;
    }
    let spec_of = |value: &Value| {
        let mut spec = value.clone();
        object::take(&mut spec, "metadata");
        if resource.has_status {
            object::take(&mut spec, "status");
        }
        spec
    };
    if spec_of(old) != spec_of(new) {
        raise_generation(new);
    }
}

pub fn raise_generation(value: &mut Value) {
    let generation = value
        .pointer("/metadata/generation")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    object::set_meta(value, "generation", Some((generation + 1).into()));
}

/// Marks an object as being deleted.
pub fn mark_deleted(resource: &Resource, value: &mut Value, now: &str) {
    object::set_meta(value, "deletionTimestamp", Some(now.into()));
    match resource.builtin() {
        Some(Builtin::Namespace) => value["status"]["phase"] = json!("Terminating"),
        Some(Builtin::CustomResourceDefinition) => {}
        _ => object::set_meta(value, "deletionGracePeriodSeconds", Some(0.into())),
    }
    if resource.has_generation() {
        raise_generation(value);
    }
}

/// Whether a write would change nothing but the time of an ownership entry.
pub fn is_same(old: &Value, new: &Value) -> bool {
    fn without_times(value: &Value) -> Value {
        let mut value = value.clone();
        object::set_meta(&mut value, "resourceVersion", None);
        if let Some(entries) = value
            .pointer_mut("/metadata/managedFields")
            .and_then(Value::as_array_mut)
        {
            for entry in entries.iter_mut() {
                object::take(entry, "time");
            }
            // Entries are ordered by time.
            entries.sort_by_key(ToString::to_string);
        }
        value
    }
    old == new || without_times(old) == without_times(new)
}

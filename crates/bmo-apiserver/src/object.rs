//! Reading and writing the parts of an object that every kind has: `apiVersion`, `kind` and `metadata`.

use serde_json::{Map, Value, json};

/// `metadata.<field>` as text, empty if it is missing.
pub fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|meta| meta.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub fn name(object: &Value) -> &str {
    meta(object, "name")
}

pub fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

pub fn is_deleting(object: &Value) -> bool {
    object
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|at| !at.is_null())
}

pub fn finalizers(object: &Value) -> Vec<&str> {
    list(object, "finalizers").filter_map(Value::as_str).collect()
}

pub fn owner_references(object: &Value) -> impl Iterator<Item = &Value> {
    list(object, "ownerReferences")
}

fn list<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    object
        .get("metadata")
        .and_then(|meta| meta.get(field))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// `metadata` for writing; made if it is missing or is no object.
pub fn meta_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = json!({});
    }
    let meta = &mut object["metadata"];
    if !meta.is_object() {
        *meta = json!({});
    }
    match meta {
        Value::Object(map) => map,
        _ => unreachable!("was made an object above"),
    }
}

/// Sets `metadata.<field>`, or removes it for `None`.
pub fn set_meta(object: &mut Value, field: &str, value: Option<Value>) {
    let meta = meta_mut(object);
    match value {
        Some(value) => {
            meta.insert(field.into(), value);
        }
        None => {
            meta.shift_remove(field);
        }
    }
}

/// Whether a field is an empty map or list.
pub fn is_empty(field: Option<&Value>) -> bool {
    match field {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    }
}

/// Drops empty maps and lists of the metadata, which are as good as none.
pub fn drop_empty_meta(object: &mut Value) {
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        if is_empty(object.get("metadata").and_then(|meta| meta.get(field))) {
            set_meta(object, field, None);
        }
    }
}

/// Copies `metadata.<field>` from `from`, removing it where `from` has none.
pub fn copy_meta(from: &Value, to: &mut Value, field: &str) {
    let value = from.get("metadata").and_then(|meta| meta.get(field)).cloned();
    set_meta(to, field, value);
}

/// Removes a key from an object value, keeping the order of the others.
pub fn take(value: &mut Value, key: &str) -> Option<Value> {
    value.as_object_mut().and_then(|map| map.shift_remove(key))
}

/// Sets or removes a top-level field.
pub fn set(object: &mut Value, field: &str, value: Option<Value>) {
    if let Some(map) = object.as_object_mut() {
        match value {
            Some(value) => {
                map.insert(field.into(), value);
            }
            None => {
                map.shift_remove(field);
            }
        }
    }
}

/// `group/version` as in `apiVersion`.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.into()
    } else {
        format!("{group}/{version}")
    }
}

/// The group of an `apiVersion`.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

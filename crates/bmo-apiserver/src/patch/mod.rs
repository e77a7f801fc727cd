//! Patches: JSON patch, merge patch, and strategic merge for the built-in kinds. Server-side apply is in [`crate::ssa`].

mod strategic;

use serde_json::Value;

use crate::error::{ApiError, Result};
use crate::resource::Resource;

pub use strategic::strategic_merge;

/// How the body of a PATCH is meant, by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl PatchKind {
    const ALL: [(&'static str, Self); 4] = [
        ("application/json-patch+json", Self::Json),
        ("application/merge-patch+json", Self::Merge),
        ("application/strategic-merge-patch+json", Self::Strategic),
        ("application/apply-patch+yaml", Self::Apply),
    ];

    /// By content type; custom resources know no strategic merge.
    pub fn of(content_type: &str, resource: &Resource) -> Result<Self> {
        let accepted = |kind: Self| kind != Self::Strategic || resource.builtin().is_some();
        let found = Self::ALL
            .iter()
            .find(|(name, kind)| *name == content_type && accepted(*kind));
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL
                .iter()
                .filter(|(_, kind)| accepted(*kind))
                .map(|(name, _)| *name)
                .collect();
            ApiError::unsupported_media_type(&names)
        })
    }
}

/// A JSON patch (RFC 6902), with one leniency that clients rely on: a test for null holds where there is nothing.
pub fn json_patch(object: &mut Value, patch: &Value) -> Result<()> {
    let mut operations = patch.as_array().cloned().ok_or_else(|| {
        ApiError::bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    })?;
    let mut applied = object.clone();
    // One at a time, so that what a test sees is what the operations before it made.
    for operation in operations.drain(..) {
        if is_test_for_nothing(&applied, &operation) {
            continue;
        }
        let patch: json_patch::Patch = serde_json::from_value(Value::Array(vec![operation]))
            .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?;
        json_patch::patch(&mut applied, &patch).map_err(|_| ApiError::patch_failed())?;
    }
    *object = applied;
    Ok(())
}

fn is_test_for_nothing(object: &Value, operation: &Value) -> bool {
    operation.get("op").and_then(Value::as_str) == Some("test")
        && operation.get("value").is_none_or(Value::is_null)
        && operation
            .get("path")
            .and_then(Value::as_str)
            .is_some_and(|path| object.pointer(path).is_none())
}

/// A merge patch (RFC 7396).
pub fn merge_patch(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(map) = object {
        for (key, value) in patch {
            if value.is_null() {
                map.shift_remove(key);
            } else {
                merge_patch(map.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }
}

#[cfg(test)]
mod tests;

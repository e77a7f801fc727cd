//! Pruning: fields the schema does not know are dropped, and their paths returned so that strict clients can be told.

use serde_json::Value;

use super::{Additional, Schema};

/// Drops unknown fields of an object of this schema. `root` is true for whole resources, whose `apiVersion`, `kind`
/// and `metadata` are always known. Returns the paths of what was dropped.
pub fn prune(schema: &Schema, value: &mut Value, root: bool) -> Vec<String> {
    let mut dropped = Vec::new();
    walk(schema, value, root, "", &mut dropped);
    dropped
}

fn walk(schema: &Schema, value: &mut Value, root: bool, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let is_resource = root || schema.embedded_resource;
            let mut unknown = Vec::new();
            for (name, field) in map.iter_mut() {
                if is_resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                    continue;
                }
                let here = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                if let Some(schema) = schema.field(name) {
                    walk(schema, field, false, &here, dropped);
                } else if !schema.preserve_unknown && !matches!(schema.additional, Additional::Any) {
                    unknown.push(name.clone());
                    dropped.push(here);
                }
            }
            for name in unknown {
                map.shift_remove(&name);
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(schema, item, false, &format!("{path}[{index}]"), dropped);
                }
            }
        }
        _ => {}
    }
}

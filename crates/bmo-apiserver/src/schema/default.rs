//! Defaults, and nulls in places that cannot be null.

use serde_json::Value;

use super::{Additional, Schema};

/// Fills in the defaults of missing fields, also inside of defaults that were just filled in.
pub fn apply_defaults(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else {
                    continue;
                };
                let missing = match map.get(name) {
                    None => true,
                    Some(found) => found.is_null() && !property.nullable,
                };
                if missing {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in map.iter_mut() {
                if let Some(schema) = schema.field(name) {
                    apply_defaults(schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    apply_defaults(schema, item);
                }
            }
        }
        _ => {}
    }
}

/// Drops nulls of fields that are neither nullable nor have a default, as the API server does on the way in.
pub fn drop_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, field| {
                if !field.is_null() {
                    return true;
                }
                match (schema.properties.get(name), &schema.additional) {
                    (Some(known), _) => known.nullable || known.default.is_some() || known.ty.is_none(),
                    (None, Additional::Schema(known)) => {
                        known.nullable || known.default.is_some() || known.ty.is_none()
                    }
                    (None, _) => true,
                }
            });
            for (name, field) in map.iter_mut() {
                if let Some(schema) = schema.field(name) {
                    drop_nulls(schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    drop_nulls(schema, item);
                }
            }
        }
        _ => {}
    }
}

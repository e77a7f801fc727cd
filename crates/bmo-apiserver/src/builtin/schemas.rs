//! OpenAPI schemas of the built-in kinds, from k8s-openapi's types, with the list types that server-side apply needs.

use std::sync::OnceLock;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace, Secret};
use k8s_openapi::api::events::v1::Event as EventV1;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Builtin;

/// `(pointer below properties, list type, keys)` of the lists that are not atomic.
type ListTypes = &'static [(&'static str, &'static str, &'static [&'static str])];

/// The schema of a kind, in full (no references).
pub fn openapi(builtin: Builtin) -> Value {
    let (mut schema, lists): (Value, ListTypes) = match builtin {
        Builtin::Namespace => (
            of::<Namespace>(),
            &[("/properties/status/properties/conditions", "map", &["type"])],
        ),
        Builtin::Secret => (of::<Secret>(), &[]),
        Builtin::ConfigMap => (of::<ConfigMap>(), &[]),
        Builtin::Event => (of::<Event>(), &[]),
        Builtin::EventV1 => (of::<EventV1>(), &[]),
        Builtin::Lease => (of::<Lease>(), &[]),
        Builtin::CustomResourceDefinition => (
            of::<CustomResourceDefinition>(),
            &[("/properties/status/properties/conditions", "map", &["type"])],
        ),
    };
    for (pointer, list_type, keys) in lists {
        set_list_type(&mut schema, pointer, list_type, keys);
    }
    // A schema inside of a definition is checked when it is compiled; here it may hold anything.
    if let Some(inner) = schema.pointer_mut(
        "/properties/spec/properties/versions/items/properties/schema/properties/openAPIV3Schema",
    ) {
        *inner = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "description": "The schema of this version, as OpenAPI v3."});
    }
    schema["properties"]["metadata"] = metadata().clone();
    if let Some(map) = schema.as_object_mut() {
        // What is required of the built-in kinds is checked by hand, with their own messages.
        map.shift_remove("required");
    }
    schema
}

/// The schema of `metadata` of every kind.
pub fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let mut schema = of::<ObjectMeta>();
        set_list_type(&mut schema, "/properties/finalizers", "set", &[]);
        set_list_type(&mut schema, "/properties/ownerReferences", "map", &["uid"]);
        schema["properties"]["ownerReferences"]["items"]["x-kubernetes-map-type"] = json!("atomic");
        schema["properties"]["managedFields"]["items"]["properties"]["fieldsV1"] =
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        schema
    })
}

fn set_list_type(schema: &mut Value, pointer: &str, list_type: &str, keys: &[&str]) {
    if let Some(list) = schema.pointer_mut(pointer) {
        list["x-kubernetes-list-type"] = json!(list_type);
        if !keys.is_empty() {
            list["x-kubernetes-list-map-keys"] = json!(keys);
        }
    }
}

fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    for key in ["$schema", "title", "definitions"] {
        crate::object::take(&mut schema, key);
    }
    resolve(&mut schema);
    schema
}

/// Cuts recursion: what refers to itself (the schemas inside of definitions) may hold anything.
fn resolve(schema: &mut Value) {
    match schema {
        Value::Object(map) if map.contains_key("$ref") => {
            map.shift_remove("$ref");
            map.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
        }
        Value::Object(map) => map.values_mut().for_each(resolve),
        Value::Array(items) => items.iter_mut().for_each(resolve),
        _ => {}
    }
}

//! What is special about the built-in kinds on the way in: fields the server fills in, and checks a schema cannot do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::Builtin;
use crate::crd;
use crate::error::{FieldError, Problem};
use crate::object;

/// Most bytes of data in a Secret or ConfigMap.
const MAX_DATA: usize = 1024 * 1024;

/// What the client sent in other words is filled in before it is noted who owns which field; what is the server's own
/// comes after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    BeforeOwnership,
    AfterOwnership,
}

/// Fills in what the server sets. `old` is missing on create.
pub fn prepare(builtin: Builtin, stage: Stage, value: &mut Value, old: Option<&Value>, now: &str) {
    match (builtin, stage) {
        (Builtin::Secret, Stage::BeforeOwnership) => secret(value, old),
        // A name that was generated was not known when the label could have been the client's.
        (Builtin::Namespace, Stage::BeforeOwnership) if object::meta(value, "generateName").is_empty() => {
            name_label(value);
        }
        (Builtin::Namespace, Stage::AfterOwnership) => namespace(value, old),
        (Builtin::CustomResourceDefinition, Stage::AfterOwnership) => crd::prepare(value, old, now),
        _ => {}
    }
    if stage == Stage::AfterOwnership {
        drop_empty(value);
    }
}

/// Empty maps and lists are as good as none.
fn drop_empty(value: &mut Value) {
    for field in ["data", "binaryData"] {
        if object::is_empty(value.get(field)) {
            object::set(value, field, None);
        }
    }
}

fn name_label(value: &mut Value) {
    let name = object::name(value).to_owned();
    let labels = object::meta_mut(value)
        .entry("labels")
        .or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

fn namespace(value: &mut Value, old: Option<&Value>) {
    name_label(value);
    match old {
        None => {
            object::set(value, "spec", Some(json!({"finalizers": ["kubernetes"]})));
            object::set(value, "status", Some(json!({"phase": "Active"})));
        }
        Some(old) => object::set(value, "spec", old.get("spec").cloned()),
    }
}

fn secret(value: &mut Value, old: Option<&Value>) {
    if let Some(Value::Object(plain)) = object::take(value, "stringData") {
        let mut data = value
            .get("data")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        for (key, text) in plain {
            data.insert(key, STANDARD.encode(text.as_str().unwrap_or_default()).into());
        }
        object::set(value, "data", Some(data.into()));
    }
    if value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .is_empty()
    {
        let ty = old.and_then(|old| old.get("type")).cloned();
        object::set(value, "type", Some(ty.unwrap_or_else(|| json!("Opaque"))));
    }
}

/// Checks a schema cannot express.
pub fn validate(builtin: Builtin, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    match builtin {
        Builtin::Secret => {
            data(value, &["data"], &mut errors);
            secret_type(value, &mut errors);
            if let Some(old) = old {
                if old.get("type") != value.get("type") {
                    errors.push(FieldError::invalid(
                        "type",
                        value["type"].clone(),
                        "field is immutable",
                    ));
                }
                immutable(value, old, &["data"], "when `immutable` is set", &mut errors);
            }
        }
        Builtin::ConfigMap => {
            data(value, &["data", "binaryData"], &mut errors);
            if let Some(old) = old {
                immutable(
                    value,
                    old,
                    &["data", "binaryData"],
                    "when `immutable` is set",
                    &mut errors,
                );
            }
        }
        Builtin::Event | Builtin::EventV1 => event(value, &mut errors),
        Builtin::Lease => lease(value, &mut errors),
        Builtin::CustomResourceDefinition => crd::validate(value, old, &mut errors),
        Builtin::Namespace => {}
    }
    errors
}

fn maps<'a>(value: &'a Value, fields: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> {
    fields
        .iter()
        .filter_map(|field| Some((*field, value.get(field)?.as_object()?)))
}

fn data(value: &Value, fields: &[&str], errors: &mut Vec<FieldError>) {
    let mut size = 0;
    for (field, map) in maps(value, fields) {
        for (key, item) in map {
            let text = item.as_str().unwrap_or_default();
            size += if field == "data" {
                text.len()
            } else {
                text.len() / 4 * 3
            };
            let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if key.is_empty()
                || key.len() > 253
                || !key.chars().all(fine)
                || key == "."
                || key.starts_with("..")
            {
                errors.push(FieldError::invalid(
                    format!("{field}[{key}]"),
                    key.clone(),
                    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
                ));
            }
        }
    }
    if size > MAX_DATA {
        let field = if fields.len() > 1 { "" } else { "data" };
        errors.push(FieldError::new(field, Problem::TooLong(MAX_DATA)));
    }
}

/// Types of Secrets that promise certain keys.
fn secret_type(value: &Value, errors: &mut Vec<FieldError>) {
    let has = |key: &str| value.get("data").and_then(|data| data.get(key)).is_some();
    let mut require = |key: &str| {
        if !has(key) {
            errors.push(FieldError::required(format!("data[{key}]"), ""));
        }
    };
    match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        "kubernetes.io/ssh-auth" => require("ssh-privatekey"),
        "kubernetes.io/dockercfg" => require(".dockercfg"),
        "kubernetes.io/dockerconfigjson" => require(".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            errors.push(FieldError::required("data[username]", ""));
            errors.push(FieldError::required("data[password]", ""));
        }
        _ => {}
    }
}

fn immutable(value: &Value, old: &Value, fields: &[&str], when: &str, errors: &mut Vec<FieldError>) {
    if old.get("immutable") != Some(&json!(true)) {
        return;
    }
    if value.get("immutable") != Some(&json!(true)) {
        errors.push(FieldError::forbidden(
            "immutable",
            format!("field is immutable {when}"),
        ));
    }
    let empty = json!({});
    for field in fields {
        if old.get(field).unwrap_or(&empty) != value.get(field).unwrap_or(&empty) {
            errors.push(FieldError::forbidden(
                *field,
                format!("field is immutable {when}"),
            ));
        }
    }
}

fn event(value: &Value, errors: &mut Vec<FieldError>) {
    let about = value
        .pointer("/involvedObject/namespace")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let namespace = object::namespace(value);
    let fits = if about.is_empty() {
        namespace == "default"
    } else {
        about == namespace
    };
    if !fits {
        errors.push(FieldError::invalid(
            "involvedObject.namespace",
            about,
            "does not match event.namespace",
        ));
    }
}

fn lease(value: &Value, errors: &mut Vec<FieldError>) {
    for (field, min, text) in [
        ("leaseDurationSeconds", 1, "must be greater than 0"),
        ("leaseTransitions", 0, "must be greater than or equal to 0"),
    ] {
        if let Some(number) = value.pointer(&format!("/spec/{field}")).and_then(Value::as_i64)
            && number < min
        {
            errors.push(FieldError::invalid(format!("spec.{field}"), number, text));
        }
    }
}

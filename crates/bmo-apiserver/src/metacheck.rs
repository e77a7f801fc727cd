//! Checks of `metadata` that hold for every kind: names, labels, finalizers, owner references.

use serde_json::Value;

use crate::builtin::Builtin;
use crate::error::{FieldError, Problem};
use crate::object;
use crate::resource::Resource;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Most bytes of all annotations of an object.
const MAX_ANNOTATIONS: usize = 256 * 1024;

fn is_label(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    edge(text.bytes().next()) && edge(text.bytes().next_back()) && text.bytes().all(inner)
}

/// Whether a name is a DNS subdomain.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_qualified_part(text: &str) -> bool {
    let edge = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    text.len() <= 63 && edge(text.bytes().next()) && edge(text.bytes().next_back()) && text.bytes().all(inner)
}

fn is_qualified(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_qualified_part(name),
        None => is_qualified_part(text),
    }
}

/// What is wrong with the metadata of an object that is to be written.
pub fn validate(resource: &Resource, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    name(resource, value, &mut errors);
    let map = |field: &str| {
        value
            .pointer(&format!("/metadata/{field}"))
            .and_then(Value::as_object)
    };
    for (key, text) in map("labels").into_iter().flatten() {
        if !is_qualified(key) {
            errors.push(FieldError::invalid("metadata.labels", key.clone(), QUALIFIED));
        }
        let text = text.as_str().unwrap_or_default();
        if !text.is_empty() && !is_qualified_part(text) {
            errors.push(FieldError::invalid("metadata.labels", text, LABEL_VALUE));
        }
    }
    let mut size = 0;
    for (key, text) in map("annotations").into_iter().flatten() {
        size += key.len() + text.as_str().unwrap_or_default().len();
        if !is_qualified(&key.to_lowercase()) {
            errors.push(FieldError::invalid(
                "metadata.annotations",
                key.clone(),
                QUALIFIED,
            ));
        }
    }
    if size > MAX_ANNOTATIONS {
        errors.push(FieldError::new(
            "metadata.annotations",
            Problem::TooLong(MAX_ANNOTATIONS),
        ));
    }
    for finalizer in object::finalizers(value) {
        if !is_qualified(finalizer) {
            errors.push(FieldError::invalid("metadata.finalizers", finalizer, QUALIFIED));
        }
    }
    owners(value, &mut errors);
    errors
}

fn name(resource: &Resource, value: &Value, errors: &mut Vec<FieldError>) {
    let name = object::name(value);
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else if resource.builtin() == Some(Builtin::Namespace) {
        if name.len() > 63 || !is_label(name) {
            errors.push(FieldError::invalid("metadata.name", name, LABEL));
        }
    } else if !is_subdomain(name) {
        errors.push(FieldError::invalid("metadata.name", name, SUBDOMAIN));
    }
}

fn owners(value: &Value, errors: &mut Vec<FieldError>) {
    let mut controllers = 0;
    for owner in object::owner_references(value) {
        for (field, text) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if owner
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .is_empty()
            {
                let path = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid(path, "", text));
            }
        }
        controllers += usize::from(owner.get("controller").and_then(Value::as_bool).unwrap_or(false));
    }
    if controllers > 1 {
        let detail = "Only one reference can have Controller set to true";
        errors.push(FieldError::invalid("metadata.ownerReferences", "", detail));
    }
}

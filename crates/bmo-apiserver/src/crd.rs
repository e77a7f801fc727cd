//! CustomResourceDefinitions: what is served for each, what the server fills in, and which ones are refused.

use serde_json::{Value, json};

use crate::builtin::schemas;
use crate::error::{FieldError, Problem};
use crate::object;
use crate::resource::{Column, Origin, Resource};
use crate::schema::Schema;

/// Keeps a definition until its objects are gone.
pub const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn strings(value: &Value, pointer: &str) -> Vec<String> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn versions(crd: &Value) -> impl Iterator<Item = &Value> {
    crd.pointer("/spec/versions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn storage_version(crd: &Value) -> &str {
    versions(crd)
        .find(|version| flag(version, "storage"))
        .map_or("", |version| text(version, "/name"))
}

/// The served versions of a definition. One whose schema does not compile is served without checks (it cannot have
/// been accepted by this program).
pub fn resources(crd: &Value) -> Vec<Resource> {
    let storage = storage_version(crd);
    versions(crd)
        .filter(|version| flag(version, "served"))
        .map(|version| resource(crd, version, storage))
        .collect()
}

fn resource(crd: &Value, version: &Value, storage: &str) -> Resource {
    let openapi = openapi(version);
    let schema = Schema::compile(&openapi).unwrap_or_else(|error| {
        tracing::error!(crd = object::name(crd), %error, "the schema of a definition does not compile");
        Schema::anything()
    });
    let (group, plural) = (text(crd, "/spec/group"), text(crd, "/spec/names/plural"));
    Resource {
        group: group.into(),
        version: text(version, "/name").into(),
        storage_version: storage.into(),
        plural: plural.into(),
        singular: text(crd, "/spec/names/singular").into(),
        kind: text(crd, "/spec/names/kind").into(),
        list_kind: text(crd, "/spec/names/listKind").into(),
        short_names: strings(crd, "/spec/names/shortNames"),
        categories: strings(crd, "/spec/names/categories"),
        namespaced: text(crd, "/spec/scope") == "Namespaced",
        has_status: version.pointer("/subresources/status").is_some(),
        origin: Origin::Custom,
        schema,
        openapi,
        columns: columns(version),
        selectable: version
            .pointer("/selectableFields")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|field| text(field, "/jsonPath").to_owned())
            .collect(),
        key_prefix: format!("{group}/{plural}/"),
    }
}

/// The schema of a version with the fields every resource has.
fn openapi(version: &Value) -> Value {
    let schema = version.pointer("/schema/openAPIV3Schema").cloned();
    let mut schema =
        schema.unwrap_or_else(|| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    for (name, text) in [
        (
            "apiVersion",
            "Version of the schema of this object, as group/version.",
        ),
        ("kind", "Name of the resource this object is one of."),
    ] {
        if schema["properties"].get(name).is_none() {
            schema["properties"][name] = json!({"type": "string", "description": text});
        }
    }
    schema["properties"]["metadata"] = schemas::metadata().clone();
    schema
}

fn columns(version: &Value) -> Vec<Column> {
    let list = version
        .pointer("/additionalPrinterColumns")
        .and_then(Value::as_array);
    let column = |json: &Value| Column {
        name: text(json, "/name").into(),
        ty: text(json, "/type").into(),
        format: text(json, "/format").into(),
        description: text(json, "/description").into(),
        priority: json.get("priority").and_then(Value::as_i64).unwrap_or(0),
        path: text(json, "/jsonPath").into(),
    };
    match list {
        Some(list) if !list.is_empty() => list.iter().map(column).collect(),
        _ => vec![Column {
            name: "Age".into(),
            ty: "date".into(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            path: ".metadata.creationTimestamp".into(),
        }],
    }
}

/// Fills in names, conversion and status. Definitions are established by the write that makes them.
pub fn prepare(crd: &mut Value, old: Option<&Value>, now: &str) {
    let kind = text(crd, "/spec/names/kind").to_owned();
    if let Some(names) = crd.pointer_mut("/spec/names").and_then(Value::as_object_mut) {
        for (field, default) in [
            ("singular", kind.to_lowercase()),
            ("listKind", format!("{kind}List")),
        ] {
            let missing = names
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .is_empty();
            if missing {
                names.insert(field.into(), default.into());
            }
        }
    }
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
        spec.entry("conversion")
            .or_insert_with(|| json!({"strategy": "None"}));
        // An explicit false is the default.
        if spec.get("preserveUnknownFields") == Some(&Value::Bool(false)) {
            spec.shift_remove("preserveUnknownFields");
        }
    }
    let storage = storage_version(crd).to_owned();
    let mut stored = old
        .map(|old| strings(old, "/status/storedVersions"))
        .unwrap_or_default();
    if !stored.contains(&storage) {
        stored.push(storage);
    }
    let conditions = old.and_then(|old| old.pointer("/status/conditions")).cloned().unwrap_or_else(|| {
        json!([
            {"type": "NamesAccepted", "status": "True", "lastTransitionTime": now, "reason": "NoConflicts", "message": "no conflicts found"},
            {"type": "Established", "status": "True", "lastTransitionTime": now, "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"}])
    });
    let names = crd.pointer("/spec/names").cloned().unwrap_or_else(|| json!({}));
    let status = json!({"conditions": conditions, "acceptedNames": names, "storedVersions": stored});
    object::set(crd, "status", Some(status));
}

/// What is wrong with a definition.
pub fn validate(crd: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let (group, plural) = (text(crd, "/spec/group"), text(crd, "/spec/names/plural"));
    for (field, value) in [
        ("spec.group", group),
        ("spec.names.plural", plural),
        ("spec.names.kind", text(crd, "/spec/names/kind")),
    ] {
        if value.is_empty() {
            errors.push(FieldError::required(field, ""));
        }
    }
    let wanted = format!("{plural}.{group}");
    if object::name(crd) != wanted {
        errors.push(FieldError::invalid(
            "metadata.name",
            object::name(crd),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    let scope = text(crd, "/spec/scope");
    if !matches!(scope, "Namespaced" | "Cluster") {
        errors.push(match scope {
            "" => FieldError::required("spec.scope", ""),
            _ => FieldError::new(
                "spec.scope",
                Problem::Unsupported(scope.into(), vec!["Cluster".into(), "Namespaced".into()]),
            ),
        });
    }
    if versions(crd).filter(|version| flag(version, "storage")).count() != 1 {
        errors.push(FieldError::invalid(
            "spec.versions",
            crd.pointer("/spec/versions").cloned().unwrap_or_default(),
            "must have exactly one version marked as storage version",
        ));
    }
    let conversion = text(crd, "/spec/conversion/strategy");
    if conversion == "Webhook" {
        let detail = "conversion webhooks are not called by this server: use strategy None";
        errors.push(FieldError::invalid(
            "spec.conversion.strategy",
            conversion,
            detail,
        ));
    }
    for (index, version) in versions(crd).enumerate() {
        validate_version(version, index, errors);
    }
    if let Some(old) = old {
        for field in ["group", "scope"] {
            let pointer = format!("/spec/{field}");
            if text(crd, &pointer) != text(old, &pointer) {
                errors.push(FieldError::invalid(
                    format!("spec.{field}"),
                    text(crd, &pointer),
                    "field is immutable",
                ));
            }
        }
    }
}

fn validate_version(version: &Value, index: usize, errors: &mut Vec<FieldError>) {
    let field = format!("spec.versions[{index}]");
    if text(version, "/name").is_empty() {
        errors.push(FieldError::required(format!("{field}.name"), ""));
    }
    let schema_field = format!("{field}.schema.openAPIV3Schema");
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else {
        errors.push(FieldError::required(schema_field, ""));
        return;
    };
    if text(schema, "/type") != "object" {
        let detail = "must be object at the root";
        errors.push(match schema.get("type") {
            None => FieldError::required(format!("{schema_field}.type"), "must not be empty at the root"),
            Some(ty) => FieldError::invalid(format!("{schema_field}.type"), ty.clone(), detail),
        });
    }
    if let Err(problem) = Schema::compile(schema) {
        errors.push(FieldError::invalid(
            schema_field,
            Value::String(String::new()),
            problem,
        ));
    }
}

//! OpenAPI v3: schemas and operations of each group and version, for `kubectl explain` and client-side checks.
//!
//! A document holds what clients read: component schemas with their group, version and kind, and the paths with the
//! parameters that say which features (dry run, field validation, apply) an operation has.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::discovery;
use crate::error::{ApiError, Result};
use crate::object;
use crate::resource::{Resource, Resources};

fn path_of(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// `/openapi/v3`: where the documents are. The hash changes with the schemas, so clients may cache by it.
pub fn root(resources: &Resources) -> Value {
    let mut paths = Map::new();
    for (group, versions) in discovery::group_versions(resources) {
        for version in versions {
            let mut hash = Sha256::new();
            for one in resources
                .iter()
                .filter(|one| one.group == group && one.version == version)
            {
                hash.update(one.plural.as_bytes());
                hash.update(one.openapi.to_string().as_bytes());
            }
            let hash = hash.finalize().iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02X}");
                text
            });
            let path = path_of(group, version);
            let url = format!("/openapi/v3/{path}?hash={hash}");
            paths.insert(path, json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

/// One group and version.
pub fn document(resources: &Resources, group: &str, version: &str) -> Result<Value> {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for one in resources
        .iter()
        .filter(|one| one.group == group && one.version == version)
    {
        let name = component(one);
        schemas.insert(name.clone(), schema(one));
        schemas.insert(format!("{name}List"), list_schema(one, &name));
        add_paths(one, &name, &mut paths);
    }
    if schemas.is_empty() {
        return Err(ApiError::unknown_path());
    }
    Ok(
        json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": paths, "components": {"schemas": schemas}}),
    )
}

/// `io.example.v1.Widget`: the group reversed, version, kind.
fn component(resource: &Resource) -> String {
    let reversed: Vec<&str> = resource
        .group
        .split('.')
        .rev()
        .filter(|part| !part.is_empty())
        .collect();
    let group = if reversed.is_empty() {
        "io.k8s.api.core".to_owned()
    } else {
        reversed.join(".")
    };
    format!("{group}.{}.{}", resource.version, resource.kind)
}

fn gvk(resource: &Resource, kind: &str) -> Value {
    json!({"group": resource.group, "version": resource.version, "kind": kind})
}

fn schema(resource: &Resource) -> Value {
    let mut schema = resource.openapi.clone();
    object::set(
        &mut schema,
        "x-kubernetes-group-version-kind",
        Some(json!([gvk(resource, &resource.kind)])),
    );
    schema
}

fn list_schema(resource: &Resource, name: &str) -> Value {
    json!({"type": "object", "required": ["items"], "description": format!("A list of {}.", resource.kind),
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
            "items": {"type": "array", "items": {"$ref": format!("#/components/schemas/{name}")}}},
        "x-kubernetes-group-version-kind": [gvk(resource, &resource.list_kind)]})
}

fn parameters(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}))
        .collect()
}

fn operation(resource: &Resource, action: &str, name: &str, names: &[&str]) -> Value {
    let reference = json!({"$ref": format!("#/components/schemas/{name}")});
    let content = json!({"application/json": {"schema": reference}});
    let mut json = json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk(resource, &resource.kind),
        "parameters": parameters(names), "responses": {"200": {"description": "OK", "content": content}}});
    match action {
        "post" | "put" => json["requestBody"] = json!({"content": content}),
        "patch" => {
            let any = json!({"schema": {"type": "object"}});
            json["requestBody"] = json!({"content": {"application/json-patch+json": any,
                "application/merge-patch+json": any, "application/apply-patch+yaml": any}});
        }
        _ => {}
    }
    json
}

fn add_paths(one: &Resource, name: &str, paths: &mut Map<String, Value>) {
    let write = ["dryRun", "fieldManager", "fieldValidation"];
    let list = [
        "continue",
        "fieldSelector",
        "labelSelector",
        "limit",
        "resourceVersion",
        "timeoutSeconds",
        "watch",
    ];
    let base = format!("/{}", path_of(&one.group, &one.version));
    let all = format!("{base}/{}", one.plural);
    let collection = if one.namespaced {
        format!("{base}/namespaces/{{namespace}}/{}", one.plural)
    } else {
        all.clone()
    };
    let list_operation = operation(one, "list", &format!("{name}List"), &list);
    if one.namespaced {
        paths.insert(all, json!({"get": list_operation}));
    }
    paths.insert(
        collection.clone(),
        json!({"get": list_operation, "post": operation(one, "post", name, &write),
            "delete": operation(one, "deletecollection", name, &["dryRun", "propagationPolicy"])}),
    );
    let item = json!({"get": operation(one, "get", name, &[]), "put": operation(one, "put", name, &write),
        "patch": operation(one, "patch", name, &["dryRun", "fieldManager", "fieldValidation", "force"]),
        "delete": operation(one, "delete", name, &["dryRun", "propagationPolicy"])});
    if one.has_status {
        let mut status = item.clone();
        object::take(&mut status, "delete");
        paths.insert(format!("{collection}/{{name}}/status"), status);
    }
    paths.insert(format!("{collection}/{{name}}"), item);
}

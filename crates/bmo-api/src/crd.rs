//! CustomResourceDefinitions, made from the types.
//!
//! Rust's types do not say all that a structural schema says, and schemars says some things that a structural schema
//! must not. So the generated schema is put right here: optional members are not `nullable` (a client leaves them out),
//! defaults of Rust are no defaults of the API, and the marks `x-bmo-required`, `x-bmo-nullable` and `x-bmo-default`
//! say where it is otherwise.

use crate::resource::{GROUP, Metal3Resource, VERSION};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceStatus,
    CustomResourceSubresources, CustomResourceValidation, JSONSchemaProps,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The CRDs of all kinds, in the order of their names.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut all = vec![
        crd::<crate::BareMetalHost>(),
        crd::<crate::BareMetalSwitch>(),
        crd::<crate::BmcEventSubscription>(),
        crd::<crate::DataImage>(),
        crd::<crate::FirmwareSchema>(),
        crd::<crate::HardwareData>(),
        crd::<crate::HostClaim>(),
        crd::<crate::HostDeployPolicy>(),
        crd::<crate::HostFirmwareComponents>(),
        crd::<crate::HostFirmwareSettings>(),
        crd::<crate::HostNetworkAttachment>(),
        crd::<crate::HostUpdatePolicy>(),
        crd::<crate::PreprovisioningImage>(),
    ];
    all.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
    all
}

/// The CRD of one kind.
pub fn crd<K: Metal3Resource>() -> CustomResourceDefinition {
    let name = format!("{}.{GROUP}", K::PLURAL);
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: Some(name),
            ..Default::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: GROUP.to_owned(),
            names: names::<K>(),
            scope: "Namespaced".to_owned(),
            versions: vec![version::<K>()],
            ..Default::default()
        },
        status: None,
    }
}

fn names<K: Metal3Resource>() -> CustomResourceDefinitionNames {
    let short_names: Vec<String> = K::SHORT_NAMES.iter().map(|&name| name.to_owned()).collect();
    CustomResourceDefinitionNames {
        kind: K::KIND.to_owned(),
        list_kind: Some(format!("{}List", K::KIND)),
        plural: K::PLURAL.to_owned(),
        singular: Some(K::KIND.to_lowercase()),
        short_names: (!short_names.is_empty()).then_some(short_names),
        categories: None,
    }
}

fn version<K: Metal3Resource>() -> CustomResourceDefinitionVersion {
    let columns: Vec<_> = K::COLUMNS
        .iter()
        .map(|column| CustomResourceColumnDefinition {
            name: column.name.to_owned(),
            type_: column.kind.to_owned(),
            json_path: column.json_path.to_owned(),
            priority: (column.priority != 0).then_some(column.priority),
            ..Default::default()
        })
        .collect();
    let status = K::STATUS_SUBRESOURCE.then(|| CustomResourceSubresourceStatus(json!({})));
    CustomResourceDefinitionVersion {
        name: VERSION.to_owned(),
        served: true,
        storage: true,
        additional_printer_columns: (!columns.is_empty()).then_some(columns),
        schema: Some(CustomResourceValidation {
            open_api_v3_schema: Some(object_schema::<K>()),
        }),
        subresources: status.map(|status| CustomResourceSubresources {
            status: Some(status),
            scale: None,
        }),
        ..Default::default()
    }
}

/// Schema of the whole object.
fn object_schema<K: Metal3Resource>() -> JSONSchemaProps {
    let mut properties = Map::new();
    properties.insert(
        "apiVersion".to_owned(),
        json!({ "type": "string", "description": "Group and version of the API that the object is written in." }),
    );
    properties.insert(
        "kind".to_owned(),
        json!({ "type": "string", "description": "Kind of the object, in CamelCase and singular." }),
    );
    properties.insert("metadata".to_owned(), json!({ "type": "object" }));
    properties.insert("spec".to_owned(), schema_of::<K::Spec>());
    if K::HAS_STATUS {
        properties.insert("status".to_owned(), schema_of::<K::Status>());
    }
    let description = K::DESCRIPTION.split_whitespace().collect::<Vec<_>>().join(" ");
    let schema = json!({ "type": "object", "description": description, "properties": properties });
    // A schema that is no schema would be a mistake in this crate; the tests read every one.
    serde_json::from_value(schema).unwrap_or_default()
}

/// Structural schema of a type, as it stands in a CRD.
pub(crate) fn schema_of<T: JsonSchema + ?Sized>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("title");
    }
    put_right(&mut schema);
    schema
}

/// Makes a generated schema structural, and resolves the marks; see the module head.
fn put_right(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    unwrap_option(object);
    object.remove("default");
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if object.remove("x-bmo-nullable").is_some() {
        object.insert("nullable".to_owned(), true.into());
    }
    if let Some(default) = object.remove("x-bmo-default") {
        object.insert("default".to_owned(), default);
    }
    require_marked(object);
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key) {
            put_right(inner);
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(put_right);
    }
}

/// `Option<T>` comes as "T or null"; what remains is T.
fn unwrap_option(object: &mut Map<String, Value>) {
    let is_null = |value: &Value| value.get("type").is_some_and(|kind| kind == "null");
    if let Some(Value::Array(choices)) = object.get_mut("anyOf")
        && choices.iter().any(is_null)
    {
        choices.retain(|choice| !is_null(choice));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(kinds)) = object.get("type") {
        let kind = kinds.iter().find(|kind| *kind != "null").cloned();
        object.insert("type".to_owned(), kind.unwrap_or_else(|| "object".into()));
    }
    if let Some(Value::Array(texts)) = object.get_mut("enum") {
        texts.retain(|text| !text.is_null());
    }
}

/// Moves the mark `x-bmo-required` of members into `required` of the object.
fn require_marked(object: &mut Map<String, Value>) {
    let mut required: Vec<Value> = match object.remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let marked = property
                .as_object_mut()
                .and_then(|property| property.remove("x-bmo-required"))
                .is_some();
            if marked && !required.iter().any(|known| known == name) {
                required.push(name.clone().into());
            }
        }
    }
    required.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
    if !required.is_empty() {
        object.insert("required".to_owned(), required.into());
    }
}

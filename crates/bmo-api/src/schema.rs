//! Schemas of types that are not ours, or that Rust describes more narrowly than the API does.
//!
//! Used through `#[schemars(with = "…")]`. Marks (`x-bmo-…`) tell the generator what Rust's types cannot say; it
//! resolves and removes them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// An integer of no particular width.
pub struct Int;

impl JsonSchema for Int {
    fn schema_name() -> Cow<'static, str> {
        "Int".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

/// A point in time.
pub struct Time;

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// An integer or a text.
pub struct IntOrString;

impl JsonSchema for IntOrString {
    fn schema_name() -> Cow<'static, str> {
        "IntOrString".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "string" }], "x-kubernetes-int-or-string": true })
    }
}

/// Names a Secret.
#[derive(JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[allow(dead_code, reason = "only its schema is used")]
pub struct SecretReference {
    /// Name of the Secret.
    name: Option<String>,
    /// Namespace of the Secret.
    namespace: Option<String>,
}

/// Names an object of any kind.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("x-kubernetes-map-type" = "atomic"))]
#[allow(dead_code, reason = "only its schema is used")]
pub struct ObjectReference {
    /// API group and version of the object.
    api_version: Option<String>,
    /// Path of a part of the object, when only that part is meant.
    field_path: Option<String>,
    /// Kind of the object.
    kind: Option<String>,
    /// Name of the object.
    name: Option<String>,
    /// Namespace of the object.
    namespace: Option<String>,
    /// Version of the object that is meant.
    resource_version: Option<String>,
    /// Unique id of the object.
    uid: Option<String>,
}

/// One aspect of the object's state.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
pub struct Condition {
    /// When `status` last changed its value.
    #[schemars(with = "Time")]
    last_transition_time: Time,
    /// Explanation for people; may be empty.
    #[schemars(length(max = 32768))]
    message: String,
    /// `metadata.generation` of the object that this was derived from.
    #[schemars(range(min = 0))]
    observed_generation: Option<i64>,
    /// Explanation for programs, in CamelCase.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    reason: String,
    /// Whether the condition holds.
    #[schemars(extend("enum" = ["True", "False", "Unknown"]))]
    status: String,
    /// Name of the aspect, in CamelCase.
    #[schemars(
        length(max = 316),
        regex(
            pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
        )
    )]
    r#type: String,
}

/// Marks a machine as unfit for what does not tolerate it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
pub struct Taint {
    /// What happens to what does not tolerate the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    effect: String,
    /// Name of the taint.
    key: String,
    /// When the taint was added.
    #[schemars(with = "Option<Time>")]
    time_added: Option<Time>,
    /// Value that belongs to the name.
    value: Option<String>,
}

//! Structural schemas: the OpenAPI v3 subset that CustomResourceDefinitions may use, compiled once per definition.
//!
//! One form serves built-in kinds and custom ones. It drives pruning ([`prune`]), defaults ([`default`]), validation
//! ([`validate`]) and server-side apply (list and map types). CEL rules (`x-kubernetes-validations`) are accepted in a
//! definition but not evaluated: none of Metal3's definitions has any, and enforcing them is later work.

mod default;
mod prune;
mod validate;

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

pub use default::{apply_defaults, drop_nulls};
pub use prune::prune;
pub use validate::{validate, validate_update};

/// JSON type a value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [
            Self::Object,
            Self::Array,
            Self::String,
            Self::Integer,
            Self::Number,
            Self::Boolean,
        ]
        .into_iter()
        .find(|ty| ty.as_str() == text)
    }
}

/// How server-side apply treats the items of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ListType {
    /// Replaced as a whole.
    #[default]
    Atomic,
    /// Each value is owned on its own.
    Set,
    /// Each item is owned on its own, found by these keys.
    Map(Vec<String>),
}

/// What an object may hold beside its properties.
#[derive(Debug, Clone, Default)]
pub enum Additional {
    /// Nothing: unknown fields are pruned.
    #[default]
    None,
    /// Anything.
    Any,
    Schema(Box<Schema>),
}

/// Bounds of values; `None` where there is none.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub min_properties: Option<usize>,
    pub max_properties: Option<usize>,
    pub unique_items: bool,
}

/// One node of a schema.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub ty: Option<Type>,
    pub format: Option<String>,
    pub nullable: bool,
    pub int_or_string: bool,
    pub preserve_unknown: bool,
    pub embedded_resource: bool,
    pub properties: BTreeMap<String, Schema>,
    pub additional: Additional,
    pub items: Option<Box<Schema>>,
    pub required: Vec<String>,
    pub default: Option<Value>,
    pub enumeration: Vec<Value>,
    /// The pattern as written, and compiled.
    pub pattern: Option<(String, Regex)>,
    pub bounds: Bounds,
    pub all_of: Vec<Schema>,
    pub any_of: Vec<Schema>,
    pub one_of: Vec<Schema>,
    pub not: Option<Box<Schema>>,
    pub list_type: ListType,
    pub atomic_map: bool,
    /// A struct of a built-in kind: it is always there, so nobody owns it as a whole.
    pub is_struct: bool,
}

impl Schema {
    /// Accepts and keeps everything.
    pub fn anything() -> Self {
        Self {
            preserve_unknown: true,
            ..Self::default()
        }
    }

    /// Compiles a schema as written in a definition. Errors name what is wrong in it.
    pub fn compile(json: &Value) -> Result<Self, String> {
        let text = |key: &str| json.get(key).and_then(Value::as_str);
        let flag = |key: &str| json.get(key).and_then(Value::as_bool).unwrap_or(false);
        let mut schema = Self {
            format: text("format").map(str::to_owned),
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            default: json.get("default").cloned(),
            enumeration: json
                .get("enum")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            required: strings(json.get("required")),
            bounds: Bounds::compile(json),
            atomic_map: text("x-kubernetes-map-type") == Some("atomic"),
            list_type: list_type(json),
            all_of: Self::compile_list(json.get("allOf"))?,
            any_of: Self::compile_list(json.get("anyOf"))?,
            one_of: Self::compile_list(json.get("oneOf"))?,
            ..Self::default()
        };
        if let Some(ty) = text("type") {
            schema.ty = Some(Type::parse(ty).ok_or_else(|| format!("unsupported type {ty:?}"))?);
        }
        if let Some(pattern) = text("pattern") {
            let regex = Regex::new(pattern)
                .map_err(|error| format!("pattern {pattern:?} does not compile: {error}"))?;
            schema.pattern = Some((pattern.to_owned(), regex));
        }
        if let Some(properties) = json.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let property = Self::compile(property).map_err(|error| format!("{name}: {error}"))?;
                schema.properties.insert(name.clone(), property);
            }
        }
        schema.additional = match json.get("additionalProperties") {
            None | Some(Value::Bool(false)) => Additional::None,
            Some(Value::Bool(true)) => Additional::Any,
            Some(inner) => Additional::Schema(Box::new(Self::compile(inner)?)),
        };
        if let Some(items) = json.get("items") {
            schema.items = Some(Box::new(
                Self::compile(items).map_err(|error| format!("items: {error}"))?,
            ));
        }
        if let Some(not) = json.get("not") {
            schema.not = Some(Box::new(Self::compile(not)?));
        }
        Ok(schema)
    }

    /// Marks all objects with fixed fields as structs.
    pub fn mark_structs(&mut self) {
        self.is_struct = !self.properties.is_empty();
        self.properties.values_mut().for_each(Self::mark_structs);
        if let Some(items) = &mut self.items {
            items.mark_structs();
        }
    }

    fn compile_list(json: Option<&Value>) -> Result<Vec<Self>, String> {
        json.and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(Self::compile)
            .collect()
    }

    /// The schema of a field, if it is known or covered by `additionalProperties`.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).or(match &self.additional {
            Additional::Schema(schema) => Some(schema),
            Additional::None | Additional::Any => None,
        })
    }
}

impl Bounds {
    fn compile(json: &Value) -> Self {
        let number = |key: &str| json.get(key).and_then(Value::as_f64);
        let count = |key: &str| {
            json.get(key)
                .and_then(Value::as_u64)
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let flag = |key: &str| json.get(key).and_then(Value::as_bool).unwrap_or(false);
        Self {
            minimum: number("minimum"),
            maximum: number("maximum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: count("minLength"),
            max_length: count("maxLength"),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
            unique_items: flag("uniqueItems"),
        }
    }
}

fn strings(json: Option<&Value>) -> Vec<String> {
    json.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn list_type(json: &Value) -> ListType {
    match json.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(strings(json.get("x-kubernetes-list-map-keys"))),
        _ => ListType::Atomic,
    }
}

/// The name of a value's JSON type, as messages have it.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;

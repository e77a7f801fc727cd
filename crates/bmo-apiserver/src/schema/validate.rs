//! Validation against a schema, with the API server's messages.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{ListType, Schema, Type, type_name};
use crate::error::{FieldError, Problem};

/// One step from an object to the place of an error.
#[derive(Debug, Clone, PartialEq)]
enum Step<'a> {
    Field(&'a str),
    Index(usize),
}

struct Found<'a> {
    steps: Vec<Step<'a>>,
    error: FieldError,
}

/// Everything that is wrong with `value`.
pub fn validate(schema: &Schema, value: &Value) -> Vec<FieldError> {
    check(schema, value)
        .into_iter()
        .map(|found| found.error)
        .collect()
}

/// As [`validate`], but what is wrong in the same way already in `old` is let through, so that an object that became
/// invalid by a change of its definition can still be written to.
pub fn validate_update(schema: &Schema, value: &Value, old: &Value) -> Vec<FieldError> {
    check(schema, value)
        .into_iter()
        .filter(|found| {
            let steps = match found.error.problem {
                Problem::Required(_) => &found.steps[..found.steps.len().saturating_sub(1)],
                _ => &found.steps[..],
            };
            match (at(value, steps), at(old, steps)) {
                (Some(new), Some(old)) => steps.is_empty() || new != old,
                _ => true,
            }
        })
        .map(|found| found.error)
        .collect()
}

fn at<'a>(value: &'a Value, steps: &[Step<'_>]) -> Option<&'a Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Index(index) => value.get(index),
    })
}

fn check<'a>(schema: &'a Schema, value: &'a Value) -> Vec<Found<'a>> {
    let mut walk = Walk {
        steps: Vec::new(),
        found: Vec::new(),
    };
    walk.value(schema, value);
    walk.found
}

struct Walk<'a> {
    steps: Vec<Step<'a>>,
    found: Vec<Found<'a>>,
}

impl<'a> Walk<'a> {
    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Field(name) if path.is_empty() => path.push_str(name),
                Step::Field(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        path
    }

    fn report(&mut self, problem: Problem) {
        let path = self.path();
        let field = if path.is_empty() { "<nil>".to_owned() } else { path };
        self.found.push(Found {
            steps: self.steps.clone(),
            error: FieldError { field, problem },
        });
    }

    /// `<path> in body <text>`, the shape of most messages.
    fn invalid(&mut self, shown: impl Into<Value>, text: &str) {
        let detail = format!("{} in body {text}", self.path());
        self.report(Problem::Invalid(shown.into(), detail));
    }

    fn wrong_type(&mut self, value: &Value, wanted: &str) {
        let found = type_name(value);
        let detail = format!("{} in body must be of type {wanted}: {found:?}", self.path());
        self.report(Problem::TypeInvalid(found.into(), detail));
    }

    fn value(&mut self, schema: &'a Schema, value: &'a Value) {
        if value.is_null() && (schema.nullable || (schema.ty.is_none() && !schema.int_or_string)) {
            return;
        }
        if schema.int_or_string {
            if !value.is_string() && !is_integer(value) {
                return self.wrong_type(value, "integer,string");
            }
        } else if let Some(ty) = schema.ty
            && !has_type(ty, value)
        {
            return self.wrong_type(value, ty.as_str());
        }
        match value {
            Value::Object(map) => self.object(schema, map),
            Value::Array(items) => self.array(schema, items),
            Value::String(text) => self.string(schema, text),
            Value::Number(_) => self.number(schema, value),
            Value::Null | Value::Bool(_) => {}
        }
        if !schema.enumeration.is_empty() && !schema.enumeration.contains(value) {
            let supported = schema.enumeration.iter().map(plain).collect();
            self.report(Problem::Unsupported(value.clone(), supported));
        }
        self.combined(schema, value);
    }

    fn combined(&mut self, schema: &'a Schema, value: &'a Value) {
        let matching = |list: &'a [Schema]| list.iter().filter(|one| check(one, value).is_empty()).count();
        let shown = || shown(value);
        if !schema.all_of.is_empty() && matching(&schema.all_of) < schema.all_of.len() {
            for one in &schema.all_of {
                self.value(one, value);
            }
            self.invalid(shown(), "must validate all the schemas (allOf)");
        }
        if !schema.any_of.is_empty() && matching(&schema.any_of) == 0 {
            self.invalid(shown(), "must validate at least one schema (anyOf)");
        }
        if !schema.one_of.is_empty() && matching(&schema.one_of) != 1 {
            self.invalid(shown(), "must validate one and only one schema (oneOf)");
        }
        if let Some(not) = &schema.not
            && check(not, value).is_empty()
        {
            self.invalid(shown(), "must not validate the schema (not)");
        }
    }

    fn object(&mut self, schema: &'a Schema, map: &'a serde_json::Map<String, Value>) {
        for name in &schema.required {
            if !map.contains_key(name) {
                self.steps.push(Step::Field(name));
                self.report(Problem::Required(String::new()));
                self.steps.pop();
            }
        }
        if let Some(min) = schema.bounds.min_properties
            && map.len() < min
        {
            self.invalid(map.len(), &format!("should have at least {min} properties"));
        }
        if let Some(max) = schema.bounds.max_properties
            && map.len() > max
        {
            self.report(Problem::TooMany(map.len(), max));
        }
        for (name, field) in map {
            if let Some(schema) = schema.field(name) {
                self.steps.push(Step::Field(name));
                self.value(schema, field);
                self.steps.pop();
            }
        }
    }

    fn array(&mut self, schema: &'a Schema, items: &'a [Value]) {
        if let Some(min) = schema.bounds.min_items
            && items.len() < min
        {
            self.invalid(items.len(), &format!("should have at least {min} items"));
        }
        if let Some(max) = schema.bounds.max_items
            && items.len() > max
        {
            self.report(Problem::TooMany(items.len(), max));
        }
        if let Some(schema) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                self.steps.push(Step::Index(index));
                self.value(schema, item);
                self.steps.pop();
            }
        }
        if schema.bounds.unique_items && has_duplicates(items.iter().map(ToString::to_string)) {
            self.invalid("", "shouldn't contain duplicates");
        }
        self.duplicates(&schema.list_type, items);
    }

    /// Sets and lists by key must not hold the same item twice.
    fn duplicates(&mut self, list_type: &ListType, items: &'a [Value]) {
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let key = match list_type {
                ListType::Atomic => return,
                ListType::Set => item.clone(),
                ListType::Map(keys) => keys
                    .iter()
                    .filter_map(|key| item.get(key).map(|value| (key.clone(), value.clone())))
                    .collect::<serde_json::Map<_, _>>()
                    .into(),
            };
            if !seen.insert(key.to_string()) {
                self.steps.push(Step::Index(index));
                self.report(Problem::Duplicate(key));
                self.steps.pop();
            }
        }
    }

    fn string(&mut self, schema: &'a Schema, text: &'a str) {
        let length = text.chars().count();
        if let Some(max) = schema.bounds.max_length
            && length > max
        {
            self.report(Problem::TooLong(max));
        }
        if let Some(min) = schema.bounds.min_length
            && length < min
        {
            self.invalid(text, &format!("should be at least {min} chars long"));
        }
        if let Some((pattern, regex)) = &schema.pattern
            && !regex.is_match(text)
        {
            self.invalid(text, &format!("should match '{pattern}'"));
        }
        let good = match schema.format.as_deref() {
            Some("date-time") => text.parse::<jiff::Timestamp>().is_ok(),
            Some("byte") => STANDARD.decode(text).is_ok(),
            _ => true,
        };
        if !good {
            let format = schema.format.clone().unwrap_or_default();
            let detail = format!("{} in body must be of type {format}: {text:?}", self.path());
            self.report(Problem::TypeInvalid(text.into(), detail));
        }
    }

    fn number(&mut self, schema: &'a Schema, value: &'a Value) {
        let (bounds, Some(number)) = (&schema.bounds, value.as_f64()) else {
            return;
        };
        if let Some(max) = bounds.maximum {
            if bounds.exclusive_maximum && number >= max {
                self.invalid(value.clone(), &format!("should be less than {max}"));
            } else if number > max {
                self.invalid(value.clone(), &format!("should be less than or equal to {max}"));
            }
        }
        if let Some(min) = bounds.minimum {
            if bounds.exclusive_minimum && number <= min {
                self.invalid(value.clone(), &format!("should be greater than {min}"));
            } else if number < min {
                self.invalid(
                    value.clone(),
                    &format!("should be greater than or equal to {min}"),
                );
            }
        }
        if let Some(factor) = bounds.multiple_of
            && (number / factor).fract() != 0.0
        {
            self.invalid(value.clone(), &format!("should be a multiple of {factor}"));
        }
        let range = match schema.format.as_deref() {
            Some("int32") => -2_147_483_648.0..=2_147_483_647.0,
            _ => return,
        };
        if !range.contains(&number) {
            let detail = format!(
                "{} in body must be of type int32: {:?}",
                self.path(),
                type_name(value)
            );
            self.report(Problem::TypeInvalid(value.clone(), detail));
        }
    }
}

fn has_duplicates(mut items: impl Iterator<Item = String>) -> bool {
    let mut seen = HashSet::new();
    !items.all(|item| seen.insert(item))
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn has_type(ty: Type, value: &Value) -> bool {
    match ty {
        Type::Object => value.is_object(),
        Type::Array => value.is_array(),
        Type::String => value.is_string(),
        Type::Integer => is_integer(value),
        Type::Number => value.is_number(),
        Type::Boolean => value.is_boolean(),
    }
}

/// A scalar in messages; objects and lists only by the name of their type.
fn shown(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => type_name(value).into(),
        other => other.clone(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

//! Label and field selectors.

use serde_json::Value;

use crate::builtin::Builtin;
use crate::error::{ApiError, Result};
use crate::resource::Resource;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    Exists(String),
    Missing(String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldTerm {
    field: String,
    value: String,
    equal: bool,
}

/// Which objects a list, watch or deletecollection is about.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<FieldTerm>,
}

impl Selector {
    /// Parses both selectors and checks that the fields are ones the resource supports.
    pub fn parse(resource: &Resource, labels: &str, fields: &str) -> Result<Self> {
        let labels = parse_labels(labels)
            .map_err(|error| ApiError::bad_request(format!("unable to parse requirement: {error}")))?;
        let fields = parse_fields(fields)?;
        for term in &fields {
            if !supported(resource, &term.field) {
                return Err(ApiError::bad_request(format!(
                    "field label not supported: {}",
                    term.field
                )));
            }
        }
        Ok(Self { labels, fields })
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        let labels_match = self.labels.iter().all(|requirement| match requirement {
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Missing(key) => label(key).is_none(),
            Requirement::In(key, values) => label(key).is_some_and(|found| values.iter().any(|v| v == found)),
            Requirement::NotIn(key, values) => {
                label(key).is_none_or(|found| values.iter().all(|v| v != found))
            }
        });
        labels_match
            && self
                .fields
                .iter()
                .all(|term| (field(object, &term.field) == term.value) == term.equal)
    }
}

fn supported(resource: &Resource, field: &str) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    match resource.builtin() {
        Some(Builtin::Event | Builtin::EventV1) => {
            let of_object = |prefix: &str| {
                field.strip_prefix(prefix).is_some_and(|rest| {
                    matches!(
                        rest,
                        "kind"
                            | "namespace"
                            | "name"
                            | "uid"
                            | "apiVersion"
                            | "resourceVersion"
                            | "fieldPath"
                    )
                })
            };
            of_object("involvedObject.")
                || of_object("regarding.")
                || matches!(
                    field,
                    "reason" | "reportingComponent" | "reportingController" | "source" | "type"
                )
        }
        Some(Builtin::Secret) => field == "type",
        Some(Builtin::Namespace) => field == "status.phase",
        Some(_) => false,
        None => resource
            .selectable
            .iter()
            .any(|path| path.trim_start_matches('.') == field),
    }
}

/// The value of a field in a stored object, as text.
fn field(object: &Value, field: &str) -> String {
    let text = |path: &str| {
        let found = path.split('.').try_fold(object, |value, step| value.get(step));
        match found {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    };
    // Events are stored in their v1 form.
    if let Some(rest) = field.strip_prefix("regarding.") {
        return text(&format!("involvedObject.{rest}"));
    }
    match field {
        "source" => {
            let component = text("source.component");
            if component.is_empty() {
                text("reportingComponent")
            } else {
                component
            }
        }
        "reportingController" => text("reportingComponent"),
        _ => text(field),
    }
}

fn parse_fields(text: &str) -> Result<Vec<FieldTerm>> {
    let terms = text.split(',').map(str::trim).filter(|term| !term.is_empty());
    terms
        .map(|term| {
            let (field, value, equal) = term
                .split_once("!=")
                .map(|(field, value)| (field, value, false))
                .or_else(|| term.split_once("==").map(|(field, value)| (field, value, true)))
                .or_else(|| term.split_once('=').map(|(field, value)| (field, value, true)))
                .ok_or_else(|| {
                    ApiError::bad_request(format!("invalid selector: '{text}'; can't understand '{term}'"))
                })?;
            Ok(FieldTerm {
                field: field.into(),
                value: value.into(),
                equal,
            })
        })
        .collect()
}

fn parse_labels(text: &str) -> Result<Vec<Requirement>, String> {
    split_terms(text)
        .into_iter()
        .filter(|term| !term.is_empty())
        .map(parse_label)
        .collect()
}

/// Splits at commas outside of parentheses.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                terms.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(text[start..].trim());
    terms
}

fn parse_label(term: &str) -> Result<Requirement, String> {
    if let Some(key) = term.strip_prefix('!') {
        return Ok(Requirement::Missing(key_of(key)?));
    }
    if let Some((head, list)) = term.split_once('(') {
        let values = list
            .strip_suffix(')')
            .ok_or_else(|| format!("found {term:?}, expected: ',' or ')'"))?
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect();
        let mut words = head.split_whitespace();
        let (key, operator) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        return match operator {
            "in" => Ok(Requirement::In(key_of(key)?, values)),
            "notin" => Ok(Requirement::NotIn(key_of(key)?, values)),
            other => Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        };
    }
    for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((key, value)) = term.split_once(operator) {
            let (key, values) = (key_of(key)?, vec![value.trim().to_owned()]);
            return Ok(if equal {
                Requirement::In(key, values)
            } else {
                Requirement::NotIn(key, values)
            });
        }
    }
    Ok(Requirement::Exists(key_of(term)?))
}

fn key_of(text: &str) -> Result<String, String> {
    let key = text.trim();
    if let Some((_, rest)) = key.split_once(char::is_whitespace) {
        let word = rest.split_whitespace().next().unwrap_or_default();
        return Err(format!("found '{word}', expected: in, notin, =, ==, !=, gt, lt"));
    }
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if key.is_empty() || !key.chars().all(fine) {
        return Err(format!("key {key:?} is not a label key"));
    }
    Ok(key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn matches(selector: &str, labels: &Value) -> bool {
        let selector = Selector {
            labels: parse_labels(selector).unwrap(),
            fields: Vec::new(),
        };
        selector.matches(&json!({"metadata": {"labels": labels}}))
    }

    #[test]
    fn every_label_operator() {
        let labels = json!({"env": "prod", "app.io/name": "x"});
        for (selector, matched) in [
            ("env=prod", true),
            ("env==prod", true),
            ("env!=prod", false),
            ("other!=prod", true),
            ("env", true),
            ("!env", false),
            ("!other", true),
            ("env in (dev, prod)", true),
            ("env notin (dev,prod)", false),
            ("other notin (dev)", true),
            ("env=prod,app.io/name=x", true),
            ("env=prod,app.io/name=y", false),
            ("", true),
        ] {
            assert_eq!(matches(selector, &labels), matched, "{selector}");
        }
    }

    #[test]
    fn malformed_selectors_are_refused() {
        for selector in ["env in (a", "env within (a)", "=x", "a b"] {
            assert!(parse_labels(selector).is_err(), "{selector}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,40}") {
            let _ = parse_labels(&text);
            let _ = parse_fields(&text);
        }
    }
}

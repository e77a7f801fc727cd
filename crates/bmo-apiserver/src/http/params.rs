//! Query parameters.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::path::percent_decode;
use crate::error::{ApiError, FieldError, Problem, Result};
use crate::mutate::FieldValidation;

/// The query of a request, decoded; the first value counts where a name is given twice.
#[derive(Debug, Clone, Default)]
pub struct Params(HashMap<String, String>);

impl Params {
    pub fn parse(query: &str) -> Self {
        let mut map = HashMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| percent_decode(&text.replace('+', " "));
            map.entry(decode(name)).or_insert_with(|| decode(value));
        }
        Self(map)
    }

    /// Empty if it is not given.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.text(name), "1" | "true" | "True" | "TRUE" | "t")
    }

    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        match self.text(name) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
            }),
        }
    }

    /// `options` names the kind of options in messages, e.g. `CreateOptions`.
    pub fn dry_run(&self, options: &str) -> Result<bool> {
        match self.text("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => Err(unsupported(options, "dryRun", json!([other]), &["All"])),
        }
    }

    pub fn field_validation(&self, options: &str) -> Result<FieldValidation> {
        match self.text("fieldValidation") {
            "" | "Warn" => Ok(FieldValidation::Warn),
            "Strict" => Ok(FieldValidation::Strict),
            "Ignore" => Ok(FieldValidation::Ignore),
            other => Err(unsupported(
                options,
                "fieldValidation",
                json!(other),
                &["", "Ignore", "Strict", "Warn"],
            )),
        }
    }

    /// `resourceVersion`, if there is a meaningful one; zero means "any".
    pub fn resource_version(&self) -> Result<Option<u64>> {
        match self.text("resourceVersion") {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                ApiError::bad_request(format!(
                    "invalid resource version: resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
                ))
            }),
        }
    }
}

fn unsupported(options: &str, field: &str, value: Value, supported: &[&str]) -> ApiError {
    let supported = supported.iter().map(|&one| one.to_owned()).collect();
    ApiError::options(
        options,
        &[FieldError::new(field, Problem::Unsupported(value, supported))],
    )
}

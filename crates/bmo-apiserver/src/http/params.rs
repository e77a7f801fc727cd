//! Query parameters.

use std::collections::HashMap;

use super::path::percent_decode;
use crate::error::{ApiError, Result};
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

    pub fn dry_run(&self) -> Result<bool> {
        match self.text("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => Err(ApiError::bad_request(format!(
                "invalid dryRun {other:?}: supported values: \"All\""
            ))),
        }
    }

    pub fn field_validation(&self) -> Result<FieldValidation> {
        match self.text("fieldValidation") {
            "" | "Warn" => Ok(FieldValidation::Warn),
            "Strict" => Ok(FieldValidation::Strict),
            "Ignore" => Ok(FieldValidation::Ignore),
            other => Err(ApiError::bad_request(format!(
                "invalid fieldValidation {other:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
            ))),
        }
    }

    /// `resourceVersion`, if there is a meaningful one; zero means "any".
    pub fn resource_version(&self) -> Result<Option<u64>> {
        match self.text("resourceVersion") {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                ApiError::bad_request(format!(
                    "invalid resource version {text:?}: must be a number as the server gave it"
                ))
            }),
        }
    }
}

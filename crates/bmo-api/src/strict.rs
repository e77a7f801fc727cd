//! Strict reading: values that people write into annotations are refused when they have members nobody knows.
//!
//! Types read leniently (see the crate's head). Where the API promises that a misspelt member is noticed, the members
//! of the JSON are compared with those of the type's schema.

use crate::crd::schema_of;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a text is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrictError {
    /// No JSON, or of another shape.
    #[error("{reason}")]
    Unreadable {
        /// What is wrong, and where.
        reason: String,
    },
    /// A member that does not exist.
    #[error("unknown field {path:?}")]
    UnknownField {
        /// Where it is, such as `nics[0].speed`.
        path: String,
    },
}

/// Reads a text and refuses members that the type does not have.
///
/// ```
/// # use bmo_api::{HardwareDetails, strict};
/// assert!(strict::from_str::<HardwareDetails>(r#"{"hostname":"node-1"}"#).is_ok());
/// let error = strict::from_str::<HardwareDetails>(r#"{"nics":[{"speed":10}]}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"unknown field "nics[0].speed""#);
/// ```
pub fn from_str<T: DeserializeOwned + JsonSchema>(text: &str) -> Result<T, StrictError> {
    let unreadable = |error: serde_json::Error| StrictError::Unreadable {
        reason: error.to_string(),
    };
    let value: Value = serde_json::from_str(text).map_err(unreadable)?;
    if let Some(path) = unknown_field("", &value, &schema_of::<T>()) {
        return Err(StrictError::UnknownField { path });
    }
    serde_json::from_value(value).map_err(unreadable)
}

/// Path of the first member that the schema does not have.
fn unknown_field(path: &str, value: &Value, schema: &Value) -> Option<String> {
    match value {
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(known), _) | (None, Some(known)) => unknown_field(&path, member, known),
                (None, None) => Some(path),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| unknown_field(&format!("{path}[{index}]"), item, &schema["items"])),
        _ => None,
    }
}

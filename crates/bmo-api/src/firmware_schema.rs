//! FirmwareSchema: which BIOS settings a model has and which values they take.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{empty_as_none, null_as_default};
use crate::text_enum::text_enum;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

custom_resource! {
    /// The BIOS settings of a model of machine and the values they take. Shared by all hosts of the same model.
    FirmwareSchema as "FirmwareSchema" {
        plural: "firmwareschemas",
        short_names: [],
        spec: FirmwareSchemaSpec,
        status_subresource: false,
        columns: [],
    }
}

/// The settings of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareSchemaSpec {
    /// Vendor of the hardware.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hardware_vendor: String,
    /// Model of the hardware.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hardware_model: String,
    /// Setting and what it takes.
    #[serde(deserialize_with = "null_as_default")]
    #[schemars(extend("x-bmo-required" = true))]
    pub schema: BTreeMap<String, SettingSchema>,
}

text_enum! {
    /// Type of a BIOS setting.
    pub open enum AttributeType {
        /// One of a list of texts.
        Enumeration = "Enumeration",
        /// A text.
        String = "String",
        /// A whole number.
        Integer = "Integer",
        /// `true` or `false`.
        Boolean = "Boolean",
        /// A text that cannot be read back.
        Password = "Password",
    }
}

/// What a BIOS setting takes. A member that is absent limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SettingSchema {
    /// Type of the setting.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub attribute_type: Option<AttributeType>,
    /// The texts an enumeration takes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub allowable_values: Vec<String>,
    /// Smallest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>")]
    pub lower_bound: Option<i64>,
    /// Largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>")]
    pub upper_bound: Option<i64>,
    /// Shortest text, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>")]
    pub min_length: Option<i64>,
    /// Longest text, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>")]
    pub max_length: Option<i64>,
    /// Whether the setting cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether the value differs from machine to machine, such as a serial number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique: Option<bool>,
}

/// Why a setting cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Setting {name} is invalid, {reason}")]
pub struct SettingError {
    /// Name of the setting.
    pub name: String,
    /// What is wrong with the value.
    pub reason: SettingProblem,
}

/// What is wrong with a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingProblem {
    /// The model has no such setting.
    #[error("it is not in the FirmwareSchema")]
    NotInSchema,
    /// The setting cannot be changed.
    #[error("it is read-only")]
    ReadOnly,
    /// Passwords are not kept in settings.
    #[error("passwords cannot be set this way")]
    Password,
    /// The text is not in the list.
    #[error("unknown enumeration value {found:?}, expected one of {allowed}")]
    UnknownValue {
        /// The text.
        found: String,
        /// What the list has.
        allowed: String,
    },
    /// A number is needed.
    #[error("{found:?} is not an integer")]
    NotAnInteger {
        /// The text.
        found: String,
    },
    /// The number is too small.
    #[error("{found} is below the minimum {limit}")]
    BelowMinimum {
        /// The number.
        found: i64,
        /// Smallest number.
        limit: i64,
    },
    /// The number is too large.
    #[error("{found} is above the maximum {limit}")]
    AboveMaximum {
        /// The number.
        found: i64,
        /// Largest number.
        limit: i64,
    },
    /// The text is too short.
    #[error("its length {found} is below the minimum length {limit}")]
    TooShort {
        /// Length in bytes.
        found: usize,
        /// Smallest length.
        limit: i64,
    },
    /// The text is too long.
    #[error("its length {found} is above the maximum length {limit}")]
    TooLong {
        /// Length in bytes.
        found: usize,
        /// Largest length.
        limit: i64,
    },
    /// `true` or `false` is needed.
    #[error("{found:?} is not a boolean, expected true or false")]
    NotABoolean {
        /// The text.
        found: String,
    },
    /// The schema itself is of a type this version does not know.
    #[error("its type {found:?} is not known")]
    UnknownType {
        /// The type.
        found: String,
    },
}

impl FirmwareSchemaSpec {
    /// Checks whether a setting may get a value. Numbers may be given as texts.
    pub fn check_setting(&self, name: &str, value: &IntOrString) -> Result<(), SettingError> {
        let text = match value {
            IntOrString::Int(number) => number.to_string(),
            IntOrString::String(text) => text.clone(),
        };
        let checked = match self.schema.get(name) {
            None => Err(SettingProblem::NotInSchema),
            Some(setting) if setting.read_only == Some(true) => Err(SettingProblem::ReadOnly),
            Some(_) if name.contains("Password") => Err(SettingProblem::Password),
            Some(setting) => setting.check(&text),
        };
        checked.map_err(|reason| SettingError {
            name: name.to_owned(),
            reason,
        })
    }
}

impl SettingSchema {
    fn check(&self, text: &str) -> Result<(), SettingProblem> {
        let found = || text.to_owned();
        match &self.attribute_type {
            None => Ok(()),
            Some(AttributeType::Enumeration) if self.allowable_values.iter().any(|value| value == text) => {
                Ok(())
            }
            Some(AttributeType::Enumeration) => Err(SettingProblem::UnknownValue {
                found: found(),
                allowed: self.allowable_values.join(", "),
            }),
            Some(AttributeType::Integer) => {
                let number = text
                    .parse()
                    .map_err(|_| SettingProblem::NotAnInteger { found: found() })?;
                self.check_bounds(number)
            }
            Some(AttributeType::String) => self.check_length(text.len()),
            Some(AttributeType::Boolean) if matches!(text, "true" | "false") => Ok(()),
            Some(AttributeType::Boolean) => Err(SettingProblem::NotABoolean { found: found() }),
            Some(AttributeType::Password) => Err(SettingProblem::Password),
            Some(AttributeType::Unknown(kind)) => Err(SettingProblem::UnknownType { found: kind.clone() }),
        }
    }

    fn check_bounds(&self, found: i64) -> Result<(), SettingProblem> {
        match (self.lower_bound, self.upper_bound) {
            (Some(limit), _) if found < limit => Err(SettingProblem::BelowMinimum { found, limit }),
            (_, Some(limit)) if found > limit => Err(SettingProblem::AboveMaximum { found, limit }),
            _ => Ok(()),
        }
    }

    fn check_length(&self, found: usize) -> Result<(), SettingProblem> {
        let length = i64::try_from(found).unwrap_or(i64::MAX);
        match (self.min_length, self.max_length) {
            (Some(limit), _) if length < limit => Err(SettingProblem::TooShort { found, limit }),
            (_, Some(limit)) if length > limit => Err(SettingProblem::TooLong { found, limit }),
            _ => Ok(()),
        }
    }
}

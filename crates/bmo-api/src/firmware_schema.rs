//! FirmwareSchema: which BIOS settings a model has and which values they take.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{empty_as_none, null_as_default};
use crate::text_enum::text_enum;
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

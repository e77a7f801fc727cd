//! HostFirmwareSettings: BIOS settings of the machine of the host of the same name.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::null_as_default;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

custom_resource! {
    /// BIOS settings of the machine of the BareMetalHost of the same name: the present ones and those wanted.
    HostFirmwareSettings as "HostFirmwareSettings" {
        plural: "hostfirmwaresettings",
        short_names: ["hfs"],
        spec: HostFirmwareSettingsSpec,
        status: HostFirmwareSettingsStatus,
        status_subresource: true,
        columns: [],
    }
}

/// The settings that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFirmwareSettingsSpec {
    /// Setting and wanted value. Settings that are not named stay as they are.
    #[serde(deserialize_with = "null_as_default")]
    #[schemars(with = "BTreeMap<String, schema::IntOrString>", extend("x-bmo-required" = true))]
    pub settings: BTreeMap<String, IntOrString>,
}

/// The settings that were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFirmwareSettingsStatus {
    /// The FirmwareSchema that describes the settings.
    #[serde(rename = "schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaReference>,
    /// Setting and present value.
    #[serde(deserialize_with = "null_as_default")]
    #[schemars(extend("x-bmo-required" = true))]
    pub settings: BTreeMap<String, String>,
    /// When the status was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub last_updated: Option<Time>,
    /// `ChangeDetected`: the wanted settings differ from the present ones. `Valid`: the wanted settings can be set.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>",
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Names a FirmwareSchema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SchemaReference {
    /// Namespace of the object.
    #[schemars(extend("x-bmo-required" = true))]
    pub namespace: String,
    /// Name of the object.
    #[schemars(extend("x-bmo-required" = true))]
    pub name: String,
}

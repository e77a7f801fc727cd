//! HostFirmwareComponents: firmware versions of the machine of the host of the same name.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::null_as_default;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// Firmware components of the machine of the BareMetalHost of the same name, and the updates wanted.
    HostFirmwareComponents as "HostFirmwareComponents" {
        plural: "hostfirmwarecomponents",
        short_names: [],
        spec: HostFirmwareComponentsSpec,
        status: HostFirmwareComponentsStatus,
        status_subresource: true,
        columns: [],
    }
}

/// The updates that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFirmwareComponentsSpec {
    /// Components to update, one entry each.
    #[serde(deserialize_with = "null_as_default")]
    #[schemars(extend("x-bmo-required" = true))]
    pub updates: Vec<FirmwareUpdate>,
}

/// The components that were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFirmwareComponentsStatus {
    /// The updates that were handed to the machine last; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updates: Option<Vec<FirmwareUpdate>>,
    /// Every component whose firmware is known.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub components: Vec<FirmwareComponentStatus>,
    /// When the status was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub last_updated: Option<Time>,
    /// `ChangeDetected`: updates are wanted that were not handed over yet. `Valid`: the wanted updates can be made.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>",
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// An update of one component.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareUpdate {
    /// The component: `bmc`, `bios`, or a network interface as `nic:<name>`.
    #[schemars(extend("x-bmo-required" = true))]
    pub component: String,
    /// Where the firmware image is.
    #[schemars(extend("x-bmo-required" = true))]
    pub url: String,
}

/// A component name that is none of the three forms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{component:?} is no firmware component; use bmc, bios, or nic:<name>")]
pub struct UnknownComponent {
    component: String,
}

impl FirmwareUpdate {
    /// Checks the component's name; upper and lower case differ.
    pub fn check_component(&self) -> Result<(), UnknownComponent> {
        if matches!(self.component.as_str(), "bmc" | "bios") || self.component.starts_with("nic:") {
            Ok(())
        } else {
            Err(UnknownComponent {
                component: self.component.clone(),
            })
        }
    }
}

/// What is known about one component's firmware.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareComponentStatus {
    /// The component.
    #[schemars(extend("x-bmo-required" = true))]
    pub component: String,
    /// Version found first.
    #[schemars(extend("x-bmo-required" = true))]
    pub initial_version: String,
    /// Version found last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub current_version: String,
    /// Version that was flashed last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_version_flashed: String,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub updated_at: Option<Time>,
}

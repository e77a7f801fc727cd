//! HardwareData: the inspection result of the host of the same name, kept apart from it so that it survives a move.

use crate::hardware::HardwareDetails;
use crate::resource::custom_resource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// What inspection found in the machine of the BareMetalHost of the same name.
    HardwareData as "HardwareData" {
        plural: "hardwaredata",
        short_names: ["hd"],
        spec: HardwareDataSpec,
        status_subresource: false,
        columns: [("Age", "date", ".metadata.creationTimestamp", 0)],
    }
}

/// The inspection result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HardwareDataSpec {
    /// Hardware of the machine; absent before the first inspection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareDetails>,
}

//! HostNetworkAttachment: a network that interfaces of hosts are attached to.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{empty_as_none, null_as_default};
use crate::text_enum::text_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// A network that interfaces of BareMetalHosts are attached to. It cannot be changed while one is.
    HostNetworkAttachment as "HostNetworkAttachment" {
        plural: "hostnetworkattachments",
        short_names: [],
        spec: HostNetworkAttachmentSpec,
        status_subresource: true,
        columns: [
            ("Mode", "string", ".spec.mode", 0),
            ("Native VLAN", "integer", ".spec.nativeVLAN", 0),
            ("Age", "date", ".metadata.creationTimestamp", 0),
        ],
    }
}

text_enum! {
    /// How a switch port treats VLANs.
    #[derive(Default)]
    pub enum SwitchPortMode {
        /// One VLAN, untagged.
        #[default]
        Access = "access",
        /// Tagged VLANs.
        Trunk = "trunk",
        /// One VLAN untagged, others tagged.
        Hybrid = "hybrid",
    }
}

/// The network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostNetworkAttachmentSpec {
    /// How the switch port treats VLANs.
    #[serde(deserialize_with = "mode_or_default")]
    #[schemars(extend("x-bmo-required" = true, "x-bmo-default" = "access"))]
    pub mode: SwitchPortMode,
    /// The VLAN of untagged frames.
    #[serde(rename = "nativeVLAN")]
    #[schemars(with = "schema::Int", extend("x-bmo-required" = true, "minimum" = 1, "maximum" = 4094))]
    pub native_vlan: i64,
    /// VLANs of tagged frames: numbers, or ranges such as `20-30`. Not with mode `access`.
    #[serde(
        rename = "allowedVLANs",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[schemars(with = "Vec<VlanRange>")]
    pub allowed_vlans: Vec<String>,
    /// Largest packet in bytes; the switch's default if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>", extend("minimum" = 68, "maximum" = 9216))]
    pub mtu: Option<i64>,
}

fn mode_or_default<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<SwitchPortMode, D::Error> {
    Ok(empty_as_none(deserializer)?.unwrap_or_default())
}

/// Schema of an entry of `allowedVLANs`.
struct VlanRange;

impl JsonSchema for VlanRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "VlanRange".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"^\d+(-\d+)?$" })
    }
}

//! Hints that choose a machine's disk.

use crate::schema;
use crate::serde_rules::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which disk is meant. Every hint that is given has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RootDeviceHints {
    /// Device name, such as `/dev/sda`, or a stable one below `/dev/disk/by-path`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device_name: String,
    /// SCSI address `host:channel:target:lun`, such as `0:0:0:0`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hctl: String,
    /// Model, or a part of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Vendor, or a part of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// Serial number, exactly.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub serial_number: String,
    /// Smallest acceptable size, in gigabytes.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(with = "schema::Int", extend("minimum" = 0))]
    pub min_size_gigabytes: i64,
    /// World-wide name, exactly.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn: String,
    /// World-wide name with the vendor's extension, exactly.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn_with_extension: String,
    /// The vendor's extension of the world-wide name, exactly.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn_vendor_extension: String,
    /// True: only disks that spin; false: only disks that do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
}

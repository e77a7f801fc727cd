//! What inspection finds in a machine. Shared by the status of a host and by HardwareData.

use crate::schema;
use crate::serde_rules::{empty_as_none, is_default, whole_as_integer};
use crate::text_enum::text_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hardware of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HardwareDetails {
    /// Who made the machine.
    pub system_vendor: HardwareSystemVendor,
    /// Firmware of the machine.
    pub firmware: Firmware,
    /// Main memory in mebibytes.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(with = "schema::Int")]
    pub ram_mebibytes: i64,
    /// Network interfaces.
    #[serde(rename = "nics", skip_serializing_if = "Vec::is_empty")]
    pub nics: Vec<Nic>,
    /// Disks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<Storage>,
    /// Processor.
    pub cpu: Cpu,
    /// Name the machine gave itself during inspection.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hostname: String,
}

/// Who made a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HardwareSystemVendor {
    /// Manufacturer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manufacturer: String,
    /// Product name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub product_name: String,
    /// Serial number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub serial_number: String,
}

/// Short name of [`HardwareSystemVendor`].
pub type SystemVendor = HardwareSystemVendor;

/// Firmware of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Firmware {
    /// The BIOS.
    pub bios: Bios,
}

/// The BIOS of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Bios {
    /// Release date, as the BIOS writes it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub date: String,
    /// Vendor.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// Version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

/// The processor of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Cpu {
    /// Architecture, such as `x86_64` or `aarch64`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub arch: String,
    /// Model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Clock in megahertz.
    #[serde(skip_serializing_if = "is_default", serialize_with = "whole_as_integer")]
    pub clock_megahertz: f64,
    /// Feature flags, such as `vmx`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Number of logical processors.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(with = "schema::Int")]
    pub count: i64,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Nic {
    /// Name of the device, such as `eth0`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Model, as ids of vendor and product.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// MAC address.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"))]
    pub mac: String,
    /// IP address, version 4 or 6.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ip: String,
    /// Speed in gigabits per second.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(with = "schema::Int")]
    pub speed_gbps: i64,
    /// VLANs the interface sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vlans: Vec<Vlan>,
    /// Id of the untagged VLAN.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(range(min = 0, max = 4094))]
    pub vlan_id: i32,
    /// Whether the machine booted from this interface.
    #[serde(skip_serializing_if = "is_default")]
    pub pxe: bool,
    /// What the neighbouring switch told about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lldp: Option<Lldp>,
    /// Address on the PCI bus.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pci_address: String,
}

/// A VLAN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Vlan {
    /// Id of the VLAN.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(range(min = 0, max = 4094))]
    pub id: i32,
    /// Name of the VLAN.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What a switch says about itself by LLDP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Lldp {
    /// Id of the switch, often its MAC address.
    #[serde(rename = "switchID", skip_serializing_if = "String::is_empty")]
    pub switch_id: String,
    /// Id of the port the interface is plugged into.
    #[serde(rename = "portID", skip_serializing_if = "String::is_empty")]
    pub port_id: String,
    /// Name of the switch.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub switch_system_name: String,
}

text_enum! {
    /// Kind of a disk.
    pub open enum DiskType {
        /// Spinning disk.
        Hdd = "HDD",
        /// Flash on a disk bus.
        Ssd = "SSD",
        /// Flash on PCI Express.
        Nvme = "NVME",
    }
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Storage {
    /// Name of the device; a stable one where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Other names of the same disk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternate_names: Vec<String>,
    /// Whether the disk spins.
    #[serde(skip_serializing_if = "is_default")]
    pub rotational: bool,
    /// Kind of the disk.
    #[serde(
        rename = "type",
        deserialize_with = "empty_as_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub disk_type: Option<DiskType>,
    /// Size in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub size_bytes: i64,
    /// Vendor.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// Model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Serial number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub serial_number: String,
    /// World-wide name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn: String,
    /// The vendor's extension of the world-wide name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn_vendor_extension: String,
    /// World-wide name with the vendor's extension.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wwn_with_extension: String,
    /// SCSI address `host:channel:target:lun`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hctl: String,
}

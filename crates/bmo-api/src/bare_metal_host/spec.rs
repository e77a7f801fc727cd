//! What a user asks of a host.

use crate::image::Image;
use crate::raid::RaidConfig;
use crate::root_device_hints::RootDeviceHints;
use crate::schema;
use crate::serde_rules::{empty_as_none, is_default};
use crate::text_enum::text_enum;
use k8s_openapi::api::core::v1::{ObjectReference, SecretReference, Taint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is wanted of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BareMetalHostSpec {
    /// Taints for whatever uses the machine; BMO itself does not act on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<schema::Taint>")]
    pub taints: Vec<Taint>,
    /// How to reach the machine's BMC.
    pub bmc: BmcDetails,
    /// RAID volumes to set up before provisioning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid: Option<RaidConfig>,
    /// Firmware settings by the names common to all vendors. Kept for old manifests; HostFirmwareSettings does more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// Name of a set of assumptions about the hardware, such as its default root disk. Only looked at before the host
    /// has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hardware_profile: String,
    /// Which disk the image is written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_device_hints: Option<RootDeviceHints>,
    /// How the machine boots; UEFI if not given.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub boot_mode: Option<BootMode>,
    /// MAC address of the interface the machine boots from.
    #[serde(rename = "bootMACAddress", skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"))]
    pub boot_mac_address: String,
    /// Whether the machine shall be powered on.
    #[schemars(extend("x-bmo-required" = true))]
    pub online: bool,
    /// Whether BMO shall never power the machine off. It then reboots instead, and can neither clean nor deprovision a
    /// machine that has to be off for that.
    #[serde(skip_serializing_if = "is_default")]
    pub disable_power_off: bool,
    /// Who uses the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::ObjectReference>")]
    pub consumer_ref: Option<ObjectReference>,
    /// The image to run. Setting it provisions the machine, removing it deprovisions it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Secret with the user data of the first boot (cloud-init, Ignition), in the host's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub user_data: Option<SecretReference>,
    /// Name of the Secret with the network configuration of the ramdisk that inspects and provisions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preprovisioning_network_data_name: String,
    /// Secret with the network configuration of the provisioned machine, in the host's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub network_data: Option<SecretReference>,
    /// Secret with the metadata of the provisioned machine, in the host's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub meta_data: Option<SecretReference>,
    /// Remark for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether something else provisions the machine: BMO then only manages its power.
    #[serde(skip_serializing_if = "is_default")]
    pub externally_provisioned: bool,
    /// What is wiped from the disks between uses.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-bmo-default" = "metadata"))]
    pub automated_cleaning_mode: Option<AutomatedCleaningMode>,
    /// Another way to provision than writing an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_deploy: Option<CustomDeploy>,
    /// How the machine is inspected; `agent` if not given.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub inspection_mode: Option<InspectionMode>,
    /// CPU architecture, such as `x86_64`. Filled in by inspection.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub architecture: String,
    /// Switch ports of the machine's network interfaces and the networks they shall be attached to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network_interfaces: Vec<NetworkInterface>,
}

/// How to reach a BMC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BmcDetails {
    /// Address of the BMC, such as `redfish://192.0.2.1/redfish/v1/Systems/1`. Its scheme chooses the driver.
    #[schemars(extend("x-bmo-required" = true))]
    pub address: String,
    /// Name of the Secret with `username` and `password`, in the host's namespace.
    #[schemars(extend("x-bmo-required" = true))]
    pub credentials_name: String,
    /// Whether the certificate of the BMC is accepted unverified.
    #[serde(skip_serializing_if = "is_default")]
    pub disable_certificate_verification: bool,
}

/// Firmware settings by the names common to all vendors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareConfig {
    /// Whether the processor supports virtual machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [true, false]))]
    pub virtualization_enabled: Option<bool>,
    /// Whether each core runs several threads at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [true, false]))]
    pub simultaneous_multithreading_enabled: Option<bool>,
    /// Whether network interfaces can be shared by SR-IOV.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [true, false]))]
    pub sriov_enabled: Option<bool>,
}

text_enum! {
    /// How a machine boots.
    #[derive(Default)]
    pub enum BootMode {
        /// UEFI.
        #[default]
        Uefi = "UEFI",
        /// UEFI that starts only signed software.
        UefiSecureBoot = "UEFISecureBoot",
        /// BIOS.
        Legacy = "legacy",
    }
}

text_enum! {
    /// What is wiped from the disks between uses.
    #[derive(Default)]
    pub enum AutomatedCleaningMode {
        /// Partition tables and file system marks.
        #[default]
        Metadata = "metadata",
        /// Nothing.
        Disabled = "disabled",
    }
}

text_enum! {
    /// How a machine is inspected.
    #[derive(Default)]
    pub enum InspectionMode {
        /// Not at all.
        Disabled = "disabled",
        /// By booting a ramdisk that looks at the hardware.
        #[default]
        Agent = "agent",
        /// By asking the BMC; less is found, nothing is booted.
        Fast = "fast",
    }
}

/// Another way to provision than writing an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CustomDeploy {
    /// Name of a step that the deployment ramdisk knows.
    #[schemars(extend("x-bmo-required" = true))]
    pub method: String,
}

/// A network interface, named by its MAC address or by its name, and where it shall be attached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkInterface {
    /// Name of the interface; used when there is no MAC address.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"^[a-zA-Z0-9._-]+$"))]
    pub name: String,
    /// MAC address of the interface.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$"))]
    pub mac_address: String,
    /// The switch port it is plugged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_port: Option<SwitchPort>,
    /// The HostNetworkAttachment that describes its network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_network_attachment: Option<HostNetworkAttachmentRef>,
}

impl NetworkInterface {
    /// What tells this interface from others: its MAC address in lower case, else its name.
    pub fn key(&self) -> String {
        if self.mac_address.is_empty() {
            self.name.clone()
        } else {
            self.mac_address.to_lowercase()
        }
    }

    /// True when the interface is named at all.
    pub fn is_valid(&self) -> bool {
        !self.mac_address.is_empty() || !self.name.is_empty()
    }
}

/// A port of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SwitchPort {
    /// MAC address of the switch.
    #[serde(rename = "switchID")]
    #[schemars(extend("x-bmo-required" = true), regex(pattern = r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$"))]
    pub switch_id: String,
    /// Name of the port, as the switch calls it.
    #[serde(rename = "portID")]
    #[schemars(extend("x-bmo-required" = true))]
    pub port_id: String,
}

/// Names a HostNetworkAttachment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostNetworkAttachmentRef {
    /// Name of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub name: String,
    /// Namespace of the object; the host's own if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
}

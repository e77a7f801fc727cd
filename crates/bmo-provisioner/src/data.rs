//! What the operator passes in: one struct for the host, one for each method that needs more than nothing.
//!
//! Members are camelCase on the wire. A member that is absent has its default; members a side does not know are
//! ignored.

use std::collections::BTreeMap;

use bmo_api::{
    AutomatedCleaningMode, BootMode, FirmwareUpdate, HardwareData, Image, InspectionMode, IntOrString,
    OperationalStatus, ProvisioningState, RaidConfig, RebootMode, RootDeviceHints, SettingSchema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SecretString;

/// The host of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostData {
    /// Namespace of the BareMetalHost.
    pub namespace: String,
    /// Name of the BareMetalHost.
    pub name: String,
    /// UID of the BareMetalHost.
    #[serde(default)]
    pub uid: String,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// How to reach its BMC. Absent for callers that act only on a registered host (firmware, data images,
    /// subscriptions): what needs the BMC fails there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmc: Option<BmcAccess>,
    /// MAC address the host boots from; may be empty.
    #[serde(default, rename = "bootMACAddress", skip_serializing_if = "String::is_empty")]
    pub boot_mac_address: String,
    /// The id stored from an earlier registration; empty before.
    #[serde(default, rename = "provisionerID", skip_serializing_if = "String::is_empty")]
    pub provisioner_id: String,
}

/// How to reach a BMC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BmcAccess {
    /// The address as the user wrote it.
    pub address: String,
    /// User and password.
    pub credentials: BmcCredentials,
    /// Whether the BMC's certificate is taken unseen.
    #[serde(default)]
    pub disable_certificate_verification: bool,
}

/// User and password of a BMC, surrounding white space removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BmcCredentials {
    /// User name.
    pub username: SecretString,
    /// Password.
    pub password: SecretString,
}

/// Formats of a preprovisioning image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PreprovisioningImageFormat {
    /// A bootable ISO image.
    Iso,
    /// An initial RAM disk, with or without its kernel.
    Initrd,
}

/// An image that is booted before provisioning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreprovisioningImage {
    /// Where the image is.
    #[serde(rename = "imageURL")]
    pub image_url: String,
    /// Where its kernel is; empty where it has none of its own.
    #[serde(default, rename = "kernelURL")]
    pub kernel_url: String,
    /// Kernel parameters to add.
    #[serde(default)]
    pub extra_kernel_params: String,
    /// Its format.
    pub format: PreprovisioningImageFormat,
}

/// Input of `register`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RegisterRequest {
    /// Boot mode.
    pub boot_mode: BootMode,
    /// Whether disks are cleaned automatically.
    pub automated_cleaning_mode: AutomatedCleaningMode,
    /// Stored provisioning state.
    pub state: ProvisioningState,
    /// Stored operational status.
    pub operational_status: OperationalStatus,
    /// The image the host runs or is about to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_image: Option<Image>,
    /// A preprovisioning image, where one was asked for and is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preprovisioning_image: Option<PreprovisioningImage>,
    /// Network data for the preprovisioning image; may be empty.
    pub preprovisioning_network_data: SecretString,
    /// Whether a custom deploy method runs or is about to run.
    pub has_custom_deploy: bool,
    /// Whether the machine must never be switched off.
    pub disable_power_off: bool,
    /// CPU architecture, `x86_64` or `aarch64`; may be empty.
    #[serde(rename = "cpuArchitecture")]
    pub cpu_architecture: String,
    /// What an earlier inspection found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub hardware_data: Option<Box<HardwareData>>,
    /// Whether the host is not to be inspected.
    pub disable_inspection: bool,
    /// How it is to be inspected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inspection_mode: Option<InspectionMode>,
    /// The credentials differ from those tried last.
    pub credentials_changed: bool,
    /// The last registration failed: start over instead of reporting it again.
    pub restart_on_failure: bool,
}

/// Input of `inspect_hardware`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InspectRequest {
    /// Boot mode.
    pub boot_mode: BootMode,
    /// CPU architecture; may be empty.
    #[serde(rename = "cpuArchitecture")]
    pub cpu_architecture: String,
    /// How to inspect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inspection_mode: Option<InspectionMode>,
    /// The last inspection failed: start over.
    pub restart_on_failure: bool,
    /// The user asked for a new inspection.
    pub refresh: bool,
    /// The user asked for a forced reboot: abort what runs.
    pub force_reboot: bool,
}

/// Input of `adopt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AdoptRequest {
    /// Stored provisioning state.
    pub state: ProvisioningState,
    /// The last adoption failed: start over.
    pub restart_on_failure: bool,
}

/// Input of `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PrepareRequest {
    /// Volumes wanted.
    #[serde(rename = "targetRAIDConfig", skip_serializing_if = "Option::is_none")]
    pub target_raid_config: Option<RaidConfig>,
    /// Volumes there are, where known.
    #[serde(rename = "actualRAIDConfig", skip_serializing_if = "Option::is_none")]
    pub actual_raid_config: Option<RaidConfig>,
    /// Where the root device is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_device_hints: Option<RootDeviceHints>,
    /// BIOS settings wanted, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub target_firmware_settings: BTreeMap<String, IntOrString>,
    /// BIOS settings there are; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_firmware_settings: Option<BTreeMap<String, String>>,
    /// Firmware to install.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_firmware_components: Vec<FirmwareUpdate>,
    /// Something wanted differs from what there is.
    pub unprepared: bool,
    /// The last preparation failed: start over.
    pub restart_on_failure: bool,
}

/// Input of `service`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceRequest {
    /// BIOS settings wanted, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub target_firmware_settings: BTreeMap<String, IntOrString>,
    /// BIOS settings there are; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_firmware_settings: Option<BTreeMap<String, String>>,
    /// Firmware to install.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target_firmware_components: Vec<FirmwareUpdate>,
    /// Whether the user has any firmware wish at all; where not, a failed service is abandoned.
    pub has_firmware_spec: bool,
    /// Something wanted differs from what there is.
    pub unprepared: bool,
    /// The last service failed: start over.
    pub restart_on_failure: bool,
}

/// How a machine is deployed other than by writing an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomDeployMethod {
    /// Name of the deploy step.
    pub method: String,
}

/// Input of `provision`. The user's data are read through [`HostConfigData`](crate::HostConfigData).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisionRequest {
    /// The image to write; absent where only a custom deploy method is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Boot mode.
    pub boot_mode: BootMode,
    /// Name of the hardware profile.
    pub hardware_profile: String,
    /// Where the root device is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_device_hints: Option<RootDeviceHints>,
    /// A custom deploy method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_deploy: Option<CustomDeployMethod>,
    /// `user:password` for the image's registry; empty where none is needed.
    pub image_pull_secret: SecretString,
    /// The user asked for a forced reboot: start the deployment over.
    pub force_reboot: bool,
}

/// Input of `deprovision`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DeprovisionRequest {
    /// The last attempt failed: start over.
    pub restart_on_failure: bool,
    /// Whether disks are cleaned automatically. Must be what the back end does before it tears down.
    pub automated_cleaning_mode: AutomatedCleaningMode,
}

/// Input of `detach`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DetachRequest {
    /// Abort running work instead of waiting for it.
    pub force: bool,
}

/// Input of `power_on`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PowerOnRequest {
    /// Ignore an earlier failure.
    pub force: bool,
}

/// Input of `power_off`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PowerOffRequest {
    /// Soft asks the running system; hard does not.
    pub mode: RebootMode,
    /// Ignore an earlier failure; implies hard.
    pub force: bool,
    /// Whether disks are cleaned automatically: cleaning that is not wanted may be aborted.
    pub automated_cleaning_mode: AutomatedCleaningMode,
}

/// Answer of `update_hardware_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HardwareState {
    /// Whether the machine is on; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub powered_on: Option<bool>,
}

/// Input of `get_firmware_settings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareSettingsRequest {
    /// Whether the schema is wanted too.
    pub include_schema: bool,
}

/// Answer of `get_firmware_settings`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FirmwareSettings {
    /// Settings by name.
    pub settings: BTreeMap<String, String>,
    /// What each setting may be; empty unless asked for.
    pub schema: BTreeMap<String, SettingSchema>,
}

/// Input of `add_bmc_event_subscription`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EventSubscriptionRequest {
    /// Where the BMC sends its events.
    pub destination: String,
    /// Text it sends along.
    pub context: String,
    /// Headers it sends along; their values may be secret.
    pub headers: Vec<(String, SecretString)>,
}

/// Answer of `add_bmc_event_subscription` and input of `remove_bmc_event_subscription`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EventSubscription {
    /// The subscription's id at the BMC; may be empty where the back end has none.
    #[serde(rename = "subscriptionID")]
    pub subscription_id: String,
}

/// Input of `attach_data_image`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachDataImageRequest {
    /// Where the image is.
    pub url: String,
}

//! What BMO knows about a host.

use super::spec::{BootMode, CustomDeploy, FirmwareConfig};
use crate::hardware::HardwareDetails;
use crate::image::Image;
use crate::raid::RaidConfig;
use crate::root_device_hints::RootDeviceHints;
use crate::schema;
use crate::serde_rules::{empty_as_none, null_as_default};
use crate::text_enum::text_enum;
use k8s_openapi::api::core::v1::SecretReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known about the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BareMetalHostStatus {
    /// Whether BMO can work with the machine.
    #[schemars(extend("x-bmo-required" = true))]
    pub operational_status: OperationalStatus,
    /// What kind of work failed last; absent when nothing is wrong.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<ErrorType>,
    /// When the status was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub last_updated: Option<Time>,
    /// Name of the hardware profile in use.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hardware_profile: String,
    /// Hardware that inspection found.
    #[serde(rename = "hardware", skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareDetails>,
    /// How far provisioning has come, and with which settings.
    #[schemars(extend("x-bmo-required" = true))]
    pub provisioning: ProvisionStatus,
    /// The last credentials that worked.
    pub good_credentials: CredentialsStatus,
    /// The last credentials that were tried.
    pub tried_credentials: CredentialsStatus,
    /// What went wrong last, for people.
    #[schemars(extend("x-bmo-required" = true))]
    pub error_message: String,
    /// Whether the machine is powered on.
    #[schemars(extend("x-bmo-required" = true))]
    pub powered_on: bool,
    /// When the long operations last started and ended.
    #[serde(deserialize_with = "null_as_default")]
    pub operation_history: OperationHistory,
    /// How often the present operation has failed in a row.
    #[schemars(with = "schema::Int", extend("x-bmo-required" = true, "x-bmo-default" = 0))]
    pub error_count: i64,
    /// How often provisioning has failed since it last succeeded or its image was changed.
    #[schemars(with = "schema::Int", extend("x-bmo-required" = true, "x-bmo-default" = 0))]
    pub provisioning_fail_count: i64,
    /// The image of the last attempt to provision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempted_image: Option<Image>,
    /// Aspects of the host's state, one condition each.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>", length(max = 32),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

text_enum! {
    /// Whether BMO can work with a machine.
    #[derive(Default)]
    pub open enum OperationalStatus {
        /// Not looked at yet.
        #[default]
        Unset = "",
        /// All is well.
        Ok = "OK",
        /// Known, but without BMC details.
        Discovered = "discovered",
        /// The last operation failed.
        Error = "error",
        /// Waiting because the provisioner has no room for more work.
        Delayed = "delayed",
        /// Given up on request; the provisioner does not know the machine any more.
        Detached = "detached",
        /// Firmware is changed while the machine is in use.
        Servicing = "servicing",
    }
}

text_enum! {
    /// What kind of work failed.
    pub open enum ErrorType {
        /// Taking over a machine that is provisioned already.
        ProvisionedRegistrationError = "provisioned registration error",
        /// Registering: the BMC or its credentials.
        RegistrationError = "registration error",
        /// Inspecting.
        InspectionError = "inspection error",
        /// Preparing: RAID, firmware.
        PreparationError = "preparation error",
        /// Provisioning or deprovisioning.
        ProvisioningError = "provisioning error",
        /// Switching the power.
        PowerManagementError = "power management error",
        /// Changing firmware while in use.
        ServicingError = "servicing error",
        /// Giving up the machine on request.
        DetachError = "detach error",
    }
}

impl ErrorType {
    /// Reason of the event that reports such a failure; also the label of the metric that counts them.
    pub fn event_reason(&self) -> &'static str {
        match self {
            Self::ProvisionedRegistrationError => "ProvisionedRegistrationError",
            Self::RegistrationError => "RegistrationError",
            Self::InspectionError => "InspectionError",
            Self::PreparationError => "PreparationError",
            Self::ProvisioningError => "ProvisioningError",
            Self::PowerManagementError => "PowerManagementError",
            Self::ServicingError => "ServicingError",
            Self::DetachError => "DetachError",
            Self::Unknown(_) => "UnknownError",
        }
    }
}

text_enum! {
    /// Where a host is on its way.
    #[derive(Default)]
    pub free enum ProvisioningState {
        /// Not looked at yet.
        #[default]
        None = "",
        /// Without BMC details; nothing can be done.
        Unmanaged = "unmanaged",
        /// The BMC and its credentials are checked.
        Registering = "registering",
        /// Only in objects of old versions; goes on to preparing.
        MatchProfile = "match profile",
        /// RAID and firmware are set up.
        Preparing = "preparing",
        /// Only in objects of old versions; means the same as available.
        Ready = "ready",
        /// Ready to be provisioned.
        Available = "available",
        /// The image is deployed.
        Provisioning = "provisioning",
        /// The image runs.
        Provisioned = "provisioned",
        /// Something else provisioned the machine.
        ExternallyProvisioned = "externally provisioned",
        /// The image is removed and the disks are cleaned.
        Deprovisioning = "deprovisioning",
        /// The hardware is looked at.
        Inspecting = "inspecting",
        /// Switched off before it is given up.
        PoweringOffBeforeDelete = "powering off before delete",
        /// The provisioner forgets the machine.
        Deleting = "deleting",
    }
}

/// How far provisioning has come, and with which settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisionStatus {
    /// Where the host is on its way.
    #[schemars(extend("x-bmo-required" = true))]
    pub state: ProvisioningState,
    /// The provisioner's id of the machine; empty until it is registered.
    #[serde(rename = "ID")]
    #[schemars(extend("x-bmo-required" = true))]
    pub id: String,
    /// The image that was provisioned; its URL is empty when there is none.
    pub image: Image,
    /// The disk hints in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_device_hints: Option<RootDeviceHints>,
    /// The boot mode in use.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub boot_mode: Option<BootMode>,
    /// The RAID volumes that were set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid: Option<RaidConfig>,
    /// The firmware settings that were set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// The deploy step that was used instead of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_deploy: Option<CustomDeploy>,
}

/// Which Secret, and which version of it, was used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CredentialsStatus {
    /// The Secret.
    #[serde(rename = "credentials", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub reference: Option<SecretReference>,
    /// `resourceVersion` of the Secret.
    #[serde(rename = "credentialsVersion", skip_serializing_if = "String::is_empty")]
    pub version: String,
}

/// When each long operation last started and ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperationHistory {
    /// Registering.
    #[serde(deserialize_with = "null_as_default")]
    pub register: OperationMetric,
    /// Inspecting.
    #[serde(deserialize_with = "null_as_default")]
    pub inspect: OperationMetric,
    /// Provisioning.
    #[serde(deserialize_with = "null_as_default")]
    pub provision: OperationMetric,
    /// Deprovisioning.
    #[serde(deserialize_with = "null_as_default")]
    pub deprovision: OperationMetric,
}

/// When an operation last started and ended; `null` for what did not happen yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperationMetric {
    /// Start.
    #[schemars(with = "Option<schema::Time>", extend("x-bmo-nullable" = true))]
    pub start: Option<Time>,
    /// End; `null` while it goes on.
    #[schemars(with = "Option<schema::Time>", extend("x-bmo-nullable" = true))]
    pub end: Option<Time>,
}

//! Types of the `metal3.io/v1alpha1` API: what users write and what BMO stores.
//!
//! The crate is pure: no I/O, no runtime. It holds the types, the rules that need nothing but the object itself,
//! and the CustomResourceDefinitions generated from the types ([`crds`]).
//!
//! Rules that hold for every type here:
//!
//! * A text field whose absence and emptiness mean the same is a `String`, left out when empty. `Option` is used
//!   only where absent differs from every value.
//! * An optional choice is an `Option` of an enum; the empty text reads as `None`.
//! * Reading is lenient (unknown members are ignored, missing ones get their default), so that one odd object never
//!   stops the watch of all others. Writing is exact: members that the schema requires are always there.
//! * Times are RFC 3339 with whole seconds, in UTC.

mod text_enum;

pub mod annotations;
pub mod bare_metal_host;
pub mod bare_metal_switch;
pub mod bmc_event_subscription;
pub mod crd;
pub mod data_image;
pub mod firmware_schema;
pub mod hardware;
pub mod hardware_data;
pub mod hardware_profile;
pub mod host_claim;
pub mod host_deploy_policy;
pub mod host_firmware_components;
pub mod host_firmware_settings;
pub mod host_network_attachment;
pub mod host_update_policy;
pub mod image;
pub mod preprovisioning_image;
pub mod raid;
pub mod resource;
pub mod root_device_hints;
mod schema;
mod serde_rules;
pub mod strict;
pub mod time;

pub use annotations::{DeleteAction, DetachedAnnotation, InspectAnnotation, RebootAnnotation, RebootMode};
pub use bare_metal_host::BareMetalHost;
pub use bare_metal_host::conditions::{ConditionType, find_condition, set_condition};
pub use bare_metal_host::spec::{
    AutomatedCleaningMode, BareMetalHostSpec, BmcDetails, BootMode, CustomDeploy, FirmwareConfig,
    HostNetworkAttachmentRef, InspectionMode, NetworkInterface, SwitchPort,
};
pub use bare_metal_host::status::{
    BareMetalHostStatus, CredentialsStatus, ErrorType, OperationHistory, OperationMetric, OperationalStatus,
    ProvisionStatus, ProvisioningState,
};
pub use bare_metal_switch::{BareMetalSwitch, BareMetalSwitchSpec, BareMetalSwitchStatus, SwitchDriver};
pub use bmc_event_subscription::{
    BmcEventSubscription, BmcEventSubscriptionSpec, BmcEventSubscriptionStatus,
};
pub use crd::{crd, crds};
pub use data_image::{AttachedImage, DataImage, DataImageError, DataImageSpec, DataImageStatus};
pub use firmware_schema::{
    AttributeType, FirmwareSchema, FirmwareSchemaSpec, SettingError, SettingProblem, SettingSchema,
};
pub use hardware::{
    Bios, Cpu, DiskType, Firmware, HardwareDetails, HardwareSystemVendor, Lldp, Nic, Storage, SystemVendor,
    Vlan,
};
pub use hardware_data::{HardwareData, HardwareDataSpec};
pub use hardware_profile::HardwareProfile;
pub use host_claim::{
    HostClaim, HostClaimSpec, HostClaimStatus, HostSelector, HostSelectorRequirement, ResourceReference,
};
pub use host_deploy_policy::{
    HostClaimNamespaces, HostDeployPolicy, HostDeployPolicySpec, HostDeployPolicyStatus, NameValuePair,
};
pub use host_firmware_components::{
    FirmwareComponentStatus, FirmwareUpdate, HostFirmwareComponents, HostFirmwareComponentsSpec,
    HostFirmwareComponentsStatus,
};
pub use host_firmware_settings::{
    HostFirmwareSettings, HostFirmwareSettingsSpec, HostFirmwareSettingsStatus, SchemaReference,
};
pub use host_network_attachment::{HostNetworkAttachment, HostNetworkAttachmentSpec, SwitchPortMode};
pub use host_update_policy::{HostUpdatePolicy, HostUpdatePolicySpec, HostUpdatePolicyStatus, UpdatePolicy};
pub use image::{ChecksumError, ChecksumType, Image, ImageChecksum, ImageFormat};
pub use preprovisioning_image::{
    PreprovisioningImage, PreprovisioningImageFormat, PreprovisioningImageSpec, PreprovisioningImageStatus,
    SecretStatus,
};
pub use raid::{HardwareRaidVolume, RaidConfig, RaidLevel, SoftwareRaidVolume};
pub use resource::{GROUP, Metal3Resource, PrinterColumn, VERSION};
pub use root_device_hints::RootDeviceHints;

pub use k8s_openapi::api::core::v1::{ObjectReference, SecretReference, Taint};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
pub use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

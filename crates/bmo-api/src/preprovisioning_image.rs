//! PreprovisioningImage: the ramdisk that inspects and provisions the machine of the host of the same name.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{empty_as_none, null_as_default};
use crate::text_enum::text_enum;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// A ramdisk image built for one BareMetalHost, with its network configuration.
    PreprovisioningImage as "PreprovisioningImage" {
        plural: "preprovisioningimages",
        short_names: ["ppimg"],
        spec: PreprovisioningImageSpec,
        status: PreprovisioningImageStatus,
        status_subresource: true,
        columns: [
            ("Ready", "string", ".status.conditions[?(@.type=='Ready')].status", 0),
            ("Reason", "string", ".status.conditions[?(@.type=='Ready')].reason", 0),
        ],
    }
}

text_enum! {
    /// Format of a ramdisk.
    pub enum PreprovisioningImageFormat {
        /// A bootable ISO.
        Iso = "iso",
        /// A kernel and an initial ramdisk.
        Initrd = "initrd",
    }
}

/// The ramdisk that is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PreprovisioningImageSpec {
    /// Name of the Secret with the network configuration to build in, in the same namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub network_data_name: String,
    /// CPU architecture.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub architecture: String,
    /// Formats that will do, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub accept_formats: Vec<PreprovisioningImageFormat>,
}

/// The ramdisk that was built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PreprovisioningImageStatus {
    /// Where the image is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image_url: String,
    /// Where its kernel is; only for `initrd`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel_url: String,
    /// More parameters for the kernel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub extra_kernel_params: String,
    /// Format of the image.
    #[serde(
        rename = "format",
        deserialize_with = "empty_as_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub format: Option<PreprovisioningImageFormat>,
    /// The network configuration that was built in.
    #[serde(deserialize_with = "null_as_default")]
    pub network_data: SecretStatus,
    /// CPU architecture of the image.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub architecture: String,
    /// `Ready`: the image can be used. `Error`: it cannot be built.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>",
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// Which version of a Secret was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretStatus {
    /// Name of the Secret.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `resourceVersion` of the Secret.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
}

//! DataImage: an ISO that is attached to the machine of the host of the same name besides what it boots from.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::null_as_default;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// An ISO image that is attached to the machine of the BareMetalHost of the same name before it is powered on.
    DataImage as "DataImage" {
        plural: "dataimages",
        short_names: [],
        spec: DataImageSpec,
        status: DataImageStatus,
        status_subresource: true,
        columns: [],
    }
}

/// The image that is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DataImageSpec {
    /// Where the image is.
    #[schemars(extend("x-bmo-required" = true))]
    pub url: String,
}

/// The image that is attached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DataImageStatus {
    /// When the image was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub last_reconciled: Option<Time>,
    /// The image that is attached; its URL is empty when there is none.
    #[serde(deserialize_with = "null_as_default")]
    pub attached_image: AttachedImage,
    /// What went wrong last.
    #[serde(deserialize_with = "null_as_default")]
    pub error: DataImageError,
}

/// An attached image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachedImage {
    /// Where the image is.
    #[schemars(extend("x-bmo-required" = true))]
    pub url: String,
}

/// What went wrong, and how often in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DataImageError {
    /// How often in a row.
    #[schemars(with = "schema::Int", extend("x-bmo-required" = true))]
    pub count: i64,
    /// What, for people.
    #[schemars(extend("x-bmo-required" = true))]
    pub message: String,
}

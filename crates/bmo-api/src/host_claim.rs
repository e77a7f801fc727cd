//! HostClaim: asks for a host, whichever fits, perhaps from another namespace.

use crate::bare_metal_host::spec::CustomDeploy;
use crate::image::Image;
use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{is_default, null_as_default};
use k8s_openapi::api::core::v1::{ObjectReference, SecretReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

custom_resource! {
    /// A request for a machine: what it shall run, and which BareMetalHosts would do.
    HostClaim as "HostClaim" {
        plural: "hostclaims",
        short_names: [],
        spec: HostClaimSpec,
        status: HostClaimStatus,
        status_subresource: true,
        columns: [],
    }
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostClaimSpec {
    /// Who uses the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::ObjectReference>")]
    pub consumer_ref: Option<ObjectReference>,
    /// Whether the machine shall be powered on.
    #[schemars(extend("x-bmo-required" = true))]
    pub powered_on: bool,
    /// The image to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Another way to provision than writing an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_deploy: Option<CustomDeploy>,
    /// Secret with the user data of the first boot, in the claim's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub user_data: Option<SecretReference>,
    /// Secret with the network configuration of the machine, in the claim's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub network_data: Option<SecretReference>,
    /// Secret with the metadata of the machine, in the claim's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub meta_data: Option<SecretReference>,
    /// Which hosts would do.
    pub host_selector: HostSelector,
    /// Failure domain that is preferred.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub failure_domain: String,
}

/// Which hosts would do: all that match every requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostSelector {
    /// Namespace to look in; all that allow it if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub in_namespace: String,
    /// Labels the host has.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements on the host's labels.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub match_expressions: Vec<HostSelectorRequirement>,
}

/// A requirement on one label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostSelectorRequirement {
    /// Key of the label.
    #[schemars(extend("x-bmo-required" = true))]
    pub key: String,
    /// How it is compared: `=`, `==`, `!=`, `in`, `notin`, `exists` or `!`.
    #[schemars(extend("x-bmo-required" = true))]
    pub operator: String,
    /// What it is compared with.
    #[serde(deserialize_with = "null_as_default")]
    #[schemars(extend("x-bmo-required" = true))]
    pub values: Vec<String>,
}

/// What became of the claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostClaimStatus {
    /// When the status was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub last_updated: Option<Time>,
    /// Whether the machine is powered on.
    #[serde(skip_serializing_if = "is_default")]
    pub powered_on: bool,
    /// Aspects of the claim's state, one condition each.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>")]
    pub conditions: Vec<Condition>,
    /// The host that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare_metal_host: Option<ResourceReference>,
    /// The hardware data of that host, as copied for the claim's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_data: Option<ResourceReference>,
}

/// Names an object in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceReference {
    /// Namespace of the object.
    #[schemars(extend("x-bmo-required" = true))]
    pub namespace: String,
    /// Name of the object.
    #[schemars(extend("x-bmo-required" = true))]
    pub name: String,
}

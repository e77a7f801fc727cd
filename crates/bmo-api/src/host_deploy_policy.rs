//! HostDeployPolicy: which namespaces may claim the hosts of this one.

use crate::resource::custom_resource;
use crate::serde_rules::null_as_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// Which namespaces may claim the BareMetalHosts of this namespace.
    HostDeployPolicy as "HostDeployPolicy" {
        plural: "hostdeploypolicies",
        short_names: [],
        spec: HostDeployPolicySpec,
        status: HostDeployPolicyStatus,
        status_subresource: true,
        columns: [],
    }
}

/// The policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostDeployPolicySpec {
    /// The namespaces that may claim hosts. Absent: the policy allows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_claim_namespaces: Option<HostClaimNamespaces>,
}

/// Namespaces; every constraint that is given has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostClaimNamespaces {
    /// The namespace is one of these. Absent: any will do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The namespace's name matches this regular expression somewhere.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name_matches: String,
    /// The namespace has all these labels.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub has_labels: Vec<NameValuePair>,
}

/// A label of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NameValuePair {
    /// Key of the label.
    #[schemars(extend("x-bmo-required" = true))]
    pub name: String,
    /// Value of the label; empty: any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// Nothing is reported yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostDeployPolicyStatus {}

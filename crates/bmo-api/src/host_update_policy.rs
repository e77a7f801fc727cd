//! HostUpdatePolicy: when firmware of the host of the same name may change while it is in use.

use crate::resource::custom_resource;
use crate::serde_rules::empty_as_none;
use crate::text_enum::text_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// When firmware of the machine of the BareMetalHost of the same name may be changed.
    HostUpdatePolicy as "HostUpdatePolicy" {
        plural: "hostupdatepolicies",
        short_names: [],
        spec: HostUpdatePolicySpec,
        status: HostUpdatePolicyStatus,
        status_subresource: false,
        columns: [],
    }
}

text_enum! {
    /// When firmware may be changed.
    pub enum UpdatePolicy {
        /// Only while the host is prepared.
        OnPreparing = "onPreparing",
        /// Also when a provisioned host is rebooted.
        OnReboot = "onReboot",
    }
}

/// The policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostUpdatePolicySpec {
    /// When BIOS settings may be changed; only while preparing if not given.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub firmware_settings: Option<UpdatePolicy>,
    /// When firmware may be updated; only while preparing if not given.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub firmware_updates: Option<UpdatePolicy>,
}

/// Nothing is reported yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostUpdatePolicyStatus {}

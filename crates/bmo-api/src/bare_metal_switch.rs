//! BareMetalSwitch: a network switch that machines are plugged into, and how to reach it.

use crate::resource::custom_resource;
use crate::schema;
use crate::serde_rules::{empty_as_none, is_default, null_as_default};
use crate::text_enum::text_enum;
use k8s_openapi::api::core::v1::SecretReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// A network switch whose ports are set up for the machines that are plugged into it.
    BareMetalSwitch as "BareMetalSwitch" {
        plural: "baremetalswitches",
        short_names: ["bms"],
        spec: BareMetalSwitchSpec,
        status: BareMetalSwitchStatus,
        status_subresource: true,
        columns: [
            ("Driver", "string", ".spec.driver", 0),
            ("Device Type", "string", ".spec.deviceType", 0),
            ("Address", "string", ".spec.address", 0),
            ("Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0),
        ],
    }
}

text_enum! {
    /// What talks to a switch.
    #[derive(Default)]
    pub enum SwitchDriver {
        /// The generic driver, which knows many device types.
        #[default]
        GenericSwitch = "generic-switch",
    }
}

/// How to reach the switch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BareMetalSwitchSpec {
    /// IP address or host name of the switch.
    #[schemars(extend("x-bmo-required" = true))]
    pub address: String,
    /// MAC address of the switch, by which machines name it.
    #[schemars(extend("x-bmo-required" = true), regex(pattern = r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$"))]
    pub mac_address: String,
    /// Port to connect to; the driver's default if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<i32>", range(min = 1, max = 65535))]
    pub port: Option<i32>,
    /// What talks to the switch.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-bmo-default" = "generic-switch"))]
    pub driver: Option<SwitchDriver>,
    /// Type of the device, as the driver names it.
    #[schemars(extend("x-bmo-required" = true))]
    pub device_type: String,
    /// Secret with `username` and either `password` or `ssh-privatekey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub credentials: Option<SecretReference>,
    /// Whether the certificate or host key of the switch is accepted unverified.
    #[serde(skip_serializing_if = "is_default")]
    pub disable_certificate_verification: bool,
}

/// Whether the switch can be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BareMetalSwitchStatus {
    /// `Valid`: the switch's details are complete.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(with = "Vec<schema::Condition>",
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

//! BMCEventSubscription: asks a BMC to send its events somewhere.

use crate::resource::custom_resource;
use crate::schema;
use k8s_openapi::api::core::v1::SecretReference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

custom_resource! {
    /// A request to the BMC of a host to send its events to a URL.
    BmcEventSubscription as "BMCEventSubscription" {
        plural: "bmceventsubscriptions",
        short_names: ["bes", "bmcevent"],
        spec: BmcEventSubscriptionSpec,
        status: BmcEventSubscriptionStatus,
        status_subresource: true,
        columns: [
            ("Error", "string", ".status.error", 0),
            ("Age", "date", ".metadata.creationTimestamp", 0),
        ],
    }
}

/// The subscription that is wanted. It cannot be changed once made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BmcEventSubscriptionSpec {
    /// Name of the BareMetalHost, in the same namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host_name: String,
    /// URL the events are sent to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub destination: String,
    /// Text that the BMC sends along with each event.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// Secret with HTTP headers that the BMC sends along, such as one for authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::SecretReference>")]
    pub http_headers_ref: Option<SecretReference>,
}

/// How the subscription went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BmcEventSubscriptionStatus {
    /// The BMC's id of the subscription; empty until it was made.
    #[serde(rename = "subscriptionID", skip_serializing_if = "String::is_empty")]
    pub subscription_id: String,
    /// What went wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
}

//! What a plugin asks of the host or tells it, and what the host tells a plugin.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProvisionerHandle;

/// Parameters of `host/userData`, `host/networkData` and `host/metaData`, which are answered only while the
/// `provisioner/provision` of that provisioner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfProvisioner {
    /// Whose host.
    pub provisioner: ProvisionerHandle,
}

/// Parameters of `host/event`: a Kubernetes event of the pass's host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventNotice {
    /// Whose host.
    pub provisioner: ProvisionerHandle,
    /// Why, in CamelCase.
    pub reason: String,
    /// A sentence for the user.
    pub message: String,
}

/// Parameters of `host/wake`: something happened to this host, reconcile it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WakeNotice {
    /// Namespace of the BareMetalHost.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// How much a line of the log matters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// Something is broken.
    Error,
    /// Something should be looked at.
    Warn,
    /// Something happened.
    #[default]
    Info,
    /// How it happened.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The level with a number of the C ABI; numbers out of its range are the nearest level.
    pub fn from_number(level: i32) -> Self {
        match level {
            ..=1 => Self::Error,
            2 => Self::Warn,
            3 => Self::Info,
            4 => Self::Debug,
            5.. => Self::Trace,
        }
    }

    /// The number of the C ABI.
    pub fn number(self) -> i32 {
        match self {
            Self::Error => 1,
            Self::Warn => 2,
            Self::Info => 3,
            Self::Debug => 4,
            Self::Trace => 5,
        }
    }
}

/// Parameters of `host/log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogNotice {
    /// How much it matters.
    pub level: LogLevel,
    /// Which part of the plugin says it.
    #[serde(default)]
    pub target: String,
    /// The line.
    pub message: String,
    /// What goes with it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, serde_json::Value>,
}

/// Parameters of `cancel`, for carriers that are a stream; the C ABI has a function for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelNotice {
    /// Id of the request that is waited for no longer.
    pub id: u64,
}

/// From where a read is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KubeReader {
    /// From the host's cache where it has one of the type, else from the API server.
    #[default]
    Cached,
    /// From the API server.
    Direct,
}

/// Parameters of `kube/request`: one HTTP request to the API server, sent with the operator's credentials.
/// Watches and upgrades are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeRequest {
    /// From where a read is answered.
    pub reader: KubeReader,
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Header `Content-Type`; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    /// Header `Accept`; empty for JSON.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub accept: String,
    /// Body, UTF-8; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// Answer of `kube/request`. A status that is not 2xx is an answer too, with a Kubernetes `Status` as its body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeResponse {
    /// HTTP status.
    pub status: u16,
    /// Header `Content-Type`; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    /// Body, UTF-8.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
}

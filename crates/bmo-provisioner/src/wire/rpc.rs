//! JSON-RPC 2.0 documents and the codes of our error kinds.
//!
//! The codes are part of the protocol: they never change their meaning. Positive codes are the kinds of
//! [`ErrorKind`]; negative ones are JSON-RPC's own, and `-32800` (borrowed from the Language Server Protocol) says
//! that a call was cancelled.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ErrorKind, ProvisionerError};

/// Codes of errors that are not an [`ErrorKind`].
pub mod code {
    /// The document is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The document is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is not known.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The callee itself failed, for example by a panic.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The call was cancelled.
    pub const CANCELLED: i64 = -32800;
}

/// The member `"jsonrpc": "2.0"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonRpc;

impl Serialize for JsonRpc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("2.0")
    }
}

impl<'de> Deserialize<'de> for JsonRpc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = Cow::<str>::deserialize(deserializer)?;
        if version == "2.0" {
            Ok(Self)
        } else {
            Err(D::Error::custom("the member jsonrpc must be \"2.0\""))
        }
    }
}

impl JsonSchema for JsonRpc {
    fn schema_name() -> Cow<'static, str> {
        "JsonRpc".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": "2.0" })
    }
}

/// A request. Over the C ABI its id is the call's token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request<P> {
    /// Always `2.0`.
    pub jsonrpc: JsonRpc,
    /// Names the call in its answer and in a cancellation.
    pub id: u64,
    /// What to do.
    pub method: Cow<'static, str>,
    /// What to do it with.
    pub params: P,
}

impl<P> Request<P> {
    /// A request for `method`.
    pub fn new(id: u64, method: &'static str, params: P) -> Self {
        Self {
            jsonrpc: JsonRpc,
            id,
            method: Cow::Borrowed(method),
            params,
        }
    }
}

/// A notification: a request that is not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice<P> {
    /// Always `2.0`.
    pub jsonrpc: JsonRpc,
    /// What is told.
    pub method: Cow<'static, str>,
    /// The news.
    pub params: P,
}

impl<P> Notice<P> {
    /// A notification of `method`.
    pub fn new(method: &'static str, params: P) -> Self {
        Self {
            jsonrpc: JsonRpc,
            method: Cow::Borrowed(method),
            params,
        }
    }
}

/// What is read of a request or notification before the type of its parameters is known.
#[derive(Clone, Debug, Deserialize)]
pub struct Head {
    /// Absent in a notification.
    #[serde(default)]
    pub id: Option<u64>,
    /// Decides the type of the parameters.
    pub method: String,
}

/// The parameters of a request or notification whose method is known.
#[derive(Clone, Debug, Deserialize)]
pub struct Params<P> {
    /// The parameters.
    pub params: P,
}

/// An answer: `result` or `error`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
pub struct Response<R> {
    /// Always `2.0`.
    pub jsonrpc: JsonRpc,
    /// Id of the request.
    #[serde(default)]
    pub id: Option<u64>,
    /// What the call yields; `null` where it yields nothing.
    #[serde(
        default = "none",
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub result: Option<R>,
    /// Why it yields nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RpcError>,
}

fn none<R>() -> Option<R> {
    None
}

/// A `result` of `null` is a result; only an absent one is none.
fn present<'de, D: Deserializer<'de>, R: Deserialize<'de>>(deserializer: D) -> Result<Option<R>, D::Error> {
    R::deserialize(deserializer).map(Some)
}

impl<R> Response<R> {
    /// The answer to request `id`.
    pub fn new(id: u64, outcome: Result<R, RpcError>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            jsonrpc: JsonRpc,
            id: Some(id),
            result,
            error,
        }
    }

    /// What the answer says.
    ///
    /// # Errors
    /// The error it carries, or one that says that it carries neither.
    pub fn into_result(self) -> Result<R, RpcError> {
        match (self.error, self.result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => Ok(result),
            (None, None) => Err(RpcError::new(
                code::INVALID_REQUEST,
                "the answer has neither result nor error",
            )),
        }
    }
}

/// The error of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RpcError {
    /// See [`code`] and [`RpcError::kind`].
    pub code: i64,
    /// A text for the user, without secrets.
    pub message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

impl RpcError {
    /// An error with a code.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The kind a code stands for; what is no kind of ours may pass.
    pub fn kind(&self) -> ErrorKind {
        match self.code {
            1 => ErrorKind::NotReady,
            2 => ErrorKind::NeedsRegistration,
            3 => ErrorKind::NeedsPreprovisioningImage,
            4 => ErrorKind::Busy,
            5 | code::METHOD_NOT_FOUND => ErrorKind::Unsupported,
            _ => ErrorKind::Transient,
        }
    }
}

/// The code of a kind.
pub fn code_of(kind: ErrorKind) -> i64 {
    match kind {
        ErrorKind::NotReady => 1,
        ErrorKind::NeedsRegistration => 2,
        ErrorKind::NeedsPreprovisioningImage => 3,
        ErrorKind::Busy => 4,
        ErrorKind::Unsupported => 5,
        ErrorKind::Transient => 6,
    }
}

impl From<ProvisionerError> for RpcError {
    fn from(error: ProvisionerError) -> Self {
        Self::new(code_of(error.kind), error.message)
    }
}

impl From<RpcError> for ProvisionerError {
    fn from(error: RpcError) -> Self {
        let kind = error.kind();
        Self::new(kind, error.message)
    }
}

#[cfg(test)]
mod tests {
    use super::{Response, RpcError, code_of};
    use crate::{ErrorKind, ProvisionerError};

    #[test]
    fn kinds_survive_the_boundary_under_stable_codes() {
        let table = [
            (ErrorKind::NotReady, 1),
            (ErrorKind::NeedsRegistration, 2),
            (ErrorKind::NeedsPreprovisioningImage, 3),
            (ErrorKind::Busy, 4),
            (ErrorKind::Unsupported, 5),
            (ErrorKind::Transient, 6),
        ];
        for (kind, code) in table {
            assert_eq!(code_of(kind), code);
            let error = ProvisionerError::new(kind, "text");
            assert_eq!(ProvisionerError::from(RpcError::from(error.clone())), error);
        }
    }

    #[test]
    fn a_null_result_is_a_result_and_none_is_an_error() {
        let null: Response<()> = serde_json::from_str(r#"{"jsonrpc":"2.0","id":1,"result":null}"#).unwrap();
        assert_eq!(null.into_result(), Ok(()));
        let neither: Response<()> = serde_json::from_str(r#"{"jsonrpc":"2.0","id":1}"#).unwrap();
        assert!(neither.into_result().is_err());
        let error: Response<()> =
            serde_json::from_str(r#"{"jsonrpc":"2.0","id":1,"error":{"code":4,"message":"m","data":{}}}"#)
                .unwrap();
        assert_eq!(error.into_result().unwrap_err().kind(), ErrorKind::Busy);
    }

    #[test]
    fn another_version_of_json_rpc_is_refused() {
        let text =
            serde_json::from_str::<Response<()>>(r#"{"jsonrpc":"1.0","id":1,"result":null}"#).unwrap_err();
        assert!(text.to_string().contains("must be \"2.0\""));
    }
}

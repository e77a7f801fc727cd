//! Request bodies: JSON and YAML, limited in size.

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use crate::error::{ApiError, Result};

/// Most bytes of a request body, as the Kubernetes API server has it.
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// The media type without parameters, lower case; JSON where none is given.
pub fn content_type(headers: &HeaderMap) -> String {
    let header = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = header
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if media_type.is_empty() {
        "application/json".into()
    } else {
        media_type
    }
}

pub async fn read(body: Body) -> Result<Bytes> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::too_large(MAX_BODY)),
        Err(error) => Err(ApiError::bad_request(format!(
            "the body could not be read: {error}"
        ))),
    }
}

/// Decodes an object of a create or update.
pub fn object(content_type: &str, body: &[u8]) -> Result<Value> {
    match content_type {
        "application/json" => json(body),
        "application/yaml" => yaml(body),
        "application/vnd.kubernetes.protobuf" => crate::protobuf::decode(body),
        _ => Err(ApiError::unsupported_media_type(&[
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ])),
    }
}

pub fn json(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::bad_request(format!("the object provided is not JSON: {error}")))
}

/// YAML, of which JSON is a part.
pub fn yaml(body: &[u8]) -> Result<Value> {
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text = std::str::from_utf8(body)
        .map_err(|_| ApiError::bad_request("error decoding YAML: the body is not UTF-8"))?;
    serde_saphyr::from_str(text)
        .map_err(|error| ApiError::bad_request(format!("error decoding YAML: {error}")))
}

//! Protobuf bodies.

use serde_json::Value;

use crate::error::{ApiError, Result};

pub fn decode(_body: &[u8]) -> Result<Value> {
    Err(ApiError::unsupported_media_type(&[
        "application/json",
        "application/yaml",
    ]))
}

pub fn decode_delete_options(_body: &[u8]) -> Result<Value> {
    Ok(Value::Null)
}

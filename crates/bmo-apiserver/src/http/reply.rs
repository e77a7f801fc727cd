//! Responses.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WARNING};
use serde_json::Value;

use super::form::to_bytes;
use crate::error::ApiError;

const JSON: &str = "application/json";

fn respond(code: u16, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub fn json(code: u16, value: &Value) -> Response {
    bytes(code, to_bytes(value))
}

pub fn bytes(code: u16, body: Bytes) -> Response {
    respond(code, JSON, body.into())
}

pub fn stream(body: Body) -> Response {
    respond(200, JSON, body)
}

pub fn text(code: u16, text: &'static str) -> Response {
    respond(code, "text/plain; charset=utf-8", text.into())
}

/// The aggregated discovery document, which names its kind in the content type.
pub fn aggregated(value: &Value) -> Response {
    respond(
        200,
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        to_bytes(value).into(),
    )
}

pub fn failure(error: &ApiError) -> Response {
    let mut response = json(error.code, &error.to_status());
    let seconds = error
        .details
        .as_ref()
        .and_then(|details| details.get("retryAfterSeconds"))
        .and_then(Value::as_u64);
    if let Some(seconds) = seconds {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Adds `Warning` headers.
pub fn warn(response: &mut Response, warnings: &[String]) {
    for text in warnings {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// A response whose body breaks off: what a client sees when the connection is lost.
pub fn broken() -> Response {
    let error = std::io::Error::new(
        std::io::ErrorKind::ConnectionReset,
        "injected fault: connection lost",
    );
    let stream = futures::stream::once(async { Err::<Bytes, _>(error) });
    respond(200, JSON, Body::from_stream(stream))
}

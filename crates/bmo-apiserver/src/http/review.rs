//! `kubectl auth can-i`: the one user of this server may do everything.

use axum::body::Body;
use axum::response::Response;
use http::Method;
use http::request::Parts;
use serde_json::json;

use super::path::ResourcePath;
use super::{body, reply};
use crate::error::ApiError;

pub const GROUP: &str = "authorization.k8s.io";

/// Whether a path is that of reviews of the user's own rights.
pub fn is_review(path: &ResourcePath) -> bool {
    path.group == GROUP
        && path.version == "v1"
        && path.plural == "selfsubjectaccessreviews"
        && path.name.is_none()
}

pub async fn answer(parts: &Parts, request: Body) -> Response {
    if parts.method != Method::POST {
        return reply::failure(&ApiError::method_not_allowed());
    }
    let read = async {
        let content_type = body::content_type(&parts.headers);
        body::object(&content_type, &body::read(request).await?)
    };
    match read.await {
        Err(error) => reply::failure(&error),
        Ok(review) => reply::json(
            201,
            &json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
                "spec": review["spec"], "status": {"allowed": true}}),
        ),
    }
}

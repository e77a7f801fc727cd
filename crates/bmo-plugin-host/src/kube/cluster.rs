//! The cluster behind a `kube::Client`, with the caches a plugin asked for.

use std::fmt;

use async_trait::async_trait;
use bmo_provisioner::wire::{HostRequirements, KubeReader, KubeRequest, KubeResponse};
use bmo_provisioner::{ProvisionerError, Result};
use http::{HeaderMap, HeaderValue, header};
use kube::client::Body;
use serde_json::{Value, json};

use super::KubeBackend;
use super::cache::{CacheAnswer, Caches};
use super::path::{ResourcePath, refusal};

const JSON: &str = "application/json";

/// Executes a plugin's requests against a cluster.
pub struct ClusterKube {
    client: kube::Client,
    caches: Caches,
}

impl fmt::Debug for ClusterKube {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterKube").finish_non_exhaustive()
    }
}

impl ClusterKube {
    /// The cluster of `client`, with the caches `requirements` asks for. Those it scopes are started at once, on the
    /// current tokio runtime, and end when this is dropped.
    pub fn new(client: kube::Client, requirements: &HostRequirements) -> Self {
        Self {
            client: client.clone(),
            caches: Caches::new(client, requirements),
        }
    }

    async fn send(&self, request: KubeRequest) -> Result<KubeResponse> {
        let line = format!("{} {}", request.method, request.path);
        let failed = |error: &dyn fmt::Display| ProvisionerError::transient(format!("{line}: {error}"));
        let accept = if request.accept.is_empty() {
            JSON
        } else {
            &request.accept
        };
        let mut builder = http::Request::builder()
            .method(request.method.as_str())
            .uri(&request.path)
            .header(header::ACCEPT, accept);
        if !request.content_type.is_empty() {
            builder = builder.header(header::CONTENT_TYPE, &request.content_type);
        }
        let request = builder
            .body(Body::from(request.body.into_bytes()))
            .map_err(|error| failed(&error))?;
        let response = self.client.send(request).await.map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        let content_type = content_type(response.headers());
        let bytes = response
            .into_body()
            .collect_bytes()
            .await
            .map_err(|error| failed(&error))?;
        let body = String::from_utf8(bytes.to_vec()).map_err(|_| {
            failed(&"the answer is not UTF-8 text, which is all that can be passed on; ask for JSON")
        })?;
        Ok(KubeResponse {
            status,
            content_type,
            body,
        })
    }
}

#[async_trait]
impl KubeBackend for ClusterKube {
    async fn execute(&self, request: KubeRequest) -> Result<KubeResponse> {
        if let Some(reason) = refusal(&request) {
            return Ok(status(405, "MethodNotAllowed", &reason));
        }
        let plain = request.accept.is_empty() || request.accept.split(',').any(|kind| kind.trim() == JSON);
        if request.reader == KubeReader::Cached
            && request.method == "GET"
            && plain
            && let Some(path) = ResourcePath::parse(&request.path)
        {
            match self.caches.read(&path).await {
                CacheAnswer::Found(value) => return Ok(answer(200, &value)),
                CacheAnswer::Missing => return Ok(not_found(&path)),
                CacheAnswer::Ask => {}
            }
        }
        self.send(request).await
    }
}

fn content_type(headers: &HeaderMap<HeaderValue>) -> String {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

fn answer(status: u16, value: &Value) -> KubeResponse {
    KubeResponse {
        status,
        content_type: JSON.to_owned(),
        body: value.to_string(),
    }
}

fn not_found(path: &ResourcePath<'_>) -> KubeResponse {
    let resource = if path.group.is_empty() {
        path.plural.to_owned()
    } else {
        format!("{}.{}", path.plural, path.group)
    };
    status(
        404,
        "NotFound",
        &format!("{resource} {:?} not found", path.name.unwrap_or_default()),
    )
}

/// An answer as the API server gives them for failures.
fn status(code: u16, reason: &str, message: &str) -> KubeResponse {
    let value = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    answer(code, &value)
}

//! The metrics endpoint: HTTPS with a certificate made at start; who may read is the cluster's decision.
//!
//! Every request needs a bearer token. The cluster is asked whose it is (TokenReview) and whether that user may
//! `get` the URL `/metrics` (SubjectAccessReview): 401 and 403 otherwise.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum_server::tls_rustls::RustlsConfig;
use bmo_controllers::Metrics;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use rustls::pki_types::PrivateKeyDer;
use tokio_util::sync::CancellationToken;

use crate::tls::TlsPolicy;

/// How long the cluster may take to answer about a token.
const DEADLINE: Duration = Duration::from_secs(10);
/// Media type of the text format that is written.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The endpoint cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum MetricsServerError {
    /// No certificate could be made.
    #[error("cannot make a certificate for the metrics endpoint: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS options do not fit together.
    #[error("the TLS options do not fit together: {0}")]
    Tls(#[from] rustls::Error),
}

#[derive(Clone)]
struct Page {
    client: Client,
    metrics: Arc<Metrics>,
}

/// TLS settings with a fresh certificate.
///
/// # Errors
/// See [`MetricsServerError`].
pub fn tls_config(policy: &TlsPolicy) -> Result<rustls::ServerConfig, MetricsServerError> {
    let names = vec!["localhost".to_owned(), "baremetal-operator".to_owned()];
    let made = rcgen::generate_simple_self_signed(names)?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut config = rustls::ServerConfig::builder_with_provider(policy.provider.clone())
        .with_protocol_versions(&policy.versions)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Serves until the shutdown.
pub async fn serve(
    listener: TcpListener,
    tls: rustls::ServerConfig,
    client: Client,
    metrics: Arc<Metrics>,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let handle = axum_server::Handle::new();
    let stopper = handle.clone();
    tokio::spawn(async move {
        shutdown.cancelled().await;
        stopper.graceful_shutdown(Some(Duration::from_secs(1)));
    });
    let app = router(client, metrics);
    axum_server::from_tcp_rustls(listener, RustlsConfig::from_config(Arc::new(tls)))?
        .handle(handle)
        .serve(app.into_make_service())
        .await
}

fn router(client: Client, metrics: Arc<Metrics>) -> Router {
    Router::new()
        .route("/metrics", get(page))
        .with_state(Page { client, metrics })
}

async fn page(State(page): State<Page>, headers: HeaderMap) -> Response {
    match tokio::time::timeout(DEADLINE, allow(&page.client, &headers)).await {
        Ok(Ok(())) => ([(header::CONTENT_TYPE, OPEN_METRICS)], page.metrics.render()).into_response(),
        Ok(Err(refusal)) => refusal.into_response(),
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the cluster did not answer about the token\n",
        )
            .into_response(),
    }
}

/// Asks the cluster whether the bearer of the token may read metrics.
async fn allow(client: &Client, headers: &HeaderMap) -> Result<(), (StatusCode, String)> {
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .ok_or((StatusCode::UNAUTHORIZED, "a bearer token is needed\n".to_owned()))?;
    let user = review_token(client, token).await?;
    if review_access(client, user).await? {
        Ok(())
    } else {
        Err((
            StatusCode::FORBIDDEN,
            "the bearer of the token may not get the URL /metrics\n".to_owned(),
        ))
    }
}

async fn review_token(client: &Client, token: &str) -> Result<UserInfo, (StatusCode, String)> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: token.to_owned(),
            ..TokenReviewSpec::default()
        },
        ..TokenReview::default()
    };
    let answer = Api::all(client.clone())
        .create(&PostParams::default(), &review)
        .await
        .map_err(|error| cluster_failed(&error))?;
    let status = answer.status.unwrap_or_default();
    match status.user {
        Some(user) if status.authenticated == Some(true) => Ok(user),
        _ => Err((StatusCode::UNAUTHORIZED, "the token is not valid\n".to_owned())),
    }
}

async fn review_access(client: &Client, user: UserInfo) -> Result<bool, (StatusCode, String)> {
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: user.username,
            uid: user.uid,
            groups: user.groups,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes {
                path: Some("/metrics".to_owned()),
                verb: Some("get".to_owned()),
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let answer = Api::all(client.clone())
        .create(&PostParams::default(), &review)
        .await
        .map_err(|error| cluster_failed(&error))?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}

fn cluster_failed(error: &kube::Error) -> (StatusCode, String) {
    tracing::warn!(%error, "the cluster could not be asked about a reader of metrics; is the ClusterRole metrics-auth-role bound?");
    (
        StatusCode::INTERNAL_SERVER_ERROR,
        "the cluster could not be asked about the token\n".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Json;
    use axum::Router;
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use axum::routing::post;
    use bmo_controllers::Metrics;
    use http_body_util::BodyExt as _;
    use kube::Client;
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::{router, tls_config};
    use crate::tls::TlsPolicy;

    /// A cluster that knows the tokens `reader` and `stranger`, and lets only the former read.
    fn cluster() -> Client {
        let tokens = |Json(review): Json<Value>| async move {
            let token = review["spec"]["token"].as_str().unwrap_or_default().to_owned();
            let known = ["reader", "stranger"].contains(&token.as_str());
            Json(
                json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": ""},
                "status": {"authenticated": known, "user": {"username": token}}}),
            )
        };
        let access = |Json(review): Json<Value>| async move {
            assert_eq!(
                review["spec"]["nonResourceAttributes"],
                json!({"path": "/metrics", "verb": "get"})
            );
            Json(
                json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {},
                "status": {"allowed": review["spec"]["user"] == "reader"}}),
            )
        };
        let api = Router::new()
            .route("/apis/authentication.k8s.io/v1/tokenreviews", post(tokens))
            .route("/apis/authorization.k8s.io/v1/subjectaccessreviews", post(access));
        Client::new(api, "default")
    }

    #[tokio::test]
    async fn the_cluster_decides_who_reads() {
        let app = router(cluster(), Arc::new(Metrics::new()));
        let table = [
            (None, StatusCode::UNAUTHORIZED),
            (Some("Bearer nobody"), StatusCode::UNAUTHORIZED),
            (Some("Basic reader"), StatusCode::UNAUTHORIZED),
            (Some("Bearer stranger"), StatusCode::FORBIDDEN),
            (Some("Bearer reader"), StatusCode::OK),
        ];
        for (authorization, status) in table {
            let mut request = Request::get("/metrics");
            if let Some(value) = authorization {
                request = request.header("authorization", value);
            }
            let answer = app
                .clone()
                .oneshot(request.body(Body::empty()).unwrap())
                .await
                .unwrap();
            assert_eq!(answer.status(), status, "{authorization:?}");
            let text = answer.into_body().collect().await.unwrap().to_bytes();
            let shown = String::from_utf8_lossy(&text).contains("controller_runtime_reconcile");
            assert_eq!(shown, status == StatusCode::OK, "{authorization:?}");
        }
    }

    #[test]
    fn a_certificate_is_made_for_every_policy() {
        for (min, max) in [("TLS12", "TLS13"), ("TLS12", "TLS12"), ("TLS13", "TLS13")] {
            assert!(
                tls_config(&TlsPolicy::new(min, max, "", "").unwrap()).is_ok(),
                "{min} {max}"
            );
        }
    }
}

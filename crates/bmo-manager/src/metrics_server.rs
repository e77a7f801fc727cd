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
    let app = Router::new()
        .route("/metrics", get(page))
        .with_state(Page { client, metrics });
    axum_server::from_tcp_rustls(listener, RustlsConfig::from_config(Arc::new(tls)))?
        .handle(handle)
        .serve(app.into_make_service())
        .await
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

//! One HTTP exchange with Ironic: headers, limits, deadlines, and errors with a meaning.
//!
//! Redirects are refused (they would carry the credentials elsewhere). Nothing is retried but a read whose kept-open
//! connection turned out to be dead. How many requests run at once is limited per Ironic, so that a fleet of hosts
//! cannot drown a server that is one process on one CPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bmo_provisioner::SecretString;
use reqwest::Method;
use serde_json::Value;
use tokio::sync::Semaphore;
use url::Url;

use super::error::{ApiError, Reason, said};
use super::version::Version;
use crate::config::TlsMaterial;

/// Requests in flight to one Ironic.
const IN_FLIGHT: usize = 16;
/// Longest answer that is read. An inventory with its plugin data is a few hundred kilobytes.
const LONGEST_ANSWER: usize = 64 << 20;
/// Longest time for TCP and TLS to be set up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// HTTP basic authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicAuth {
    /// User name.
    pub username: String,
    /// Password.
    pub password: SecretString,
}

/// What is needed to talk to one Ironic.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Base of all URLs; ends in `/`.
    pub url: Url,
    /// Credentials, where the server wants any.
    pub auth: Option<BasicAuth>,
    /// Trusted authorities and the client's own certificate.
    pub tls: TlsMaterial,
    /// Longest time for a whole exchange.
    pub timeout: Duration,
}

/// What all clients of one Ironic share: the limit on requests in flight, and counters.
#[derive(Debug)]
pub struct Gate {
    permits: Semaphore,
    requests: AtomicU64,
    troubles: AtomicU64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(IN_FLIGHT),
            requests: AtomicU64::new(0),
            troubles: AtomicU64::new(0),
        }
    }
}

impl Gate {
    /// Requests sent so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Answers so far that put the server's readiness in doubt.
    pub fn troubles(&self) -> u64 {
        self.troubles.load(Ordering::Relaxed)
    }
}

/// A connection pool to one Ironic.
#[derive(Debug)]
pub struct Http {
    client: reqwest::Client,
    endpoint: Endpoint,
    gate: Arc<Gate>,
}

/// A request.
#[derive(Debug)]
pub struct Call<'a> {
    method: Method,
    path: String,
    body: Option<&'a Value>,
    expected: &'static [u16],
}

impl<'a> Call<'a> {
    /// A read.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, &[200])
    }

    /// A request without a body.
    pub fn new(method: Method, path: impl Into<String>, expected: &'static [u16]) -> Self {
        Self {
            method,
            path: path.into(),
            body: None,
            expected,
        }
    }

    /// The same with a JSON body.
    #[must_use]
    pub fn json(self, body: &'a Value) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }
}

impl Http {
    /// Prepares a connection pool; connects to nothing.
    ///
    /// # Errors
    /// A sentence for the user where certificates or keys cannot be used.
    pub fn new(endpoint: Endpoint, gate: Arc<Gate>) -> Result<Self, String> {
        install_crypto_provider();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("bmo-ironic-provisioner/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(endpoint.timeout))
            .timeout(endpoint.timeout)
            .pool_max_idle_per_host(IN_FLIGHT)
            .pool_idle_timeout(Duration::from_secs(25));
        if let Some(authorities) = &endpoint.tls.authorities {
            let certificates = reqwest::Certificate::from_pem_bundle(authorities.pem()).map_err(|error| {
                format!(
                    "{} holds no usable certificates: {}",
                    authorities.source(),
                    chain(&error)
                )
            })?;
            if certificates.is_empty() {
                return Err(format!(
                    "{} holds no certificate in PEM form",
                    authorities.source()
                ));
            }
            builder = builder.tls_certs_only(certificates);
        }
        if let Some(identity) = &endpoint.tls.identity {
            let usable = reqwest::Identity::from_pem(identity.pem()).map_err(|error| {
                format!(
                    "{} cannot be used as client certificate: {}",
                    identity.source(),
                    chain(&error)
                )
            })?;
            builder = builder.identity(usable);
        }
        if endpoint.tls.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        let client = builder
            .build()
            .map_err(|error| format!("cannot set up TLS for Ironic: {}", chain(&error)))?;
        Ok(Self {
            client,
            endpoint,
            gate,
        })
    }

    /// What it talks to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What it shares with other clients of this Ironic.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Sends a request with credentials and API version; an answer with an expected code is success.
    pub async fn send(&self, version: Version, call: Call<'_>) -> Result<Vec<u8>, ApiError> {
        self.exchange(Some(version), call).await
    }

    /// The same for the one request that has neither: reading the versions.
    pub async fn send_plain(&self, call: Call<'_>) -> Result<Vec<u8>, ApiError> {
        self.exchange(None, call).await
    }

    async fn exchange(&self, version: Option<Version>, call: Call<'_>) -> Result<Vec<u8>, ApiError> {
        let first = self.attempt(version, &call).await;
        match &first {
            Err(ApiError {
                reason: Reason::Broken(_),
                ..
            }) if call.method == Method::GET => {
                tokio::time::sleep(Duration::from_millis(rand::random_range(50..250))).await;
                self.attempt(version, &call).await
            }
            _ => first,
        }
    }

    async fn attempt(&self, version: Option<Version>, call: &Call<'_>) -> Result<Vec<u8>, ApiError> {
        let url = self.url(&call.path);
        let failed = |reason| ApiError {
            call: format!("{} {url}", call.method),
            reason,
        };
        let mut request = self
            .client
            .request(call.method.clone(), url.clone())
            .header("Accept", "application/json");
        if let Some(version) = version {
            request = request
                .header("X-OpenStack-Ironic-API-Version", version.header())
                .header("OpenStack-API-Version", format!("baremetal {version}"));
            if let Some(auth) = &self.endpoint.auth {
                request = request.basic_auth(&auth.username, Some(auth.password.expose()));
            }
        }
        if let Some(body) = call.body {
            request = request.json(body);
        }
        let _permit = self.gate.permits.acquire().await;
        self.gate.requests.fetch_add(1, Ordering::Relaxed);
        let outcome = self.answer(request, call.expected).await;
        if matches!(
            outcome,
            Err(Reason::Unreachable(_)
                | Reason::Redirect(_)
                | Reason::Status {
                    code: 401 | 403 | 406 | 502..,
                    ..
                })
        ) {
            self.gate.troubles.fetch_add(1, Ordering::Relaxed);
        }
        tracing::trace!(call = %format_args!("{} {url}", call.method), ok = outcome.is_ok(), "request to Ironic");
        outcome.map_err(failed)
    }

    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        expected: &'static [u16],
    ) -> Result<Vec<u8>, Reason> {
        let transport = |error: reqwest::Error| {
            if error.is_connect() {
                Reason::Unreachable(chain(&error))
            } else if error.is_timeout() {
                Reason::TimedOut(self.endpoint.timeout)
            } else {
                Reason::Broken(chain(&error))
            }
        };
        let mut response = request.send().await.map_err(transport)?;
        let code = response.status().as_u16();
        let location = response
            .headers()
            .get("location")
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if body.len() + chunk.len() > LONGEST_ANSWER {
                return Err(Reason::Malformed(format!(
                    "it is longer than {LONGEST_ANSWER} bytes"
                )));
            }
            body.extend_from_slice(&chunk);
        }
        if expected.contains(&code) {
            return Ok(body);
        }
        match location {
            Some(location) if (300..400).contains(&code) => Err(Reason::Redirect(location)),
            _ => Err(Reason::Status {
                code,
                expected,
                message: said(&body),
            }),
        }
    }

    /// `path` is relative to the endpoint, already percent-encoded, and may have a query.
    fn url(&self, path: &str) -> Url {
        self.endpoint
            .url
            .join(path)
            .unwrap_or_else(|_| self.endpoint.url.clone())
    }
}

/// A TLS library needs to be told once per process (here: per plugin) which cryptography to use.
fn install_crypto_provider() {
    // An error says that there is one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The texts of an error and of what is behind it. The outermost text of reqwest repeats the URL, which the message
/// has already.
fn chain(error: &reqwest::Error) -> String {
    let mut texts = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        next = error.source();
    }
    if texts.is_empty() {
        error.to_string()
    } else {
        texts.join(": ")
    }
}

//! The listener: TLS with client certificates, on loopback unless told otherwise.
//!
//! Who has no client certificate of the own authority gets 401, except for the health paths and `/version`.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::Accept;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use http::Request;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tower::Service;

use crate::http::Anonymous;
use crate::server::ApiServer;
use crate::tls::{self, Identity, TlsError};

/// The port a Kubernetes API server usually has.
const DEFAULT_PORT: u16 = 6443;
/// How long requests may take to end after a shutdown was asked for.
const DRAIN: Duration = Duration::from_secs(2);

/// Where and with what a server listens.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Directory of `pki/` and `kubeconfig`, made if missing (mode 0700).
    pub directory: PathBuf,
}

impl ServeOptions {
    /// On loopback, port 6443.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), DEFAULT_PORT),
            directory: directory.into(),
        }
    }

    #[must_use]
    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.listen = listen;
        self
    }
}

/// Why a server could not start to listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot listen on {address}: {source}; choose another address, or port 0 for a free one")]
    Listen { address: SocketAddr, source: io::Error },
}

/// A server that listens.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    /// A kubeconfig of its administrator.
    pub kubeconfig_path: PathBuf,
    server: Arc<ApiServer>,
    stop: Stop,
    task: JoinHandle<io::Result<()>>,
}

type Stop = axum_server::Control;

impl Running {
    /// Ends watches and connections, then stops listening. The server itself stays open.
    pub async fn shutdown(self) {
        self.stop.graceful_shutdown(Some(DRAIN));
        self.server.faults().drop_watches();
        let _ = self.task.await;
    }
}

impl ApiServer {
    /// Serves the API over TLS. The kubeconfig is there when this returns.
    pub async fn serve(self: &Arc<Self>, options: ServeOptions) -> Result<Running, ServeError> {
        self.ready().await;
        let ServeOptions { listen, directory } = options;
        let failed = |source| ServeError::Listen {
            address: listen,
            source,
        };
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;

        let now = OffsetDateTime::now_utc();
        let reached_at = reachable(addr);
        let identity = tls::identity(&directory.join("pki"), reached_at.ip(), now)?;
        let kubeconfig_path = directory.join("kubeconfig");
        tls::write_kubeconfig(&kubeconfig_path, &format!("https://{reached_at}"), &identity)?;

        let config = RustlsConfig::from_config(Arc::new(config(&identity)?));
        let acceptor = ClientCertificates(RustlsAcceptor::new(config));
        let handle = Handle::new();
        let stop = handle.control();
        let service = self.router().into_make_service();
        let listening = axum_server::from_tcp(listener)
            .map_err(failed)?
            .acceptor(acceptor)
            .handle(handle);
        let task = tokio::spawn(listening.serve(service));
        tracing::info!(%addr, kubeconfig = %kubeconfig_path.display(), "the API server listens");
        Ok(Running {
            addr,
            kubeconfig_path,
            server: self.clone(),
            stop,
            task,
        })
    }
}

/// The address clients on this machine use.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

fn config(identity: &Identity) -> Result<ServerConfig, TlsError> {
    let unusable = |error: &dyn std::fmt::Display| TlsError::Config(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate =
        |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|error| unusable(&error));
    let mut roots = RootCertStore::empty();
    roots
        .add(certificate(&identity.ca)?)
        .map_err(|error| unusable(&error))?;
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(|error| unusable(&error))?;
    let key =
        PrivateKeyDer::from_pem_slice(identity.server.key.as_bytes()).map_err(|error| unusable(&error))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate(&identity.server.certificate)?], key)
        .map_err(|error| unusable(&error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Accepts TLS and notes which connections came without a client certificate.
#[derive(Debug, Clone)]
struct ClientCertificates(RustlsAcceptor);

type Accepted<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

impl<I, S> Accept<I, S> for ClientCertificates
where
    RustlsAcceptor: Accept<I, S, Stream = tokio_rustls::server::TlsStream<I>>,
    <RustlsAcceptor as Accept<I, S>>::Future: Send + 'static,
    I: Send + 'static,
{
    type Stream = tokio_rustls::server::TlsStream<I>;
    type Service = Marked<<RustlsAcceptor as Accept<I, S>>::Service>;
    type Future = Accepted<(Self::Stream, Self::Service)>;

    fn accept(&self, stream: I, service: S) -> Self::Future {
        let accepted = self.0.accept(stream, service);
        Box::pin(async move {
            let (stream, inner) = accepted.await?;
            let anonymous = stream.get_ref().1.peer_certificates().is_none_or(<[_]>::is_empty);
            Ok((stream, Marked { inner, anonymous }))
        })
    }
}

/// Adds [`Anonymous`] to the requests of a connection.
#[derive(Debug, Clone)]
struct Marked<S> {
    inner: S,
    anonymous: bool,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Marked<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        if self.anonymous {
            request.extensions_mut().insert(Anonymous);
        }
        self.inner.call(request)
    }
}

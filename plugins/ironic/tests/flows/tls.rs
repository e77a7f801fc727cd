//! TLS: a private authority, a client's certificate, certificates that rotate, verification switched off.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Uri;
use axum_server::tls_rustls::RustlsConfig;
use bmo_provisioner::{NoEvents, ProvisionerFactory};
use ironic_provisioner::config::{Config, EnvironmentEndpoint};
use ironic_provisioner::factory::IronicFactory;
use ironic_provisioner::pace::Pace;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;

use crate::support::{REDFISH, host};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

async fn server(authority: &Authority) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let config = RustlsConfig::from_pem(certificate.pem().into_bytes(), key.serialize_pem().into_bytes())
        .await
        .unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = Router::new().fallback(async |uri: Uri| {
        axum::Json(if uri.path().ends_with("/drivers") {
            json!({"drivers": [1]})
        } else {
            json!({"version": {"id": "v1", "min_version": "1.1", "version": "1.95"}})
        })
    });
    tokio::spawn(
        axum_server::from_tcp_rustls(listener, config)
            .unwrap()
            .serve(router.into_make_service()),
    );
    format!("https://localhost:{port}/v1/")
}

fn factory(url: &str, ca: &Path, insecure: bool) -> IronicFactory {
    let (url, ca) = (url.to_owned(), ca.to_str().unwrap().to_owned());
    let lookup = move |name: &str| match name {
        "IRONIC_ENDPOINT" => Some(url.clone()),
        "IRONIC_CACERT_FILE" => Some(ca.clone()),
        "IRONIC_INSECURE" => Some(if insecure { "True" } else { "" }.to_owned()),
        "METAL3_AUTH_ROOT_DIR" => Some("/nonexistent".to_owned()),
        "IRONIC_CLIENT_CACHE_TTL" => Some("1ms".to_owned()),
        _ => None,
    };
    let config = Config::load(&lookup, false).unwrap();
    IronicFactory::new(
        Box::new(EnvironmentEndpoint::load(&lookup).unwrap()),
        config,
        Pace::fixed(),
    )
}

async fn try_it(factory: &IronicFactory) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(3)).await;
    let answer = factory.new_provisioner(host(REDFISH), Arc::new(NoEvents)).await;
    answer.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn authorities_and_their_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let (right, wrong) = (authority(), authority());
    let url = server(&right).await;
    let ca = folder.path().join("ca.crt");

    std::fs::write(&ca, wrong.pem()).unwrap();
    let follows = factory(&url, &ca, false);
    let refused = try_it(&follows).await.unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
    std::fs::write(&ca, right.pem()).unwrap();
    try_it(&follows).await.unwrap();

    let missing = folder.path().join("missing.crt");
    let refused = try_it(&factory(&url, &missing, false)).await.unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
    try_it(&factory(&url, &missing, true)).await.unwrap();

    std::fs::write(&ca, "no certificate").unwrap();
    let refused = try_it(&follows).await.unwrap_err();
    assert!(refused.contains("ca.crt"), "{refused}");
}

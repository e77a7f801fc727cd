//! The whole manager on an embedded API: start, leadership, a host, the health endpoint, the end.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bmo_api::{BareMetalHost, ProvisioningState};
use bmo_apiserver::{ApiServer, OpenOptions};
use bmo_manager::{Environment, KubeSource, ManagerFlags, Observers, Options, RunError, run};
use clap::Parser;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    flags: ManagerFlags,
}

fn options(words: &[&str], env: &Environment) -> Options {
    let line = Line::try_parse_from(["x"].iter().chain(words)).unwrap();
    Options::new(line.flags, env).unwrap()
}

async fn api() -> (Arc<ApiServer>, Client) {
    let server = ApiServer::open(OpenOptions::in_memory()).unwrap();
    server.install_crds(bmo_api::crds()).await.unwrap();
    let client = server.client();
    (server, client)
}

async fn get(port: u16, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manager_leads_walks_a_host_and_gives_its_lease_up() {
    let (_server, client) = api().await;
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let env: Environment = [("POD_NAMESPACE", "default")].into_iter().collect();
    let health = format!("--health-addr=127.0.0.1:{port}");
    let options = options(
        &[
            "--provisioner=fixture",
            "--metrics-addr=0",
            "--enable-leader-election",
            &health,
        ],
        &env,
    );
    let shutdown = CancellationToken::new();
    let (token, source) = (shutdown.clone(), KubeSource::InProcess(client.clone()));
    let manager = tokio::spawn(async move { run(options, &env, source, token, Observers::default()).await });

    let params = PatchParams::apply("test");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "creds"},
        "stringData": {"username": "u", "password": "p"}});
    let secrets: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(client.clone(), "default");
    secrets
        .patch("creds", &params, &Patch::Apply(secret))
        .await
        .unwrap();
    let host = json!({"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "h"},
        "spec": {"online": false, "bmc": {"address": "ipmi://192.0.2.1", "credentialsName": "creds"}}});
    let hosts: Api<BareMetalHost> = Api::namespaced(client.clone(), "default");
    hosts.patch("h", &params, &Patch::Apply(host)).await.unwrap();
    let arrived = tokio::time::timeout(Duration::from_mins(1), async {
        while hosts.get("h").await.unwrap().state() != ProvisioningState::Available {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    arrived.await.expect("the host did not become available");
    for path in ["/healthz", "/readyz/ping", "/readyz?verbose"] {
        assert!(get(port, path).await.starts_with("HTTP/1.1 200"), "{path}");
    }

    shutdown.cancel();
    tokio::time::timeout(Duration::from_secs(10), manager)
        .await
        .expect("the end took too long")
        .unwrap()
        .unwrap();
    let lease: Lease = Api::namespaced(client, "default")
        .get("baremetal-operator")
        .await
        .unwrap();
    assert_eq!(
        lease.spec.unwrap().holder_identity.as_deref(),
        Some(""),
        "the lease was not given up"
    );
}

#[tokio::test]
async fn a_provisioner_that_cannot_be_loaded_ends_the_start() {
    let (_server, client) = api().await;
    let folder = tempfile::tempdir().unwrap();
    let env: Environment = [("PROVISIONER_PLUGIN_DIR", folder.path().to_str().unwrap())]
        .into_iter()
        .collect();
    for (name, says) in [
        ("../evil", "invalid provisioner name"),
        ("absent", "absent-provisioner.so"),
    ] {
        let options = options(
            &[
                "--metrics-addr=0",
                "--health-addr=0",
                &format!("--provisioner={name}"),
            ],
            &env,
        );
        let source = KubeSource::InProcess(client.clone());
        let ended = run(
            options,
            &env,
            source,
            CancellationToken::new(),
            Observers::default(),
        )
        .await;
        let Err(error @ RunError::Provisioner(_)) = ended else {
            panic!("{name}: {ended:?}")
        };
        assert!(error.to_string().contains(says), "{error}");
    }
}

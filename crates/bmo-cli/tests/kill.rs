//! `kill -9` of `bmo up -provisioner=fixture` at random moments of a host's life: it goes on after each restart, and
//! the machine is deployed once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bmo_api::{BareMetalHost, ProvisioningState};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::{Value, json};

/// How often the process is killed.
const KILLS: u32 = 20;
/// How long the host may take after the last start.
const PATIENCE: Duration = Duration::from_mins(2);

struct Up {
    child: Child,
    log: PathBuf,
}

impl Up {
    fn start(directory: &Path) -> Self {
        let log = directory.join("up.log");
        let out = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_bmo"))
            .args(["up", "-provisioner=fixture", "-listen=127.0.0.1:0", "-data-dir"])
            .arg(directory.join("data"))
            .env("BMO_FIXTURE_STATE", directory.join("machines.json"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// SIGKILL, as `kill -9` sends it.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn check_alive(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            let mut text = String::new();
            std::fs::File::open(&self.log)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            panic!("bmo up ended by itself ({status}):\n{text}");
        }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client as `kubectl` would make it from the kubeconfig that is written at each start.
async fn client(directory: &Path, up: &mut Up) -> Client {
    let path = directory.join("data/kubeconfig");
    let end = Instant::now() + PATIENCE;
    loop {
        up.check_alive();
        assert!(Instant::now() < end, "the API did not come up");
        if let Ok(file) = Kubeconfig::read_from(&path)
            && let Ok(config) = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await
            && let Ok(client) = Client::try_from(config)
            && client.apiserver_version().await.is_ok()
        {
            return client;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn create(client: &Client) {
    let secret =
        json!({"metadata": {"name": "creds"}, "stringData": {"username": "admin", "password": "secret"}});
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "default");
    secrets
        .create(&PostParams::default(), &serde_json::from_value(secret).unwrap())
        .await
        .unwrap();
    let host = json!({
        "metadata": {"name": "h"},
        "spec": {
            "online": true,
            "bootMACAddress": "52:54:00:00:00:01",
            "bmc": {"address": "redfish://192.0.2.1/redfish/v1/Systems/1", "credentialsName": "creds"},
            "image": {"url": "http://images/linux.qcow2", "checksum": "http://images/linux.qcow2.sha256", "checksumType": "sha256"},
        },
    });
    let hosts: Api<BareMetalHost> = Api::namespaced(client.clone(), "default");
    hosts
        .create(&PostParams::default(), &serde_json::from_value(host).unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn killed_at_random_moments_it_goes_on_and_deploys_once() {
    bmo_manager::install_crypto();
    let directory = tempfile::tempdir().unwrap();
    let mut up = Up::start(directory.path());
    create(&client(directory.path(), &mut up).await).await;
    for _ in 0..KILLS {
        let moment = Duration::from_millis(rand::random_range(0..2500));
        tokio::time::sleep(moment).await;
        up.kill();
        up = Up::start(directory.path());
    }
    let hosts: Api<BareMetalHost> = Api::namespaced(client(directory.path(), &mut up).await, "default");
    let end = Instant::now() + PATIENCE;
    loop {
        up.check_alive();
        let host = hosts.get("h").await.unwrap();
        if host.state() == ProvisioningState::Provisioned {
            break;
        }
        assert!(
            Instant::now() < end,
            "the host is {:?}: {:#?}",
            host.state(),
            host.status
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(deploys(&directory.path().join("machines.json")), 1);
}

/// How often the one machine of the state file was deployed.
fn deploys(file: &Path) -> u64 {
    let state: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let machines = state.as_object().unwrap();
    assert_eq!(machines.len(), 1, "one host, one machine: {state:#}");
    machines.values().next().unwrap()["deploys"].as_u64().unwrap()
}

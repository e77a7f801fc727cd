//! An API server, a fixture, and managers that can be started and killed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

use std::sync::Arc;
use std::time::Duration;

use bmo_api::{BareMetalHost, ProvisioningState};
use bmo_apiserver::{ApiServer, OpenOptions};
use bmo_controllers::{ControllerContext, HostKey, Metrics, Namespaces, TokioClock, run};
use bmo_fixture::Fixture;
use bmo_lifecycle::Policy;
use bmo_provisioner::ProvisionerFactory;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

mod instant;

pub use instant::Instant;

pub const NAMESPACE: &str = "metal";
/// How long, in virtual time, anything may take.
const PATIENCE: Duration = Duration::from_hours(4);

pub struct World {
    pub server: Arc<ApiServer>,
    pub client: Client,
    pub fixture: Fixture,
    pub metrics: Arc<Metrics>,
}

/// A manager; dropping it is a crash.
pub struct Running {
    task: JoinHandle<()>,
    wakes: mpsc::UnboundedSender<HostKey>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    pub fn wake(&self, name: &str) {
        self.wakes.send(HostKey::new(NAMESPACE, name)).unwrap();
    }
}

impl World {
    pub async fn new() -> Self {
        let server = ApiServer::open(OpenOptions::in_memory()).unwrap();
        server.install_crds(bmo_api::crds()).await.unwrap();
        let client = server.client();
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client.clone());
        let namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}})).unwrap();
        namespaces
            .create(&PostParams::default(), &namespace)
            .await
            .unwrap();
        Self {
            server,
            client,
            fixture: Fixture::new(),
            metrics: Arc::new(Metrics::new()),
        }
    }

    pub fn start(&self) -> Running {
        self.start_with(Arc::new(self.fixture.clone()))
    }

    pub fn start_with(&self, factory: Arc<dyn ProvisionerFactory>) -> Running {
        let (wakes, woken) = mpsc::unbounded_channel();
        let context = ControllerContext {
            client: self.client.clone(),
            namespaces: Namespaces::All,
            factory,
            provisioner: "fixture".to_owned(),
            policy: Policy::default(),
            metrics: self.metrics.clone(),
            concurrency: 2,
            wakes: woken,
            shutdown: CancellationToken::new(),
            clock: Arc::new(TokioClock::starting_at(Timestamp::now())),
            synced: None,
        };
        Running {
            task: tokio::spawn(run(context)),
            wakes,
        }
    }

    pub fn hosts(&self) -> Api<BareMetalHost> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub async fn create_secret(&self, name: &str, user: &str, password: &str) {
        let secret =
            json!({"metadata": {"name": name}, "stringData": {"username": user, "password": password}});
        self.secrets()
            .create(&PostParams::default(), &serde_json::from_value(secret).unwrap())
            .await
            .unwrap();
    }

    pub async fn patch_secret(&self, name: &str, patch: Value) {
        self.secrets()
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub async fn secret(&self, name: &str) -> Option<Secret> {
        self.secrets().get_opt(name).await.unwrap()
    }

    pub async fn create_host(&self, name: &str, credentials: &str) {
        self.create_host_of(name, credentials, false).await;
    }

    pub async fn create_host_of(&self, name: &str, credentials: &str, image: bool) {
        let mut spec = json!({
            "online": true,
            "bootMACAddress": "52:54:00:00:00:01",
            "bmc": {"address": "redfish-virtualmedia+http://127.0.0.1:8000/redfish/v1/Systems/1", "credentialsName": credentials},
        });
        if image {
            spec["image"] = the_image();
        }
        let host = json!({"metadata": {"name": name}, "spec": spec});
        self.hosts()
            .create(&PostParams::default(), &serde_json::from_value(host).unwrap())
            .await
            .unwrap();
    }

    pub async fn set_image(&self, name: &str, image: bool) {
        let image = if image { the_image() } else { Value::Null };
        let patch = json!({"spec": {"image": image}});
        self.hosts()
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .unwrap();
    }

    pub async fn delete_host(&self, name: &str) {
        self.hosts().delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub async fn host(&self, name: &str) -> Option<BareMetalHost> {
        self.hosts().get_opt(name).await.unwrap()
    }

    pub async fn wait_host(&self, name: &str, wanted: impl Fn(&BareMetalHost) -> bool) {
        let arrived = tokio::time::timeout(PATIENCE, async {
            while !self.host(name).await.is_some_and(|host| wanted(&host)) {
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
        if arrived.await.is_err() {
            let host = self.host(name).await;
            panic!(
                "the host did not get there: {:#?}",
                host.map(|host| serde_json::to_value(host.status).unwrap())
            );
        }
    }

    pub async fn wait_state(&self, name: &str, state: &ProvisioningState) {
        self.wait_host(name, |host| host.state() == *state).await;
    }

    pub async fn wait_gone(&self, name: &str) {
        let gone = tokio::time::timeout(PATIENCE, async {
            while self.host(name).await.is_some() {
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        });
        assert!(
            gone.await.is_ok(),
            "the host is still there: {:#?}",
            self.host(name).await
        );
    }

    /// Waits until a request met the fault that was set, or long enough that none will.
    pub async fn wait_fault(&self) {
        for _ in 0..300 {
            if self
                .server
                .audit()
                .total(|count| count.code >= 500 || count.code == 0)
                > 0
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Starts counting requests anew.
    pub fn audit_controllers(&self) {
        self.server.audit().reset();
    }

    /// Writes of the controllers, events not counted: `own_patches` of the test are taken out, and its creates of
    /// Secrets and hosts, its patches of Secrets and its deletes.
    pub fn controller_writes(&self, own_patches: u64) -> u64 {
        let all = self.server.audit().writes();
        let own = self.server.audit().total(|count| {
            count.code < 300
                && ((count.verb == "create"
                    && matches!(count.resource.as_str(), "secrets" | "baremetalhosts"))
                    || (count.verb == "patch" && count.resource == "secrets")
                    || count.verb == "delete")
        });
        all - own - own_patches
    }

    /// The writes so far, a line each.
    pub fn counted(&self) -> String {
        let lines = self
            .server
            .audit()
            .counts()
            .into_iter()
            .filter(|(count, _)| count.is_write())
            .map(|(count, n)| {
                format!(
                    "{n} x {} {}/{} {}\n",
                    count.verb, count.resource, count.subresource, count.code
                )
            });
        lines.collect()
    }

    /// Every successful write, events too.
    pub fn all_writes(&self) -> u64 {
        self.server
            .audit()
            .total(|count| count.is_write() && count.code < 300)
    }

    pub fn passes(&self, name: &str) -> u64 {
        let line = format!(r#"metal3_reconcile_total{{namespace="{NAMESPACE}",host="{name}"}} "#);
        let page = self.metrics.render();
        page.lines()
            .find_map(|text| text.strip_prefix(&line))
            .map_or(0, |count| count.parse().unwrap())
    }

    /// How often the host's machine was deployed.
    pub async fn deploys(&self, name: &str) -> u64 {
        let host = self.host(name).await.unwrap();
        let machine = self
            .fixture
            .machine(NAMESPACE, name, &host.uid().unwrap())
            .expect("a machine");
        u64::from(machine.deploys)
    }
}

fn the_image() -> Value {
    json!({"url": "http://images/linux.qcow2", "checksum": "http://images/linux.qcow2.sha256", "checksumType": "sha256", "format": "qcow2"})
}

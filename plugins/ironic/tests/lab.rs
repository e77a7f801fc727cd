//! One machine's life on a real Ironic, driven as the operator drives it: wrong and right credentials, inspection,
//! cleaning, deployment, power, loss of Ironic's record and adoption, deprovisioning, deletion. Counts the requests.
//!
//! Needs the lab of `test/ironic/lab.sh`; `IRONIC_LAB_ENV` names its `lab.env`. Without it nothing is tried.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and says how long each step took"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bmo_api::{
    ChecksumType, HardwareData, HardwareDetails, Image, ImageFormat, ProvisioningState, RebootMode,
};
use bmo_provisioner::{
    AdoptRequest, BmcAccess, BmcCredentials, DeprovisionRequest, DetachRequest, EventPublisher,
    HostConfigData, HostData, InspectRequest, PowerOffRequest, PowerOnRequest, PrepareRequest, Progress,
    ProvisionRequest, Provisioner, ProvisionerFactory, RegisterRequest, Result, SecretString,
};
use ironic_provisioner::config::{Config, EnvironmentEndpoint};
use ironic_provisioner::factory::IronicFactory;
use ironic_provisioner::pace::Pace;

/// Longest time for any step.
const PATIENCE: Duration = Duration::from_mins(3);

struct Printed;

impl EventPublisher for Printed {
    fn publish(&self, reason: &str, message: &str) {
        println!("    event {reason}: {message}");
    }
}

struct Data;

#[async_trait]
impl HostConfigData for Data {
    async fn user_data(&self) -> Result<SecretString> {
        Ok("#cloud-config\nhostname: lab\n".into())
    }
    async fn network_data(&self) -> Result<SecretString> {
        Ok("links: []\nnetworks: []\nservices: []\n".into())
    }
    async fn meta_data(&self) -> Result<SecretString> {
        Ok("role: lab\n".into())
    }
}

struct Host {
    factory: IronicFactory,
    data: HostData,
    request: RegisterRequest,
}

fn lab() -> Option<HashMap<String, String>> {
    let Ok(path) = std::env::var("IRONIC_LAB_ENV") else {
        println!("skipped: IRONIC_LAB_ENV does not name a lab");
        return None;
    };
    let text = std::fs::read_to_string(&path).expect("the lab's environment");
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    Some(
        pairs
            .map(|(name, value)| (name.to_owned(), value.trim_matches('\'').to_owned()))
            .collect(),
    )
}

impl Host {
    fn new(lab: &HashMap<String, String>, machine: usize) -> Self {
        let mut settings = lab.clone();
        settings.insert("METAL3_AUTH_ROOT_DIR".to_owned(), "/nonexistent".to_owned());
        let lookup = |name: &str| settings.get(name).cloned();
        let config = Config::load(&lookup, false).unwrap();
        let endpoint = EnvironmentEndpoint::load(&lookup).unwrap();
        let (system, mac) = lab["MACHINES"]
            .split(' ')
            .nth(machine)
            .unwrap()
            .split_once('=')
            .unwrap();
        let data = HostData {
            namespace: "lab".to_owned(),
            name: format!("direct-{machine}"),
            uid: format!("27720611-e5d1-45d3-ba3a-2222222222{machine:02}"),
            bmc: Some(BmcAccess {
                address: format!("{}{system}", lab["REDFISH_ADDRESS_PREFIX"]),
                credentials: BmcCredentials {
                    username: lab["BMC_USERNAME"].as_str().into(),
                    password: lab["BMC_PASSWORD"].as_str().into(),
                },
                disable_certificate_verification: false,
            }),
            boot_mac_address: mac.to_owned(),
            ..HostData::default()
        };
        let factory = IronicFactory::new(Box::new(endpoint), config, Pace::adaptive());
        Self {
            factory,
            data,
            request: RegisterRequest::default(),
        }
    }

    /// Passes until the method is done; what it yielded, or why it failed.
    async fn until<T, F>(&mut self, step: &str, mut method: F) -> std::result::Result<T, String>
    where
        F: AsyncFnMut(&dyn Provisioner) -> Result<Progress<T>>,
    {
        let (start, before) = (Instant::now(), self.factory.requests());
        let mut passes = 0;
        let outcome = loop {
            assert!(start.elapsed() < PATIENCE, "{step} takes too long");
            passes += 1;
            let pass = self
                .factory
                .new_provisioner(self.data.clone(), Arc::new(Printed))
                .await
                .unwrap();
            let registration = pass.register(self.request.clone()).await.unwrap();
            if let Some(id) = registration.provisioner_id {
                self.data.provisioner_id = id;
            }
            let progress = match registration.progress {
                Progress::Complete { .. } => method(&*pass).await.unwrap(),
                Progress::Pending { after, waiting_for } => Progress::Pending { after, waiting_for },
                Progress::Failed { message } => Progress::Failed { message },
            };
            pass.has_power_failure().await;
            pass.get_health().await;
            match progress {
                Progress::Complete { value } => break Ok(value),
                Progress::Failed { message } => break Err(message),
                Progress::Pending { after, .. } => tokio::time::sleep(after).await,
            }
            self.request.credentials_changed = false;
        };
        let requests = self.factory.requests() - before;
        println!(
            "  {step}: {:.1} s, {passes} passes, {requests} requests",
            start.elapsed().as_secs_f64()
        );
        outcome
    }

    async fn register(&mut self, step: &str) -> std::result::Result<(), String> {
        self.until(step, async |_| Ok(Progress::DONE)).await
    }

    async fn power(&mut self) -> Option<bool> {
        let pass = self
            .factory
            .new_provisioner(self.data.clone(), Arc::new(Printed))
            .await
            .unwrap();
        pass.update_hardware_state().await.unwrap().powered_on
    }

    async fn provision(&mut self, request: ProvisionRequest) -> std::result::Result<(), String> {
        self.request.state = ProvisioningState::Provisioning;
        self.request.current_image = request.image.clone();
        self.until("provision", async |pass| {
            pass.provision(request.clone(), &Data).await
        })
        .await
    }

    async fn deprovision(&mut self) -> std::result::Result<(), String> {
        self.request.state = ProvisioningState::Deprovisioning;
        self.until("deprovision", async |pass| {
            pass.deprovision(DeprovisionRequest::default()).await
        })
        .await
    }

    async fn delete(&mut self) {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "deletion takes too long");
            let pass = self
                .factory
                .new_provisioner(self.data.clone(), Arc::new(Printed))
                .await
                .unwrap();
            match pass.delete().await.unwrap() {
                Progress::Complete { .. } => break,
                Progress::Pending { after, .. } => tokio::time::sleep(after).await,
                Progress::Failed { message } => panic!("{message}"),
            }
        }
    }

    async fn inspect_and_prepare(&mut self) -> HardwareDetails {
        self.request.state = ProvisioningState::Inspecting;
        let inspect = async |pass: &dyn Provisioner| {
            Ok(pass.inspect_hardware(InspectRequest::default()).await?.progress)
        };
        let details = *self.until("inspect", inspect).await.unwrap();
        let mut hardware = HardwareData::default();
        hardware.spec.hardware = Some(details.clone());
        self.request.hardware_data = Some(Box::new(hardware));
        self.request.state = ProvisioningState::Preparing;
        let prepare = PrepareRequest {
            unprepared: true,
            ..PrepareRequest::default()
        };
        self.until("prepare", async |pass| {
            Ok(pass.prepare(prepare.clone()).await?.progress)
        })
        .await
        .unwrap();
        details
    }
}

fn image(lab: &HashMap<String, String>) -> ProvisionRequest {
    let image = Image {
        url: lab["IMAGE_URL"].clone(),
        checksum: lab["IMAGE_SHA256"].clone(),
        checksum_type: Some(ChecksumType::Sha256),
        format: Some(ImageFormat::Qcow2),
        ..Image::default()
    };
    ProvisionRequest {
        image: Some(image),
        ..ProvisionRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machines_life() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 19);
    let begin = Instant::now();

    let right = host.data.bmc.clone();
    host.data.bmc.as_mut().unwrap().credentials.password = "certainly-wrong".into();
    let refused = host.register("register with a wrong password").await.unwrap_err();
    assert!(
        refused.contains("401") && !refused.contains("certainly-wrong"),
        "{refused}"
    );
    host.data.bmc = right;
    let (life, requests) = (Instant::now(), host.factory.requests());
    (host.request.credentials_changed, host.request.restart_on_failure) = (true, true);
    host.register("register").await.unwrap();
    host.request.restart_on_failure = false;

    let details = host.inspect_and_prepare().await;
    assert!(
        details
            .nics
            .iter()
            .any(|nic| nic.mac == host.data.boot_mac_address && nic.pxe),
        "{details:?}"
    );
    println!("  hardware: {}", serde_json::to_string(&details).unwrap());

    host.provision(image(&lab)).await.unwrap();
    host.request.state = ProvisioningState::Provisioned;
    let soft = PowerOffRequest {
        mode: RebootMode::Soft,
        ..PowerOffRequest::default()
    };
    host.until("power off", async |pass| pass.power_off(soft.clone()).await)
        .await
        .unwrap();
    assert_eq!(host.power().await, Some(false));
    host.until("power on", async |pass| {
        pass.power_on(PowerOnRequest::default()).await
    })
    .await
    .unwrap();
    assert_eq!(host.power().await, Some(true));
    let before = host.factory.requests();
    host.until("idle pass", async |pass| {
        pass.adopt(AdoptRequest::default()).await
    })
    .await
    .unwrap();
    assert_eq!(
        host.factory.requests() - before,
        1,
        "an idle host costs one request"
    );

    host.deprovision().await.unwrap();
    host.delete().await;
    let requests = host.factory.requests() - requests;
    println!("life: {:.1} s, {requests} requests", life.elapsed().as_secs_f64());
    assert!(requests <= 60, "{requests} requests for a life");
    println!("with the wrong password: {:.1} s", begin.elapsed().as_secs_f64());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_record_is_made_anew_and_the_machine_is_left_alone() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 18);
    host.register("register").await.unwrap();
    host.inspect_and_prepare().await;
    host.provision(image(&lab)).await.unwrap();
    host.request.state = ProvisioningState::Provisioned;
    host.until("power on", async |pass| {
        pass.power_on(PowerOnRequest::default()).await
    })
    .await
    .unwrap();

    host.until("detach", async |pass| pass.detach(DetachRequest::default()).await)
        .await
        .unwrap();
    let old = host.data.provisioner_id.clone();
    host.until("adopt", async |pass| {
        pass.adopt(AdoptRequest {
            state: ProvisioningState::Provisioned,
            ..AdoptRequest::default()
        })
        .await
    })
    .await
    .unwrap();
    assert_ne!(host.data.provisioner_id, old);
    assert_eq!(host.power().await, Some(true), "the machine was not switched");

    host.deprovision().await.unwrap();
    host.delete().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_iso_is_booted() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 17);
    host.register("register").await.unwrap();
    host.inspect_and_prepare().await;
    let image = Image {
        url: lab["LIVE_ISO_URL"].clone(),
        format: Some(ImageFormat::LiveIso),
        ..Image::default()
    };
    host.provision(ProvisionRequest {
        image: Some(image),
        ..ProvisionRequest::default()
    })
    .await
    .unwrap();
    host.deprovision().await.unwrap();
    host.delete().await;
}

//! A host of the lab and the passes over it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bmo_api::{ChecksumType, HardwareData, HardwareDetails, Image, ImageFormat, ProvisioningState};
use bmo_provisioner::{
    BmcAccess, BmcCredentials, DeprovisionRequest, HostConfigData, HostData, InspectRequest, NoEvents,
    PrepareRequest, Progress, ProvisionRequest, Provisioner, ProvisionerFactory, RegisterRequest, Result,
    SecretString,
};
use ironic_provisioner::config::{Config, EnvironmentEndpoint};
use ironic_provisioner::factory::IronicFactory;
use ironic_provisioner::pace::Pace;

/// Longest time for any step.
const PATIENCE: Duration = Duration::from_mins(3);

pub struct Data;

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

pub struct Host {
    pub factory: Arc<IronicFactory>,
    pub data: HostData,
    pub request: RegisterRequest,
    quiet: bool,
}

pub fn lab() -> Option<HashMap<String, String>> {
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

/// A plugin's factory, as the operator has one for all hosts.
pub fn factory(lab: &HashMap<String, String>) -> Arc<IronicFactory> {
    let mut settings = lab.clone();
    settings.insert("METAL3_AUTH_ROOT_DIR".to_owned(), "/nonexistent".to_owned());
    let lookup = |name: &str| settings.get(name).cloned();
    let config = Config::load(&lookup, false).unwrap();
    let endpoint = EnvironmentEndpoint::load(&lookup).unwrap();
    Arc::new(IronicFactory::new(Box::new(endpoint), config, Pace::adaptive()))
}

impl Host {
    /// A host of its own plugin.
    pub fn new(lab: &HashMap<String, String>, machine: usize) -> Self {
        let (system, mac) = lab["MACHINES"]
            .split(' ')
            .nth(machine)
            .unwrap()
            .split_once('=')
            .unwrap();
        Self::at(
            lab,
            factory(lab),
            machine,
            &format!("{}{system}", lab["REDFISH_ADDRESS_PREFIX"]),
            mac,
        )
    }

    /// A host by its BMC's address.
    pub fn at(
        lab: &HashMap<String, String>,
        factory: Arc<IronicFactory>,
        number: usize,
        address: &str,
        mac: &str,
    ) -> Self {
        let credentials = BmcCredentials {
            username: lab["BMC_USERNAME"].as_str().into(),
            password: lab["BMC_PASSWORD"].as_str().into(),
        };
        let data = HostData {
            namespace: "lab".to_owned(),
            name: format!("direct-{number}"),
            uid: format!("27720611-e5d1-45d3-ba3a-2222222222{number:02}"),
            bmc: Some(BmcAccess {
                address: address.to_owned(),
                credentials,
                ..BmcAccess::default()
            }),
            boot_mac_address: mac.to_owned(),
            ..HostData::default()
        };
        Self {
            factory,
            data,
            request: RegisterRequest::default(),
            quiet: false,
        }
    }

    /// One that prints nothing.
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// A provisioner for a pass.
    pub async fn pass(&self) -> Box<dyn Provisioner> {
        self.factory
            .new_provisioner(self.data.clone(), Arc::new(NoEvents))
            .await
            .unwrap()
    }

    /// Passes until the method is done; what it yielded, or why it failed.
    pub async fn until<T, F>(&mut self, step: &str, mut method: F) -> std::result::Result<T, String>
    where
        F: AsyncFnMut(&dyn Provisioner) -> Result<Progress<T>>,
    {
        let (start, before) = (Instant::now(), self.factory.requests());
        let mut passes = 0;
        let outcome = loop {
            assert!(start.elapsed() < PATIENCE, "{step} takes too long");
            passes += 1;
            let pass = self.pass().await;
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
        if !self.quiet {
            let requests = self.factory.requests() - before;
            println!(
                "  {step}: {:.1} s, {passes} passes, {requests} requests",
                start.elapsed().as_secs_f64()
            );
        }
        outcome
    }

    pub async fn register(&mut self, step: &str) -> std::result::Result<(), String> {
        self.until(step, async |_| Ok(Progress::DONE)).await
    }

    pub async fn power(&mut self) -> Option<bool> {
        let pass = self.pass().await;
        pass.update_hardware_state().await.unwrap().powered_on
    }

    pub async fn provision(&mut self, request: ProvisionRequest) -> std::result::Result<(), String> {
        self.request.state = ProvisioningState::Provisioning;
        self.request.current_image = request.image.clone();
        self.until("provision", async |pass| {
            pass.provision(request.clone(), &Data).await
        })
        .await
    }

    pub async fn deprovision(&mut self) -> std::result::Result<(), String> {
        self.request.state = ProvisioningState::Deprovisioning;
        self.until("deprovision", async |pass| {
            pass.deprovision(DeprovisionRequest::default()).await
        })
        .await
    }

    pub async fn delete(&mut self) {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "deletion takes too long");
            let pass = self.pass().await;
            match pass.delete().await.unwrap() {
                Progress::Complete { .. } => break,
                Progress::Pending { after, .. } => tokio::time::sleep(after).await,
                Progress::Failed { message } => panic!("{message}"),
            }
        }
    }

    /// Inspects, and notes what was found.
    pub async fn inspect(&mut self) -> HardwareDetails {
        self.request.state = ProvisioningState::Inspecting;
        let inspection = InspectRequest {
            inspection_mode: self.request.inspection_mode,
            ..InspectRequest::default()
        };
        let inspect =
            async |pass: &dyn Provisioner| Ok(pass.inspect_hardware(inspection.clone()).await?.progress);
        let details = *self.until("inspect", inspect).await.unwrap();
        let mut hardware = HardwareData::default();
        hardware.spec.hardware = Some(details.clone());
        self.request.hardware_data = Some(Box::new(hardware));
        details
    }

    /// Prepares: from the pass on in which steps were begun there is nothing more to be wanted.
    pub async fn prepare(&mut self, mut request: PrepareRequest) -> std::result::Result<(), String> {
        self.request.state = ProvisioningState::Preparing;
        request.unprepared = true;
        self.until("prepare", async |pass| {
            let answer = pass.prepare(request.clone()).await?;
            request.unprepared &= !answer.started;
            Ok(answer.progress)
        })
        .await
    }

    /// Both, with no wishes.
    pub async fn inspect_and_prepare(&mut self) -> HardwareDetails {
        let details = self.inspect().await;
        self.prepare(PrepareRequest::default()).await.unwrap();
        details
    }
}

pub fn image(lab: &HashMap<String, String>) -> ProvisionRequest {
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

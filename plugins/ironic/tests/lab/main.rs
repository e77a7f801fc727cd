//! Machines' lives on a real Ironic, driven as the operator drives them, one method after another. Says how long each
//! step took, and how many requests.
//!
//! Needs the lab of `test/ironic/lab.sh`; `IRONIC_LAB_ENV` names its `lab.env`. Without it nothing is tried.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic, and says how long each step took"
)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bmo_api::{Image, ImageFormat, InspectionMode, IntOrString, ProvisioningState, RebootMode};
use bmo_provisioner::{
    AdoptRequest, AttachDataImageRequest, DetachRequest, FirmwareSettingsRequest, PowerOffRequest,
    PowerOnRequest, PrepareRequest, Progress, ProvisionRequest, ServiceRequest,
};
use support::{Host, factory, image, lab};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machines_life() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 19);

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
    assert!(details.nics.iter().any(|nic| nic.lldp.is_some()), "{details:?}");

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
}

/// Lets Ironic forget a provisioned machine, and has it adopted again.
async fn lose_and_adopt(host: &mut Host) {
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
    let adoption = AdoptRequest {
        state: ProvisioningState::Provisioned,
        ..AdoptRequest::default()
    };
    host.until("adopt", async |pass| pass.adopt(adoption.clone()).await)
        .await
        .unwrap();
    assert_ne!(host.data.provisioner_id, old);
    assert_eq!(host.power().await, Some(true), "the machine was not switched");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_record_is_made_anew_and_the_machine_is_left_alone() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 18);
    host.register("register").await.unwrap();
    host.inspect_and_prepare().await;
    host.provision(image(&lab)).await.unwrap();
    lose_and_adopt(&mut host).await;
    host.deprovision().await.unwrap();
    host.delete().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_iso_is_booted_and_adopted() {
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
    lose_and_adopt(&mut host).await;
    host.deprovision().await.unwrap();
    host.delete().await;
}

async fn bios(host: &Host) -> BTreeMap<String, String> {
    host.pass()
        .await
        .get_firmware_settings(FirmwareSettingsRequest { include_schema: true })
        .await
        .unwrap()
        .settings
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn raid_firmware_servicing_and_data_images() {
    let Some(lab) = lab() else { return };
    let mut host = Host::new(&lab, 16);
    let setting =
        |value: &str| BTreeMap::from([("ProcTurboMode".to_owned(), IntOrString::String(value.to_owned()))]);
    host.register("register").await.unwrap();
    host.request.inspection_mode = Some(InspectionMode::Fast);
    let details = host.inspect().await;
    println!("  fast inspection: {details:?}");
    let components = host.pass().await.get_firmware_components().await.unwrap();
    assert!(
        components.iter().any(|component| component.component == "bmc"),
        "{components:?}"
    );

    let raid = serde_json::from_value(serde_json::json!({"softwareRAIDVolumes": [{"level": "1"}]})).unwrap();
    let wishes = PrepareRequest {
        target_raid_config: Some(raid),
        target_firmware_settings: setting("Disabled"),
        actual_firmware_settings: Some(bios(&host).await),
        ..PrepareRequest::default()
    };
    host.prepare(wishes).await.unwrap();
    assert_eq!(bios(&host).await["ProcTurboMode"], "Disabled");
    host.provision(image(&lab)).await.unwrap();
    host.request.state = ProvisioningState::Provisioned;

    data_images(&lab, &host).await;

    let mut service = ServiceRequest {
        target_firmware_settings: setting("Enabled"),
        actual_firmware_settings: Some(bios(&host).await),
        has_firmware_spec: true,
        unprepared: true,
        ..ServiceRequest::default()
    };
    host.until("service", async |pass| {
        let answer = pass.service(service.clone()).await?;
        service.unprepared &= !answer.started;
        Ok(answer.progress)
    })
    .await
    .unwrap();
    assert_eq!(bios(&host).await["ProcTurboMode"], "Enabled");
    host.deprovision().await.unwrap();
    host.delete().await;
}

/// A missing image is reported although Ironic says so late; a good one is attached and detached.
async fn data_images(lab: &std::collections::HashMap<String, String>, host: &Host) {
    let attach = async |url: &str| {
        host.pass()
            .await
            .attach_data_image(AttachDataImageRequest { url: url.to_owned() })
            .await
            .unwrap();
        let start = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            match host.pass().await.get_data_image_status().await {
                Ok(false) if start.elapsed() < Duration::from_secs(20) => {}
                Err(error) if error.kind == bmo_provisioner::ErrorKind::Busy => {}
                other => break other,
            }
        }
    };
    let missing = attach(&format!("{}.missing", lab["LIVE_ISO_URL"])).await;
    println!("  missing data image: {missing:?}");
    assert!(missing.is_err());
    assert_eq!(attach(&lab["LIVE_ISO_URL"]).await, Ok(true));
    host.pass().await.detach_data_image().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(host.pass().await.get_data_image_status().await, Ok(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_boots_over_the_network() {
    let Some(lab) = lab() else { return };
    let mut host = Host::at(&lab, factory(&lab), 20, &lab["IPMI_ADDRESS"], &lab["IPMI_MAC"]);
    host.register("register").await.unwrap();
    host.inspect_and_prepare().await;
    assert!(host.pass().await.has_capacity().await.unwrap());
    host.provision(image(&lab)).await.unwrap();
    host.deprovision().await.unwrap();
    host.delete().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd() {
    const CROWD: usize = 14;
    let Some(lab) = lab() else { return };
    let factory = factory(&lab);
    let start = Instant::now();
    let lives = (0..CROWD).map(|number| {
        let (system, mac) = lab["MACHINES"]
            .split(' ')
            .nth(number)
            .unwrap()
            .split_once('=')
            .unwrap();
        let address = format!("{}{system}", lab["REDFISH_ADDRESS_PREFIX"]);
        let mut host = Host::at(&lab, Arc::clone(&factory), number, &address, mac).quiet();
        let image = image(&lab);
        async move {
            host.register("register").await.unwrap();
            host.inspect_and_prepare().await;
            host.provision(image).await.unwrap();
            host.request.state = ProvisioningState::Provisioned;
            host.until("idle", async |_| Ok(Progress::DONE)).await.unwrap();
            host.deprovision().await.unwrap();
            host.delete().await;
        }
    });
    futures::future::join_all(lives).await;
    let each = factory.requests() / u64::try_from(CROWD).unwrap();
    println!(
        "{CROWD} lives: {:.1} s, {each} requests each",
        start.elapsed().as_secs_f64()
    );
    assert!(each <= 60, "{each} requests for each life");
}

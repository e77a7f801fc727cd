//! The demo's behaviour by host name and method, as a table.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::time::Duration;

use bmo_plugin::prelude::*;
use bmo_plugin::testkit::{self, FixedHostConfig, Life, RecordedEvents};
use demo_provisioner::DemoFactory;

async fn demo(name: &str, id: &str) -> (Box<dyn Provisioner>, RecordedEvents) {
    let events = RecordedEvents::default();
    let host = HostData {
        namespace: "n".into(),
        name: name.into(),
        provisioner_id: id.into(),
        ..HostData::default()
    };
    (
        DemoFactory
            .new_provisioner(host, Arc::new(events.clone()))
            .await
            .unwrap(),
        events,
    )
}

/// The shape of an answer.
#[derive(Debug, PartialEq)]
enum Shape {
    Complete,
    Pending(u64),
    Failed(String),
}

fn shape<T>(progress: Progress<T>) -> Shape {
    match progress {
        Progress::Complete { .. } => Shape::Complete,
        Progress::Pending { after, .. } => Shape::Pending(after.as_secs()),
        Progress::Failed { message } => Shape::Failed(message),
    }
}

fn failed(text: &str) -> Shape {
    Shape::Failed(text.to_owned())
}

#[tokio::test]
async fn each_name_leaves_the_path_at_its_step() {
    use Shape::{Complete, Pending};
    // name, register (with an id), inspect, prepare, service, provision
    let table = [
        (
            "demo-registration-error",
            failed("failed to register new host"),
            Complete,
            Complete,
            Complete,
            Complete,
        ),
        (
            "demo-registering",
            Pending(5),
            Complete,
            Complete,
            Complete,
            Complete,
        ),
        (
            "demo-inspecting",
            Complete,
            Pending(5),
            Complete,
            Complete,
            Complete,
        ),
        (
            "demo-preparing-error",
            Complete,
            Complete,
            failed("preparing failed"),
            failed("servicing failed"),
            Complete,
        ),
        (
            "demo-preparing",
            Complete,
            Complete,
            Pending(5),
            Pending(5),
            Complete,
        ),
        (
            "demo-validation-error",
            Complete,
            Complete,
            Complete,
            Complete,
            failed("validation failed"),
        ),
        (
            "demo-provisioning",
            Complete,
            Complete,
            Complete,
            Complete,
            Pending(5),
        ),
        ("demo-available", Complete, Complete, Complete, Complete, Complete),
        (
            "demo-provisioned",
            Complete,
            Complete,
            Complete,
            Complete,
            Complete,
        ),
        ("anything", Complete, Complete, Complete, Complete, Complete),
    ];
    for (name, register, inspect, prepare, service, provision) in table {
        let (p, _) = demo(name, "some-id").await;
        let config = FixedHostConfig::default();
        assert_eq!(
            shape(p.register(RegisterRequest::default()).await.unwrap().progress),
            register,
            "{name}"
        );
        assert_eq!(
            shape(
                p.inspect_hardware(InspectRequest::default())
                    .await
                    .unwrap()
                    .progress
            ),
            inspect,
            "{name}"
        );
        assert_eq!(
            shape(p.prepare(PrepareRequest::default()).await.unwrap().progress),
            prepare,
            "{name}"
        );
        assert_eq!(
            shape(p.service(ServiceRequest::default()).await.unwrap().progress),
            service,
            "{name}"
        );
        let provisioned = p.provision(ProvisionRequest::default(), &config).await.unwrap();
        assert_eq!(shape(provisioned), provision, "{name}");
    }
}

#[tokio::test]
async fn registration_gives_the_hosts_name_as_id_once() {
    let (p, _) = demo("host-1", "").await;
    let first = p.register(RegisterRequest::default()).await.unwrap();
    assert_eq!(first.provisioner_id.as_deref(), Some("host-1"));
    assert!(matches!(
        first.progress,
        Progress::Pending {
            after: Duration::ZERO,
            ..
        }
    ));

    let (p, _) = demo("host-1", "host-1").await;
    let second = p.register(RegisterRequest::default()).await.unwrap();
    assert_eq!(
        second,
        Registration {
            provisioner_id: None,
            progress: Progress::DONE
        }
    );
}

#[tokio::test]
async fn preparing_and_servicing_say_what_they_started() {
    for (name, unprepared, started) in [
        ("demo-preparing", true, true),
        ("demo-preparing", false, false),
        ("other", true, true),
        ("other", false, true),
    ] {
        let (p, _) = demo(name, "id").await;
        let prepared = p
            .prepare(PrepareRequest {
                unprepared,
                ..PrepareRequest::default()
            })
            .await
            .unwrap();
        let serviced = p
            .service(ServiceRequest {
                unprepared,
                ..ServiceRequest::default()
            })
            .await
            .unwrap();
        assert_eq!(
            (prepared.started, serviced.started),
            (started, started),
            "{name} {unprepared}"
        );
    }
}

#[tokio::test]
async fn inspection_finds_the_same_machine_every_time() {
    let (p, events) = demo("host-1", "host-1").await;
    for call in 1..=2 {
        let inspection = p.inspect_hardware(InspectRequest::default()).await.unwrap();
        assert!(inspection.started);
        let Progress::Complete { value: found } = inspection.progress else {
            panic!("not complete")
        };
        assert_eq!(found.ram_mebibytes, 131_072);
        let nics: Vec<_> = found
            .nics
            .iter()
            .map(|n| (&*n.name, &*n.model, &*n.mac, &*n.ip, n.speed_gbps, n.pxe))
            .collect();
        assert_eq!(
            nics,
            [
                ("nic-1", "virt-io", "ab:cd:12:34:56:78", "192.168.100.1", 1, true),
                ("nic-2", "e1000", "12:34:56:78:ab:cd", "192.168.100.2", 1, false),
            ]
        );
        let disks: Vec<_> = found
            .storage
            .iter()
            .map(|d| (&*d.name, &*d.model, d.size_bytes, d.rotational))
            .collect();
        let size = 102_254_581_383_168; // 93 TiB
        assert_eq!(size, 93 * (1_i64 << 40));
        assert_eq!(
            disks,
            [
                ("disk-1 (boot)", "Dell CFJ61", size, false),
                ("disk-2", "Dell CFJ61", size, false)
            ]
        );
        assert_eq!(
            (&*found.cpu.arch, &*found.cpu.model, found.cpu.count),
            ("x86_64", "Core 2 Duo", 1)
        );
        assert!((found.cpu.clock_megahertz - 3000.0).abs() < f64::EPSILON);
        assert_eq!(found.cpu.flags, ["lm", "hypervisor", "vmx"]);
        assert_eq!(found.hostname, "");
        let event = (
            "InspectionComplete".to_owned(),
            "Hardware inspection completed".to_owned(),
        );
        assert_eq!(events.list(), vec![event; call]);
    }
}

#[tokio::test]
async fn an_inspection_that_never_ends_publishes_nothing() {
    let (p, events) = demo("demo-inspecting", "id").await;
    let inspection = p.inspect_hardware(InspectRequest::default()).await.unwrap();
    assert!(inspection.started);
    assert!(events.list().is_empty());
}

#[tokio::test]
async fn everything_else_succeeds_with_nothing() {
    let (p, _) = demo("host-1", "id").await;
    assert_eq!(p.preprovisioning_image_formats().await.unwrap(), None);
    assert_eq!(p.update_hardware_state().await.unwrap().powered_on, None);
    assert_eq!(p.adopt(AdoptRequest::default()).await.unwrap(), Progress::DONE);
    assert_eq!(
        p.deprovision(DeprovisionRequest::default()).await.unwrap(),
        Progress::DONE
    );
    assert_eq!(p.delete().await.unwrap(), Progress::DONE);
    assert_eq!(p.detach(DetachRequest::default()).await.unwrap(), Progress::DONE);
    assert_eq!(
        p.power_on(PowerOnRequest::default()).await.unwrap(),
        Progress::DONE
    );
    assert_eq!(
        p.power_off(PowerOffRequest::default()).await.unwrap(),
        Progress::DONE
    );
    assert!(p.has_capacity().await.unwrap());
    assert_eq!(
        p.get_firmware_settings(FirmwareSettingsRequest::default())
            .await
            .unwrap(),
        FirmwareSettings::default()
    );
    assert!(p.get_firmware_components().await.unwrap().is_empty());
    assert!(!p.get_data_image_status().await.unwrap());
    p.attach_data_image(AttachDataImageRequest::default())
        .await
        .unwrap();
    p.detach_data_image().await.unwrap();
    p.add_bmc_event_subscription(EventSubscriptionRequest::default())
        .await
        .unwrap();
    p.remove_bmc_event_subscription(EventSubscription::default())
        .await
        .unwrap();
    assert!(!p.has_power_failure().await);
    assert_eq!(p.get_health().await, None);
}

#[tokio::test]
async fn the_demo_keeps_the_contract() {
    testkit::conformance(&DemoFactory, &Life::default())
        .await
        .assert();
}

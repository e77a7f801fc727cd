//! Paused hosts, restored statuses, credentials, hardware details, and the end of a host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that goes wrong ends here"
)]

use bmo_api::{
    ErrorType, HardwareData, HardwareDataSpec, HardwareDetails, OperationalStatus as Op,
    ProvisioningState as State, annotations,
};
use bmo_lifecycle::{CredentialsProblem, NetworkDataRead, Outcome, StopReason};
use bmo_provisioner::{BmcCredentials, ProvisionerError};
use bmo_testkit::hosts::{managed_host, new_host};
use bmo_testkit::{Answer, Method, ScriptedProvisioner, World, Write};

fn world(host: bmo_api::BareMetalHost) -> World {
    World::new(host, ScriptedProvisioner::new())
}

fn invalid() -> CredentialsProblem {
    CredentialsProblem::Invalid {
        message: "username is empty".to_owned(),
    }
}

#[tokio::test]
async fn a_paused_host_is_left_alone_even_if_it_is_deleted() {
    let mut world = world(new_host("host"));
    world.annotate(annotations::PAUSED, "");
    world.delete();
    let report = world.pass().await;
    assert_eq!(
        report.outcome,
        Outcome::Stop {
            reason: StopReason::Paused
        }
    );
    assert!(world.writes.is_empty());
}

#[tokio::test]
async fn a_host_without_bmc_details_is_discovered() {
    let mut host = new_host("host");
    host.spec.bmc = bmo_api::BmcDetails::default();
    let mut world = world(host.clone());
    world.settle().await;
    assert_eq!(
        (world.state(), world.status().operational_status),
        (State::Unmanaged, Op::Discovered)
    );
    assert_eq!(world.writes, [Write::Host, Write::Status]);
    world.edit(|edited| edited.spec.bmc = new_host("host").spec.bmc);
    world.settle().await;
    assert_eq!(
        (world.state(), world.status().operational_status),
        (State::Available, Op::Ok)
    );
}

#[tokio::test]
async fn credentials_that_cannot_be_used() {
    type Break = fn(&mut World);
    let table: [(&str, Break, bool); 5] = [
        ("no user", |world| world.change_secret(Err(invalid())), true),
        (
            "no address",
            |world| world.edit(|host| host.spec.bmc.address.clear()),
            true,
        ),
        (
            "no name",
            |world| world.edit(|host| host.spec.bmc.credentials_name.clear()),
            true,
        ),
        ("no Secret", |world| world.secret = None, false),
        ("no Secret on a working host", |world| world.secret = None, false),
    ];
    for (name, spoil, stops) in table {
        let host = if name.ends_with("working host") {
            managed_host(State::Provisioned)
        } else {
            new_host("host")
        };
        let mut world = world(host);
        spoil(&mut world);
        for _ in 0..4 {
            let report = world.pass().await;
            if world.status().error_type.is_some() {
                assert_eq!(matches!(report.outcome, Outcome::Stop { .. }), stops, "{name}");
            }
        }
        let status = world.status();
        assert_eq!(status.error_type, Some(ErrorType::RegistrationError), "{name}");
        assert_eq!(
            (status.operational_status, status.error_count),
            (Op::Error, 1),
            "{name}: counted once"
        );
        assert!(!status.error_message.is_empty(), "{name}");
        let told = world
            .events
            .iter()
            .filter(|event| event.reason == "BMCCredentialError")
            .count();
        assert_eq!(told, 1, "{name}: told once");
    }
}

#[tokio::test]
async fn corrected_credentials_take_the_error_back() {
    let mut world = world(new_host("host"));
    world.change_secret(Err(invalid()));
    for _ in 0..3 {
        world.pass().await;
    }
    assert_eq!(world.state(), State::Registering);
    let good = BmcCredentials {
        username: "admin".into(),
        password: "better".into(),
    };
    world.change_secret(Ok(good.clone()));
    world.settle().await;
    assert_eq!(
        (world.state(), world.status().error_type),
        (State::Available, None)
    );
    assert!(
        world
            .events
            .iter()
            .any(|event| event.reason == "BMCAccessValidated")
    );

    let proven = world.status().good_credentials;
    world.change_secret(Err(invalid()));
    world.settle().await;
    assert_eq!(world.status().good_credentials, proven, "kept");
    assert_eq!(world.state(), State::Available);
    world.change_secret(Ok(good));
    world.settle().await;
    assert_ne!(world.status().good_credentials, proven);
    assert_eq!((world.status().error_type, world.status().error_count), (None, 0));
}

#[tokio::test]
async fn a_status_that_moved_with_its_host_is_restored() {
    let moved = serde_json::to_string(&managed_host(State::Provisioned).status).unwrap();
    let mut world = world(new_host("host"));
    world.edit(|host| host.spec.image = managed_host(State::Provisioned).spec.image);
    world.annotate(annotations::STATUS, &moved);
    let found = HardwareDetails {
        hostname: "found".to_owned(),
        ..HardwareDetails::default()
    };
    world.hardware_data = Some(HardwareData {
        metadata: bmo_api::ObjectMeta::default(),
        spec: HardwareDataSpec {
            hardware: Some(found.clone()),
        },
    });
    world.settle().await;
    assert_eq!(world.states, [State::None, State::Provisioned]);
    assert_eq!(world.status().hardware, Some(found));
    assert_eq!(world.stored().annotation(annotations::STATUS), None);
    assert!(world.backend.calls_of(Method::Provision).is_empty());

    world.annotate(annotations::STATUS, "{}");
    world.settle().await;
    assert_eq!(world.state(), State::Provisioned, "a host with a status keeps it");
    assert_eq!(world.stored().annotation(annotations::STATUS), None);
}

#[tokio::test]
async fn an_unreadable_status_is_kept_and_the_host_left_alone() {
    let mut world = world(new_host("host"));
    world.annotate(annotations::STATUS, "{");
    let report = world.pass().await;
    assert_eq!(
        report.outcome,
        Outcome::Stop {
            reason: StopReason::StatusAnnotation
        }
    );
    assert!(world.writes.is_empty());
    assert_eq!(world.events[0].reason, "InvalidAnnotationValue");
}

#[tokio::test]
async fn hardware_details_from_elsewhere() {
    let annotation = r#"{"hostname":"annotated"}"#;
    // Details known, inspection disabled, HardwareData there, hostname afterwards, reason of the event.
    let table = [
        (false, true, false, "annotated", "UpdateHardwareDetails"),
        (false, true, true, "data", "UpdateHardwareDetails"),
        (true, false, false, "known", "RemoveAnnotation"),
        (true, true, false, "annotated", "UpdateHardwareDetails"),
        (true, true, true, "data", "UpdateHardwareDetails"),
    ];
    for (row, (known, disabled, data, hostname, reason)) in table.into_iter().enumerate() {
        let mut host = managed_host(State::Available);
        host.spec.image = None;
        let named = |name: &str| HardwareDetails {
            hostname: name.to_owned(),
            ..HardwareDetails::default()
        };
        host.status.as_mut().unwrap().hardware = known.then(|| named("known"));
        let mut world = world(host);
        if disabled {
            world.annotate(annotations::INSPECT, "disabled");
        }
        if data {
            world.hardware_data = Some(HardwareData {
                metadata: bmo_api::ObjectMeta::default(),
                spec: HardwareDataSpec {
                    hardware: Some(named("data")),
                },
            });
        }
        world.annotate(annotations::HARDWARE_DETAILS, annotation);
        world.pass().await;
        assert_eq!(world.status().hardware.unwrap().hostname, hostname, "row {row}");
        assert_eq!(
            world.stored().annotation(annotations::HARDWARE_DETAILS),
            None,
            "row {row}"
        );
        assert_eq!(world.events[0].reason, reason, "row {row}");
    }
}

#[tokio::test]
async fn unreadable_hardware_details_do_not_hold_a_host() {
    let mut world = world(new_host("host"));
    world.annotate(annotations::HARDWARE_DETAILS, r#"{"hardware":{"hostname":"h"}}"#);
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    let event = world
        .events
        .iter()
        .find(|event| event.reason == "InvalidAnnotationValue")
        .unwrap();
    assert!(
        event.message.contains("unknown field \"hardware\""),
        "{}",
        event.message
    );
}

#[tokio::test]
async fn every_host_can_be_deleted() {
    use State as S;
    let states = [
        S::None,
        S::Unmanaged,
        S::Registering,
        S::MatchProfile,
        S::Inspecting,
        S::Preparing,
        S::Available,
        S::Ready,
        S::Provisioning,
        S::Provisioned,
        S::ExternallyProvisioned,
        S::Deprovisioning,
        S::PoweringOffBeforeDelete,
        S::Deleting,
    ];
    let refuse = || Answer::Failed("no");
    let unknown = || Answer::Error(ProvisionerError::needs_registration("unknown host"));
    for state in states {
        for (name, answer, secret) in [
            ("all well", Answer::Done, true),
            ("refusing", refuse(), true),
            ("unknown, no Secret", unknown(), false),
        ] {
            let backend = [
                Method::Deprovision,
                Method::PowerOff,
                Method::Delete,
                Method::Adopt,
            ]
            .into_iter()
            .fold(ScriptedProvisioner::new(), |backend, method| {
                backend.always(method, answer.clone())
            });
            let mut world = World::new(managed_host(state.clone()), backend);
            if !secret {
                world.secret = None;
            }
            world.delete();
            world.run_until(60, |world| world.host.is_none()).await;
            let secret_released = world.secret.as_ref().is_none_or(|secret| !secret.claimed);
            assert!(secret_released, "{state:?} {name}");
            assert!(
                !world.backend.calls_of(Method::Delete).is_empty(),
                "{state:?} {name}"
            );
        }
    }
}

#[tokio::test]
async fn deletion_gives_up_a_bmc_that_cannot_be_registered_any_more() {
    let backend = ScriptedProvisioner::new().always(Method::Register, Answer::Failed("wrong password"));
    let mut world = World::new(managed_host(State::Provisioned), backend);
    world.delete();
    world.run_until(20, |world| world.host.is_none()).await;
    assert!(world.backend.calls_of(Method::Deprovision).is_empty());
}

#[tokio::test]
async fn deletion_does_not_wait_for_what_is_missing() {
    let needs = Answer::Error(ProvisionerError::needs_preprovisioning_image("an ISO image"));
    let mut no_image = World::new(
        managed_host(State::Provisioned),
        ScriptedProvisioner::new().always(Method::Register, needs),
    );
    let mut no_network_data = world(managed_host(State::Provisioned));
    no_network_data.network_data = NetworkDataRead::Problem("no such Secret".to_owned());
    for world in [&mut no_image, &mut no_network_data] {
        world.delete();
        world.run_until(20, |world| world.host.is_none()).await;
    }
    assert_eq!(no_network_data.backend.calls_of(Method::Deprovision).len(), 1);
}

#[tokio::test]
async fn missing_network_data_is_told_once() {
    let mut world = world(new_host("host"));
    world.network_data = NetworkDataRead::Problem("no such Secret".to_owned());
    for _ in 0..5 {
        let report = world.pass().await;
        world.wait(&report.outcome);
    }
    let status = world.status();
    assert_eq!(
        (world.state(), status.error_message.as_str()),
        (State::Registering, "no such Secret")
    );
    assert_eq!(status.error_count, 1);
    world.network_data = NetworkDataRead::Found("{}".into());
    world.settle().await;
    assert_eq!(world.state(), State::Available);
}

#[tokio::test]
async fn profiles_and_hints() {
    let hints = |name: &str| bmo_api::RootDeviceHints {
        device_name: name.to_owned(),
        ..Default::default()
    };
    let table = [
        (
            "redfish://192.0.2.1",
            "",
            None,
            Some(("unknown", hints("/dev/sda"))),
        ),
        (
            "libvirt://192.0.2.1",
            "",
            None,
            Some(("libvirt", hints("/dev/vda"))),
        ),
        (
            "libvirt://192.0.2.1",
            "unknown",
            None,
            Some(("unknown", hints("/dev/sda"))),
        ),
        (
            "redfish://192.0.2.1",
            "",
            Some(hints("/dev/nvme0")),
            Some(("unknown", hints("/dev/nvme0"))),
        ),
        ("redfish://192.0.2.1", "no such", None, None),
    ];
    for (address, profile, wanted, expected) in table {
        let mut host = new_host("host");
        address.clone_into(&mut host.spec.bmc.address);
        profile.clone_into(&mut host.spec.hardware_profile);
        host.spec.root_device_hints = wanted;
        let mut world = world(host);
        world.settle().await;
        let status = world.status();
        if let Some((profile, hints)) = expected {
            assert_eq!(
                (
                    status.hardware_profile.as_str(),
                    status.provisioning.root_device_hints
                ),
                (profile, Some(hints))
            );
        } else {
            assert_eq!(status.error_type, Some(ErrorType::RegistrationError));
            assert_eq!(world.state(), State::Registering);
        }
    }
}

#[tokio::test]
async fn a_former_secret_is_released() {
    let mut world = world(managed_host(State::Available));
    world.edit(|host| {
        host.spec.image = None;
        host.spec.bmc.credentials_name = "another".to_owned();
    });
    let observed_writes = world.writes.len();
    world.pass().await;
    assert_eq!(
        world.status().good_credentials.reference.unwrap().name.as_deref(),
        Some("another")
    );
    assert!(world.writes.len() > observed_writes);
}

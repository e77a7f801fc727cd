//! Power, reboots, and what is left of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that goes wrong ends here"
)]

use bmo_api::{ErrorType, ProvisioningState as State, RebootMode, annotations};
use bmo_testkit::hosts::managed_host;
use bmo_testkit::recorder::Detail;
use bmo_testkit::{Answer, Method, ScriptedProvisioner, World};

/// How often, and in which modes, the host was switched off.
fn power_offs(world: &World) -> Vec<RebootMode> {
    let calls = world.backend.calls_of(Method::PowerOff).into_iter();
    calls
        .map(|call| match call.detail {
            Detail::PowerOff { mode } => mode,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[tokio::test]
async fn reboot_keys() {
    use RebootMode::{Hard, Soft};
    type Keys = &'static [(&'static str, &'static str)];
    // Keys, the state, how the host is switched off.
    let table: [(Keys, State, Option<RebootMode>); 11] = [
        (&[], State::Provisioned, None),
        (&[("reboot.metal3.io", "")], State::Provisioned, Some(Soft)),
        (&[("reboot.metal3.io/one", "")], State::Provisioned, Some(Soft)),
        (
            &[("reboot.metal3.io/one", ""), ("reboot.metal3.io/two", "")],
            State::Provisioned,
            Some(Soft),
        ),
        (
            &[("reboot.metal3.io", r#"{"mode":"soft"}"#)],
            State::Provisioned,
            Some(Soft),
        ),
        (
            &[("reboot.metal3.io", r#"{"mode":"hard"}"#)],
            State::Provisioned,
            Some(Hard),
        ),
        (
            &[("reboot.metal3.io", r#"{"mode":"#)],
            State::Provisioned,
            Some(Soft),
        ),
        (
            &[
                ("reboot.metal3.io/one", r#"{"mode":"hard"}"#),
                ("reboot.metal3.io", r#"{"mode":"soft"}"#),
            ],
            State::Provisioned,
            Some(Hard),
        ),
        (
            &[("reboot.metal3.io", r#"{"mode":"hard","force":true}"#)],
            State::Available,
            Some(Hard),
        ),
        (
            &[("reboot.metal3.io", r#"{"mode":"hard"}"#)],
            State::Available,
            None,
        ),
        (&[("reboot.metal3.iooo", "")], State::Provisioned, None),
    ];
    for (row, (keys, state, expected)) in table.into_iter().enumerate() {
        let mut host = managed_host(state.clone());
        if state == State::Available {
            host.spec.image = None;
        }
        let mut world = World::new(host, ScriptedProvisioner::new());
        for (key, value) in keys {
            world.annotate(key, value);
        }
        world.pass().await;
        assert_eq!(power_offs(&world).first().copied(), expected, "row {row}");
    }
}

#[tokio::test]
async fn the_bare_key_reboots_once() {
    let mut world = World::new(managed_host(State::Provisioned), ScriptedProvisioner::new());
    world.annotate(annotations::REBOOT, "");
    world.pass().await;
    assert!(!world.status().powered_on);
    world.settle().await;
    assert!(world.status().powered_on);
    assert_eq!(world.stored().annotation(annotations::REBOOT), None);
    world.settle().await;
    assert_eq!(
        (
            power_offs(&world).len(),
            world.backend.calls_of(Method::PowerOn).len()
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn a_suffixed_key_holds_the_host_off() {
    let mut world = World::new(managed_host(State::Provisioned), ScriptedProvisioner::new());
    world.annotate("reboot.metal3.io/client", "");
    world.settle().await;
    world.settle().await;
    assert!(!world.status().powered_on);
    assert!(world.stored().annotation("reboot.metal3.io/client").is_some());
    world.remove_annotation("reboot.metal3.io/client");
    world.settle().await;
    assert!(world.status().powered_on);
    assert_eq!(power_offs(&world).len(), 1);
}

#[tokio::test]
async fn both_kinds_of_keys() {
    let mut world = World::new(managed_host(State::Provisioned), ScriptedProvisioner::new());
    world.annotate(annotations::REBOOT, "");
    world.annotate("reboot.metal3.io/client", "");
    world.settle().await;
    let left = world.stored().metadata.annotations.clone().unwrap_or_default();
    assert_eq!(left.keys().collect::<Vec<_>>(), ["reboot.metal3.io/client"]);
    assert!(!world.status().powered_on);
}

#[tokio::test]
async fn a_host_that_must_never_be_off() {
    let mut host = managed_host(State::Provisioned);
    host.spec.disable_power_off = true;
    let backend = ScriptedProvisioner::new().always(Method::ReadPower, Answer::Flag(true));
    let mut world = World::new(host, backend.clone());
    world.annotate("reboot.metal3.io/client", "");
    world.edit(|host| host.spec.online = false);
    world.settle().await;
    assert!(power_offs(&world).is_empty(), "cannot be held off");

    world.edit(|host| host.spec.online = true);
    backend.next(Method::PowerOff, [Answer::Failed("busy")]);
    world.annotate(annotations::REBOOT, "");
    world.settle().await;
    assert!(
        world.stored().annotation(annotations::REBOOT).is_some(),
        "a failed reboot is not forgotten"
    );
    world.settle().await;
    assert_eq!(world.stored().annotation(annotations::REBOOT), None);
    assert_eq!((power_offs(&world).len(), world.status().powered_on), (2, true));

    world.delete();
    world.settle().await;
    assert_eq!(
        power_offs(&world).len(),
        2,
        "not switched off before deletion either"
    );
}

#[tokio::test]
async fn only_the_retry_of_a_failed_soft_attempt_is_hard() {
    let mut host = managed_host(State::Provisioned);
    host.spec.online = false;
    host.status.as_mut().unwrap().error_count = 7;
    let backend = ScriptedProvisioner::new();
    backend.next(Method::PowerOff, [Answer::Failed("the system does not answer")]);
    let mut world = World::new(host, backend);
    world.pass().await;
    assert!(world.status().error_message.contains("next attempt will be hard"));
    world.pass().await;
    assert_eq!(power_offs(&world), [RebootMode::Soft, RebootMode::Hard]);
    let status = world.status();
    assert_eq!(
        (status.powered_on, status.error_type, status.error_count),
        (false, None, 0)
    );
}

#[tokio::test]
async fn a_power_error_goes_when_the_power_is_as_wanted() {
    let mut host = managed_host(State::Provisioned);
    let status = host.status.as_mut().unwrap();
    status.error_type = Some(ErrorType::PowerManagementError);
    status.operational_status = bmo_api::OperationalStatus::Error;
    status.error_count = 3;
    let mut world = World::new(host, ScriptedProvisioner::new());
    world.pass().await;
    let status = world.status();
    assert_eq!((status.error_type, status.error_count), (None, 0));
    assert_eq!(status.operational_status, bmo_api::OperationalStatus::Ok);
}

#[tokio::test]
async fn unreadable_values_are_told_when_the_reboot_begins() {
    let mut world = World::new(managed_host(State::Provisioned), ScriptedProvisioner::new());
    world.annotate("reboot.metal3.io/client", "{");
    world.settle().await;
    world.settle().await;
    let told = world
        .events
        .iter()
        .filter(|event| event.reason == "InvalidAnnotationValue")
        .count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn a_power_failure_shows_and_costs_one_write() {
    let backend = ScriptedProvisioner::new();
    let mut world = World::new(managed_host(State::Provisioned), backend.clone());
    world.settle().await;
    backend.set(Method::PowerFailure, Answer::Flag(true));
    assert!(world.pass().await.status_written);
    let manageable = world
        .status()
        .conditions
        .into_iter()
        .find(|it| it.type_ == "Manageable")
        .unwrap();
    assert_eq!(
        (manageable.status.as_str(), manageable.reason.as_str()),
        ("False", "PowerFailure")
    );
    for _ in 0..5 {
        assert!(!world.pass().await.status_written);
    }
}

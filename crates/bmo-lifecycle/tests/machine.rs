//! The state machine, row by row.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that goes wrong ends here"
)]

use bmo_api::{
    BareMetalHost, BootMode, CustomDeploy, ErrorType, InspectionMode, OperationalStatus as Op,
    ProvisioningState as State, annotations,
};
use bmo_lifecycle::{Metric, Outcome, WaitReason};
use bmo_provisioner::ProvisionerError;
use bmo_testkit::hosts::{image, managed_host};
use bmo_testkit::recorder::Detail;
use bmo_testkit::{Answer, Method, ScriptedProvisioner, World};

fn world(host: BareMetalHost) -> World {
    World::new(host, ScriptedProvisioner::new())
}

fn status(host: &mut BareMetalHost) -> &mut bmo_api::BareMetalHostStatus {
    host.status.as_mut().unwrap()
}

/// A host of that state that is to stay there: nothing to deploy, nothing to switch.
fn idle_host(state: State) -> BareMetalHost {
    let mut host = managed_host(state);
    if matches!(host.state(), State::Available | State::Ready) {
        host.spec.image = None;
    }
    if host.state() == State::ExternallyProvisioned {
        host.spec.externally_provisioned = true;
    }
    host
}

fn deleted(mut host: BareMetalHost) -> BareMetalHost {
    host.metadata.deletion_timestamp = Some(bmo_api::time::whole_seconds(bmo_testkit::world::START));
    host
}

fn annotated(mut host: BareMetalHost, key: &str, value: &str) -> BareMetalHost {
    host.metadata
        .annotations
        .get_or_insert_default()
        .insert(key.to_owned(), value.to_owned());
    host
}

#[tokio::test]
async fn capacity() {
    // State at start, already delayed, a slot is free, state afterwards, delayed afterwards, counted as delayed.
    let table = [
        (State::Registering, false, false, State::Registering, true, true),
        (State::Registering, false, true, State::Available, false, false),
        (State::Available, false, false, State::Available, true, true),
        (State::Ready, false, false, State::Ready, true, true),
        (State::Available, false, true, State::Provisioning, false, false),
        (State::Available, true, false, State::Available, true, false),
        (State::Available, true, true, State::Provisioning, false, false),
        (State::Inspecting, false, false, State::Inspecting, true, true),
        (State::Inspecting, false, true, State::Available, false, false),
        (State::Provisioning, false, false, State::Provisioning, true, true),
        (State::Provisioning, false, true, State::Provisioned, false, false),
        (State::Deprovisioning, false, true, State::Available, false, false),
    ];
    for (row, (from, was_delayed, free, to, delayed, counted)) in table.into_iter().enumerate() {
        let mut host = managed_host(from.clone());
        if !matches!(from, State::Available | State::Ready | State::Provisioning) {
            host.spec.image = None;
        }
        if was_delayed {
            status(&mut host).operational_status = Op::Delayed;
        }
        let backend = ScriptedProvisioner::new().always(Method::Capacity, Answer::Flag(free));
        let mut world = World::new(host, backend);
        let report = world.pass().await;
        assert_eq!(world.state(), to, "row {row}");
        assert_eq!(
            world.status().operational_status == Op::Delayed,
            delayed,
            "row {row}"
        );
        assert_eq!(
            report.metrics.contains(&Metric::DelayedProvisioning),
            counted,
            "row {row}"
        );
        if delayed {
            assert!(
                matches!(
                    report.outcome,
                    Outcome::Requeue {
                        reason: WaitReason::Capacity,
                        ..
                    }
                ),
                "row {row}"
            );
        }
    }
}

#[tokio::test]
async fn a_failure_is_kept_while_its_host_waits_for_a_slot() {
    let mut host = managed_host(State::Provisioning);
    status(&mut host).error_type = Some(ErrorType::ProvisioningError);
    status(&mut host).operational_status = Op::Error;
    let backend = ScriptedProvisioner::new().always(Method::Capacity, Answer::Flag(false));
    let mut world = World::new(host, backend.clone());
    for _ in 0..3 {
        world.pass().await;
        assert_eq!(
            (world.state(), world.status().provisioning_fail_count),
            (State::Provisioning, 0)
        );
    }
    backend.set(Method::Capacity, Answer::Flag(true));
    world.pass().await;
    assert_eq!(
        (world.state(), world.status().provisioning_fail_count),
        (State::Deprovisioning, 1)
    );
    assert!(world.backend.calls_of(Method::Provision).is_empty());
}

#[tokio::test]
async fn a_host_that_waits_for_a_slot_can_be_deleted_and_detached() {
    let full = || ScriptedProvisioner::new().always(Method::Capacity, Answer::Flag(false));
    let mut world = World::new(deleted(managed_host(State::Inspecting)), full());
    world.pass().await;
    assert_eq!(world.state(), State::PoweringOffBeforeDelete);

    let mut host = annotated(managed_host(State::Available), annotations::DETACHED, "");
    status(&mut host).operational_status = Op::Delayed;
    let mut world = World::new(host, full());
    world.pass().await;
    assert_eq!(world.status().operational_status, Op::Detached);
}

#[tokio::test]
async fn waiting_for_a_preprovisioning_image() {
    for (tried, written) in [("99", true), ("100", false)] {
        let mut host = managed_host(State::Inspecting);
        status(&mut host).tried_credentials.version = tried.to_owned();
        let needs = Answer::Error(ProvisionerError::needs_preprovisioning_image("an ISO image"));
        let mut world = World::new(host, ScriptedProvisioner::new().always(Method::Register, needs));
        let report = world.pass().await;
        assert!(matches!(
            report.outcome,
            Outcome::Requeue {
                reason: WaitReason::PreprovisioningImage,
                ..
            }
        ));
        assert_eq!(world.status().tried_credentials.version, "100");
        if written {
            assert!(report.status_written);
        }
        assert!(!world.pass().await.status_written, "told once");
    }
}

#[tokio::test]
async fn detaching() {
    // Host, key, Detach called, op afterwards, state afterwards.
    let foreign = |mut host: BareMetalHost| {
        host.metadata.finalizers = Some(vec!["foreign".to_owned()]);
        deleted(host)
    };
    let mut unmanaged = managed_host(State::Unmanaged);
    unmanaged.spec.bmc = bmo_api::BmcDetails::default();
    let mut new = managed_host(State::None);
    new.spec.bmc = bmo_api::BmcDetails::default();
    let mut gone = idle_host(State::Provisioned);
    status(&mut gone).operational_status = Op::Detached;
    let table = vec![
        (
            idle_host(State::Provisioned),
            false,
            false,
            Op::Ok,
            State::Provisioned,
        ),
        (
            idle_host(State::ExternallyProvisioned),
            false,
            false,
            Op::Ok,
            State::ExternallyProvisioned,
        ),
        (
            idle_host(State::Provisioned),
            true,
            true,
            Op::Detached,
            State::Provisioned,
        ),
        (
            idle_host(State::ExternallyProvisioned),
            true,
            true,
            Op::Detached,
            State::ExternallyProvisioned,
        ),
        (
            idle_host(State::Available),
            true,
            true,
            Op::Detached,
            State::Available,
        ),
        (deleted(gone), true, false, Op::Detached, State::Deleting),
        (new, true, false, Op::Discovered, State::Unmanaged),
        (unmanaged, true, false, Op::Ok, State::Unmanaged),
        (
            idle_host(State::Provisioning),
            true,
            false,
            Op::Ok,
            State::Provisioned,
        ),
        (
            managed_host(State::Available),
            false,
            false,
            Op::Ok,
            State::Provisioning,
        ),
        (
            managed_host(State::Ready),
            false,
            false,
            Op::Ok,
            State::Provisioning,
        ),
        (
            foreign(managed_host(State::Deleting)),
            true,
            false,
            Op::Ok,
            State::Deleting,
        ),
    ];
    for (row, (host, key, called, op, state)) in table.into_iter().enumerate() {
        let host = if key {
            annotated(host, annotations::DETACHED, "true")
        } else {
            host
        };
        let mut world = world(host);
        world.pass().await;
        assert_eq!(
            !world.backend.calls_of(Method::Detach).is_empty(),
            called,
            "row {row}"
        );
        assert_eq!(
            (world.status().operational_status, world.state()),
            (op, state),
            "row {row}"
        );
    }
}

#[tokio::test]
async fn forced_detaching_in_the_middle_of_an_operation() {
    let host = annotated(
        managed_host(State::Inspecting),
        annotations::DETACHED,
        r#"{"force":true}"#,
    );
    let mut world = world(host);
    world.pass().await;
    assert_eq!(
        world.backend.calls_of(Method::Detach)[0].detail,
        Detail::Detach { force: true }
    );
    assert_eq!(
        (world.status().operational_status, world.state()),
        (Op::Detached, State::Inspecting)
    );
    assert!(world.backend.calls_of(Method::Register).is_empty());
    world.secret = None;
    world.pass().await;
    assert_eq!(
        world.status().operational_status,
        Op::Detached,
        "a detached host needs no Secret"
    );
}

#[tokio::test]
async fn a_failed_detachment_is_recorded_and_taken_back() {
    for key_removed in [false, true] {
        let backend = ScriptedProvisioner::new().always(Method::Detach, Answer::Failed("no"));
        let host = annotated(idle_host(State::Provisioned), annotations::DETACHED, "true");
        let mut world = World::new(host, backend.clone());
        world.pass().await;
        let status = world.status();
        assert_eq!((status.error_count, status.operational_status), (1, Op::Error));
        assert_eq!(
            (status.error_type, status.error_message.as_str()),
            (Some(ErrorType::DetachError), "no")
        );
        assert_eq!(world.state(), State::Provisioned);
        backend.set(Method::Detach, Answer::Done);
        if key_removed {
            world.remove_annotation(annotations::DETACHED);
        }
        world.pass().await;
        let expected = if key_removed { Op::Ok } else { Op::Detached };
        let status = world.status();
        assert_eq!(
            (status.error_count, status.operational_status, status.error_type),
            (0, expected, None)
        );
    }
}

#[tokio::test]
async fn deleting_a_detached_host() {
    let table = [
        (
            Op::Detached,
            Some(r#"{"deleteAction":"delay"}"#),
            State::Provisioned,
            Op::Detached,
        ),
        (
            Op::Detached,
            Some(r#"{"deleteAction":"delete"}"#),
            State::Deleting,
            Op::Detached,
        ),
        (Op::Detached, Some("true"), State::Deleting, Op::Detached),
        (Op::Detached, None, State::Provisioned, Op::Ok),
        (Op::Ok, None, State::Deprovisioning, Op::Ok),
        (
            Op::Ok,
            Some(r#"{"deleteAction":"delete"}"#),
            State::Deleting,
            Op::Ok,
        ),
    ];
    for (row, (before, key, state, op)) in table.into_iter().enumerate() {
        let mut host = deleted(idle_host(State::Provisioned));
        status(&mut host).operational_status = before;
        let host = match key {
            Some(value) => annotated(host, annotations::DETACHED, value),
            None => host,
        };
        let mut world = world(host);
        world.pass().await;
        assert_eq!(
            (world.state(), world.status().operational_status),
            (state, op),
            "row {row}"
        );
    }
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a table")]
async fn a_failed_call_is_counted_and_told() {
    let off = |mut host: BareMetalHost| {
        status(&mut host).powered_on = false;
        host
    };
    let to_switch_off = |mut host: BareMetalHost| {
        host.spec.online = false;
        host
    };
    let table = vec![
        (
            idle_host(State::Registering),
            Method::Register,
            ErrorType::RegistrationError,
        ),
        (
            idle_host(State::Inspecting),
            Method::Inspect,
            ErrorType::InspectionError,
        ),
        (
            idle_host(State::Preparing),
            Method::Prepare,
            ErrorType::PreparationError,
        ),
        (
            managed_host(State::Provisioning),
            Method::Provision,
            ErrorType::ProvisioningError,
        ),
        (
            idle_host(State::Deprovisioning),
            Method::Deprovision,
            ErrorType::ProvisioningError,
        ),
        (
            off(idle_host(State::Available)),
            Method::PowerOn,
            ErrorType::PowerManagementError,
        ),
        (
            off(idle_host(State::Ready)),
            Method::PowerOn,
            ErrorType::PowerManagementError,
        ),
        (
            to_switch_off(idle_host(State::Available)),
            Method::PowerOff,
            ErrorType::PowerManagementError,
        ),
        (
            idle_host(State::ExternallyProvisioned),
            Method::Adopt,
            ErrorType::ProvisionedRegistrationError,
        ),
        (
            idle_host(State::Provisioned),
            Method::Adopt,
            ErrorType::ProvisionedRegistrationError,
        ),
    ];
    for (host, method, error) in table {
        let state = host.state();
        let mut world = World::new(
            host,
            ScriptedProvisioner::new().always(method, Answer::Failed("no luck")),
        );
        let report = world.pass().await;
        let status = world.status();
        assert_eq!(
            (status.error_count, status.operational_status.clone()),
            (1, Op::Error),
            "{method:?}"
        );
        assert_eq!(status.error_type, Some(error.clone()), "{method:?}");
        assert!(
            status.error_message.ends_with("no luck"),
            "{method:?}: {}",
            status.error_message
        );
        assert_eq!(
            status.error_message == "no luck",
            method != Method::PowerOff,
            "{method:?}"
        );
        assert_eq!(world.state(), state, "{method:?}");
        assert!(
            report.metrics.contains(&Metric::HostError(error.clone())),
            "{method:?}"
        );
        assert!(
            world
                .events
                .iter()
                .any(|event| event.reason == error.event_reason()),
            "{method:?}"
        );
        let Outcome::Requeue {
            after,
            reason: WaitReason::Failure { .. },
        } = report.outcome
        else {
            panic!("{method:?}: {:?}", report.outcome);
        };
        assert!((60..=120).contains(&after.as_secs()), "{method:?}: {after:?}");
    }
}

#[tokio::test]
async fn success_resets_the_count_of_failures() {
    let disabled = |host| annotated(host, annotations::INSPECT, "disabled");
    let table = vec![
        idle_host(State::Registering),
        disabled(idle_host(State::Registering)),
        idle_host(State::Inspecting),
        idle_host(State::MatchProfile),
        idle_host(State::Preparing),
        managed_host(State::Provisioning),
        idle_host(State::Deprovisioning),
        deleted(idle_host(State::Deprovisioning)),
        deleted(idle_host(State::PoweringOffBeforeDelete)),
    ];
    for mut host in table {
        let from = host.state();
        status(&mut host).error_count = 1;
        let mut world = world(host);
        world.pass().await;
        assert_ne!(world.state(), from);
        assert_eq!(world.status().error_count, 0, "{from:?}");
    }
}

#[tokio::test]
async fn errors_are_taken_back() {
    let mut host = managed_host(State::Inspecting);
    status(&mut host).error_type = Some(ErrorType::RegistrationError);
    status(&mut host).operational_status = Op::Error;
    let mut other_secret = idle_host(State::Available);
    status(&mut other_secret).error_type = Some(ErrorType::InspectionError);
    status(&mut other_secret).operational_status = Op::Error;
    other_secret.spec.bmc.credentials_name = "another".to_owned();
    for host in [host, other_secret] {
        let mut world = World::new(
            host,
            ScriptedProvisioner::new().always(Method::Inspect, Answer::Pending(60)),
        );
        world.pass().await;
        let status = world.status();
        assert_eq!(
            (
                status.operational_status,
                status.error_type,
                status.error_message.as_str()
            ),
            (Op::Ok, None, "")
        );
    }
}

#[tokio::test]
async fn boot_mode_is_stored_where_it_takes_effect() {
    for (wanted, stored) in [
        (None, BootMode::Uefi),
        (Some(BootMode::Uefi), BootMode::Uefi),
        (Some(BootMode::Legacy), BootMode::Legacy),
    ] {
        let mut host = managed_host(State::Available);
        host.spec.boot_mode = wanted;
        status(&mut host).provisioning.boot_mode = None;
        let mut world = world(host);
        world.pass().await;
        assert_eq!(world.status().provisioning.boot_mode, Some(stored));
    }
}

#[tokio::test]
async fn limit_of_attempts() {
    let mut other_checksum = image("http://images/one");
    other_checksum.checksum = "2".to_owned();
    // Limit, failures before, image of the last attempt, state afterwards, failures afterwards, op.
    let table = [
        (5, 5, image("http://images/one"), State::Available, 5, Op::Error),
        (5, 4, image("http://images/one"), State::Provisioning, 4, Op::Ok),
        (5, 5, image("http://images/two"), State::Provisioning, 0, Op::Ok),
        (5, 5, other_checksum, State::Provisioning, 0, Op::Ok),
        (5, 3, image("http://images/one"), State::Provisioning, 3, Op::Ok),
        (
            0,
            100,
            image("http://images/one"),
            State::Provisioning,
            100,
            Op::Ok,
        ),
    ];
    for (row, (limit, failures, last, state, after, op)) in table.into_iter().enumerate() {
        let mut host = managed_host(State::Available);
        status(&mut host).provisioning_fail_count = failures;
        status(&mut host).last_attempted_image = Some(last);
        let mut world = world(host);
        world.policy.max_provisioning_retries = limit;
        world.pass().await;
        let status = world.status();
        assert_eq!(
            (
                world.state(),
                status.provisioning_fail_count,
                status.operational_status
            ),
            (state, after, op),
            "row {row}"
        );
    }
}

#[tokio::test]
async fn failing_deployments_end_at_the_limit() {
    let backend = ScriptedProvisioner::new().always(Method::Provision, Answer::Failed("no"));
    let mut world = World::new(managed_host(State::Available), backend);
    world.policy.max_provisioning_retries = 3;
    world
        .run_until(100, |world| {
            world.status().error_message.contains("3 are allowed")
        })
        .await;
    assert_eq!(world.state(), State::Available);
    assert_eq!(world.backend.calls_of(Method::Provision).len(), 3);
    let writes = world.writes.len();
    world.settle().await;
    assert_eq!(world.writes.len(), writes, "recorded once");
}

#[tokio::test]
async fn a_custom_deployment_without_image_is_limited_too() {
    let mut host = managed_host(State::Available);
    host.spec.image = None;
    host.spec.custom_deploy = Some(CustomDeploy {
        method: "install".to_owned(),
    });
    let backend = ScriptedProvisioner::new().always(Method::Provision, Answer::Failed("no"));
    let mut world = World::new(host, backend);
    world.policy.max_provisioning_retries = 2;
    world
        .run_until(100, |world| {
            world.status().error_message.contains("2 are allowed")
        })
        .await;
    assert_eq!(world.backend.calls_of(Method::Provision).len(), 2);
}

#[tokio::test]
async fn an_image_changed_during_deployment_is_deployed_afterwards() {
    let backend = ScriptedProvisioner::new().always(Method::Provision, Answer::Pending(60));
    let mut world = World::new(managed_host(State::Available), backend.clone());
    world.pass().await;
    world.pass().await;
    world.edit(|host| host.spec.image = Some(image("http://images/two")));
    backend.set(Method::Provision, Answer::Done);
    world.run_to(State::Provisioned).await;
    assert_eq!(world.status().provisioning.image, image("http://images/two"));
    assert_eq!(world.status().provisioning_fail_count, 0);
    assert!(world.states.contains(&State::Deprovisioning));
    let deployed: Vec<_> = world
        .backend
        .calls_of(Method::Provision)
        .into_iter()
        .map(|call| match call.detail {
            Detail::Provision(request) => request.image.unwrap().url,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(deployed, ["http://images/one", "http://images/two"]);
}

#[tokio::test]
async fn the_image_in_use_is_told_to_registration() {
    let table = [
        (State::Available, None),
        (State::Provisioning, Some("http://images/one")),
        (State::ExternallyProvisioned, Some("http://images/one")),
        (State::Provisioned, Some("http://images/one")),
        (State::Deprovisioning, Some("http://images/one")),
    ];
    for (state, expected) in table {
        let mut host = managed_host(state.clone());
        host.spec.externally_provisioned = state == State::ExternallyProvisioned;
        let mut world = world(host);
        world.pass().await;
        let Detail::Register(request) = &world.backend.calls_of(Method::Register)[0].detail else {
            panic!()
        };
        assert_eq!(
            request.current_image.as_ref().map(|image| image.url.as_str()),
            expected,
            "{state:?}"
        );
    }
}

#[tokio::test]
async fn inspection_on_request() {
    let host = annotated(idle_host(State::Available), annotations::INSPECT, "");
    let mut world = world(host);
    let first = world.pass().await;
    assert_eq!(
        (first.outcome, world.state()),
        (Outcome::Again, State::Inspecting)
    );
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    assert_eq!(world.backend.calls_of(Method::Inspect).len(), 1);
    assert_eq!(world.stored().annotation(annotations::INSPECT), None);
}

#[tokio::test]
async fn a_request_that_the_spec_forbids_is_dropped() {
    let mut host = annotated(idle_host(State::Available), annotations::INSPECT, "");
    host.spec.inspection_mode = Some(InspectionMode::Disabled);
    let mut world = world(host);
    world.settle().await;
    assert_eq!(world.stored().annotation(annotations::INSPECT), None);
    assert!(world.backend.calls_of(Method::Inspect).is_empty());
}

#[tokio::test]
async fn externally_provisioned_hosts() {
    let mut host = managed_host(State::Registering);
    host.spec.externally_provisioned = true;
    let mut world = world(host);
    world.settle().await;
    assert_eq!(world.state(), State::ExternallyProvisioned);
    assert!(world.status().operation_history.inspect.start.is_none());

    world.edit(|host| host.spec.externally_provisioned = false);
    world.settle().await;
    assert_eq!(world.state(), State::Provisioned);
    assert_eq!(world.status().provisioning.image, image("http://images/one"));
    assert!(world.backend.calls_of(Method::Provision).is_empty());

    let mut empty = idle_host(State::ExternallyProvisioned);
    empty.spec.image = None;
    empty.spec.externally_provisioned = false;
    let mut world = self::world(empty);
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    assert!(world.states.contains(&State::Deprovisioning));
}

#[tokio::test]
async fn volumes_are_set_up_only_where_that_is_stored() {
    let mut host = idle_host(State::Available);
    host.spec.raid = Some(bmo_api::RaidConfig {
        hardware_raid_volumes: Some(Vec::new()),
        software_raid_volumes: None,
    });
    let mut world = world(host.clone());
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    assert_eq!(world.status().provisioning.raid, host.spec.raid);
    let calls = world.backend.calls_of(Method::Prepare);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].stored, State::Preparing);
}

#[tokio::test]
async fn a_back_end_that_is_done_with_what_it_did_not_do_is_not_asked_in_a_loop() {
    let mut host = idle_host(State::Available);
    host.spec.raid = Some(bmo_api::RaidConfig {
        hardware_raid_volumes: Some(Vec::new()),
        software_raid_volumes: None,
    });
    let backend = ScriptedProvisioner::new().always(Method::Prepare, Answer::DoneNotStarted);
    let mut world = World::new(host, backend);
    world.pass().await;
    let report = world.pass().await;
    assert!(
        matches!(
            report.outcome,
            Outcome::Requeue {
                reason: WaitReason::Settling,
                ..
            }
        ),
        "{report:?}"
    );
}

#[tokio::test]
async fn an_unready_back_end_is_waited_for_without_losing_the_host() {
    let not_ready = Answer::Error(ProvisionerError::not_ready("starting"));
    let backend = ScriptedProvisioner::new();
    backend.next(Method::New, vec![not_ready; 4]);
    let mut world = World::new(bmo_testkit::hosts::new_host("host"), backend);
    world.pass().await;
    for _ in 0..4 {
        let report = world.pass().await;
        assert!(report.metrics.contains(&Metric::ProvisionerNotReady));
        let Outcome::Requeue {
            after,
            reason: WaitReason::NotReady { .. },
        } = report.outcome
        else {
            panic!()
        };
        assert_eq!(after.as_secs(), 30);
    }
    world.run_to(State::Available).await;
}

#[tokio::test]
async fn an_error_that_passes_leaves_the_status_alone() {
    let error = Answer::Error(ProvisionerError::transient("connection reset"));
    let backend = ScriptedProvisioner::new().always(Method::Provision, error);
    let mut world = World::new(managed_host(State::Provisioning), backend.clone());
    let before = world.status();
    let report = world.pass().await;
    assert!(matches!(report.outcome, Outcome::Error(_)));
    let after = world.status();
    assert_eq!(
        (after.error_type, after.error_count, &after.provisioning.image),
        (None, 0, &before.provisioning.image)
    );
    let progressing = after
        .conditions
        .iter()
        .find(|condition| condition.type_ == "Progressing")
        .unwrap();
    assert!(
        progressing.message.contains("connection reset"),
        "{}",
        progressing.message
    );
    assert!(!world.pass().await.status_written, "told once");
    backend.set(Method::Provision, Answer::Done);
    world.run_to(State::Provisioned).await;
}

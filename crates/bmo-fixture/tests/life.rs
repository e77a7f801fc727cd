//! Lives of hosts on the fixture, with the real lifecycle and without a cluster.

#![allow(clippy::unwrap_used, reason = "a test that goes wrong ends here")]

use bmo_api::{ErrorType, ProvisioningState as State, annotations};
use bmo_fixture::{Fixture, MachineState};
use bmo_testkit::World;
use bmo_testkit::hosts::{NAMESPACE, image, new_host};

fn machine(fixture: &Fixture, name: &str) -> MachineState {
    fixture
        .machine(NAMESPACE, name, &format!("uid-of-{name}"))
        .unwrap()
}

#[tokio::test]
async fn a_whole_life() {
    let fixture = Fixture::new();
    let mut world = World::new(new_host("host"), fixture.clone());
    world.settle().await;
    assert_eq!(
        world.states,
        [
            State::None,
            State::Registering,
            State::Inspecting,
            State::Available
        ]
    );
    assert_eq!(
        world.hardware_data.as_ref().unwrap().spec.hardware,
        Some(bmo_fixture::hardware_details())
    );
    let status = world.status();
    assert!(status.powered_on && machine(&fixture, "host").powered_on);
    assert_eq!(status.provisioning.id, "temporary-fake-id");

    world.edit(|host| host.spec.image = Some(image("http://images/one")));
    world.settle().await;
    assert_eq!(world.state(), State::Provisioned);
    assert_eq!(
        machine(&fixture, "host").image.as_deref(),
        Some("http://images/one")
    );

    world.edit(|host| host.spec.online = false);
    world.settle().await;
    assert!(!world.status().powered_on && !machine(&fixture, "host").powered_on);
    world.edit(|host| host.spec.online = true);
    world.settle().await;

    world.edit(|host| host.spec.image = None);
    world.settle().await;
    assert_eq!(
        (world.state(), machine(&fixture, "host").image),
        (State::Available, None)
    );
    world.delete();
    world.settle().await;
    assert!(world.host.is_none());
    let machine = machine(&fixture, "host");
    assert!(machine.deleted && !machine.powered_on);
    assert_eq!(machine.deploys, 1);
    let reasons: Vec<_> = world.events.iter().map(|event| event.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "Registered",
            "ProfileSet",
            "BMCAccessValidated",
            "InspectionComplete",
            "PowerOn",
            "ProvisioningComplete",
            "PowerOff",
            "PowerOn",
            "DeprovisionStarted",
            "DeprovisionComplete",
            "PowerOff"
        ]
    );
}

#[tokio::test]
async fn hosts_do_not_share_a_machine() {
    let fixture = Fixture::new();
    let mut one = World::new(new_host("one"), fixture.clone());
    let mut two = World::new(new_host("two"), fixture.clone());
    one.edit(|host| host.spec.image = Some(image("http://images/one")));
    one.settle().await;
    two.settle().await;
    assert!(two.states.contains(&State::Inspecting), "inspected by itself");
    assert_eq!(machine(&fixture, "one").deploys, 1);
    assert_eq!(machine(&fixture, "two").deploys, 0);
}

#[tokio::test]
async fn machines_are_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machines.json");
    let mut world = World::new(new_host("host"), Fixture::with_state_file(&path).unwrap());
    world.edit(|host| host.spec.image = Some(image("http://images/one")));
    world
        .run_until(40, |world| world.state() == State::Provisioning)
        .await;
    world.pass().await;
    assert_eq!(
        machine(&Fixture::with_state_file(&path).unwrap(), "host").deploys,
        1
    );

    // The manager is killed; another one goes on with the same host.
    let fixture = Fixture::with_state_file(&path).unwrap();
    let mut restarted = World::new(world.host.take().unwrap(), fixture.clone());
    restarted.run_to(State::Provisioned).await;
    assert_eq!(machine(&fixture, "host").deploys, 1);
}

#[tokio::test]
async fn a_crash_before_any_write_deploys_once() {
    for crash in 0..12 {
        let fixture = Fixture::new();
        let mut world = World::new(new_host("host"), fixture.clone());
        world.edit(|host| host.spec.image = Some(image("http://images/one")));
        let mut left = Some(crash);
        for _ in 0..60 {
            let before = world.writes.len();
            world.crash_after_writes = left;
            let report = world.pass().await;
            world.crash_after_writes = None;
            let made = world.writes.len() - before;
            left = left
                .filter(|_| !report.crashed)
                .map(|left| left.saturating_sub(made));
            if !report.crashed {
                world.wait(&report.outcome);
            }
        }
        assert_eq!(world.state(), State::Provisioned, "crash before write {crash}");
        assert_eq!(machine(&fixture, "host").deploys, 1, "crash before write {crash}");
    }
}

#[test]
fn a_file_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machines.json");
    std::fs::write(&path, "not machines").unwrap();
    let message = Fixture::with_state_file(&path).unwrap_err().to_string();
    assert!(
        message.contains("machines.json") && message.contains("BMO_FIXTURE_STATE"),
        "{message}"
    );
}

#[tokio::test]
async fn a_failed_registration_is_told_and_can_be_deleted() {
    let fixture = Fixture::new();
    fixture.configure(NAMESPACE, "host", |behaviour| {
        behaviour.registration_error = Some("malformed url".to_owned());
    });
    let mut world = World::new(new_host("host"), fixture);
    world.settle().await;
    let status = world.status();
    assert_eq!(
        (world.state(), status.error_message.as_str()),
        (State::Registering, "malformed url")
    );
    assert_eq!(status.error_type, Some(ErrorType::RegistrationError));
    world.delete();
    world.settle().await;
    assert!(world.host.is_none());
}

#[tokio::test]
async fn inspection_can_be_repeated_and_switched_off() {
    let mut world = World::new(new_host("host"), Fixture::new());
    world.annotate(annotations::INSPECT, "disabled");
    world.settle().await;
    assert_eq!((world.state(), world.status().hardware), (State::Available, None));
    assert!(world.status().operation_history.inspect.start.is_none());
    world.annotate(annotations::INSPECT, "");
    world.settle().await;
    world.settle().await;
    assert!(world.states.contains(&State::Inspecting));
    assert_eq!(world.stored().annotation(annotations::INSPECT), None);
    assert!(world.status().hardware.is_some());
}

#[tokio::test]
async fn a_custom_deployment_with_and_without_image() {
    for with_image in [false, true] {
        let fixture = Fixture::new();
        let mut world = World::new(new_host("host"), fixture.clone());
        world.edit(|host| {
            host.spec.custom_deploy = Some(bmo_api::CustomDeploy {
                method: "install".to_owned(),
            });
            host.spec.image = with_image.then(|| image("http://images/one"));
        });
        world.run_to(State::Provisioned).await;
        let status = world.status();
        assert_eq!(status.provisioning.custom_deploy.unwrap().method, "install");
        assert_eq!(status.provisioning.image.url.is_empty(), !with_image);
    }
}

//! What a host's life costs in writes to the API.

use bmo_api::ProvisioningState as State;
use bmo_lifecycle::{Outcome, WaitReason};
use bmo_testkit::hosts::{image, new_host};
use bmo_testkit::{Answer, Method, ScriptedProvisioner, World, Write};

/// A back end that never has to wait, as the demo plugin: registration only says the id first.
fn instant() -> ScriptedProvisioner {
    let backend = ScriptedProvisioner::new();
    backend.next(
        Method::Register,
        [Answer::Id("host", Box::new(Answer::Pending(0)))],
    );
    backend.always(Method::Register, Answer::Id("host", Box::new(Answer::Done)))
}

async fn idle_hour(world: &mut World) {
    let writes = world.writes.len();
    let end = world.now + std::time::Duration::from_hours(1);
    while world.now < end {
        let report = world.pass().await;
        assert!(
            matches!(
                report.outcome,
                Outcome::Requeue {
                    reason: WaitReason::Steady,
                    ..
                }
            ),
            "{report:?}"
        );
        world.wait(&report.outcome);
    }
    assert_eq!(world.writes.len(), writes, "an idle host costs no write");
}

#[tokio::test]
async fn a_whole_life_costs_at_most_15_writes_and_none_while_idle() {
    let mut world = World::new(new_host("host"), instant());
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    assert!(world.status().powered_on);
    assert!(world.hardware_data.is_some());
    idle_hour(&mut world).await;

    world.edit(|host| host.spec.image = Some(image("http://images/one")));
    world.settle().await;
    assert_eq!(world.state(), State::Provisioned);
    assert_eq!(world.status().provisioning.image, image("http://images/one"));
    idle_hour(&mut world).await;

    world.edit(|host| host.spec.image = None);
    world.settle().await;
    assert_eq!(world.state(), State::Available);
    idle_hour(&mut world).await;

    world.delete();
    assert_eq!(world.settle().await, Outcome::Deleted);
    assert!(world.host.is_none());

    let of = |kind| world.writes.iter().filter(|write| **write == kind).count();
    let counts = [
        of(Write::Host),
        of(Write::Status),
        of(Write::Secret),
        of(Write::HardwareData),
    ];
    assert_eq!(
        counts,
        [2, 8, 2, 2],
        "host, status, Secret, HardwareData: {:?}",
        world.writes
    );
    assert!(world.writes.len() <= 15);
    assert_eq!(world.backend.calls_of(Method::Provision).len(), 1);
}

#[tokio::test]
async fn a_waiting_host_costs_no_write() {
    type Prepare = fn(&mut World);
    let waits: [(&str, Prepare); 3] = [
        ("missing Secret", |world| world.secret = None),
        ("no BMC details", |world| {
            world.edit(|host| host.spec.bmc = bmo_api::BmcDetails::default());
        }),
        ("no slot", |_| {}),
    ];
    for (name, prepare) in waits {
        let backend = ScriptedProvisioner::new().always(Method::Capacity, Answer::Flag(name != "no slot"));
        let mut world = World::new(new_host("host"), backend);
        prepare(&mut world);
        for _ in 0..5 {
            world.pass().await;
        }
        let (writes, events) = (world.writes.len(), world.events.len());
        for _ in 0..5 {
            let report = world.pass().await;
            world.wait(&report.outcome);
        }
        assert_eq!(
            (world.writes.len(), world.events.len()),
            (writes, events),
            "{name}"
        );
        let message = world
            .status()
            .conditions
            .into_iter()
            .find(|it| it.type_ == "Progressing")
            .unwrap()
            .message;
        assert!(message.starts_with("waiting for"), "{name}: {message:?}");
    }
}

//! A crash, or a conflict, between any two writes leads to the same end, and never to a second deployment; calls that
//! destroy are made only where it is stored that they are due.

use bmo_api::ProvisioningState as State;
use bmo_lifecycle::Outcome;
use bmo_provisioner::{ErrorKind, ProvisionerError};
use bmo_testkit::hosts::{image, new_host};
use bmo_testkit::{Answer, Method, ScriptedProvisioner, World};
use proptest::prelude::*;

/// Whether every destructive call was made in a pass whose stored state named it.
fn check_calls(world: &World) {
    for call in world.backend.calls() {
        if let Some(state) = call.needs_stored() {
            assert_eq!(call.stored, state, "{:?}", call.method);
        }
    }
}

/// Runs to a goal with a crash before the `crash`th write from now; the writes that were made.
async fn run(world: &mut World, crash: Option<usize>, reached: impl Fn(&World) -> bool) -> usize {
    let before = world.writes.len();
    let mut left = crash;
    for _ in 0..80 {
        if reached(world) {
            break;
        }
        world.crash_after_writes = left;
        let writes = world.writes.len();
        let report = world.pass().await;
        world.crash_after_writes = None;
        let made = world.writes.len() - writes;
        left = if report.crashed {
            None
        } else {
            left.map(|left| left.saturating_sub(made))
        };
        let again = report.crashed || matches!(report.outcome, Outcome::Again);
        if !again {
            world.wait(&report.outcome);
        }
    }
    assert!(reached(world), "crash at {crash:?}: {:#?}", world.status());
    world.writes.len() - before
}

/// A back end with long operations: each takes two looks.
fn slow() -> ScriptedProvisioner {
    let backend = ScriptedProvisioner::new();
    for method in [
        Method::Register,
        Method::Inspect,
        Method::Provision,
        Method::Deprovision,
        Method::Delete,
    ] {
        backend.next(method, [Answer::Pending(5), Answer::Pending(5)]);
    }
    backend
}

#[tokio::test]
async fn a_crash_before_any_write_of_a_life() {
    let mut crash = None;
    let mut writes = usize::MAX;
    while crash.unwrap_or(0) < writes {
        let mut world = World::new(new_host("host"), slow());
        world.edit(|host| host.spec.image = Some(image("http://images/one")));
        let mut total = run(&mut world, crash, |world| world.state() == State::Provisioned).await;
        let later = crash.and_then(|at: usize| at.checked_sub(total));
        world.delete();
        total += run(&mut world, later, |world| world.host.is_none()).await;
        check_calls(&world);
        let deployed = world.backend.calls_of(Method::Provision).len();
        assert!(deployed >= 3, "crash at {crash:?}");
        assert!(
            world
                .states
                .iter()
                .filter(|state| **state == State::Provisioning)
                .count()
                == 1,
            "crash at {crash:?}"
        );
        writes = writes.min(total);
        crash = Some(crash.map_or(0, |at| at + 1));
    }
    assert!(writes >= 10, "{writes}");
}

fn answers() -> impl Strategy<Value = Answer> {
    let kinds = prop_oneof![
        Just(ErrorKind::NotReady),
        Just(ErrorKind::NeedsRegistration),
        Just(ErrorKind::NeedsPreprovisioningImage),
        Just(ErrorKind::Busy),
        Just(ErrorKind::Unsupported),
        Just(ErrorKind::Transient),
    ];
    prop_oneof![
        3 => Just(Answer::Done),
        1 => Just(Answer::DoneNotStarted),
        2 => (0_u64..20).prop_map(Answer::Pending),
        2 => Just(Answer::Failed("no luck")),
        2 => kinds.prop_map(|kind| Answer::Error(ProvisionerError::new(kind, "no luck"))),
        1 => any::<bool>().prop_map(Answer::Flag),
    ]
}

const METHODS: [Method; 13] = [
    Method::New,
    Method::Register,
    Method::Inspect,
    Method::Prepare,
    Method::Provision,
    Method::Deprovision,
    Method::Adopt,
    Method::Detach,
    Method::Delete,
    Method::PowerOn,
    Method::PowerOff,
    Method::ReadPower,
    Method::Capacity,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever a back end answers for a while, and wherever commits are cut off: a host is provisioned in the end, what
    /// destroys is done only where it is stored, and the host can be deleted.
    #[test]
    fn hosts_converge(
        script in prop::collection::vec((0..METHODS.len(), answers()), 0..40),
        crashes in prop::collection::vec(prop::option::of(0_usize..3), 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let backend = ScriptedProvisioner::new();
            for (method, answer) in script {
                backend.next(METHODS[method], [answer]);
            }
            let mut world = World::new(new_host("host"), backend);
            world.policy.max_provisioning_retries = 0;
            world.edit(|host| host.spec.image = Some(image("http://images/one")));
            let mut crashes = crashes.into_iter();
            for goal in [State::Provisioned, State::None] {
                if goal == State::None {
                    world.delete();
                }
                for pass in 0.. {
                    if world.host.is_none() || (goal == State::Provisioned && world.state() == goal) {
                        break;
                    }
                    assert!(pass < 400, "{:#?}", world.status());
                    world.crash_after_writes = crashes.next().flatten();
                    let report = world.pass().await;
                    world.crash_after_writes = None;
                    world.wait(&report.outcome);
                }
            }
            check_calls(&world);
        });
    }
}

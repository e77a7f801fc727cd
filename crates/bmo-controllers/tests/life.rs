//! Hosts through their life: controllers, an embedded API server and the fixture in one process, on a clock that
//! runs only while everyone waits.

mod world;

use std::sync::Arc;
use std::time::Duration;

use bmo_api::ProvisioningState as State;
use bmo_apiserver::faults::{Action, Matcher};
use kube::ResourceExt as _;
use serde_json::json;

use world::{Instant, World};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test(start_paused = true)]
async fn a_whole_life_costs_few_writes() {
    let instant = World::new().await;
    let running = instant.start_with(Arc::new(Instant));
    let writes = writes_of_a_life(&instant).await;
    assert!(
        writes <= 15,
        "{writes} writes for a life in which nothing is waited for:\n{}",
        instant.counted()
    );
    drop(running);

    let world = World::new().await;
    let _running = world.start();
    let writes = writes_of_a_life(&world).await;
    assert!(writes <= 19, "{writes} writes for a life:\n{}", world.counted());
    assert!(
        !world.metrics.render().contains(r#"host="h""#),
        "the host's series went with it"
    );
}

async fn writes_of_a_life(world: &World) -> u64 {
    world.audit_controllers();
    world.create_secret("creds", "admin", "secret").await;
    world.create_host("h", "creds").await;
    world.wait_state("h", &State::Available).await;
    tokio::time::sleep(Duration::from_mins(2)).await;
    world.set_image("h", true).await;
    world.wait_state("h", &State::Provisioned).await;
    tokio::time::sleep(Duration::from_mins(2)).await;
    world.set_image("h", false).await;
    world.wait_state("h", &State::Available).await;
    tokio::time::sleep(Duration::from_mins(2)).await;
    world.delete_host("h").await;
    world.wait_gone("h").await;
    let secret = world.secret("creds").await;
    assert!(
        secret.is_none_or(|secret| secret.finalizers().is_empty()),
        "the Secret was released"
    );
    world.controller_writes(2)
}

#[tokio::test(start_paused = true)]
async fn an_idle_host_costs_no_write() {
    let world = World::new().await;
    let _running = world.start();
    world.create_secret("creds", "admin", "secret").await;
    world.create_host("h", "creds").await;
    world.set_image("h", true).await;
    world.wait_state("h", &State::Provisioned).await;
    tokio::time::sleep(Duration::from_mins(5)).await;
    world.audit_controllers();
    tokio::time::sleep(HOUR).await;
    assert_eq!(world.all_writes(), 0, "{}", world.counted());
}

#[tokio::test(start_paused = true)]
async fn a_missing_secret_is_found_when_it_appears() {
    let world = World::new().await;
    let _running = world.start();
    world.create_host("h", "creds").await;
    world
        .wait_host("h", |host| {
            host.status
                .as_ref()
                .is_some_and(|s| s.error_message.contains("creds"))
        })
        .await;
    let host = world.host("h").await.unwrap();
    world.audit_controllers();
    tokio::time::sleep(HOUR).await;
    assert_eq!(
        world.controller_writes(0),
        0,
        "waiting for a Secret writes nothing"
    );
    world.create_secret("creds", "admin", "secret").await;
    world.wait_state("h", &State::Available).await;
    assert_eq!(host.uid(), world.host("h").await.unwrap().uid());
}

#[tokio::test(start_paused = true)]
async fn bad_credentials_are_tried_again_when_they_change() {
    let world = World::new().await;
    let _running = world.start();
    world.create_secret("creds", "admin", "").await;
    world.create_host("h", "creds").await;
    world
        .wait_host("h", |host| {
            host.status
                .as_ref()
                .is_some_and(|s| s.error_message.contains("password"))
        })
        .await;
    world
        .patch_secret("creds", json!({"stringData": {"password": "right"}}))
        .await;
    world.wait_state("h", &State::Available).await;
    let status = world.host("h").await.unwrap().status.unwrap();
    assert_eq!((status.error_type, status.error_message.as_str()), (None, ""));
}

#[tokio::test(start_paused = true)]
async fn a_host_can_be_deleted_in_every_state() {
    let states = [
        State::Registering,
        State::Inspecting,
        State::Preparing,
        State::Available,
        State::Provisioning,
        State::Provisioned,
        State::Deprovisioning,
    ];
    for state in states {
        let world = World::new().await;
        let _running = world.start();
        world.create_secret("creds", "admin", "secret").await;
        world.create_host("h", "creds").await;
        match state {
            State::Provisioning | State::Provisioned => world.set_image("h", true).await,
            State::Deprovisioning => {
                world.set_image("h", true).await;
                world.wait_state("h", &State::Provisioned).await;
                world.set_image("h", false).await;
            }
            _ => {}
        }
        // A state that is passed through within one pass is never stored: then the next one is as good.
        world
            .wait_host("h", |host| {
                host.state() == state || rank(&host.state()) > rank(&state)
            })
            .await;
        world.delete_host("h").await;
        world.wait_gone("h").await;
    }
}

fn rank(state: &State) -> u8 {
    match state {
        State::None | State::Unmanaged => 0,
        State::Registering => 1,
        State::Inspecting => 2,
        State::Preparing => 3,
        State::Available => 4,
        State::Provisioning => 5,
        State::Provisioned => 6,
        _ => 7,
    }
}

#[tokio::test(start_paused = true)]
async fn conflicts_do_not_lose_what_happened() {
    let world = World::new().await;
    world.create_secret("creds", "admin", "secret").await;
    world.create_host_of("h", "creds", true).await;
    for nth in 0..12 {
        let every_second = 2 * nth;
        world.server.faults().nth(
            every_second,
            Matcher::writes().resource("baremetalhosts"),
            Action::FailBefore(409),
        );
    }
    let _running = world.start();
    world.wait_state("h", &State::Provisioned).await;
    assert_eq!(world.deploys("h").await, 1);
}

/// The manager dies at each of its writes, before or after the server made it, and another one goes on.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_write_leads_to_one_deploy() {
    for action in [
        Action::FailBefore(500),
        Action::FailAfter(500),
        Action::BreakAfter,
    ] {
        for nth in 0..16 {
            let world = World::new().await;
            world.create_secret("creds", "admin", "secret").await;
            world.create_host_of("h", "creds", true).await;
            world.server.faults().nth(nth, Matcher::writes(), action.clone());
            let first = world.start();
            world.wait_fault().await;
            drop(first);
            let _second = world.start();
            world.wait_state("h", &State::Provisioned).await;
            assert_eq!(world.deploys("h").await, 1, "{action:?} at write {nth}");
            world.delete_host("h").await;
            world.wait_gone("h").await;
        }
    }
}

/// The same, cut at arbitrary moments of the life rather than at writes.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_moment_leads_to_one_deploy() {
    let world = World::new().await;
    world.create_secret("creds", "admin", "secret").await;
    world.create_host_of("h", "creds", true).await;
    for step in 0..60_u64 {
        let running = world.start();
        tokio::time::sleep(Duration::from_millis(17 * (step % 13) + step)).await;
        drop(running);
    }
    let _running = world.start();
    world.wait_state("h", &State::Provisioned).await;
    assert_eq!(world.deploys("h").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_wake_by_the_provisioner_is_prompt() {
    let world = World::new().await;
    let running = world.start();
    world.create_secret("creds", "admin", "secret").await;
    world.create_host("h", "creds").await;
    world.wait_state("h", &State::Available).await;
    tokio::time::sleep(Duration::from_secs(90)).await;
    let before = world.passes("h");
    running.wake("h");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(world.passes("h") > before, "no pass within 100 ms of a wake");
}

#[tokio::test(start_paused = true)]
async fn broken_watches_are_taken_up_again() {
    let world = World::new().await;
    let _running = world.start();
    world.create_secret("creds", "admin", "secret").await;
    world.server.faults().drop_watches();
    world.server.forget_history();
    world.create_host("h", "creds").await;
    world.wait_state("h", &State::Available).await;
    world.server.faults().drop_watches();
    world.server.forget_history();
    world.delete_host("h").await;
    world.wait_gone("h").await;
}

//! A host's whole life, as the operator's own lifecycle drives it, with loaded plugins: registering, available,
//! provisioned, available again, gone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::large_futures,
    reason = "a test"
)]

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bmo_api::ProvisioningState as State;
use bmo_plugin_host::{LoadOptions, PluginHealth};
use bmo_provisioner::{Capabilities, EventPublisher, HostData, Provisioner, ProvisionerFactory, Result};
use bmo_testkit::World;
use bmo_testkit::hosts::{image, new_host};
use common::{bad_plugin, impatient, load_configured, rust_plugin};

struct Loaded(Arc<dyn ProvisionerFactory>);

#[async_trait]
impl ProvisionerFactory for Loaded {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        self.0.new_provisioner(host, events).await
    }
}

async fn world(path: &Path, options: LoadOptions) -> (World, PluginHealth) {
    let (plugin, factory) = load_configured(path, options).await;
    (World::new(new_host("machine"), Loaded(factory)), plugin.health())
}

/// Passes until the host is in `state`. The world's time is virtual, a plugin's is not: each pass takes a moment.
async fn run_to(world: &mut World, state: State) {
    for _ in 0..300 {
        if world.state() == state {
            return;
        }
        let report = world.pass().await;
        world.wait(&report.outcome);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the host is not {state:?} but {:#?}", world.status());
}

async fn whole_life(path: &Path) {
    let (mut world, health) = world(path, LoadOptions::default()).await;
    run_to(&mut world, State::Available).await;
    world.edit(|host| host.spec.image = Some(image("http://images/one")));
    run_to(&mut world, State::Provisioned).await;
    world.edit(|host| host.spec.image = None);
    run_to(&mut world, State::Available).await;
    world.delete();
    world.run_until(100, |world| world.host.is_none()).await;
    let seen = health.snapshot();
    assert_eq!(
        (seen.crashes, seen.malformed, seen.stray_answers, seen.timeouts),
        (0, 0, 0, 0)
    );
}

#[tokio::test]
async fn the_demo() {
    whole_life(&rust_plugin("demo_provisioner")).await;
}

#[tokio::test]
async fn a_plugin_in_c_with_only_the_minimum() {
    let dir = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/out-of-tree/c");
    let make = Command::new("make")
        .arg("-s")
        .arg("-C")
        .arg(source)
        .arg(format!("BUILD={}", dir.path().display()))
        .status();
    assert!(make.expect("make is needed").success());
    whole_life(&dir.path().join("cdemo-provisioner.so")).await;
}

/// What a user sees of a host whose plugin panics or hangs: nothing is undone, and the pass is tried again.
#[tokio::test]
async fn a_plugin_that_hangs_undoes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // Answers everything but powering on.
    let path = bad_plugin(dir.path(), "bad-provisioner.so", &["MODE=1", "PROGRESS=1"]);
    let (mut world, health) = world(&path, impatient()).await;
    for _ in 0..30 {
        world.pass().await;
        if health.snapshot().timeouts > 1 {
            break;
        }
    }
    assert!(
        health.snapshot().timeouts > 1,
        "powering on was never tried: {:?}",
        world.state()
    );
    assert_eq!(world.state(), State::Available);
}

#[tokio::test]
#[ignore = "needs plugins that a script has built"]
async fn the_named_plugins_run_a_host() {
    for path in common::named_plugins() {
        whole_life(&path).await;
    }
}

//! The shipped demo plugin, loaded and driven through the host.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::default_trait_access,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use bmo_plugin_host::{HostConfigureInput, PluginDir, check_plugin, load};
use bmo_provisioner::{
    Capabilities, HostData, NoEvents, NoHostConfig, Progress, ProvisionRequest, RegisterRequest,
};
use common::{load_configured, name, no_cluster, rust_plugin};
use std::sync::Arc;

#[tokio::test]
async fn the_demo_is_loaded_from_a_directory_and_runs_a_host() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(
        rust_plugin("demo_provisioner"),
        dir.path().join("demo-provisioner.so"),
    )
    .unwrap();
    let plugin = load(&PluginDir::new(dir.path()), &name("demo"), Default::default())
        .await
        .unwrap();
    assert_eq!(plugin.name.as_str(), "demo");
    assert_eq!(plugin.version, env!("CARGO_PKG_VERSION"));
    assert!(
        plugin.build_info.compiler.starts_with("rustc 1."),
        "{}",
        plugin.build_info
    );
    assert!(plugin.build_info.sdk.starts_with("bmo-plugin "));
    assert_eq!(plugin.capabilities, Capabilities::all());
    assert_eq!(
        plugin
            .host_configure(HostConfigureInput::default())
            .await
            .unwrap(),
        Default::default()
    );

    let factory = plugin.factory(no_cluster()).await.unwrap();
    let mut host = HostData {
        namespace: "n".into(),
        name: "host-1".into(),
        ..HostData::default()
    };
    let p = factory
        .new_provisioner(host.clone(), Arc::new(NoEvents))
        .await
        .unwrap();
    let registration = p.register(RegisterRequest::default()).await.unwrap();
    assert_eq!(registration.provisioner_id.as_deref(), Some("host-1"));
    drop(p);
    host.provisioner_id = "host-1".into();
    let p = factory.new_provisioner(host, Arc::new(NoEvents)).await.unwrap();
    assert_eq!(
        p.register(RegisterRequest::default()).await.unwrap().progress,
        Progress::DONE
    );
    assert_eq!(
        p.provision(ProvisionRequest::default(), &NoHostConfig)
            .await
            .unwrap(),
        Progress::DONE
    );
    let health = plugin.health().snapshot();
    assert_eq!(
        (health.abandoned, health.stray_answers, health.timeouts),
        (0, 0, 0)
    );
    drop(p);
    plugin.shutdown().await;
    assert!(
        factory
            .new_provisioner(HostData::default(), Arc::new(NoEvents))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_demo_keeps_the_contract_over_the_boundary() {
    let (_plugin, factory) = load_configured(&rust_plugin("demo_provisioner"), Default::default()).await;
    bmo_plugin::testkit::conformance(&*factory, &Default::default())
        .await
        .assert();
}

#[tokio::test]
async fn check_reads_the_demo() {
    let report = check_plugin(&rust_plugin("demo_provisioner"), Some(&name("demo"))).await;
    let text = report.to_string();
    assert_eq!(report.exit_code(), 0, "{text}");
    for line in [
        "name:          demo",
        "protocol:      1",
        "HostConfigure: no",
        "health:        unknown",
        "result:        good",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let wrong = check_plugin(&rust_plugin("demo_provisioner"), Some(&name("ironic"))).await;
    assert_eq!(wrong.exit_code(), 1);
    assert!(
        wrong
            .to_string()
            .contains("returned \"demo\", expected \"ironic\""),
        "{wrong}"
    );
    let unwell = check_plugin(&rust_plugin("demo_provisioner"), None)
        .await
        .require_health("OK");
    assert_eq!(unwell.exit_code(), 1);
}

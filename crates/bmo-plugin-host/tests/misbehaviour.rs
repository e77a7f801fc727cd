//! What the user sees of a plugin that breaks the rules, and that the host goes on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::default_trait_access,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bmo_plugin_host::{Deadlines, LoadOptions, PluginConfig, PluginHealth, WakeSink, load_path};
use bmo_provisioner::{
    AdoptRequest, Capabilities, Capability, DeprovisionRequest, ErrorKind, EventPublisher, HostConfigData,
    HostData, NoHostConfig, PowerOffRequest, PowerOnRequest, Preparation, PrepareRequest, Progress,
    ProvisionRequest, ProvisionerFactory, RegisterRequest, SecretString,
};
use common::{bad_plugin, impatient, load_configured, no_cluster, provisioner, rust_plugin, until};

async fn bad(
    mode: u32,
    options: LoadOptions,
) -> (bmo_plugin_host::LoadedPlugin, Arc<dyn ProvisionerFactory>) {
    let dir = tempfile::tempdir().unwrap();
    let path = bad_plugin(dir.path(), "bad-provisioner.so", &[&format!("MODE={mode}")]);
    load_configured(&path, options).await
}

#[tokio::test]
async fn a_panic_is_the_error_of_its_call() {
    let (plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), Default::default()).await;
    let p = provisioner(&*factory, "panics").await;
    let error = p.register(RegisterRequest::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient);
    assert_eq!(
        error.message,
        "plugin panicking: provisioner/register: the plugin panicked: register of panics went wrong"
    );
    assert_eq!(plugin.health().snapshot().crashes, 1);
    // The plugin goes on, for this host and for others.
    assert_eq!(p.delete().await.unwrap(), Progress::DONE);
    let other = provisioner(&*factory, "events").await;
    assert_eq!(
        other.register(RegisterRequest::default()).await.unwrap().progress,
        Progress::DONE
    );
    // Questions that have no error have their default.
    let p = provisioner(&*factory, "health-panics").await;
    assert_eq!(p.get_health().await, None);
    let host = HostData {
        name: "new-panics".into(),
        ..HostData::default()
    };
    let error = factory
        .new_provisioner(host, Arc::new(bmo_provisioner::NoEvents))
        .await
        .err()
        .unwrap();
    assert!(
        error
            .message
            .contains("provisioner/new: the plugin panicked: no provisioner for new-panics"),
        "{error}"
    );
}

#[tokio::test]
async fn kinds_of_errors_survive_and_keep_their_words() {
    let (_plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), Default::default()).await;
    let register = async |name| {
        provisioner(&*factory, name)
            .await
            .register(RegisterRequest::default())
            .await
            .unwrap_err()
    };
    let busy = register("busy").await;
    assert_eq!(
        (busy.kind, &*busy.message),
        (ErrorKind::Busy, "the machine is being cleaned")
    );
    assert_eq!(register("unknown").await.kind, ErrorKind::NeedsRegistration);
    let host = HostData {
        name: "new-not-ready".into(),
        ..HostData::default()
    };
    let error = factory
        .new_provisioner(host, Arc::new(bmo_provisioner::NoEvents))
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.kind, &*error.message),
        (ErrorKind::NotReady, "the back end starts")
    );
}

#[tokio::test]
async fn what_the_factory_lacks_is_never_called() {
    let (plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), Default::default()).await;
    assert_eq!(plugin.capabilities, Capabilities::all());
    assert_eq!(
        factory.capabilities(),
        Capabilities::from([
            Capability::Health,
            Capability::Capacity,
            Capability::FirmwareSettings
        ])
    );
    let p = provisioner(&*factory, "any").await;
    assert_eq!(p.adopt(AdoptRequest::default()).await.unwrap(), Progress::DONE);
    assert!(!p.has_power_failure().await);
    assert_eq!(plugin.health().snapshot().crashes, 0);
    // The default of the SDK's trait where only a part of a method's groups is missing.
    let wish = PrepareRequest {
        unprepared: true,
        target_firmware_components: vec![Default::default()],
        ..PrepareRequest::default()
    };
    let Preparation {
        progress: Progress::Failed { message },
        ..
    } = p.prepare(wish).await.unwrap()
    else {
        panic!("not failed")
    };
    assert!(message.contains("firmware updates"), "{message}");
}

#[tokio::test]
async fn a_call_that_never_answers_ends_at_its_deadline_and_the_plugin_becomes_unhealthy() {
    let health = PluginHealth::with_bound(3);
    let options = LoadOptions {
        health: health.clone(),
        ..impatient()
    };
    let (plugin, factory) = bad(1, options).await;
    let p = provisioner(&*factory, "h").await;
    for calls in 1..=3 {
        assert_eq!(health.problem(), None);
        let error = p.power_on(PowerOnRequest::default()).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Transient);
        assert_eq!(
            error.message,
            "plugin bad: provisioner/powerOn: it did not answer within 0.2 s and was told to stop"
        );
        assert_eq!(health.snapshot().abandoned, calls);
    }
    let problem = health.problem().unwrap();
    assert!(
        problem.contains("3 calls to the plugin have not answered"),
        "{problem}"
    );
    // Beyond the bound nothing is tried any more: hosts wait, with a reason.
    let started = Instant::now();
    let error = p.power_off(PowerOffRequest::default()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotReady);
    assert!(
        error.message.contains("plugin bad") && error.message.contains("restart the operator"),
        "{error}"
    );
    assert!(started.elapsed() < Duration::from_millis(150));
    assert_eq!(plugin.health().snapshot().timeouts, 3);
}

#[tokio::test]
async fn a_call_that_never_returns_costs_a_thread_of_the_plugins_and_nothing_else() {
    let (plugin, factory) = bad(16, impatient()).await;
    let stuck = provisioner(&*factory, "stuck").await;
    assert!(stuck.power_on(PowerOnRequest::default()).await.is_err());
    let other = provisioner(&*factory, "other").await;
    assert_eq!(
        other
            .power_off(PowerOffRequest::default())
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Busy
    );
    assert_eq!(plugin.health().snapshot().abandoned, 1);
    plugin.shutdown().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_answers_and_is_abandoned_no_more() {
    let (plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), impatient()).await;
    let p = provisioner(&*factory, "hangs").await;
    assert!(p.register(RegisterRequest::default()).await.is_err());
    until("the cancellation", || plugin.health().snapshot().abandoned == 0).await;
    assert_eq!(plugin.health().snapshot().late_answers, 1);
    // A caller that goes away cancels too.
    let options = LoadOptions {
        deadlines: Deadlines::default(),
        ..LoadOptions::default()
    };
    let (plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), options).await;
    let p = provisioner(&*factory, "hangs").await;
    let gone = tokio::time::timeout(Duration::from_millis(50), p.register(RegisterRequest::default())).await;
    assert!(gone.is_err());
    until("the cancellation", || {
        plugin.health().snapshot().late_answers == 1
    })
    .await;
    assert_eq!(plugin.health().snapshot().timeouts, 0);
}

#[tokio::test]
async fn a_plugin_that_blocks_its_thread_answers_late() {
    let (plugin, factory) = load_configured(&rust_plugin("panicking_provisioner"), impatient()).await;
    let p = provisioner(&*factory, "blocks").await;
    assert!(p.register(RegisterRequest::default()).await.is_err());
    assert_eq!(plugin.health().snapshot().abandoned, 1);
    until("the late answer", || plugin.health().snapshot().late_answers == 1).await;
    assert_eq!(plugin.health().snapshot().abandoned, 0);
}

#[tokio::test]
async fn answers_twice_late_and_with_made_up_contexts_do_no_harm() {
    let (twice, factory) = bad(2, Default::default()).await;
    let p = provisioner(&*factory, "h").await;
    assert_eq!(
        p.power_on(PowerOnRequest::default()).await.unwrap(),
        Progress::DONE
    );
    until("the other answers", || {
        twice.health().snapshot().stray_answers == 2
    })
    .await;
    assert_eq!(
        p.power_on(PowerOnRequest::default()).await.unwrap(),
        Progress::DONE
    );

    let (late, factory) = bad(17, impatient()).await;
    let p = provisioner(&*factory, "h").await;
    assert!(p.power_on(PowerOnRequest::default()).await.is_err());
    until("the late answer", || late.health().snapshot().late_answers == 1).await;

    let (made_up, factory) = bad(15, Default::default()).await;
    let p = provisioner(&*factory, "h").await;
    assert_eq!(
        p.power_on(PowerOnRequest::default()).await.unwrap(),
        Progress::DONE
    );
    let seen = made_up.health().snapshot();
    assert_eq!((seen.stray_answers, seen.malformed), (1, 1));
}

#[tokio::test]
async fn answers_that_cannot_be_read_name_plugin_and_method() {
    let (garbage, factory) = bad(13, Default::default()).await;
    let error = provisioner(&*factory, "h")
        .await
        .power_on(PowerOnRequest::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient);
    assert!(
        error
            .message
            .starts_with("plugin bad: provisioner/powerOn: its answer cannot be read: "),
        "{error}"
    );
    assert_eq!(garbage.health().snapshot().malformed, 1);
    let (_plugin, factory) = bad(21, Default::default()).await;
    let error = provisioner(&*factory, "h")
        .await
        .power_on(PowerOnRequest::default())
        .await
        .unwrap_err();
    assert!(
        error.message.contains("the answer has neither result nor error"),
        "{error}"
    );
    // JSON-RPC's own errors are the plugin's fault and name it.
    let (_plugin, factory) = bad(0, Default::default()).await;
    let p = provisioner(&*factory, "h").await;
    let error = p.deprovision(DeprovisionRequest::default()).await.unwrap_err();
    assert_eq!(error.message, "plugin bad: provisioner/deprovision: what is that");
    let error = p.register(RegisterRequest::default()).await.unwrap_err();
    assert!(error.message.contains("its answer cannot be read"), "{error}");
    assert_eq!(
        p.power_on(PowerOnRequest::default()).await.unwrap(),
        Progress::DONE
    );
    let _ = p.provision(ProvisionRequest::default(), &NoHostConfig).await;
}

#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl EventPublisher for Kept {
    fn publish(&self, reason: &str, message: &str) {
        self.0.lock().unwrap().push(format!("{reason}: {message}"));
    }
}

impl WakeSink for Kept {
    fn wake(&self, namespace: &str, name: &str) {
        self.0.lock().unwrap().push(format!("{namespace}/{name}"));
    }
}

struct Data;

#[async_trait]
impl HostConfigData for Data {
    async fn user_data(&self) -> bmo_provisioner::Result<SecretString> {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok("#cloud-config\n".into())
    }

    async fn network_data(&self) -> bmo_provisioner::Result<SecretString> {
        Ok("".into())
    }

    async fn meta_data(&self) -> bmo_provisioner::Result<SecretString> {
        Ok("ü: \"1\"".into())
    }
}

#[tokio::test]
async fn events_wake_data_and_log_come_through() {
    let lines = common::Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    // Global, because the plugin logs from threads of its own.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let woken = Arc::new(Kept::default());
    let plugin = load_path(&rust_plugin("panicking_provisioner"), None, Default::default())
        .await
        .unwrap();
    let factory = plugin
        .factory(PluginConfig {
            wake: woken.clone(),
            ..no_cluster()
        })
        .await
        .unwrap();
    let events = Arc::new(Kept::default());
    let mut host = HostData {
        namespace: "n".into(),
        name: "events".into(),
        ..HostData::default()
    };
    host.bmc = Some(bmo_provisioner::BmcAccess {
        credentials: bmo_provisioner::BmcCredentials {
            username: "root".into(),
            password: "hunter2".into(),
        },
        ..Default::default()
    });
    let p = factory.new_provisioner(host, events.clone()).await.unwrap();
    let request = RegisterRequest {
        preprovisioning_network_data: "hunter2".into(),
        ..RegisterRequest::default()
    };
    assert_eq!(
        p.register(request).await.unwrap().provisioner_id.as_deref(),
        Some("7")
    );
    assert_eq!(*events.0.lock().unwrap(), ["Registered: the host is known"]);

    let provisioned = p.provision(ProvisionRequest::default(), &Data).await.unwrap();
    let bytes = ["#cloud-config\n", "", "ü: \"1\""].map(str::as_bytes);
    assert_eq!(provisioned, Progress::failed(format!("{bytes:?}")));

    provisioner(&*factory, "wakes")
        .await
        .register(RegisterRequest::default())
        .await
        .unwrap();
    assert_eq!(*woken.0.lock().unwrap(), ["n/other"]);

    provisioner(&*factory, "logs")
        .await
        .register(RegisterRequest::default())
        .await
        .unwrap();
    let text = lines.text();
    let line = text
        .lines()
        .find(|line| line.contains("the BMC is slow"))
        .unwrap();
    for part in [
        "WARN",
        "plugin=\"panicking\"",
        "attempts",
        "n/logs",
        "provisioner/register",
    ] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert!(!text.contains("hunter2"), "a secret is in the log");
    assert!(!text.contains("#cloud-config"), "the user's data are in the log");
}

//! What the plugin boundary costs: calls of the loaded demo plugin, beside the same calls compiled in.
//!
//! `cargo bench --bench boundary`. Prints microseconds per call: the best of some rounds, one call at a time, and calls
//! per second with 64 at a time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bmo_plugin_host::{LoadOptions, NoKube, NoWake, PluginConfig, load_path};
use bmo_provisioner::{
    HostData, HostFeatures, InspectRequest, NoEvents, Provisioner, ProvisionerFactory, RegisterRequest,
};
use futures::future::join_all;

const ROUNDS: u32 = 5;
const CALLS: u32 = 2000;
const AT_ONCE: usize = 64;

fn main() {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            let plugin = std::env::current_exe()
                .unwrap()
                .with_file_name("libdemo_provisioner.so");
            let plugin = load_path(&plugin, None, LoadOptions::default()).await.unwrap();
            let config = PluginConfig {
                features: HostFeatures::default(),
                provisioner_namespace: String::new(),
                kube: Arc::new(NoKube),
                wake: Arc::new(NoWake),
            };
            measure("loaded", plugin.factory(config).await.unwrap()).await;
            measure("compiled in", Arc::new(demo_provisioner::DemoFactory)).await;
        });
}

async fn provisioner(factory: &dyn ProvisionerFactory) -> Box<dyn Provisioner> {
    let host = HostData {
        name: "host".into(),
        provisioner_id: "host".into(),
        ..HostData::default()
    };
    factory.new_provisioner(host, Arc::new(NoEvents)).await.unwrap()
}

async fn measure(what: &str, factory: Arc<dyn ProvisionerFactory>) {
    let p = provisioner(&*factory).await;
    let health = best(async || drop(p.get_health().await)).await;
    let register = best(async || drop(p.register(RegisterRequest::default()).await.unwrap())).await;
    let inspect = best(async || drop(p.inspect_hardware(InspectRequest::default()).await.unwrap())).await;
    let pass = best(async || drop(provisioner(&*factory).await)).await;
    println!(
        "{what:>12}: get_health {health:>8.2?}  register {register:>8.2?}  inspect (2 KB) {inspect:>8.2?}  new+drop {pass:>8.2?}  \
         {:>9.0} calls/s at {AT_ONCE} at a time",
        rate(&*factory).await
    );
}

/// The best mean of some rounds.
async fn best(call: impl AsyncFn()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for _ in 0..CALLS {
            call().await;
        }
        best = best.min(begun.elapsed() / CALLS);
    }
    best
}

async fn rate(factory: &dyn ProvisionerFactory) -> f64 {
    let provisioners = join_all((0..AT_ONCE).map(|_| provisioner(factory))).await;
    let begun = Instant::now();
    join_all(provisioners.iter().map(|p| async move {
        for _ in 0..CALLS / 10 {
            p.register(RegisterRequest::default()).await.unwrap();
        }
    }))
    .await;
    let calls = u32::try_from(AT_ONCE).unwrap_or(u32::MAX) * (CALLS / 10);
    f64::from(calls) / begun.elapsed().as_secs_f64()
}

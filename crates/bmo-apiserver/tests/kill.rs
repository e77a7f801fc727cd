//! A server killed in the middle of writes loses nothing that it acknowledged.
//!
//! The test starts itself as the process that is killed: with `BMO_KILL_DIRECTORY` set, `the_victim` writes until it
//! is gone and prints each name when its write was acknowledged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::zombie_processes,
    reason = "a test may stop at anything unexpected"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bmo_apiserver::{ApiServer, OpenOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;

const DIRECTORY: &str = "BMO_KILL_DIRECTORY";
const ROUNDS: u32 = 8;

fn maps(server: &Arc<ApiServer>) -> Api<ConfigMap> {
    Api::default_namespaced(server.client())
}

fn map(name: &str) -> ConfigMap {
    let filler = "x".repeat(2000);
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"name": name, "filler": filler}}))
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_victim() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let server = ApiServer::open(OpenOptions::in_directory(directory)).unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let api = maps(&server);
        tasks.spawn(async move {
            for n in 0_u32.. {
                let name = format!("m-{}-{task}-{n}", std::process::id());
                api.create(&PostParams::default(), &map(&name)).await.unwrap();
                let mut out = std::io::stdout().lock();
                writeln!(out, "\nstored {name}").unwrap();
                out.flush().unwrap();
            }
        });
    }
    tasks.join_all().await;
}

/// Runs the victim for a while, kills it, and returns what it said was stored.
fn round(directory: &Path, life: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_victim", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        let names = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("stored ").map(str::to_owned));
        names.collect::<Vec<String>>()
    });
    std::thread::sleep(life);
    // SIGKILL: nothing in the process gets to run.
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut stored = Vec::new();
    let mut version = 0;
    for n in 0..ROUNDS {
        let path = directory.path().to_owned();
        let life = Duration::from_millis(400 + u64::from(n) * 37);
        stored.extend(
            tokio::task::spawn_blocking(move || round(&path, life))
                .await
                .unwrap(),
        );
        let server = ApiServer::open(OpenOptions::in_directory(directory.path())).unwrap();
        let list = maps(&server).list(&ListParams::default()).await.unwrap();
        let found: std::collections::BTreeMap<String, ConfigMap> = list
            .items
            .into_iter()
            .map(|item| (item.metadata.name.clone().unwrap(), item))
            .collect();
        for name in &stored {
            let item = found
                .get(name)
                .unwrap_or_else(|| panic!("{name} was acknowledged and is gone"));
            assert_eq!(item.data.as_ref().unwrap()["name"], *name);
        }
        let now: u64 = list.metadata.resource_version.unwrap().parse().unwrap();
        assert!(now >= version, "revisions never go back");
        version = now;
        server.close().await;
    }
    assert!(stored.len() > 20, "only {} writes were made", stored.len());
}

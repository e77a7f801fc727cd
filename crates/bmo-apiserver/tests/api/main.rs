//! One suite, two servers. Each file in `scenarios/` is a list of requests; the answers in `answers/` were recorded
//! from a real kube-apiserver, with what differs between runs (names, uids, versions, times) written as placeholders.
//!
//! By default the embedded server is asked. `BMO_TEST_KUBECONFIG=<file>` asks the server of that kubeconfig instead;
//! with `BMO_TEST_RECORD=1` its answers become the recorded ones (do that with a real kube-apiserver only).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::zombie_processes,
    reason = "a test may stop at anything unexpected"
)]

mod normal;
mod play;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api").join(name)
}

fn scenarios() -> Vec<PathBuf> {
    let only = std::env::var("BMO_TEST_SCENARIO").unwrap_or_default();
    let files = std::fs::read_dir(folder("scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.file_stem().unwrap().to_string_lossy().contains(&only))
        .collect();
    files.sort();
    files
}

/// Where two documents differ, one line for each place.
fn difference(wanted: &Value, found: &Value) -> Option<String> {
    let mut lines = String::new();
    compare("", wanted, found, &mut lines);
    (!lines.is_empty()).then_some(lines)
}

fn compare(path: &str, wanted: &Value, found: &Value, lines: &mut String) {
    match (wanted, found) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => compare(&format!("{path}/{key}"), a, b, lines),
                    (a, b) => writeln!(lines, "    {path}/{key}: wanted {a:?}, found {b:?}").unwrap(),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{path}/{index}"), a, b, lines);
            }
        }
        (a, b) if a == b => {}
        (a, b) => writeln!(lines, "    {path}: wanted {a}, found {b}").unwrap(),
    }
}

/// Keys in order, so that only content counts.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let sorted: std::collections::BTreeMap<_, _> = map
                .iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect();
            sorted.into_iter().collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_answers_as_kubernetes_does() {
    let record = std::env::var("BMO_TEST_RECORD").is_ok();
    let target = play::Target::from_env().await;
    let mut problems = Vec::new();
    for path in scenarios() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let steps = play::read(&path);
        let answers = target.play(&name, &steps).await;
        let file = folder("answers").join(format!("{name}.json"));
        if record {
            let text = serde_json::to_string_pretty(&sorted(&answers.into())).unwrap();
            std::fs::write(&file, text + "\n").unwrap();
            continue;
        }
        let recorded = std::fs::read_to_string(&file).unwrap_or_else(|_| "[]".into());
        let recorded: Vec<Value> = serde_json::from_str(&recorded).unwrap();
        if recorded.len() != answers.len() {
            problems.push(format!(
                "{name}: {} answers, recorded are {}",
                answers.len(),
                recorded.len()
            ));
        }
        for (index, (wanted, found)) in recorded.iter().zip(&answers).enumerate() {
            if let Some(text) = difference(wanted, found) {
                problems.push(format!("{name} step {index}: {}\n{text}", steps[index].title()));
            }
        }
    }
    target.clean_up().await;
    assert!(
        problems.is_empty(),
        "{} differences\n{}",
        problems.len(),
        problems.join("\n")
    );
}

//! The binary's command line: what is refused, and how.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_baremetal-operator"))
        .args(words)
        .env_remove("BMO_CONCURRENCY")
        .env("PROVISIONER_PLUGIN_DIR", "/nonexistent")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn removed_flags_are_refused_with_their_replacement() {
    let table = [
        ("-demo-mode", "-provisioner=demo"),
        ("--test-mode", "-provisioner=fixture"),
        ("-ironic-name=x", "IRONIC_NAME"),
        ("-ironic-namespace=x", "IRONIC_NAMESPACE"),
    ];
    for (flag, instead) in table {
        let output = run(&[flag]);
        assert_eq!(output.status.code(), Some(1), "{flag}");
        assert!(said(&output).contains(instead), "{flag}: {}", said(&output));
    }
}

#[test]
fn mistakes_end_the_start_with_code_1() {
    for flag in [
        "-no-such-flag",
        "-controller-concurrency=-1",
        "-max-provisioning-retries=-1",
        "-tls-min-version=SSL3",
    ] {
        let output = run(&[flag]);
        assert_eq!(output.status.code(), Some(1), "{flag}: {}", said(&output));
        assert!(!said(&output).is_empty(), "{flag}");
    }
}

#[test]
fn help_lists_the_flags() {
    for flag in ["-h", "-help", "--help"] {
        let output = run(&[flag]);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in [
            "--provisioner",
            "--namespace",
            "--health-addr",
            "--max-provisioning-retries",
            "PROVISIONER_PLUGIN_DIR",
        ] {
            assert!(text.contains(name), "{name} is missing in {text}");
        }
    }
}

#[test]
fn a_missing_plugin_is_said_in_json_with_its_path() {
    let output = run(&["-provisioner=absent", "-health-addr=0", "-metrics-addr=0"]);
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["level"], "error");
    assert!(
        last["ts"].is_f64() && last["logger"].is_string() && last["msg"].is_string(),
        "{last}"
    );
    assert!(
        last["error"]
            .as_str()
            .unwrap()
            .contains("/nonexistent/absent-provisioner.so"),
        "{last}"
    );
}

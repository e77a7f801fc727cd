//! Plugins of other people's making, through their whole life: the C example, and those whose files a script names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::default_trait_access,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use bmo_plugin::testkit::{Life, conformance};
use bmo_plugin_host::check_plugin;
use bmo_provisioner::Capabilities;
use common::load_configured;

fn c_example(dir: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/out-of-tree/c");
    let make = Command::new("make")
        .arg("-s")
        .arg("-C")
        .arg(source)
        .arg(format!("BUILD={}", dir.display()))
        .output();
    let make = make.expect("make is needed");
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    dir.join("cdemo-provisioner.so")
}

async fn lives_a_whole_life(path: &Path) {
    let report = check_plugin(path, None).await;
    print!("{report}");
    assert_eq!(report.exit_code(), 0, "{report}");
    let (plugin, factory) = load_configured(path, Default::default()).await;
    conformance(&*factory, &Life::default()).await.assert();
    let seen = plugin.health().snapshot();
    assert_eq!(
        (seen.crashes, seen.malformed, seen.stray_answers, seen.timeouts),
        (0, 0, 0, 0)
    );
}

#[tokio::test]
async fn a_c_plugin_with_only_the_minimum_lives_a_whole_life() {
    let dir = tempfile::tempdir().unwrap();
    let path = c_example(dir.path());
    lives_a_whole_life(&path).await;
    let (plugin, _) = load_configured(&path, Default::default()).await;
    assert_eq!(plugin.capabilities, Capabilities::minimum());
}

/// The C example reads JSON of its own: odd but well-formed requests must not confuse it.
#[tokio::test]
async fn the_c_plugin_reads_names_with_escapes_and_refuses_what_it_cannot_hold() {
    let dir = tempfile::tempdir().unwrap();
    let (_plugin, factory) = load_configured(&c_example(dir.path()), Default::default()).await;
    let host = |name: String| bmo_provisioner::HostData {
        name,
        labels: [("\"}],{\\".to_owned(), "[\"provisionerID\":1".to_owned())].into(),
        ..Default::default()
    };
    let new = async |name: String| {
        factory
            .new_provisioner(host(name), std::sync::Arc::new(bmo_provisioner::NoEvents))
            .await
    };
    let p = new("a\\\"b\t".to_owned()).await.unwrap();
    let registration = p
        .register(bmo_provisioner::RegisterRequest::default())
        .await
        .unwrap();
    assert_eq!(registration.provisioner_id.as_deref(), Some("a\\\"b\t"));
    let error = new("x".repeat(300)).await.err().unwrap();
    assert!(
        error
            .message
            .contains("the host has no name this plugin can read"),
        "{error}"
    );
}

/// Whatever an author compiles with, the header has no warning, and its assertions on the layout hold.
#[test]
fn the_header_is_clean_c_and_cpp() {
    let dir = tempfile::tempdir().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    for (language, standard) in [
        ("c", "c99"),
        ("c", "c11"),
        ("c", "c17"),
        ("c++", "c++98"),
        ("c++", "c++11"),
        ("c++", "c++17"),
    ] {
        let source = dir.path().join("source");
        std::fs::write(&source, "#include \"bmo_provisioner.h\"\n").unwrap();
        let output = Command::new("cc")
            .args([
                "-x",
                language,
                &format!("-std={standard}"),
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
            ])
            .args(["-Wno-long-long", "-fsyntax-only", "-I"])
            .arg(&include)
            .arg(&source)
            .output()
            .expect("a C compiler (cc) is needed");
        // A machine with a C compiler only has no say in C++.
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() || stderr.contains("cc1plus"),
            "{language} {standard}: {stderr}"
        );
    }
}

#[tokio::test]
#[ignore = "needs plugins that a script has built"]
async fn the_named_plugins_live_a_whole_life() {
    for path in common::named_plugins() {
        lives_a_whole_life(&path).await;
    }
}

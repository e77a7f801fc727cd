//! Every way in which loading a plugin fails: its own error, and a message that says what was found, what was
//! expected and what to do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::default_trait_access,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use bmo_plugin_host::{
    HostConfigureInput, LoadError, LoadOptions, LoadedPlugin, PluginDir, check_plugin, load, load_path,
};
use common::{bad_plugin, load_configured, name, rust_plugin};

/// Loads `bad-provisioner.so` of a directory.
async fn load_bad(dir: &Path) -> Result<LoadedPlugin, LoadError> {
    load(&PluginDir::new(dir), &name("bad"), Default::default()).await
}

/// The error of a directory prepared by `prepare`.
async fn error_of(prepare: impl FnOnce(&Path, &Path)) -> LoadError {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path(), &dir.path().join("bad-provisioner.so"));
    load_bad(dir.path()).await.unwrap_err()
}

macro_rules! assert_error {
    ($error:expr, $pattern:pat, $($text:expr),+) => {{
        let error = $error;
        let message = error.to_string();
        assert!(matches!(error, $pattern), "{message}");
        $(assert!(message.contains($text), "{:?} is not in: {message}", $text);)+
    }};
}

#[tokio::test]
async fn what_can_be_told_before_the_file_is_opened() {
    let missing = error_of(|dir, _| {
        fs::write(dir.join("lab-provisioner.so"), "").unwrap();
        fs::write(dir.join("other.txt"), "").unwrap();
    });
    assert_error!(
        missing.await,
        LoadError::NotFound { .. },
        "no plugin at",
        "bad-provisioner.so",
        "the plugins there are lab",
        "PROVISIONER_PLUGIN_DIR"
    );
    let nothing = load(
        &PluginDir::new("/nowhere/at/all"),
        &name("bad"),
        Default::default(),
    )
    .await
    .unwrap_err();
    assert_error!(
        nothing,
        LoadError::NotFound { .. },
        "there is no plugin in that directory"
    );

    let directory = error_of(|_, path| fs::create_dir(path).unwrap());
    assert_error!(
        directory.await,
        LoadError::NotAFile { .. },
        "is a directory, not a file"
    );

    let outside = tempfile::tempdir().unwrap();
    let target = bad_plugin(outside.path(), "real.so", &[]);
    let link = error_of(|_, path| symlink(&target, path).unwrap());
    assert_error!(
        link.await,
        LoadError::LinkOutside { .. },
        "symbolic link to",
        "real.so",
        "outside of the plugin directory"
    );
    let dangling = error_of(|_, path| symlink("nowhere", path).unwrap());
    assert_error!(dangling.await, LoadError::NotFound { .. }, "no plugin at");

    let script = error_of(|_, path| fs::write(path, "#!/bin/sh\nexec sleep 1\n").unwrap());
    assert_error!(
        script.await,
        LoadError::NotElf { .. },
        "not a shared object",
        "#!/bin/s",
        "crate-type"
    );
    let empty = error_of(|_, path| fs::write(path, "").unwrap());
    assert_error!(empty.await, LoadError::NotElf { .. }, "the file is empty");
}

#[tokio::test]
async fn a_link_inside_the_directory_is_fine() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("..data")).unwrap();
    bad_plugin(&dir.path().join("..data"), "bad-provisioner.so", &[]);
    symlink("..data/bad-provisioner.so", dir.path().join("bad-provisioner.so")).unwrap();
    assert_eq!(load_bad(dir.path()).await.unwrap().name.as_str(), "bad");
}

/// A plugin whose ELF header is changed at `at`.
async fn with_header(at: usize, value: [u8; 2]) -> LoadError {
    error_of(|dir, path| {
        let mut bytes = fs::read(bad_plugin(dir, "built.so", &[])).unwrap();
        bytes[at..at + 2].copy_from_slice(&value);
        fs::write(path, bytes).unwrap();
    })
    .await
}

#[tokio::test]
async fn another_machine_and_another_kind_of_file() {
    let other = if cfg!(target_arch = "aarch64") {
        62_u16
    } else {
        183
    };
    let here = std::env::consts::ARCH;
    assert_error!(
        with_header(18, other.to_le_bytes()).await,
        LoadError::WrongArchitecture { .. },
        "is built for",
        here,
        "build the plugin for"
    );
    assert_error!(
        with_header(16, 2_u16.to_le_bytes()).await,
        LoadError::NotShared { .. },
        "its type is executable"
    );
    assert_error!(
        with_header(16, 1_u16.to_le_bytes()).await,
        LoadError::NotShared { .. },
        "object file"
    );
}

#[tokio::test]
async fn what_the_dynamic_linker_refuses() {
    let undefined = error_of(|dir, _| {
        bad_plugin(dir, "bad-provisioner.so", &["MODE=22"]);
    });
    assert_error!(
        undefined.await,
        LoadError::Open { .. },
        "failed to open the plugin",
        "bad-provisioner.so",
        "a_function_nobody_has",
        "ldd"
    );
    let cut = error_of(|dir, path| {
        let bytes = fs::read(bad_plugin(dir, "built.so", &[])).unwrap();
        fs::write(path, &bytes[..200]).unwrap();
    });
    assert_error!(cut.await, LoadError::Open { .. }, "failed to open the plugin");
}

#[tokio::test]
async fn what_the_plugin_exports_and_says() {
    let mode = |mode: &'static str| {
        error_of(move |dir, _| {
            bad_plugin(dir, "bad-provisioner.so", &[mode]);
        })
    };
    assert_error!(
        mode("MODE=5").await,
        LoadError::MissingSymbol {
            symbol: "PluginName",
            ..
        },
        "does not export PluginName",
        "nm -D"
    );
    assert_error!(
        mode("MODE=6").await,
        LoadError::MissingSymbol {
            symbol: "BmoPluginAbiVersion",
            ..
        },
        "does not export BmoPluginAbiVersion"
    );
    assert_error!(
        mode("MODE=4").await,
        LoadError::AbiVersion {
            found: 999,
            supported: 1,
            ..
        },
        "version 999",
        "has version 1"
    );
    assert_error!(
        mode("MODE=8").await,
        LoadError::NoName { .. },
        "returned no UTF-8 text"
    );
    assert_error!(
        mode("MODE=7").await,
        LoadError::MissingSymbol {
            symbol: "NewProvisionerFactory",
            ..
        },
        "does not export NewProvisionerFactory"
    );
    assert_error!(
        mode("MODE=9").await,
        LoadError::Table { .. },
        "NewProvisionerFactory()",
        "returned 42 instead of 0"
    );
    assert_error!(mode("MODE=10").await, LoadError::Table { .. }, "stored no table");
    assert_error!(
        mode("MODE=11").await,
        LoadError::Table { .. },
        "its table has 8 bytes",
        "sizeof(bmo_plugin)"
    );
    assert_error!(
        mode("MODE=12").await,
        LoadError::Table { .. },
        "no function `call`"
    );
    assert_error!(
        mode("MODE=18").await,
        LoadError::Protocol { .. },
        "speaks protocol 7 to 9",
        "speaks 1"
    );
    assert_error!(
        mode("MODE=19").await,
        LoadError::OtherName { .. },
        "returned bad",
        "\"someone\""
    );

    let dir = tempfile::tempdir().unwrap();
    let odd = bad_plugin(dir.path(), "odd.so", &["MODE=20"]);
    assert_error!(
        load_path(&odd, None, Default::default()).await.unwrap_err(),
        LoadError::InvalidName { .. },
        "\"No Name!\"",
        "^[a-z0-9][a-z0-9-]*$"
    );
}

#[tokio::test]
async fn a_plugin_that_hangs_while_it_is_loaded_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = bad_plugin(dir.path(), "bad-provisioner.so", &["MODE=23"]);
    let mut options = LoadOptions::default();
    options.deadlines.handshake = std::time::Duration::from_millis(200);
    let error = load_path(&path, None, options).await.unwrap_err();
    assert_error!(
        error,
        LoadError::Table { .. },
        "did not return within 0.2 s",
        "only hand over the table"
    );
}

/// As upstream's: the order in which errors are found is part of the contract.
#[tokio::test]
async fn a_wrong_name_comes_before_a_missing_factory() {
    let wrong = error_of(|dir, _| {
        bad_plugin(dir, "bad-provisioner.so", &["NAME=\"good\"", "MODE=7"]);
    });
    assert_error!(
        wrong.await,
        LoadError::WrongName { .. },
        "PluginName()",
        "returned \"good\", expected \"bad\"",
        "good-provisioner.so"
    );
}

#[tokio::test]
async fn one_file_is_one_plugin() {
    let dir = tempfile::tempdir().unwrap();
    let path = bad_plugin(dir.path(), "bad-provisioner.so", &[]);
    fs::hard_link(&path, dir.path().join("second-provisioner.so")).unwrap();
    load_bad(dir.path()).await.unwrap();
    let second = load(&PluginDir::new(dir.path()), &name("second"), Default::default())
        .await
        .unwrap_err();
    assert_error!(
        second,
        LoadError::OpenedUnderTwoNames { .. },
        "second-provisioner.so",
        "is the same file as",
        "loaded as bad"
    );
    // The same plugin again is no second name.
    load_bad(dir.path()).await.unwrap();
}

#[tokio::test]
async fn a_plugin_of_go_is_told_apart() {
    let error = error_of(|dir, path| {
        let built = bad_plugin(dir, "built.so", &["MODE=5"]);
        fs::write(dir.join("info"), "go").unwrap();
        let objcopy = Command::new("objcopy")
            .arg(format!(
                "--add-section=.go.buildinfo={}",
                dir.join("info").display()
            ))
            .args([&built, path])
            .status();
        assert!(objcopy.expect("objcopy of binutils is needed").success());
    });
    assert_error!(
        error.await,
        LoadError::MissingSymbol { .. },
        "built by Go",
        "include/bmo_provisioner.h"
    );
}

/// Nothing is left of the process, so the line before must name the plugin. The test runs itself as a child.
#[tokio::test]
async fn a_constructor_that_aborts_ends_the_process_after_a_line_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    bad_plugin(dir.path(), "bad-provisioner.so", &["MODE=3"]);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_loads", "--ignored", "--nocapture"])
        .env("PROVISIONER_PLUGIN_DIR", dir.path())
        .output()
        .unwrap();
    assert!(!child.status.success());
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(text.contains("opening the plugin bad ("), "{text}");
    assert!(
        text.contains("if the process ends here, the plugin ended it"),
        "{text}"
    );
}

#[tokio::test]
#[ignore = "the child of another test"]
async fn child_that_loads() {
    let _ = load(&PluginDir::from_env(), &name("bad"), Default::default()).await;
}

/// At load time and in HostConfigure a plugin has no cluster; one that asks is told so.
#[tokio::test]
async fn a_plugin_that_asks_for_the_cluster_while_it_is_loaded_gets_an_error() {
    let lines = common::Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    // Global, because the plugin asks on a thread of its own.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let dir = tempfile::tempdir().unwrap();
    bad_plugin(dir.path(), "bad-provisioner.so", &["MODE=14"]);
    load_bad(dir.path()).await.unwrap();
    let text = lines.text();
    assert!(
        text.contains("asked for the cluster before it was configured"),
        "{text}"
    );
    assert!(
        text.contains("the cluster is not to be had before the operator has sent `configure`"),
        "{text}"
    );
}

#[tokio::test]
async fn host_configure_is_optional_and_its_failures_name_the_plugin() {
    let dir = tempfile::tempdir().unwrap();
    let (without, _) = load_configured(
        &bad_plugin(dir.path(), "bad-provisioner.so", &[]),
        Default::default(),
    )
    .await;
    assert!(!without.has_host_configure());
    assert_eq!(
        without
            .host_configure(HostConfigureInput::default())
            .await
            .unwrap(),
        Default::default()
    );

    let with = load_path(&rust_plugin("panicking_provisioner"), None, Default::default())
        .await
        .unwrap();
    let input = |namespace: &str| HostConfigureInput {
        provisioner_namespace: namespace.into(),
        ..Default::default()
    };
    let asked = with.host_configure(input("metal")).await.unwrap();
    assert_eq!(asked.extra_types[0].kind, "Ironic");
    assert_eq!(asked.cache_by_type[0].namespaces, ["metal"]);
    let refused = with
        .host_configure(input("refused"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("panicking") && refused.contains("HostConfigure: no such namespace"),
        "{refused}"
    );
    let panicked = with
        .host_configure(input("panics"))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        panicked.contains("the plugin panicked: HostConfigure went wrong"),
        "{panicked}"
    );
}

#[tokio::test]
async fn check_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let report = check_plugin(&dir.path().join("bad-provisioner.so"), None).await;
    assert_eq!(report.exit_code(), 1);
    assert!(report.to_string().contains("no plugin at"), "{report}");
    let good = check_plugin(&bad_plugin(dir.path(), "bad-provisioner.so", &[]), None).await;
    assert_eq!(good.exit_code(), 0, "{good}");
    assert!(good.to_string().contains("capabilities:  the minimum"), "{good}");
    let healthy = check_plugin(&rust_plugin("panicking_provisioner"), None)
        .await
        .require_health("fair");
    assert_eq!(healthy.exit_code(), 0, "{healthy}");
    assert!(
        healthy
            .to_string()
            .contains("knows:         Ironic (ironic.metal3.io/v1alpha1)"),
        "{healthy}"
    );
}

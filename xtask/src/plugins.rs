//! Builds the programs and the shipped plugins, and gives the plugins the names they are loaded by.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The plugins in `plugins/`, by name; package `<name>-provisioner` builds `lib<name>_provisioner.so`.
const SHIPPED: [&str; 2] = ["demo", "ironic"];

/// Set where tests are built too: tests have dependencies that change features of others, so that building without
/// them would build much of the tree a second time.
const ALL_TARGETS: &str = "BMO_ALL_TARGETS";

/// Builds every shipped plugin and installs it in `<target>/<profile>/plugins`.
///
/// Without `release` the whole workspace is built, so that every command that follows uses the same dependencies:
/// cargo chooses their features for the packages that are built together.
pub fn run(release: bool) -> Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--locked"]);
    if release {
        build.args(["--release", "--package", "bmo-cli", "--package", "bmo-manager"]);
        for name in SHIPPED {
            build.arg("--package").arg(format!("{name}-provisioner"));
        }
    } else {
        build.arg("--workspace");
        if env::var_os(ALL_TARGETS).is_some() {
            build.arg("--all-targets");
        }
    }
    if !build.status().context("cannot run cargo")?.success() {
        bail!("the workspace did not build");
    }
    let profile = target_directory().join(if release { "release" } else { "debug" });
    let installed = profile.join("plugins");
    std::fs::create_dir_all(&installed).with_context(|| format!("cannot create {}", installed.display()))?;
    for name in SHIPPED {
        let built = profile.join(format!("lib{name}_provisioner.so"));
        let plugin = installed.join(format!("{name}-provisioner.so"));
        // A loaded library must not be written to: the new file takes the old one's name.
        let fresh = installed.join(format!(".{name}-provisioner.so.new"));
        std::fs::copy(&built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
        std::fs::rename(&fresh, &plugin).with_context(|| format!("cannot install {}", plugin.display()))?;
    }
    eprintln!("plugins: {}", installed.display());
    Ok(())
}

/// Where cargo builds; relative to the workspace's root unless set otherwise.
fn target_directory() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    )
}

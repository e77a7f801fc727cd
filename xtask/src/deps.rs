//! The dependency tree, checked from `cargo metadata`: which of our crates may know which, the licences and the
//! bans of `deny.toml`. `cargo deny` reads the same file and knows more; this needs nothing installed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A crate and what must not be among its dependencies, direct or not.
const FORBIDDEN: [(&str, &[&str], &str); 8] = [
    (
        "bmo-provisioner",
        &["tokio", "reqwest", "bmo-lifecycle", "bmo-plugin-host"],
        "the contract has no I/O and no runtime",
    ),
    (
        "bmo-lifecycle",
        &[
            "kube-client",
            "kube-runtime",
            "bmo-plugin-host",
            "bmo-controllers",
        ],
        "the lifecycle knows no Kubernetes client",
    ),
    (
        "bmo-plugin",
        &[
            "bmo-plugin-host",
            "bmo-lifecycle",
            "bmo-controllers",
            "bmo-manager",
        ],
        "plugins never depend on the host",
    ),
    (
        "demo-provisioner",
        &[
            "bmo-plugin-host",
            "bmo-lifecycle",
            "bmo-controllers",
            "bmo-manager",
        ],
        "plugins never depend on the host",
    ),
    (
        "ironic-provisioner",
        &[
            "bmo-plugin-host",
            "bmo-lifecycle",
            "bmo-controllers",
            "bmo-manager",
        ],
        "plugins never depend on the host",
    ),
    (
        "bmo-controllers",
        &["bmo-plugin-host", "bmo-manager"],
        "controllers see a provisioner only through the contract",
    ),
    (
        "bmo-manager",
        &[
            "reqwest",
            "demo-provisioner",
            "ironic-provisioner",
            "bmo-plugin",
            "bmo-bmc",
        ],
        "the manager links none of a provisioner's dependencies",
    ),
    (
        "bmo-cli",
        &["reqwest", "demo-provisioner", "ironic-provisioner", "bmo-plugin"],
        "the manager links none of a provisioner's dependencies",
    ),
];

/// Fails with every rule that does not hold.
pub fn run() -> Result<()> {
    let metadata = metadata()?;
    let packages = Packages::read(&metadata);
    let mut broken = directions()?;
    broken.extend(licences(&packages)?);
    if broken.is_empty() {
        eprintln!(
            "dependencies: {} packages, every rule holds",
            packages.by_id.len()
        );
        return Ok(());
    }
    bail!(
        "the dependency tree breaks {} rules:\n  {}",
        broken.len(),
        broken.join("\n  ")
    )
}

fn metadata() -> Result<Value> {
    let json = cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ])?;
    serde_json::from_slice(&json).context("cargo metadata printed no JSON")
}

/// What cargo prints.
fn cargo(arguments: &[&str]) -> Result<Vec<u8>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "cargo {} failed: {}",
            arguments[0],
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output.stdout)
}

struct Package {
    name: String,
    licence: String,
    ours: bool,
}

struct Packages {
    by_id: BTreeMap<String, Package>,
}

impl Packages {
    fn read(metadata: &Value) -> Self {
        let mut by_id = BTreeMap::new();
        for package in list(&metadata["packages"]) {
            let id = text(&package["id"]);
            by_id.insert(
                id,
                Package {
                    name: text(&package["name"]),
                    licence: text(&package["license"]),
                    ours: package["source"].is_null(),
                },
            );
        }
        Self { by_id }
    }
}

/// Names of everything a package depends on in a normal build of it alone (in a build of the whole workspace
/// features of other members would count too).
fn closure(name: &str) -> Result<BTreeSet<String>> {
    let tree = cargo(&[
        "tree",
        "--package",
        name,
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--format",
        "{p}",
        "--locked",
    ])?;
    let names = String::from_utf8_lossy(&tree);
    Ok(names
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect())
}

fn directions() -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for (name, forbidden, rule) in FORBIDDEN {
        let closure = closure(name)?;
        for crate_name in forbidden
            .iter()
            .filter(|crate_name| closure.contains(**crate_name))
        {
            broken.push(format!("{name} depends on {crate_name}: {rule}"));
        }
    }
    Ok(broken)
}

/// Every expression must have an allowed alternative, and no banned crate may be there.
fn licences(packages: &Packages) -> Result<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deny.toml");
    let deny = std::fs::read_to_string(path).context("cannot read deny.toml")?;
    let allowed = quoted_after(&deny, "allow = [");
    let banned: Vec<&str> = deny
        .lines()
        .filter_map(|line| line.trim().strip_prefix("{ name = \"")?.split('"').next())
        .collect();
    let mut broken = Vec::new();
    for package in packages.by_id.values().filter(|package| !package.ours) {
        if banned.contains(&package.name.as_str()) {
            broken.push(format!("{} is banned in deny.toml", package.name));
        }
        let expression = package.licence.replace('/', " OR ");
        let satisfied = expression.split(" OR ").any(|alternative| {
            alternative
                .split(" AND ")
                .all(|licence| allowed.contains(licence.trim_matches([' ', '(', ')'])))
        });
        if !satisfied {
            broken.push(format!(
                "{} has the licence {expression:?}, which deny.toml does not allow",
                package.name
            ));
        }
    }
    Ok(broken)
}

/// The quoted words of the first list that begins with `start`.
fn quoted_after<'a>(text: &'a str, start: &str) -> BTreeSet<&'a str> {
    let list = text
        .split_once(start)
        .map_or("", |(_, rest)| rest.split(']').next().unwrap_or(""));
    list.split('"').skip(1).step_by(2).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

//! CRD manifests, generated from the types of `bmo-api`: one file per kind in `config/crd`.
//!
//! The files are committed, because users apply them and reviewers read what a change of a type does to the API.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// First line of every manifest.
const HEAD: &str = "# Generated from crates/bmo-api by `cargo xtask crds`; do not edit.\n";
/// How the names of our files start; others in the folder are left alone.
const PREFIX: &str = "metal3.io_";

/// Writes the manifests; with `check` only compares, and fails where a file differs, is missing or is left over.
pub fn run(check: bool) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/crd");
    let wanted = manifests()?;
    let present = present(&folder)?;
    let mut drifted = Vec::new();
    for (name, text) in &wanted {
        if present.get(name) == Some(text) {
            continue;
        }
        drifted.push(name.clone());
        if !check {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(name), text).with_context(|| format!("writing {name}"))?;
        }
    }
    for name in present.keys().filter(|name| !wanted.contains_key(*name)) {
        drifted.push(name.clone());
        if !check {
            fs::remove_file(folder.join(name)).with_context(|| format!("removing {name}"))?;
        }
    }
    if check && !drifted.is_empty() {
        bail!(
            "config/crd differs from the types in {}; run `cargo xtask crds`",
            drifted.join(", ")
        );
    }
    eprintln!(
        "config/crd: {} manifests, {} {}",
        wanted.len(),
        drifted.len(),
        if check { "differ" } else { "written" }
    );
    Ok(())
}

/// File name and text of every manifest.
fn manifests() -> Result<BTreeMap<String, String>> {
    bmo_api::crds()
        .iter()
        .map(|crd| {
            let value = serde_json::to_value(crd)?;
            let yaml = serde_saphyr::to_string(&value)?;
            let read: Value = serde_saphyr::from_str(&yaml)?;
            ensure!(
                read == value,
                "the YAML of {} reads back as something else",
                crd.spec.names.kind
            );
            Ok((
                format!("{PREFIX}{}.yaml", crd.spec.names.plural),
                format!("{HEAD}{yaml}"),
            ))
        })
        .collect()
}

/// Our files in the folder.
fn present(folder: &Path) -> Result<BTreeMap<String, String>> {
    if !folder.exists() {
        return Ok(BTreeMap::new());
    }
    let paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths
        .into_iter()
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .map(|(name, path)| Ok((name, fs::read_to_string(path)?)))
        .collect()
}

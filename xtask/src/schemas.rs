//! JSON Schemas of the plugin protocol, generated from the types of `bmo-provisioner`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bmo_provisioner::wire::catalog;

/// Writes the schemas, or checks them.
pub fn run(check: bool) -> Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/protocol/v1");
    let mut wanted = BTreeMap::new();
    for (name, schema) in catalog::schemas() {
        wanted.insert(
            dir.join(name),
            format!("{}\n", serde_json::to_string_pretty(&schema)?),
        );
    }
    let stale: Vec<PathBuf> = present(&dir)?
        .into_iter()
        .filter(|path| !wanted.contains_key(path))
        .collect();
    if check {
        return compare(&wanted, &stale);
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for path in stale {
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    for (path, text) in &wanted {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    eprintln!("schemas: {} files in {}", wanted.len(), dir.display());
    Ok(())
}

fn present(dir: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Ok(Vec::new());
    };
    let paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    Ok(paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect())
}

fn compare(wanted: &BTreeMap<PathBuf, String>, stale: &[PathBuf]) -> Result<()> {
    let differs = |(path, text): &(&PathBuf, &String)| fs::read_to_string(path).ok().as_ref() != Some(*text);
    let mut wrong: Vec<String> = wanted
        .iter()
        .filter(differs)
        .map(|(path, _)| path.display().to_string())
        .collect();
    wrong.extend(
        stale
            .iter()
            .map(|path| format!("{} (no such method)", path.display())),
    );
    if wrong.is_empty() {
        return Ok(());
    }
    bail!(
        "the protocol's schemas are not those of the types; run `cargo xtask schemas`, and remember that members are only \
         added within a version:\n  {}",
        wrong.join("\n  ")
    )
}

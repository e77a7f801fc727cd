//! CRD manifests, generated from the types of `bmo-api`.

use anyhow::{Result, bail};

/// Writes the manifests, or checks them.
pub fn run(_check: bool) -> Result<()> {
    bail!("no CRDs are generated yet")
}

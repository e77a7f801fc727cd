//! JSON Schemas of the plugin protocol, generated from the types of `bmo-provisioner`.

use anyhow::{Result, bail};

/// Writes the schemas, or checks them.
pub fn run(_check: bool) -> Result<()> {
    bail!("no schemas are generated yet")
}

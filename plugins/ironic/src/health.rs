//! Health and power failure, from the node as it was last seen: both are asked for on most passes.

use bmo_provisioner::Health;

use crate::pass::Pass;

impl Pass {
    /// See [`bmo_provisioner::Provisioner::has_power_failure`].
    pub async fn power_failure(&self) -> bool {
        self.last_node()
            .await
            .is_some_and(|node| node.fault == "power failure")
    }

    /// See [`bmo_provisioner::Provisioner::get_health`].
    pub async fn health(&self) -> Option<Health> {
        if !self.ironic.version().has_health() {
            return None;
        }
        let node = self.last_node().await?;
        Some(match node.health.as_str() {
            "" => return None,
            "OK" => Health::Ok,
            "Warning" => Health::Warning,
            "Critical" => Health::Critical,
            other => Health::Other(other.to_owned()),
        })
    }
}

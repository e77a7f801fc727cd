//! The network ports of a node: one for each MAC address that is known. The agent's calls find their node by them.
//!
//! Ports are only added. What is known to exist is remembered, so that a host at rest costs no request for it.

use std::collections::BTreeMap;

use bmo_api::HardwareData;

use crate::client::{ApiError, Conflict, Node};
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop};

/// MAC addresses in lower case, and whether the machine boots from them.
pub type Wanted = BTreeMap<String, bool>;

/// The ports a host should have. The boot address is one of them even before inspection.
pub fn wanted(boot_mac: &str, hardware: Option<&HardwareData>) -> Wanted {
    let nics = hardware
        .and_then(|data| data.spec.hardware.as_ref())
        .into_iter()
        .flat_map(|details| &details.nics);
    let mut ports = Wanted::new();
    for nic in nics.filter(|nic| !nic.mac.is_empty()) {
        *ports.entry(nic.mac.to_ascii_lowercase()).or_default() |= nic.pxe;
    }
    if !boot_mac.is_empty() {
        ports.insert(boot_mac.to_ascii_lowercase(), true);
    }
    ports
}

impl Pass {
    /// Sees that the node has its ports. A `new` node has none.
    pub async fn ensure_ports(&self, node: &Node, wanted: Wanted, new: bool) -> Flow {
        let known = |known: &mut crate::shared::Remembered| known.ports.as_ref() == Some(&wanted);
        if wanted.is_empty() || self.shared.of_node(&node.uuid, known) {
            return Ok(());
        }
        let existing = if new {
            Vec::new()
        } else {
            let ports = self.ironic.ports_of_node(&node.uuid).await;
            ports.map_err(|error| {
                self.error(&format!("failed to list the ports of node {}", node.uuid), &error)
            })?
        };
        let missing = |mac: &str| !existing.iter().any(|port| port.address.eq_ignore_ascii_case(mac));
        for (mac, pxe) in wanted.iter().filter(|(mac, _)| missing(mac)) {
            match self.ironic.create_port(&node.uuid, mac, *pxe).await {
                Ok(()) => {}
                Err(error) if error.is(409) => self.port_exists(node, mac, &error).await?,
                Err(error) => return Err(self.error(&format!("failed to create port {mac}"), &error)),
            }
        }
        self.shared
            .of_node(&node.uuid, |known| known.ports = Some(wanted));
        Ok(())
    }

    /// A port could not be created because of a conflict: fine where it is ours.
    async fn port_exists(&self, node: &Node, mac: &str, error: &ApiError) -> Flow {
        if error.conflict() == Some(Conflict::Locked) {
            return Err(self.refused(error));
        }
        let ports = self.ironic.ports_with_address(mac).await;
        let ports = ports.map_err(|error| self.error(&format!("failed to look for port {mac}"), &error))?;
        match ports.iter().find(|port| port.node_uuid != node.uuid) {
            None if ports.is_empty() => Err(self.refused(error)),
            None => Ok(()),
            Some(other) => Err(Stop::failed(format!(
                "port {mac} belongs to another node, {}: two hosts have the same MAC address; correct one of them or \
                 delete that node",
                other.node_uuid
            ))),
        }
    }
}

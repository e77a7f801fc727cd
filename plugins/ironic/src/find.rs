//! Finding the node of a host that may have been registered before: by id, by name, by the name of old releases, by
//! the MAC address it boots from.

use std::sync::Arc;

use crate::client::Node;
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop};

/// Between namespace and name in the name of a node. Neither can contain it.
const SEPARATOR: char = '~';

/// The name of a host's node.
pub fn node_name(namespace: &str, name: &str) -> String {
    format!("{namespace}{SEPARATOR}{name}")
}

impl Pass {
    /// The node of this host, wherever it can be recognised.
    pub async fn find_existing(&self) -> Flow<Option<Arc<Node>>> {
        const CONTEXT: &str = "failed to find existing host";
        if let Some(node) = self.find_node().await? {
            return Ok(Some(node));
        }
        let own = node_name(&self.host.namespace, &self.host.name);
        let plain = (!self.host.name.contains(SEPARATOR)).then(|| self.host.name.clone());
        for name in [Some(own), plain].into_iter().flatten() {
            let found = self.ironic.node(&name).await;
            if let Some(node) = found.map_err(|error| self.error(CONTEXT, &error))? {
                return Ok(Some(self.keep(node)));
            }
        }
        self.find_by_mac().await
    }

    /// The node with a port of the boot address: ours if it has no name, somebody else's if it has one.
    async fn find_by_mac(&self) -> Flow<Option<Arc<Node>>> {
        let mac = self.host.boot_mac_address.to_ascii_lowercase();
        if mac.is_empty() {
            return Ok(None);
        }
        let ports = match self.ironic.ports_with_address(&mac).await {
            Ok(ports) => ports,
            Err(error) => return Err(self.error("failed to find existing host", &error)),
        };
        let Some(port) = ports.first() else {
            return Ok(None);
        };
        let found = self.ironic.node(&port.node_uuid).await.map_err(|error| {
            self.error(
                &format!("failed to find existing host: port {mac} exists but its node cannot be read"),
                &error,
            )
        })?;
        match found {
            Some(node) if node.name.is_empty() => Ok(Some(self.keep(node))),
            Some(node) => Err(Stop::failed(format!(
                "MAC address {} conflicts with existing node {}",
                self.host.boot_mac_address, node.name
            ))),
            None => Err(Stop::Error(bmo_provisioner::ProvisionerError::transient(
                format!(
                    "failed to find existing host: port {mac} exists but linked node {} doesn't: delete the port in Ironic",
                    port.node_uuid
                ),
            ))),
        }
    }
}

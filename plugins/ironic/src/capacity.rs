//! Capacity: how many machines may boot over the network at once.
//!
//! Counting needs the list of all nodes. It is read once for all hosts that ask within a few seconds; a host that
//! was let in since then is counted too, so that a crowd does not slip through on one list.

use std::collections::BTreeMap;
use std::time::Duration;

use bmo_provisioner::{ProvisionerError, Result};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::client::{ApiError, Ironic, ListedNode, ProvisionState};
use crate::find::node_name;
use crate::pass::Pass;
use crate::pass::flow::{Stop, progress};

/// How long a list is used.
const LIST_AGE: Duration = Duration::from_secs(5);
/// How long a host that was let in is counted before it shows in the list.
const ADMISSION_AGE: Duration = Duration::from_secs(30);

/// The list of all nodes and who was let in.
#[derive(Debug, Default)]
pub struct NodeList {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    read: Option<Instant>,
    /// Busy nodes that count, by id, with their names.
    busy: BTreeMap<String, String>,
    admitted: BTreeMap<String, Instant>,
}

impl NodeList {
    /// Whether the host of that node name may begin, where `limit` may work at once.
    async fn admits(&self, ironic: &Ironic, name: &str, limit: i64) -> std::result::Result<bool, ApiError> {
        let mut state = self.state.lock().await;
        if state.read.is_none_or(|read| read.elapsed() >= LIST_AGE) {
            let nodes = ironic.nodes().await?;
            state.busy = nodes
                .into_iter()
                .filter(counts)
                .map(|node| (node.uuid, node.name))
                .collect();
            state.read = Some(Instant::now());
            state.admitted.retain(|_, since| since.elapsed() < ADMISSION_AGE);
        }
        if state.busy.values().any(|busy| busy == name) {
            return Ok(true);
        }
        let waiting =
            |admitted: &&String| *admitted != name && !state.busy.values().any(|busy| busy == *admitted);
        let taken = state.busy.len() + state.admitted.keys().filter(waiting).count();
        let room = i64::try_from(taken).unwrap_or(i64::MAX) < limit;
        if room {
            state.admitted.insert(name.to_owned(), Instant::now());
        }
        Ok(room)
    }
}

/// Whether a node takes a place: it is being worked on, and boots over the network for it.
fn counts(node: &ListedNode) -> bool {
    use ProvisionState as S;
    let busy = matches!(
        node.provision_state,
        S::Cleaning
            | S::CleanWait
            | S::Inspecting
            | S::InspectWait
            | S::Deploying
            | S::DeployWait
            | S::Deleting
    );
    busy && !node.boot_interface.contains("virtual-media") && node.boot_interface != "redfish-https"
}

impl Pass {
    /// See [`bmo_provisioner::Provisioner::has_capacity`].
    pub async fn capacity(&self) -> Result<bool> {
        let access = self.access().map_err(ProvisionerError::transient)?;
        if access.supports_iso_preprovisioning_image() {
            return Ok(true);
        }
        let name = node_name(&self.host.namespace, &self.host.name);
        let limit = self.shared.config.provisioning_limit;
        match self.shared.node_list.admits(&self.ironic, &name, limit).await {
            Ok(room) => Ok(room),
            Err(error) => match self.error("failed to count busy hosts", &error) {
                Stop::Error(error) => Err(error),
                other => progress::<()>(Err(other)).map(|_| false),
            },
        }
    }
}

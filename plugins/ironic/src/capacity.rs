//! Capacity: how many machines may boot over the network at once.
//!
//! Busy nodes are counted in a list that all hosts share for a few seconds. A host that was let in since then is
//! counted too, so that a crowd does not slip through on one list.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bmo_provisioner::{ProvisionerError, Result};
use tokio::time::Instant;

use crate::client::{ListedNode, ProvisionState};
use crate::find::node_name;
use crate::fleet::List;
use crate::pass::Pass;

/// How long a list is used.
const LIST_AGE: Duration = Duration::from_secs(5);
/// How long a host that was let in is counted before it shows in the list.
const ADMISSION_AGE: Duration = Duration::from_secs(30);

/// Who was let in lately, by the name of the node.
#[derive(Debug, Default)]
pub struct Admissions(Mutex<HashMap<String, Instant>>);

impl Admissions {
    /// Whether the host of that node name may begin, where `limit` may work at once.
    fn admit(&self, list: &List, name: &str, limit: i64) -> bool {
        let busy: HashMap<_, _> = list
            .nodes()
            .filter(|node| counts(node))
            .map(|node| (&node.uuid, &node.name))
            .collect();
        if busy.values().any(|busy| *busy == name) {
            return true;
        }
        let mut admitted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        admitted.retain(|_, since| since.elapsed() < ADMISSION_AGE);
        let waiting = |other: &&String| *other != name && !busy.values().any(|busy| busy == other);
        let taken = busy.len() + admitted.keys().filter(waiting).count();
        let room = i64::try_from(taken).unwrap_or(i64::MAX) < limit;
        if room {
            admitted.insert(name.to_owned(), Instant::now());
        }
        room
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
        let list = self.shared.fleet.list(&self.ironic, LIST_AGE, None).await;
        let list = list.map_err(|error| self.plain_error("failed to count busy hosts", &error))?;
        let name = node_name(&self.host.namespace, &self.host.name);
        Ok(self
            .shared
            .admissions
            .admit(&list, &name, self.shared.config.provisioning_limit))
    }
}

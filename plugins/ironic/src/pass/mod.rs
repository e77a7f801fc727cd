//! One host, one reconcile pass: the node, read at most once, and the few ways to change it.
//!
//! The node is kept until something changes it. A change that answers with the node replaces it; any other drops it.
//! The last one seen stays for questions that need no newer answer (power failure, health).

pub mod flow;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bmo_bmc::AccessDetails;
use bmo_provisioner::{EventPublisher, HostData, ProvisionerError};
use serde_json::{Value, json};

use crate::client::{ApiError, Ironic, Node, PowerState, ProvisionState, Target};
use crate::fleet;
use crate::pace::{LONG, Phase, SHORT};
use crate::patch::Patch;
use crate::shared::Shared;
use flow::{Flow, Stop};

/// Shortest secret that is looked for in texts; a shorter one would mangle them.
const SHORTEST_SECRET: usize = 4;

/// A provisioner for one host and one pass.
pub struct Pass {
    /// The Ironic in use.
    pub ironic: Arc<Ironic>,
    /// What passes share.
    pub shared: Arc<Shared>,
    /// The host.
    pub host: HostData,
    events: Arc<dyn EventPublisher>,
    cache: Mutex<Cache>,
}

struct Cache {
    id: String,
    node: Option<Arc<Node>>,
    last: Option<Arc<Node>>,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

impl Pass {
    /// Asks nothing yet.
    pub fn new(
        ironic: Arc<Ironic>,
        shared: Arc<Shared>,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Self {
        let cache = Cache {
            id: host.provisioner_id.clone(),
            node: None,
            last: None,
        };
        Self {
            ironic,
            shared,
            host,
            events,
            cache: Mutex::new(cache),
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of the host's node; empty where there is none yet.
    pub fn id(&self) -> String {
        self.cache().id.clone()
    }

    /// Keeps a node that was found, created or changed.
    pub fn keep(&self, node: Node) -> Arc<Node> {
        let node = Arc::new(node);
        self.shared.note(&node);
        let mut cache = self.cache();
        cache.id.clone_from(&node.uuid);
        cache.node = Some(Arc::clone(&node));
        cache.last = Some(Arc::clone(&node));
        node
    }

    fn drop_node(&self) {
        let mut cache = self.cache();
        cache.node = None;
        self.shared.of_node(&cache.id, |known| known.on_its_way = None);
    }

    /// The node is gone.
    pub fn forget_node(&self) {
        let mut cache = self.cache();
        cache.node = None;
        cache.last = None;
    }

    /// The node of the host, if there is one.
    pub async fn find_node(&self) -> Flow<Option<Arc<Node>>> {
        let (id, kept) = {
            let cache = self.cache();
            (cache.id.clone(), cache.node.clone())
        };
        if kept.is_some() || id.is_empty() {
            return Ok(kept);
        }
        if let Some(node) = self.known_to_be_on_its_way(&id).await {
            let mut cache = self.cache();
            cache.node = Some(Arc::clone(&node));
            cache.last = Some(Arc::clone(&node));
            return Ok(Some(node));
        }
        let found = self.ironic.node(&id).await;
        let found = found.map_err(|error| self.error(&format!("failed to find node by ID {id}"), &error))?;
        if found.is_none() {
            self.shared.forget(&id);
        }
        Ok(found.map(|node| self.keep(node)))
    }

    /// The node as an earlier pass saw it, where a list for all hosts says that it has got nowhere since.
    async fn known_to_be_on_its_way(&self, id: &str) -> Option<Arc<Node>> {
        if self.shared.pace.under_way() < fleet::CROWD {
            return None;
        }
        let (seen, node) = self.shared.of_node(id, |known| known.on_its_way.clone())?;
        self.shared
            .fleet
            .is_still(&self.ironic, &node, seen)
            .await
            .then_some(node)
    }

    /// The node of the host.
    ///
    /// # Errors
    /// Needs registration, where there is none.
    pub async fn node(&self) -> Flow<Arc<Node>> {
        self.find_node().await?.ok_or_else(|| {
            let id = self.id();
            let text = if id.is_empty() {
                "host not registered: it has no node in Ironic yet".to_owned()
            } else {
                format!("host not registered: Ironic has no node {id}")
            };
            ProvisionerError::needs_registration(text).into()
        })
    }

    /// The node as it was seen last in this pass; read where it was not.
    pub async fn last_node(&self) -> Option<Arc<Node>> {
        let last = self.cache().last.clone();
        match last {
            Some(node) => Some(node),
            None => self.find_node().await.ok().flatten(),
        }
    }

    /// How to reach the BMC.
    ///
    /// # Errors
    /// A text for the user where the address cannot be used.
    pub fn access(&self) -> Result<AccessDetails, String> {
        let (address, unverified) = match &self.host.bmc {
            Some(bmc) => (bmc.address.as_str(), bmc.disable_certificate_verification),
            None => ("", false),
        };
        AccessDetails::parse(address, unverified).map_err(|error| error.to_string())
    }

    /// Publishes an event for the host.
    pub fn publish(&self, reason: &str, message: &str) {
        self.events.publish(reason, message);
    }

    /// Changes the node. An empty patch is no request.
    pub async fn update(&self, node: Arc<Node>, patch: Patch) -> Flow<Arc<Node>> {
        if patch.is_empty() {
            return Ok(node);
        }
        tracing::debug!(node = %node.uuid, ?patch, "changing the node");
        let reset_interfaces = patch.resets_interfaces();
        match self
            .ironic
            .patch_node(&node.uuid, &patch.into_body(), reset_interfaces)
            .await
        {
            Ok(node) => Ok(self.keep(node)),
            Err(error) if error.is(409) => Err(self.refused(&error)),
            Err(error) => Err(self.error("failed to update host settings in ironic", &error)),
        }
    }

    /// Asks for a new provision state; what it needs beside the target is in `more`.
    ///
    /// A node with a fault is left to Ironic, which works on it. One in maintenance without a fault is taken out of
    /// it first: Ironic would not go on with it.
    pub async fn request_state(&self, node: &Node, target: Target, more: Value) -> Flow {
        if node.has_fault() {
            return Err(self.pending(LONG, format!("Ironic to recover the node from a {}", node.fault)));
        }
        if node.maintenance {
            return Err(self.end_maintenance(node).await);
        }
        self.request_state_anyway(node, target, more).await
    }

    /// The same without regard to fault and maintenance.
    pub async fn request_state_anyway(&self, node: &Node, target: Target, more: Value) -> Flow {
        let mut body = json!({ "target": target.as_str() });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        match self.ironic.set_provision_state(&node.uuid, &body).await {
            Ok(()) => {
                self.drop_node();
                if let Some(phase) = phase_of(node, target) {
                    self.shared.pace.begin(&node.uuid, phase);
                }
                Ok(())
            }
            Err(error) if error.is(409) => Err(self.refused(&error)),
            Err(error) => {
                let context = format!("failed to change provisioning state to {:?}", target.as_str());
                Err(self.error(&context, &error))
            }
        }
    }

    /// Asks for a new provision state and ends the pass: the usual use.
    pub async fn go(&self, node: &Node, target: Target) -> Stop {
        match self.request_state(node, target, Value::Null).await {
            Ok(()) => self.begun(node, target),
            Err(stop) => stop,
        }
    }

    /// The end of a pass after an accepted request.
    pub fn begun(&self, node: &Node, target: Target) -> Stop {
        let text = format!("Ironic to carry out {:?}", target.as_str());
        match phase_of(node, target) {
            Some(phase) => self.pending_phase(node, phase, SHORT, text),
            None => Stop::Pending {
                after: self.shared.pace.at_once(SHORT),
                waiting_for: text,
            },
        }
    }

    /// Takes the node out of maintenance and ends the pass.
    pub async fn end_maintenance(&self, node: &Node) -> Stop {
        tracing::info!(node = %node.uuid, reason = %node.maintenance_reason, fault = %node.fault, "ending maintenance");
        self.maintenance_changed(self.ironic.unset_maintenance(&node.uuid).await)
    }

    /// Puts the node into maintenance and ends the pass.
    pub async fn begin_maintenance(&self, node: &Node, reason: &str) -> Stop {
        self.maintenance_changed(self.ironic.set_maintenance(&node.uuid, reason).await)
    }

    fn maintenance_changed(&self, answer: Result<(), ApiError>) -> Stop {
        match answer {
            Ok(()) => {
                self.drop_node();
                self.pending(Duration::ZERO, "the node's maintenance flag".to_owned())
            }
            Err(error) if error.is(409) => self.refused(&error),
            Err(error) => self.error("failed to set host maintenance flag", &error),
        }
    }

    /// Asks for another power state.
    pub async fn request_power(
        &self,
        node: &Node,
        target: &PowerState,
        timeout: Option<Duration>,
    ) -> Result<(), ApiError> {
        let mut body = json!({ "target": target.as_str() });
        if let Some(timeout) = timeout {
            body["timeout"] = json!(timeout.as_secs());
        }
        self.ironic.set_power_state(&node.uuid, &body).await?;
        self.drop_node();
        self.shared.pace.begin(&node.uuid, Phase::Power);
        Ok(())
    }

    /// Sets what the next RAID configuration makes.
    pub async fn set_raid_target(&self, node: &Node, disks: &[Value]) -> Flow {
        let answer = self
            .ironic
            .set_raid_target(&node.uuid, &json!({ "logical_disks": disks }))
            .await;
        self.drop_node();
        match answer {
            Ok(()) => Ok(()),
            Err(error) if error.is(409) => Err(self.refused(&error)),
            Err(error) => Err(self.error("failed to set the RAID configuration", &error)),
        }
    }

    /// Waiting for what the node does now.
    pub fn wait(&self, node: &Node, longest: Duration, waiting_for: impl Into<String>) -> Stop {
        let after = match Phase::of(&node.provision_state) {
            Some(phase) => self.shared.pace.delay(&node.uuid, phase, longest),
            None => self.shared.pace.plain(longest),
        };
        Stop::Pending {
            after,
            waiting_for: waiting_for.into(),
        }
    }

    /// Waiting for a phase that a request of this pass began.
    pub fn pending_phase(
        &self,
        node: &Node,
        phase: Phase,
        longest: Duration,
        waiting_for: impl Into<String>,
    ) -> Stop {
        Stop::Pending {
            after: self.shared.pace.delay(&node.uuid, phase, longest),
            waiting_for: waiting_for.into(),
        }
    }

    /// Waiting for anything else.
    pub fn pending(&self, after: Duration, waiting_for: String) -> Stop {
        Stop::Pending {
            after: self.shared.pace.plain(after),
            waiting_for,
        }
    }

    /// What a 409 means: wait and try again, and say why.
    pub fn refused(&self, error: &ApiError) -> Stop {
        self.pending(
            SHORT,
            self.scrub(&format!("Ironic, which is busy: {}", error.message())),
        )
    }

    /// An error that ends the pass. Where Ironic cannot be reached at all it says so by its kind.
    pub fn error(&self, context: &str, error: &ApiError) -> Stop {
        let text = self.scrub(&format!("{context}: {error}"));
        Stop::Error(if error.never_arrived() {
            ProvisionerError::not_ready(text)
        } else {
            ProvisionerError::transient(text)
        })
    }

    /// Failed with what Ironic said.
    pub fn failed(&self, message: &str) -> Stop {
        Stop::Failed(self.scrub(message))
    }

    /// Takes this host's secrets out of a text that came from elsewhere.
    pub fn scrub(&self, text: &str) -> String {
        let bmc = self
            .host
            .bmc
            .as_ref()
            .map(|bmc| bmc.credentials.password.expose());
        let own = self
            .ironic
            .http()
            .endpoint()
            .auth
            .as_ref()
            .map(|auth| auth.password.expose());
        let secrets = bmc
            .into_iter()
            .chain(own)
            .filter(|secret| secret.len() >= SHORTEST_SECRET);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "<hidden>"))
    }
}

/// What a target begins, where it takes time. Leaving a state for `manageable` does not, unless the BMC is checked.
fn phase_of(node: &Node, target: Target) -> Option<Phase> {
    Some(match target {
        Target::Manage if node.provision_state == ProvisionState::Enroll => Phase::Verification,
        Target::Provide | Target::Clean => Phase::Cleaning,
        Target::Inspect => Phase::Inspection,
        Target::Active => Phase::Deployment,
        Target::Deleted => Phase::Deletion,
        Target::Adopt => Phase::Adoption,
        Target::Service => Phase::Service,
        Target::Manage | Target::Abort => return None,
    })
}

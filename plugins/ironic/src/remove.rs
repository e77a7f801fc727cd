//! Deletion and detachment: Ironic forgets the machine, which goes on running what it runs.

use bmo_provisioner::{DetachRequest, Progress, Result};
use serde_json::Value;

use crate::client::{Node, ProvisionState, Target};
use crate::pace::{LONG, SHORT};
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::patch::Patch;

/// Why the operator puts a node into maintenance. Ironic does not let a node go otherwise.
const MAINTENANCE_REASON: &str = "forcing deletion in baremetal-operator";

impl Pass {
    /// See [`bmo_provisioner::Provisioner::delete`].
    pub async fn delete_host(&self) -> Result<Progress> {
        progress(self.remove_steps(false).await)
    }

    /// See [`bmo_provisioner::Provisioner::detach`].
    pub async fn detach_host(&self, request: DetachRequest) -> Result<Progress> {
        progress(self.remove_steps(request.force).await)
    }

    async fn remove_steps(&self, force: bool) -> Flow {
        use ProvisionState as S;
        let Some(node) = self.find_node().await? else {
            return Ok(());
        };
        match node.provision_state {
            S::Verifying => Err(self.wait(&node, SHORT, "Ironic to finish checking the BMC")),
            S::Enroll => self.remove_node(&node).await,
            S::Available | S::Manageable => {
                if !node.instance_uuid.is_empty() {
                    let mut patch = Patch::default();
                    patch.remove("instance_uuid");
                    self.update(std::sync::Arc::clone(&node), patch).await?;
                }
                self.remove_node(&node).await
            }
            S::DeployWait if force && self.ironic.version().has_deployment_abort() => {
                Err(self.give_up(&node, Target::Abort).await)
            }
            S::DeployWait if force => Err(self.give_up(&node, Target::Deleted).await),
            S::InspectWait | S::CleanWait | S::ServiceWait if force => {
                Err(self.give_up(&node, Target::Abort).await)
            }
            S::Deploying
            | S::Cleaning
            | S::Inspecting
            | S::Servicing
            | S::Deleting
            | S::DeployWait
            | S::InspectWait
            | S::CleanWait
            | S::ServiceWait => Err(self.wait(
                &node,
                LONG,
                format!("the node to be done with {}", node.provision_state),
            )),
            _ if !node.maintenance => Err(self.begin_maintenance(&node, MAINTENANCE_REASON).await),
            _ => self.remove_node(&node).await,
        }
    }

    async fn give_up(&self, node: &Node, target: Target) -> Stop {
        match self.request_state_anyway(node, target, Value::Null).await {
            Ok(()) => self.begun(node, target),
            Err(stop) => stop,
        }
    }

    /// Ironic removes a node, its ports included, before it answers.
    async fn remove_node(&self, node: &Node) -> Flow {
        match self.ironic.delete_node(&node.uuid).await {
            Ok(()) => {}
            Err(error) if error.is(404) => {}
            Err(error) if error.is(409) => return Err(self.refused(&error)),
            Err(error) => return Err(self.error("failed to remove host", &error)),
        }
        self.shared.forget(&node.uuid);
        self.forget_node();
        Ok(())
    }
}

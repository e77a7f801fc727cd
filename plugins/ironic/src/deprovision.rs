//! Deprovisioning: the node is torn down and cleaned, as far as cleaning is wanted.

use bmo_provisioner::{DeprovisionRequest, Progress, Result};

use crate::client::{Node, ProvisionState, Target};
use crate::pace::LONG;
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::patch::Patch;
use crate::register::automated_clean;

impl Pass {
    /// See [`bmo_provisioner::Provisioner::deprovision`].
    pub async fn deprovision_host(&self, request: DeprovisionRequest) -> Result<Progress> {
        progress(self.deprovision_steps(&request).await)
    }

    async fn deprovision_steps(&self, request: &DeprovisionRequest) -> Flow {
        use ProvisionState as S;
        let node = self.node().await?;
        let restart = request.restart_on_failure;
        match node.provision_state {
            S::Error if !restart => Err(self.failed(node.error_or("Deprovisioning failed"))),
            S::Error => Err(self.tear_down(&node, "Image deprovisioning restarted").await),
            S::CleanFailed if !restart => Err(self.failed(&format!(
                "Cleaning failed: {}",
                node.error_or("Ironic gives no reason")
            ))),
            S::CleanFailed if node.maintenance => Err(self.end_maintenance(&node).await),
            S::CleanFailed | S::InspectFailed | S::AdoptFailed => Err(self.go(&node, Target::Manage).await),
            S::Manageable => Err(self.go(&node, Target::Provide).await),
            S::Available => {
                self.publish("DeprovisioningComplete", "Image deprovisioning completed");
                Ok(())
            }
            S::Deleting => Err(self.wait(&node, LONG, "the machine to be torn down")),
            S::Cleaning | S::CleanWait => Err(self.wait(&node, LONG, "the disks to be cleaned")),
            S::Deploying => Err(self.wait(&node, LONG, "the deployment to come to an end")),
            S::Servicing => Err(self.wait(&node, LONG, "servicing to come to an end")),
            S::ServiceWait | S::ServiceFailed => Err(self.abort_anyway(&node).await),
            S::Active | S::DeployFailed | S::DeployWait => {
                let cleaning = automated_clean(request.automated_cleaning_mode);
                if node.automated_clean != Some(cleaning) {
                    let mut patch = Patch::default();
                    patch.set("automated_clean", cleaning, serde_json::Value::Null);
                    self.update(node, patch).await?;
                    return Err(
                        self.pending(std::time::Duration::ZERO, "the node's cleaning mode".to_owned())
                    );
                }
                Err(self.tear_down(&node, "Image deprovisioning started").await)
            }
            ref other => Err(self.unexpected("deprovisioning", other)),
        }
    }

    async fn tear_down(&self, node: &Node, event: &str) -> Stop {
        if let Err(stop) = self
            .request_state(node, Target::Deleted, serde_json::Value::Null)
            .await
        {
            return stop;
        }
        self.publish("DeprovisioningStarted", event);
        self.begun(node, Target::Deleted)
    }

    /// Gives up what the node waits for, whatever its fault and maintenance say.
    pub async fn abort_anyway(&self, node: &Node) -> Stop {
        match self
            .request_state_anyway(node, Target::Abort, serde_json::Value::Null)
            .await
        {
            Ok(()) => self.begun(node, Target::Abort),
            Err(stop) => stop,
        }
    }
}

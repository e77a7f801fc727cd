//! Adoption: a machine that already runs its image gets a node that says so, without being touched.

use bmo_api::ProvisioningState;
use bmo_provisioner::{AdoptRequest, Progress, Result};

use crate::client::{ProvisionState, Target};
use crate::pace::SHORT;
use crate::pass::Pass;
use crate::pass::flow::{Flow, progress};

impl Pass {
    /// See [`bmo_provisioner::Provisioner::adopt`].
    pub async fn adopt_host(&self, request: AdoptRequest) -> Result<Progress> {
        progress(self.adopt_steps(&request).await)
    }

    async fn adopt_steps(&self, request: &AdoptRequest) -> Flow {
        use ProvisionState as S;
        let node = self.node().await?;
        match node.provision_state {
            S::Enroll | S::Verifying => Err(self.unexpected("adopting", &node.provision_state)),
            // Deprovisioning goes on with cleaning, which needs no adoption.
            S::Manageable if request.state == ProvisioningState::Deprovisioning => Ok(()),
            S::Manageable => Err(self.go(&node, Target::Adopt).await),
            S::Adopting => Err(self.wait(&node, SHORT, "Ironic to adopt the running machine")),
            S::AdoptFailed if request.restart_on_failure => Err(self.go(&node, Target::Adopt).await),
            S::AdoptFailed => Err(self.failed(&format!(
                "Host adoption failed: {}",
                node.error_or("Ironic gives no reason")
            ))),
            S::Active
                if node.maintenance && !node.has_fault() && request.state != ProvisioningState::Deleting =>
            {
                Err(self.end_maintenance(&node).await)
            }
            _ => Ok(()),
        }
    }
}

//! Servicing: firmware of a machine that is in use, while it reboots.

use bmo_provisioner::{ProvisionerError, Result, ServiceRequest, Servicing};

use crate::client::{Node, ProvisionState, Target};
use crate::pace::LONG;
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::steps;

impl Pass {
    /// See [`bmo_provisioner::Provisioner::service`].
    pub async fn service_host(&self, request: ServiceRequest) -> Result<Servicing> {
        let mut started = false;
        let flow = self.service_steps(&request, &mut started).await;
        Ok(Servicing {
            started,
            progress: progress(flow)?,
        })
    }

    async fn service_steps(&self, request: &ServiceRequest, started: &mut bool) -> Flow {
        use ProvisionState as S;
        self.access()
            .map_err(|text| Stop::Error(ProvisionerError::transient(text)))?;
        let node = self.node().await?;
        match node.provision_state {
            S::ServiceFailed | S::ServiceWait if !request.has_firmware_spec => {
                self.request_state_anyway(&node, Target::Abort, serde_json::Value::Null)
                    .await?;
                *started = true;
                Err(self.begun(&node, Target::Abort))
            }
            S::ServiceFailed if !request.restart_on_failure => {
                Err(self.failed(node.error_or("Servicing failed; Ironic gives no reason")))
            }
            S::ServiceFailed if node.maintenance => Err(self.end_maintenance(&node).await),
            S::ServiceFailed => self.start_service(&node, request, started).await,
            S::Active if request.unprepared => self.start_service(&node, request, started).await,
            S::Active => Ok(()),
            S::Servicing | S::ServiceWait => Err(self.wait(&node, LONG, "firmware to be changed")),
            ref other => Err(self.unexpected("servicing", other)),
        }
    }

    async fn start_service(&self, node: &Node, request: &ServiceRequest, started: &mut bool) -> Flow {
        let steps = steps::firmware(
            &request.target_firmware_settings,
            request.actual_firmware_settings.as_ref(),
            &request.target_firmware_components,
        );
        if !steps.is_empty() {
            self.run_steps(node, Target::Service, "service_steps", &steps)
                .await?;
            *started = true;
            return Err(self.begun(node, Target::Service));
        }
        *started = true;
        if node.provision_state == ProvisionState::ServiceFailed {
            // Nothing is left to do, but the node would stay failed, and the next service would begin there.
            return Err(self.abort_anyway(node).await);
        }
        Ok(())
    }
}

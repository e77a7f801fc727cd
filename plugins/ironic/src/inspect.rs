//! Inspection: by the agent in a booted ramdisk, or by Ironic asking the BMC (*fast*).

use bmo_api::InspectionMode;
use bmo_bmc::AccessDetails;
use bmo_provisioner::{InspectRequest, Inspection, Result};
use serde_json::Value;

use crate::capabilities;
use crate::client::{Node, ProvisionState, Target};
use crate::hardware;
use crate::pace::{LONG, SHORT};
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::patch::{Patch, Section};

/// The interface that inspects by the agent.
const AGENT: &str = "agent";

/// How a host is inspected.
pub fn inspect_interface(access: &AccessDetails, mode: Option<InspectionMode>) -> &'static str {
    match mode {
        Some(InspectionMode::Fast) => access.inspect_interface().unwrap_or(AGENT),
        _ => AGENT,
    }
}

impl Pass {
    /// See [`bmo_provisioner::Provisioner::inspect_hardware`].
    pub async fn inspect(&self, request: InspectRequest) -> Result<Inspection> {
        let mut started = false;
        let flow = self.inspect_steps(&request, &mut started).await;
        Ok(Inspection {
            started,
            progress: progress(flow)?,
        })
    }

    async fn inspect_steps(
        &self,
        request: &InspectRequest,
        started: &mut bool,
    ) -> Flow<Box<bmo_api::HardwareDetails>> {
        use ProvisionState as S;
        let node = self.node().await?;
        let aborted = node.provision_state == S::InspectFailed && node.last_error.contains("aborted");
        let refresh = request.refresh || aborted;
        let restart = request.restart_on_failure || aborted;
        match node.provision_state {
            S::Available => Err(self.go(&node, Target::Manage).await),
            S::InspectWait if request.force_reboot => {
                self.request_state(&node, Target::Abort, Value::Null).await?;
                *started = true;
                Err(self.begun(&node, Target::Abort))
            }
            S::InspectWait | S::Inspecting => {
                let fast = request.inspection_mode == Some(InspectionMode::Fast);
                Err(self.wait(
                    &node,
                    if fast { SHORT } else { LONG },
                    "the hardware to be inspected",
                ))
            }
            S::InspectFailed if !restart => Err(self.failed(node.error_or("Inspection failed"))),
            S::InspectFailed => Err(self.start_inspection(&node, request, started).await),
            S::Manageable if refresh => Err(self.start_inspection(&node, request, started).await),
            S::Manageable => self.inspected(&node, request, started).await,
            ref other => Err(self.unexpected("inspecting", other)),
        }
    }

    /// The hardware, where it has been inspected; else inspection begins.
    async fn inspected(
        &self,
        node: &Node,
        request: &InspectRequest,
        started: &mut bool,
    ) -> Flow<Box<bmo_api::HardwareDetails>> {
        const CONTEXT: &str = "failed to retrieve hardware introspection data";
        let found = self.ironic.inventory(&node.uuid).await;
        let Some(document) = found.map_err(|error| self.error(CONTEXT, &error))? else {
            return Err(self.start_inspection(node, request, started).await);
        };
        let details = hardware::details(&document).map_err(|error| {
            let text = format!(
                "{CONTEXT}: the inventory of node {} cannot be understood: {error}",
                node.uuid
            );
            Stop::Error(bmo_provisioner::ProvisionerError::transient(text))
        })?;
        self.publish("InspectionComplete", "Hardware inspection completed");
        Ok(Box::new(details))
    }

    async fn start_inspection(&self, node: &Node, request: &InspectRequest, started: &mut bool) -> Stop {
        match self.try_inspection(node, request, started).await {
            Ok(stop) | Err(stop) => stop,
        }
    }

    async fn try_inspection(&self, node: &Node, request: &InspectRequest, started: &mut bool) -> Flow<Stop> {
        let access = self.access().map_err(Stop::Failed)?;
        if request.inspection_mode == Some(InspectionMode::Fast) && access.inspect_interface().is_none() {
            return Err(Stop::failed(format!(
                "BMC driver {} does not support fast (out-of-band) inspection",
                access.kind()
            )));
        }
        let mut patch = Patch::default();
        let capabilities =
            capabilities::with_boot_mode(node.properties.get("capabilities"), request.boot_mode);
        patch.set_in(
            Section::Properties,
            "capabilities",
            capabilities,
            &node.properties,
        );
        if !request.cpu_architecture.is_empty() {
            patch.set_in(
                Section::Properties,
                "cpu_arch",
                request.cpu_architecture.as_str(),
                &node.properties,
            );
        }
        let interface = inspect_interface(&access, request.inspection_mode);
        patch.set("inspect_interface", interface, node.inspect_interface.as_str());
        let node = self.update(std::sync::Arc::new(node.clone()), patch).await?;
        self.request_state(&node, Target::Inspect, Value::Null).await?;
        *started = true;
        self.publish("InspectionStarted", "Hardware inspection started");
        Ok(self.begun(&node, Target::Inspect))
    }

    /// The node is where this operation has no business.
    pub fn unexpected(&self, doing: &str, state: &ProvisionState) -> Stop {
        let text = format!(
            "unexpected provision state {:?} of the node in Ironic while {doing}",
            state.as_str()
        );
        Stop::Error(bmo_provisioner::ProvisionerError::transient(text))
    }
}

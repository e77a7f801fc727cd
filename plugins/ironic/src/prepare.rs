//! Preparation: RAID and firmware of a machine that is not in use, by what Ironic calls manual cleaning.

use std::sync::Arc;

use bmo_provisioner::{Preparation, PrepareRequest, ProvisionerError, Result};
use serde_json::json;

use crate::client::{Node, ProvisionState, Target};
use crate::pace::LONG;
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::patch::Patch;
use crate::raid::Volumes;
use crate::steps::{self, Step};

impl Pass {
    /// See [`bmo_provisioner::Provisioner::prepare`].
    pub async fn prepare_host(&self, request: PrepareRequest) -> Result<Preparation> {
        let mut started = false;
        let flow = self.prepare_steps(&request, &mut started).await;
        Ok(Preparation {
            started,
            progress: progress(flow)?,
        })
    }

    async fn prepare_steps(&self, request: &PrepareRequest, started: &mut bool) -> Flow {
        use ProvisionState as S;
        let access = self
            .access()
            .map_err(|text| Stop::Error(ProvisionerError::transient(text)))?;
        let raid_interface = access.raid_interface().unwrap_or("no-raid");
        let volumes = Volumes {
            target: request.target_raid_config.as_ref(),
            actual: request.actual_raid_config.as_ref(),
        };
        let node = self.node().await?;
        match node.provision_state {
            S::Available | S::Manageable if !request.unprepared => Ok(()),
            S::Available => {
                if clean_steps(request, &volumes, raid_interface)?.is_empty() {
                    *started = true;
                    return Ok(());
                }
                Err(self.go(&node, Target::Manage).await)
            }
            S::Manageable => {
                let steps = clean_steps(request, &volumes, raid_interface)?;
                if steps.is_empty() {
                    *started = true;
                    return Ok(());
                }
                let node = self.set_up_raid(node, request, &volumes, raid_interface).await?;
                self.run_steps(&node, Target::Clean, "clean_steps", &steps)
                    .await?;
                *started = true;
                Err(self.begun(&node, Target::Clean))
            }
            S::CleanFailed if !request.restart_on_failure => {
                Err(self.failed(node.error_or("Cleaning failed; Ironic gives no reason")))
            }
            S::CleanFailed if node.maintenance => Err(self.end_maintenance(&node).await),
            S::CleanFailed => Err(self.go(&node, Target::Manage).await),
            S::Cleaning | S::CleanWait => Err(self.wait(&node, LONG, "RAID and firmware to be set up")),
            ref other => Err(self.unexpected("preparing", other)),
        }
    }

    /// Tells Ironic which volumes to make, and with which interface.
    async fn set_up_raid(
        &self,
        node: Arc<Node>,
        request: &PrepareRequest,
        volumes: &Volumes<'_>,
        of_driver: &str,
    ) -> Flow<Arc<Node>> {
        if volumes.steps(of_driver).is_empty() {
            return Ok(node);
        }
        let interface = volumes.interface(of_driver).map_err(Stop::Failed)?;
        let has_hints = request.root_device_hints.is_some();
        let disks = volumes.logical_disks(has_hints).map_err(Stop::Failed)?;
        let mut patch = Patch::default();
        patch.set("raid_interface", interface, node.raid_interface.as_str());
        let node = self.update(node, patch).await?;
        if !disks.is_empty() {
            self.set_raid_target(&node, &disks).await?;
        }
        Ok(node)
    }

    /// Asks for steps to be run.
    pub async fn run_steps(&self, node: &Node, target: Target, member: &str, steps: &[Step]) -> Flow {
        let steps: Vec<_> = steps.iter().map(Step::to_value).collect();
        self.request_state(node, target, json!({ member: steps })).await
    }
}

fn clean_steps(request: &PrepareRequest, volumes: &Volumes<'_>, of_driver: &str) -> Flow<Vec<Step>> {
    // What cannot be done is said before anything is begun.
    volumes.interface(of_driver).map_err(Stop::Failed)?;
    let mut steps = volumes.steps(of_driver);
    if !steps.is_empty() {
        volumes
            .logical_disks(request.root_device_hints.is_some())
            .map_err(Stop::Failed)?;
    }
    steps.extend(steps::firmware(
        &request.target_firmware_settings,
        request.actual_firmware_settings.as_ref(),
        &request.target_firmware_components,
    ));
    Ok(steps)
}

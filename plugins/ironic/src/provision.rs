//! Provisioning: the node is told about the image, checked, and deployed.

use std::sync::Arc;

use bmo_provisioner::{HostConfigData, Progress, ProvisionRequest, Result};
use serde_json::{Map, Value, json};

use crate::client::{Node, ProvisionState, Target, Validation};
use crate::pace::{LONG, SHORT};
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::{configdrive, instance};

/// Where in the order of deploy steps a custom method runs: where the image would be written.
const CUSTOM_STEP_PRIORITY: u32 = 80;

impl Pass {
    /// See [`bmo_provisioner::Provisioner::provision`].
    pub async fn provision_host(
        &self,
        request: ProvisionRequest,
        config: &dyn HostConfigData,
    ) -> Result<Progress> {
        progress(self.provision_steps(&request, config).await)
    }

    async fn provision_steps(&self, request: &ProvisionRequest, config: &dyn HostConfigData) -> Flow {
        use ProvisionState as S;
        let node = self.node().await?;
        let custom = request.custom_deploy.is_some();
        if let Some(image) = request
            .image
            .as_ref()
            .filter(|image| !image.is_empty() && !custom)
        {
            image
                .checksum()
                .map_err(|error| Stop::failed(format!("Validation failed: {error}")))?;
        }
        match node.provision_state {
            S::DeployFailed if instance::is_same(request, &node, &self.host.uid) => {
                // The state changes a moment before the reason is written down.
                if node.last_error.is_empty() && !node.reservation.is_empty() {
                    return Err(self.pending(SHORT, "Ironic to say why the deployment failed".to_owned()));
                }
                Err(self.failed(&deployment_failed(
                    request,
                    node.error_or("Ironic gives no reason"),
                )))
            }
            S::DeployFailed | S::Available => Err(self.deploy(node, request, config).await),
            S::Manageable => Err(self.go(&node, Target::Provide).await),
            S::CleanFailed if node.maintenance => Err(self.end_maintenance(&node).await),
            S::CleanFailed | S::InspectFailed | S::AdoptFailed => Err(self.go(&node, Target::Manage).await),
            S::Active => {
                let url = request
                    .image
                    .as_ref()
                    .map(|image| image.url.as_str())
                    .unwrap_or_default();
                self.publish(
                    "ProvisioningComplete",
                    format!("Image provisioning completed for {url}").trim_end(),
                );
                Ok(())
            }
            S::DeployWait if request.force_reboot => Err(self.go(&node, Target::Deleted).await),
            S::Error => Err(self.failed(&format!(
                "the node is in Ironic's state \"error\": {}",
                node.error_or("no reason is given")
            ))),
            S::Cleaning | S::CleanWait => Err(self.wait(&node, LONG, "the disks to be cleaned")),
            S::Deploying => Err(self.wait(&node, LONG, "the image to be deployed")),
            S::DeployWait => Err(self.wait(
                &node,
                LONG,
                "the machine to boot its ramdisk and deploy the image",
            )),
            S::Deleting => Err(self.wait(&node, LONG, "an earlier deployment to be removed")),
            ref other => Err(self.wait(
                &node,
                LONG,
                format!("the node to leave Ironic's state {:?}", other.as_str()),
            )),
        }
    }

    async fn deploy(&self, node: Arc<Node>, request: &ProvisionRequest, config: &dyn HostConfigData) -> Stop {
        match self.try_deploy(node, request, config).await {
            Ok(stop) | Err(stop) => stop,
        }
    }

    async fn try_deploy(
        &self,
        node: Arc<Node>,
        request: &ProvisionRequest,
        config: &dyn HostConfigData,
    ) -> Flow<Stop> {
        // A node that is left alone now is not set up for a deployment either.
        if !node.has_fault() && !node.maintenance {
            let patch = instance::patch(&self.shared.config, request, &node, &self.host.uid);
            let node = self.update(Arc::clone(&node), patch).await?;
            self.check_deployable(&node).await?;
        }
        let mut more = Map::new();
        if !instance::is_live_iso(request) {
            more.insert(
                "configdrive".to_owned(),
                configdrive::build(&self.host, config).await?,
            );
        }
        if let Some(custom) = request
            .custom_deploy
            .as_ref()
            .filter(|custom| !custom.method.is_empty())
        {
            let step = json!({ "interface": "deploy", "step": custom.method, "args": {}, "priority": CUSTOM_STEP_PRIORITY });
            more.insert("deploy_steps".to_owned(), json!([step]));
        }
        self.request_state(&node, Target::Active, Value::Object(more))
            .await?;
        let url = request
            .image
            .as_ref()
            .map(|image| image.url.as_str())
            .unwrap_or_default();
        self.publish(
            "ProvisioningStarted",
            format!("Image provisioning started for {url}").trim_end(),
        );
        Ok(self.begun(&node, Target::Active))
    }

    /// Whether Ironic would take the deployment.
    async fn check_deployable(&self, node: &Node) -> Flow {
        let Validation { boot, deploy } = match self.ironic.validate(&node.uuid).await {
            Ok(validation) => validation,
            Err(error) if error.is(409) => return Err(self.refused(&error)),
            Err(error) => return Err(self.error("failed to validate host during registration", &error)),
        };
        let problems: Vec<_> = [boot, deploy]
            .into_iter()
            .filter(|checked| checked.result == Some(false))
            .map(|checked| {
                if checked.reason.is_empty() {
                    "no reason given".to_owned()
                } else {
                    checked.reason
                }
            })
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(self.failed(&format!("host validation error: {}", problems.join("; "))))
    }
}

/// The text for the user about a deployment that failed.
fn deployment_failed(request: &ProvisionRequest, error: &str) -> String {
    match request.image.as_ref().filter(|image| !image.is_empty()) {
        Some(image) if image.checksum.is_empty() => {
            format!("Image provisioning failed (url: {}): {error}", image.url)
        }
        Some(image) => {
            format!(
                "Image provisioning failed (url: {}, checksum: {}): {error}",
                image.url, image.checksum
            )
        }
        None => {
            let method = request
                .custom_deploy
                .as_ref()
                .map(|custom| custom.method.as_str())
                .unwrap_or_default();
            format!("Custom deployment failed (method: {method}): {error}")
        }
    }
}

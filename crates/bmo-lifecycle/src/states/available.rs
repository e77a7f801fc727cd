//! A host that is ready to be used: it goes where the user sends it, else its power is seen to.
//!
//! The state `ready` of old versions means the same. Not here yet: preparing again because firmware settings or
//! components changed.

use bmo_api::{ErrorType, ProvisioningState, annotations};

use crate::context::Pass;
use crate::image_wish::same_deployment;
use crate::power;
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if pass.host.spec.externally_provisioned {
        pass.clear_settings();
        return Ok(Step::completed(ProvisioningState::ExternallyProvisioned));
    }
    if pass.inspection_requested() {
        if !pass.host.inspection_disabled() {
            return Ok(Step::completed(ProvisioningState::Inspecting));
        }
        // The spec forbids what the annotation asks for: it would be asked for again and again.
        pass.remove_annotation(annotations::INSPECT);
    }
    if pass.settings_differ(&pass.wanted_settings()) {
        return Ok(Step::completed(ProvisioningState::Preparing));
    }
    if !pass.wanted_workload().is_some() {
        pass.status.provisioning_fail_count = 0;
    }
    if pass.needs_provisioning() {
        return Ok(begin_provisioning(pass));
    }
    power::manage(pass, power::Use::Available).await
}

/// Starts an attempt to provision, unless as many as allowed have failed with this image.
///
/// The image is stored as that of the attempt: it is what will be deployed, whatever the user asks for meanwhile.
fn begin_provisioning(pass: &mut Pass<'_>) -> Step {
    let image = pass.host.spec.image.clone().filter(|image| !image.is_empty());
    if !same_deployment(image.as_ref(), pass.status.last_attempted_image.as_ref()) {
        pass.status.provisioning_fail_count = 0;
    }
    let (failures, limit) = (
        pass.status.provisioning_fail_count,
        pass.policy.max_provisioning_retries,
    );
    if limit > 0 && failures >= i64::from(limit) {
        let message = format!(
            "provisioning has failed {failures} times and {limit} are allowed: \
             change the image, or remove it and set it again"
        );
        return pass.fail_once(ErrorType::ProvisioningError, message);
    }
    pass.status.last_attempted_image = image;
    Step::completed(ProvisioningState::Provisioning)
}

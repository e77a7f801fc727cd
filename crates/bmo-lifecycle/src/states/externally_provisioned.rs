//! A host that something else provisioned: only its power is managed, until the user hands it over.

use bmo_api::ProvisioningState;

use super::provisioned::adopt;
use crate::context::Pass;
use crate::power;
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if !pass.host.spec.externally_provisioned {
        hand_over(pass);
        return Ok(Step::completed(ProvisioningState::Provisioned));
    }
    if let Some(step) = adopt(pass).await? {
        return Ok(step);
    }
    power::manage(pass, power::Use::Provisioned).await
}

/// What the user asks for counts as running. Without anything asked for, the next state removes what runs.
fn hand_over(pass: &mut Pass<'_>) {
    if let Some(image) = &pass.host.spec.image {
        pass.status.provisioning.image.clone_from(image);
    }
    if let Some(deploy) = &pass.host.spec.custom_deploy {
        pass.status.provisioning.custom_deploy = Some(deploy.clone());
    }
}

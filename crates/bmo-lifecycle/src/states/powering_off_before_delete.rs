//! A host that is switched off before it is given up, unless it must never be.

use bmo_api::{ErrorType, ProvisioningState, RebootMode};
use bmo_provisioner::PowerOffRequest;

use super::deprovisioning::{cannot_go_on, gives_up};
use crate::context::{Called, Pass};
use crate::pass::{Metric, Operation};
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if pass.host.spec.disable_power_off {
        return Ok(Step::completed(ProvisioningState::Deleting));
    }
    let result = power_off(pass).await;
    let gives_up = match &result {
        Ok(step) => gives_up(pass, step),
        Err(error) => cannot_go_on(pass, error),
    };
    if !gives_up {
        return result;
    }
    pass.count(Metric::DeleteWithoutPoweringOff);
    Ok(Step::diverted(ProvisioningState::Deleting))
}

async fn power_off(pass: &mut Pass<'_>) -> StepResult {
    let request = PowerOffRequest {
        mode: RebootMode::Hard,
        force: pass.has_error(&ErrorType::PowerManagementError),
        automated_cleaning_mode: pass.host.automated_cleaning_mode(),
    };
    let provisioner = pass.provisioner().await?;
    let progress = provisioner.power_off(request).await.called(Operation::PowerOff)?;
    if let Err(step) = pass.follow(Operation::PowerOff, &ErrorType::PowerManagementError, progress) {
        return Ok(step);
    }
    pass.status.powered_on = false;
    Ok(Step::completed(ProvisioningState::Deleting))
}

//! A host that runs what it was provisioned with. Only the user's asking for something else ends that.

use bmo_api::{ErrorType, ProvisioningState};
use bmo_provisioner::AdoptRequest;

use crate::context::{Called, Pass};
use crate::pass::Operation;
use crate::power;
use crate::step::{GuardResult, Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if pass.running_workload().is_cancelled_by(&pass.wanted_workload()) {
        return Ok(Step::diverted(ProvisioningState::Deprovisioning));
    }
    if let Some(step) = adopt(pass).await? {
        return Ok(step);
    }
    power::manage(pass, power::Use::Provisioned).await
}

/// Tells the back end that the machine runs a workload already; a step if that is not done yet.
pub(super) async fn adopt(pass: &mut Pass<'_>) -> GuardResult {
    let restart_on_failure = pass.has_error(&ErrorType::ProvisionedRegistrationError);
    let request = AdoptRequest {
        state: pass.state().clone(),
        restart_on_failure,
    };
    let provisioner = pass.provisioner().await?;
    let progress = provisioner.adopt(request).await.called(Operation::Adopt)?;
    Ok(pass
        .follow(
            Operation::Adopt,
            &ErrorType::ProvisionedRegistrationError,
            progress,
        )
        .err())
}

//! A host from which what runs is removed, because the user asks for something else, a deployment failed, or the host
//! is being deleted. In the last case a step that keeps failing is left out in the end.

use bmo_api::{ErrorType, Image, ProvisioningState, annotations};
use bmo_provisioner::{DeprovisionRequest, ErrorKind};

use super::provisioned::adopt;
use crate::context::{Called, Pass};
use crate::guards::FAILURES_BEFORE_GIVING_UP;
use crate::pass::{Metric, Operation, Outcome, PassError, WaitReason};
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    let result = tear_down(pass).await;
    if !pass.host.is_being_deleted() {
        return result;
    }
    match result {
        Ok(step) if gives_up(pass, &step) => {
            pass.count(Metric::DeleteWithoutDeprovisioning);
            Ok(Step::diverted(ProvisioningState::PoweringOffBeforeDelete))
        }
        Err(error) if cannot_go_on(pass, &error) => {
            pass.count(Metric::DeleteWithoutPoweringOff);
            Ok(Step::diverted(ProvisioningState::Deleting))
        }
        other => other,
    }
}

/// Whether a failure was just recorded that is one too many for a host being deleted.
pub(super) fn gives_up(pass: &Pass<'_>, step: &Step) -> bool {
    let failed = matches!(
        step,
        Step::Stay(Outcome::Requeue {
            reason: WaitReason::Failure { .. },
            ..
        })
    );
    failed && pass.status.error_count > FAILURES_BEFORE_GIVING_UP
}

/// Whether the back end does not know the machine and cannot learn of it: the credentials are gone.
pub(super) fn cannot_go_on(pass: &Pass<'_>, error: &PassError) -> bool {
    let unknown =
        matches!(error, PassError::BackEnd { error, .. } if error.kind == ErrorKind::NeedsRegistration);
    unknown && pass.credentials().is_none()
}

async fn tear_down(pass: &mut Pass<'_>) -> StepResult {
    let status = &pass.status.provisioning;
    let runs_something = !status.image.is_empty() || status.custom_deploy.is_some();
    if runs_something && let Some(step) = adopt(pass).await? {
        return Ok(step);
    }
    let request = DeprovisionRequest {
        restart_on_failure: pass.has_error(&ErrorType::ProvisioningError),
        automated_cleaning_mode: pass.host.automated_cleaning_mode(),
    };
    let provisioner = pass.provisioner().await?;
    let progress = provisioner
        .deprovision(request)
        .await
        .called(Operation::Deprovision)?;
    if let Err(step) = pass.follow(Operation::Deprovision, &ErrorType::ProvisioningError, progress) {
        return Ok(step);
    }
    pass.remove_annotation(annotations::REBOOT);
    pass.status.provisioning.image = Image::default();
    pass.status.provisioning.custom_deploy = None;
    pass.clear_settings();
    Ok(Step::completed(if pass.host.is_being_deleted() {
        ProvisioningState::PoweringOffBeforeDelete
    } else {
        ProvisioningState::Available
    }))
}

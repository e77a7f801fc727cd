//! The annotation `baremetalhost.metal3.io/detached`: the back end forgets the machine without touching it, and the
//! host is left alone until the annotation is removed. The provisioning state does not change.

use std::time::Duration;

use bmo_api::{DetachedAnnotation, ErrorType, OperationalStatus, ProvisioningState};
use bmo_provisioner::{DetachRequest, Progress};

use crate::context::{Called, Pass};
use crate::pass::{Operation, Outcome, WaitReason};
use crate::step::{GuardResult, Step, StepResult};

/// How often a detached host is looked at.
const DETACHED_POLL: Duration = Duration::from_mins(10);

pub(super) async fn run(pass: &mut Pass<'_>) -> GuardResult {
    if *pass.state() == ProvisioningState::Deleting {
        return Ok(None);
    }
    if let Some(annotation) = DetachedAnnotation::of(pass.host.annotations()) {
        match pass.state() {
            ProvisioningState::Provisioned
            | ProvisioningState::ExternallyProvisioned
            | ProvisioningState::Ready
            | ProvisioningState::Available => return detach(pass, false).await.map(Some),
            _ if annotation.value.force => return detach(pass, true).await.map(Some),
            _ => {}
        }
    }
    Ok(attach(pass))
}

/// A host that is not, or no longer, to be detached.
fn attach(pass: &mut Pass<'_>) -> Option<Step> {
    if pass.has_error(&ErrorType::DetachError) {
        pass.succeeded(&ErrorType::DetachError);
        return Some(Step::again());
    }
    if pass.status.operational_status == OperationalStatus::Detached {
        pass.restore_operational_status();
        return Some(Step::again());
    }
    None
}

async fn detach(pass: &mut Pass<'_>, force: bool) -> StepResult {
    if !pass.state_is_stored() {
        // The back end is about to forget how far the host is: it has to be stored first.
        return Ok(Step::again());
    }
    let provisioner = pass.provisioner().await?;
    let progress = provisioner
        .detach(DetachRequest { force })
        .await
        .called(Operation::Detach)?;
    Ok(match progress {
        Progress::Failed { message } => pass.fail(ErrorType::DetachError, message),
        Progress::Pending { after, waiting_for } => {
            pass.clear_error_of(&ErrorType::DetachError);
            Step::wait(
                after,
                WaitReason::BackEnd {
                    operation: Operation::Detach,
                    waiting_for,
                },
            )
        }
        Progress::Complete { value: () } => {
            pass.succeeded(&ErrorType::DetachError);
            pass.status.operational_status = OperationalStatus::Detached;
            let held = pass.host.is_being_deleted();
            let reason = if held {
                WaitReason::DeletionHeld
            } else {
                WaitReason::Detached
            };
            Step::Stay(Outcome::Requeue {
                after: DETACHED_POLL,
                reason,
            })
        }
    })
}

//! The state machine: guards, the handler of the state, the next state, until the pass has to end.

use std::time::Duration;

use bmo_api::{OperationalStatus, ProvisioningState};

use crate::backoff::backoff;
use crate::context::{Called, Pass};
use crate::pass::{Metric, Operation, Outcome, PassError, WaitReason};
use crate::step::{Leave, Step, StepResult};
use crate::{guards, states};

/// How long to wait when a pass came back to a state that it had left: the back end says that it is done with what it
/// did not do.
const SETTLE_DELAY: Duration = Duration::from_secs(5);

/// Runs handlers until the pass has to end.
pub(crate) async fn run(pass: &mut Pass<'_>) -> Result<Outcome, PassError> {
    let mut visited = Vec::new();
    loop {
        let state = pass.state().clone();
        if visited.contains(&state) {
            return Ok(Outcome::Requeue {
                after: SETTLE_DELAY,
                reason: WaitReason::Settling,
            });
        }
        visited.push(state);
        pass.set_checkpoint();
        match next_step(pass).await? {
            Step::Stay(outcome) => return Ok(outcome),
            Step::Go { to, how } => {
                if let Some(delayed) = enter(pass, to, how).await? {
                    return Ok(delayed);
                }
                if must_be_stored_first(pass) {
                    return Ok(Outcome::Again);
                }
            }
        }
    }
}

/// What the guards, else the handler of the state, say.
async fn next_step(pass: &mut Pass<'_>) -> StepResult {
    match guards::run(pass).await? {
        Some(step) => Ok(step),
        None => states::handle(pass).await,
    }
}

/// Whether the handler of the state just entered may act only in a later pass, when the state is stored: it makes a
/// call that must not be repeated or made by mistake after a crash. (Preparing decides for itself: it calls the back
/// end for looking, too.)
fn must_be_stored_first(pass: &Pass<'_>) -> bool {
    let acts = match pass.state() {
        ProvisioningState::Provisioning
        | ProvisioningState::Deprovisioning
        | ProvisioningState::PoweringOffBeforeDelete
        | ProvisioningState::Deleting => true,
        // The request would be taken before it is stored that it is followed.
        ProvisioningState::Inspecting => pass.inspection_requested(),
        _ => false,
    };
    acts && !pass.state_is_stored()
}

/// Enters a state, unless it needs a slot in the back end and there is none: then the host is delayed, and nothing
/// else of the transition happens.
async fn enter(pass: &mut Pass<'_>, to: ProvisioningState, how: Leave) -> Result<Option<Outcome>, PassError> {
    if needs_slot(&to) && !has_slot(pass).await? {
        return Ok(Some(delay(pass, &to)));
    }
    if pass.status.operational_status == OperationalStatus::Delayed {
        pass.restore_operational_status();
    }
    if how == Leave::Completed {
        pass.clear_error();
    }
    if how == Leave::FailedProvisioning {
        pass.status.provisioning_fail_count += 1;
    }
    // Failures are counted anew; one that stays recorded is the first.
    pass.status.error_count = i64::from(pass.status.error_type.is_some());
    let from = std::mem::replace(&mut pass.status.provisioning.state, to.clone());
    pass.history_of_transition(&from, &to);
    if matches!(
        to,
        ProvisioningState::Registering | ProvisioningState::Inspecting | ProvisioningState::Provisioning
    ) {
        pass.status.provisioning.boot_mode = Some(pass.host.boot_mode());
    }
    pass.count(Metric::StateChange { from, to });
    Ok(None)
}

/// Whether a state takes a slot in the back end.
pub(crate) fn needs_slot(state: &ProvisioningState) -> bool {
    matches!(
        state,
        ProvisioningState::Inspecting | ProvisioningState::Provisioning | ProvisioningState::Deprovisioning
    )
}

/// Whether the back end has a slot; asked once in a pass.
pub(crate) async fn has_slot(pass: &mut Pass<'_>) -> Result<bool, PassError> {
    if pass.capacity_asked {
        return Ok(true);
    }
    let provisioner = pass.provisioner().await?;
    let free = provisioner.has_capacity().await.called(Operation::Capacity)?;
    pass.capacity_asked = free;
    Ok(free)
}

/// Marks the host as waiting for a slot that `target` needs. A recorded error stays recorded.
pub(crate) fn delay(pass: &mut Pass<'_>, target: &ProvisioningState) -> Outcome {
    if pass.status.set_operational_status(OperationalStatus::Delayed) {
        pass.count(if *target == ProvisioningState::Deprovisioning {
            Metric::DelayedDeprovisioning
        } else {
            Metric::DelayedProvisioning
        });
    }
    Outcome::Requeue {
        after: backoff(1, pass.observed.jitter),
        reason: WaitReason::Capacity,
    }
}

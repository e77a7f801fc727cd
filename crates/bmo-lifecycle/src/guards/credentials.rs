//! A host whose BMC credentials cannot be used is told so, once, and waits for better ones.
//!
//! The failure is counted and told when it is first met, not in every pass that meets it again. A host that is being
//! deleted goes on without credentials: it must not be held by a Secret that was deleted before it.

use std::time::Duration;

use bmo_api::{ErrorType, ProvisioningState};

use crate::context::Pass;
use crate::pass::{
    CredentialsProblem, CredentialsRead, EventKind, Metric, Outcome, PassError, StopReason, WaitReason,
};
use crate::step::{GuardResult, Step};

/// How soon a missing Secret is looked for again, even if no watch tells of it.
const MISSING_DELAY: Duration = Duration::from_secs(10);

pub(super) fn run(pass: &mut Pass<'_>) -> GuardResult {
    let CredentialsRead::Problem(problem) = &pass.observed.credentials else {
        return Ok(None);
    };
    let unmanaged = matches!(
        pass.state(),
        ProvisioningState::None | ProvisioningState::Unmanaged
    );
    if unmanaged || pass.host.is_being_deleted() {
        return Ok(None);
    }
    let outcome = match problem {
        CredentialsProblem::Unreadable { .. } => {
            pass.count(Metric::CredentialsUnhandledError);
            return Err(PassError::Credentials(problem.clone()));
        }
        CredentialsProblem::Missing { namespace, name } => {
            pass.count(Metric::CredentialsMissing);
            let reason = WaitReason::MissingSecret {
                namespace: namespace.clone(),
                name: name.clone(),
            };
            Outcome::Requeue {
                after: MISSING_DELAY,
                reason,
            }
        }
        CredentialsProblem::EmptyName
        | CredentialsProblem::EmptyAddress
        | CredentialsProblem::Invalid { .. } => {
            pass.count(Metric::CredentialsInvalid);
            Outcome::Stop {
                reason: StopReason::Credentials(problem.clone()),
            }
        }
    };
    let message = problem.to_string();
    if !pass.is_recorded(&ErrorType::RegistrationError, &message) {
        pass.status.error_count = pass.status.error_count.saturating_add(1);
        pass.record(&ErrorType::RegistrationError, &message);
        pass.event(EventKind::Normal, "BMCCredentialError", message);
    }
    Ok(Some(Step::Stay(outcome)))
}

//! A host that is being deleted is sent on the way to its end: deprovisioned if it runs something, switched off, and
//! forgotten by the back end. A detached host is forgotten at once, or held if its annotation says so.

use bmo_api::{DeleteAction, DetachedAnnotation, ErrorType, OperationalStatus, ProvisioningState};

use crate::context::Pass;
use crate::pass::Metric;
use crate::step::Step;

/// Failures in a row after which deletion goes on without the step that fails.
pub(crate) const FAILURES_BEFORE_GIVING_UP: i64 = 3;

pub(super) fn run(pass: &mut Pass<'_>) -> Option<Step> {
    if !pass.host.is_being_deleted() || *pass.state() == ProvisioningState::Deleting {
        return None;
    }
    let annotation = DetachedAnnotation::of(pass.host.annotations());
    if annotation.is_some() || pass.status.operational_status == OperationalStatus::Detached {
        // Without its annotation the host is about to be attached again, which decides what deletion means.
        if annotation.is_none_or(|parsed| parsed.value.delete_action == DeleteAction::Delay) {
            pass.count(Metric::DeleteDelayedForDetached);
            return None;
        }
        return Some(Step::diverted(ProvisioningState::Deleting));
    }
    match pass.state() {
        ProvisioningState::None | ProvisioningState::Unmanaged | ProvisioningState::Registering => {
            Some(Step::diverted(ProvisioningState::Deleting))
        }
        ProvisioningState::Provisioning | ProvisioningState::Provisioned => {
            Some(Step::diverted(ProvisioningState::Deprovisioning))
        }
        ProvisioningState::Deprovisioning | ProvisioningState::PoweringOffBeforeDelete => {
            let unreachable = pass.has_error(&ErrorType::RegistrationError)
                && pass.status.error_count > FAILURES_BEFORE_GIVING_UP;
            unreachable.then(|| Step::diverted(ProvisioningState::Deleting))
        }
        _ => Some(Step::diverted(ProvisioningState::PoweringOffBeforeDelete)),
    }
}

//! A host without BMC details: nothing can be done until it has some.

use std::time::Duration;

use bmo_api::ProvisioningState;

use crate::context::Pass;
use crate::pass::WaitReason;
use crate::step::Step;

/// How often the host is looked at, though any change of it is seen at once.
const POLL: Duration = Duration::from_mins(10);

pub(super) fn handle(pass: &Pass<'_>) -> Step {
    if pass.host.has_bmc_details() {
        Step::diverted(ProvisioningState::Registering)
    } else {
        Step::wait(POLL, WaitReason::BmcDetails)
    }
}

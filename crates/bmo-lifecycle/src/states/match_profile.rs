//! A state of old versions, which chose the hardware profile in a pass of its own.

use bmo_api::ProvisioningState;

use crate::step::Step;

pub(super) fn handle() -> Step {
    Step::completed(ProvisioningState::Preparing)
}

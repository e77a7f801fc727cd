//! A host being registered. The registration guard does the work; once it has succeeded the host goes on.

use bmo_api::ProvisioningState;

use crate::context::Pass;
use crate::step::Step;

pub(super) fn handle(pass: &Pass<'_>) -> Step {
    if !pass.registered {
        // The credentials were not loaded: the state was not known to need them yet.
        return Step::again();
    }
    Step::completed(if pass.host.spec.externally_provisioned {
        ProvisioningState::ExternallyProvisioned
    } else if pass.host.inspection_disabled() {
        ProvisioningState::Preparing
    } else {
        ProvisioningState::Inspecting
    })
}

//! The states of a host, one file each: what is done there and where it goes on.

mod available;
mod deleting;
mod deprovisioning;
mod externally_provisioned;
mod inspecting;
mod match_profile;
mod none;
mod powering_off_before_delete;
mod preparing;
mod provisioned;
mod provisioning;
mod registering;
mod unmanaged;

use bmo_api::ProvisioningState;

use crate::context::Pass;
use crate::pass::PassError;
use crate::step::StepResult;

/// Calls the handler of the host's state.
pub(crate) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    match pass.state().clone() {
        ProvisioningState::None => Ok(none::handle(pass)),
        ProvisioningState::Unmanaged => Ok(unmanaged::handle(pass)),
        ProvisioningState::Registering => Ok(registering::handle(pass)),
        ProvisioningState::MatchProfile => Ok(match_profile::handle()),
        ProvisioningState::Inspecting => inspecting::handle(pass).await,
        ProvisioningState::Preparing => preparing::handle(pass).await,
        ProvisioningState::Available | ProvisioningState::Ready => available::handle(pass).await,
        ProvisioningState::Provisioning => provisioning::handle(pass).await,
        ProvisioningState::Provisioned => provisioned::handle(pass).await,
        ProvisioningState::ExternallyProvisioned => externally_provisioned::handle(pass).await,
        ProvisioningState::Deprovisioning => deprovisioning::handle(pass).await,
        ProvisioningState::PoweringOffBeforeDelete => powering_off_before_delete::handle(pass).await,
        ProvisioningState::Deleting => deleting::handle(pass).await,
        ProvisioningState::Unknown(state) => Err(PassError::UnknownState { state }),
    }
}

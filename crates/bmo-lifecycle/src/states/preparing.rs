//! A host whose RAID volumes are set up.
//!
//! Not here yet: firmware settings and components (HostFirmwareSettings, HostFirmwareComponents).

use bmo_api::{ErrorType, ProvisioningState};
use bmo_provisioner::{Preparation, PrepareRequest, Progress};

use crate::context::{Called, Pass};
use crate::pass::Operation;
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    let wanted = pass.wanted_settings();
    let retry = pass.has_error(&ErrorType::PreparationError);
    let unprepared = retry || pass.settings_differ(&wanted);
    if unprepared && !pass.state_is_stored() {
        // Volumes are about to be destroyed: only where it is stored that they are.
        return Ok(Step::again());
    }
    let request = PrepareRequest {
        target_raid_config: wanted.raid.clone(),
        actual_raid_config: pass.status.provisioning.raid.clone().filter(|_| !retry),
        root_device_hints: wanted.root_device_hints.clone(),
        unprepared,
        restart_on_failure: retry,
        ..PrepareRequest::default()
    };
    let provisioner = pass.provisioner().await?;
    let Preparation { started, progress } = provisioner.prepare(request).await.called(Operation::Prepare)?;
    if unprepared && matches!(progress, Progress::Failed { .. }) {
        pass.clear_settings();
    } else if unprepared && started {
        pass.store_settings(wanted);
    }
    Ok(
        match pass.follow(Operation::Prepare, &ErrorType::PreparationError, progress) {
            Err(step) => step,
            Ok(()) => Step::completed(ProvisioningState::Available),
        },
    )
}

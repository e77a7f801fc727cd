//! A host whose hardware is looked at. The result goes into the status and into a HardwareData of the same name.

use bmo_api::{ErrorType, HardwareDetails, ProvisioningState, annotations};
use bmo_provisioner::{InspectRequest, Inspection, Progress};

use crate::context::{Called, Pass};
use crate::pass::{EventKind, HardwareDataChange, Operation};
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if pass.host.inspection_disabled() {
        pass.event(
            EventKind::Normal,
            "InspectionSkipped",
            "disabled by annotation or spec.inspectionMode",
        );
        return Ok(Step::completed(ProvisioningState::Preparing));
    }
    let refresh = pass.inspection_requested();
    let request = InspectRequest {
        boot_mode: pass.status.provisioning.boot_mode.unwrap_or_default(),
        cpu_architecture: pass.cpu_architecture(),
        inspection_mode: pass.host.spec.inspection_mode,
        restart_on_failure: pass.has_error(&ErrorType::InspectionError),
        refresh,
        force_reboot: pass.reboot_forced(),
    };
    let provisioner = pass.provisioner().await?;
    let answer = provisioner
        .inspect_hardware(request)
        .await
        .called(Operation::Inspect)?;
    let Inspection { started, progress } = answer;
    if started && !matches!(progress, Progress::Failed { .. }) {
        if refresh {
            pass.remove_annotation(annotations::INSPECT);
        }
        pass.remove_annotation(annotations::REBOOT);
    }
    Ok(
        match pass.follow(Operation::Inspect, &ErrorType::InspectionError, progress) {
            Err(step) => step,
            Ok(details) => {
                keep(pass, details);
                Step::completed(ProvisioningState::Preparing)
            }
        },
    )
}

/// Stores what was found. A provisioner that cannot inspect finds nothing, which is no reason to forget what is known.
fn keep(pass: &mut Pass<'_>, details: Box<HardwareDetails>) {
    if *details == HardwareDetails::default() {
        return;
    }
    pass.status.hardware = Some(HardwareDetails::clone(&details));
    if !pass.host.is_being_deleted() {
        pass.hardware_data = HardwareDataChange::Write(details);
    }
}

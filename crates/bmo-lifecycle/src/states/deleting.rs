//! A host that the back end forgets. Then everything that was held for it is released, and the host with it.
//!
//! A back end that refuses is asked again a few times, so that no record is left behind; then the host goes anyway.

use bmo_api::ErrorType;
use bmo_provisioner::{ErrorKind, Progress};

use super::deprovisioning::gives_up;
use crate::context::{Called, Pass};
use crate::pass::{Operation, Outcome};
use crate::step::{Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    let provisioner = pass.provisioner().await?;
    let progress = match provisioner.delete().await {
        Err(error) if error.kind == ErrorKind::NeedsRegistration => Progress::DONE,
        other => other.called(Operation::Delete)?,
    };
    let step = match pass.follow(Operation::Delete, &ErrorType::RegistrationError, progress) {
        Ok(()) => Step::Stay(Outcome::Deleted),
        Err(step) => step,
    };
    Ok(if gives_up(pass, &step) {
        Step::Stay(Outcome::Deleted)
    } else {
        step
    })
}

//! A host that is delayed, or works in a state that takes a slot, goes on only if the back end has one.
//!
//! The second part is asked in every pass: many hosts may enter such a state before the back end knows of the first.

use bmo_api::OperationalStatus;

use crate::context::Pass;
use crate::machine::{delay, has_slot, needs_slot};
use crate::step::{GuardResult, Step};

pub(super) async fn run(pass: &mut Pass<'_>) -> GuardResult {
    let delayed = pass.status.operational_status == OperationalStatus::Delayed;
    if !(delayed || (needs_slot(pass.state()) && pass.state_is_stored())) {
        return Ok(None);
    }
    if has_slot(pass).await? {
        if delayed {
            pass.restore_operational_status();
        }
        return Ok(None);
    }
    let state = pass.state().clone();
    Ok(Some(Step::Stay(delay(pass, &state))))
}

//! Guards look at the host as a whole before the handler of its state acts. The first that has something to say ends
//! the pass or sends the host to another state.
//!
//! Deletion and detaching come before capacity: a host that waits for a slot can still be let go.

mod capacity;
mod credentials;
mod deletion;
mod detach;
mod registration;

pub(crate) use deletion::FAILURES_BEFORE_GIVING_UP;

use crate::context::Pass;
use crate::step::GuardResult;

/// Runs the guards in their order.
pub(crate) async fn run(pass: &mut Pass<'_>) -> GuardResult {
    if let Some(step) = deletion::run(pass) {
        return Ok(Some(step));
    }
    if let Some(step) = detach::run(pass).await? {
        return Ok(Some(step));
    }
    if let Some(step) = credentials::run(pass)? {
        return Ok(Some(step));
    }
    if let Some(step) = capacity::run(pass).await? {
        return Ok(Some(step));
    }
    registration::run(pass).await
}

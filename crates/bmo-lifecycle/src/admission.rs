//! What comes before any work with a host: leaving paused and foreign hosts alone, restoring a status that moved here
//! with its host, and adding our finalizer.

use bmo_api::{BareMetalHostStatus, annotations};

use crate::context::Pass;
use crate::credentials::has_finalizer;
use crate::decide::nothing;
use crate::pass::{Decision, EventKind, FinalizerChange, Outcome, StopReason};

/// The decision that ends the pass before it begins, if there is one.
pub(crate) fn admit(pass: &mut Pass<'_>) -> Option<Decision> {
    let host = pass.host;
    if host.is_paused() {
        return Some(nothing(Outcome::Stop {
            reason: StopReason::Paused,
        }));
    }
    if host.is_being_deleted() && !has_finalizer(host) {
        return Some(nothing(Outcome::Stop {
            reason: StopReason::NotOurs,
        }));
    }
    let finalizer = if has_finalizer(host) {
        FinalizerChange::Keep
    } else {
        FinalizerChange::Add
    };
    if let Some(decision) = restore_status(pass, finalizer) {
        return Some(decision);
    }
    (finalizer == FinalizerChange::Add).then(|| Decision {
        finalizer,
        ..nothing(Outcome::Again)
    })
}

/// Takes the status from the annotation `baremetalhost.metal3.io/status`, where the host has none of its own.
///
/// Tools that move hosts between clusters put it there, because a status is not created with its object. A text that
/// cannot be read is kept, and the host left alone: starting it afresh would register and inspect a machine that may
/// be in use. Only a host that is being deleted goes on without it.
fn restore_status(pass: &mut Pass<'_>, finalizer: FinalizerChange) -> Option<Decision> {
    let text = pass.host.annotation(annotations::STATUS)?;
    if text.is_empty() || pass.stored.last_updated.is_some() {
        pass.remove_annotation(annotations::STATUS);
        return None;
    }
    let mut status = match serde_json::from_str::<BareMetalHostStatus>(text) {
        Ok(status) => status,
        Err(_) if pass.host.is_being_deleted() => return None,
        Err(error) => {
            let message = format!(
                "annotation {}: {error}; correct it or remove it",
                annotations::STATUS
            );
            pass.event(EventKind::Warning, "InvalidAnnotationValue", message);
            let stop = nothing(Outcome::Stop {
                reason: StopReason::StatusAnnotation,
            });
            return Some(Decision {
                events: pass.events.take(),
                ..stop
            });
        }
    };
    if let Some(hardware) = pass
        .observed
        .hardware_data
        .as_ref()
        .and_then(|data| data.spec.hardware.clone())
    {
        status.hardware = Some(hardware);
    }
    status.last_updated.get_or_insert_with(|| pass.now());
    Some(Decision {
        status: Some(Box::new(status)),
        finalizer,
        annotations_to_remove: vec![annotations::STATUS.to_owned()],
        ..nothing(Outcome::Again)
    })
}

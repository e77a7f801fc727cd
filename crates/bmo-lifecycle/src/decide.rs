//! The entry: one pass over one host, from what was observed to what is written.

use std::time::Duration;

use bmo_provisioner::{ErrorKind, ProvisionerFactory};

use crate::context::Pass;
use crate::pass::{
    Decision, FinalizerChange, HardwareDataChange, Metric, Observed, Outcome, PassError, Policy,
    SecretsChange, Services, WaitReason,
};
use crate::{admission, annotations, conditions, machine};

/// How long to wait for a provisioner that cannot be used yet.
const NOT_READY_DELAY: Duration = Duration::from_secs(30);
/// How long to wait for a machine that is busy.
const BUSY_DELAY: Duration = Duration::from_secs(10);

/// Decides what to do about a host, calling its provisioner on the way.
///
/// The decision must be committed in the order that [`pass`](crate::pass) gives. Errors of the back end are part of
/// the decision ([`Outcome::Error`]): what was reached before them is stored all the same.
pub async fn decide(
    observed: &Observed,
    policy: &Policy,
    backend: &dyn ProvisionerFactory,
    services: Services<'_>,
) -> Decision {
    // Boxed: a pass holds the status several times over, and thousands of hosts may be decided on at once.
    Box::pin(run_pass(Pass::new(observed, policy, backend, services))).await
}

async fn run_pass(mut pass: Pass<'_>) -> Decision {
    if let Some(decision) = admission::admit(&mut pass) {
        return decision;
    }
    annotations::take_hardware_details(&mut pass);
    let result = machine::run(&mut pass).await;
    conclude(pass, result).await
}

/// Turns a finished pass into what is written.
async fn conclude(mut pass: Pass<'_>, result: Result<Outcome, PassError>) -> Decision {
    let outcome = result.unwrap_or_else(|error| {
        pass.return_to_checkpoint();
        after_error(&mut pass, error)
    });
    if outcome == Outcome::Deleted {
        return Decision {
            finalizer: FinalizerChange::Remove,
            hardware_data: HardwareDataChange::ReleaseFinalizer,
            secrets: SecretsChange::ReleaseAll,
            events: pass.events.take(),
            metrics: pass.metrics,
            ..nothing(outcome)
        };
    }
    conditions::update(&mut pass, &outcome).await;
    pass.status.last_updated = pass.stored.last_updated.clone();
    let status = (pass.status != pass.stored).then(|| {
        let now = pass.now();
        let mut status = Box::new(std::mem::take(&mut pass.status));
        status.last_updated = Some(now);
        status
    });
    Decision {
        status,
        finalizer: FinalizerChange::Keep,
        annotations_to_remove: std::mem::take(&mut pass.annotations_to_remove),
        hardware_data: std::mem::replace(&mut pass.hardware_data, HardwareDataChange::Keep),
        secrets: std::mem::replace(&mut pass.secrets, SecretsChange::Keep),
        events: pass.events.take(),
        metrics: pass.metrics,
        outcome,
    }
}

/// What a failed call means for the next pass.
fn after_error(pass: &mut Pass<'_>, error: PassError) -> Outcome {
    match error {
        PassError::BackEnd { error, .. } if error.kind == ErrorKind::NotReady => {
            pass.count(Metric::ProvisionerNotReady);
            Outcome::Requeue {
                after: NOT_READY_DELAY,
                reason: WaitReason::NotReady {
                    message: error.message,
                },
            }
        }
        PassError::BackEnd { error, .. } if error.kind == ErrorKind::Busy => Outcome::Requeue {
            after: BUSY_DELAY,
            reason: WaitReason::Busy {
                message: error.message,
            },
        },
        other => Outcome::Error(other),
    }
}

/// A decision that writes nothing.
pub(crate) fn nothing(outcome: Outcome) -> Decision {
    Decision {
        status: None,
        finalizer: FinalizerChange::Keep,
        annotations_to_remove: Vec::new(),
        hardware_data: HardwareDataChange::Keep,
        secrets: SecretsChange::Keep,
        events: Vec::new(),
        metrics: Vec::new(),
        outcome,
    }
}

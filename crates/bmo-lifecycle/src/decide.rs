//! The entry: one pass over one host, from what was observed to what is written.

use bmo_provisioner::ProvisionerFactory;

use crate::pass::{
    Decision, FinalizerChange, HardwareDataChange, Observed, Outcome, Policy, SecretsChange, Services,
    StopReason,
};

/// Decides what to do about a host, calling its provisioner on the way.
///
/// The decision must be committed in the order that [`pass`](crate::pass) gives. Errors of the back end are part of
/// the decision ([`Outcome::Error`]): what was reached before them is stored all the same.
pub async fn decide(
    observed: &Observed,
    _policy: &Policy,
    _backend: &dyn ProvisionerFactory,
    _services: Services<'_>,
) -> Decision {
    if observed.host.is_paused() {
        return nothing(Outcome::Stop {
            reason: StopReason::Paused,
        });
    }
    if !crate::credentials::has_finalizer(&observed.host) {
        let finalizer = FinalizerChange::Add;
        return Decision {
            finalizer,
            ..nothing(Outcome::Again)
        };
    }
    nothing(Outcome::Again)
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

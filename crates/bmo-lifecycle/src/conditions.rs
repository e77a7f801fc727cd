//! The conditions of a host, from its state, its operational status and what the pass ended with.
//!
//! Each pass computes the final value of each condition once and compares it with the stored one, so that a condition
//! which is overridden (an error, a power failure) neither flips back and forth nor costs a write. `message` says what
//! the host waits for: on `Progressing` always, on `Ready` while it is not ready.

use bmo_api::bare_metal_host::conditions::reasons;
use bmo_api::{Condition, ConditionType, OperationalStatus, ProvisioningState, find_condition};
use bmo_provisioner::Health;

use crate::context::Pass;
use crate::pass::{Outcome, WaitReason};

/// Status and reason of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict(Truth, &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    fn text(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

const NOT_AVAILABLE: Verdict = Verdict(Truth::False, reasons::NOT_AVAILABLE);
const NOT_PROVISIONED: Verdict = Verdict(Truth::False, reasons::NOT_PROVISIONED);
const NOT_PROGRESSING: Verdict = Verdict(Truth::False, reasons::NOT_PROGRESSING);
const MANAGEABLE: Verdict = Verdict(Truth::True, reasons::MANAGEABLE);

/// All conditions but `Healthy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdicts {
    manageable: Verdict,
    available: Verdict,
    provisioned: Verdict,
    ready: Verdict,
    progressing: Verdict,
}

/// What the back end says about the machine itself.
#[derive(Clone, Debug, Default)]
struct BackEndView {
    /// Whether it has lost control of the power; `None` if it was not asked.
    power_failure: Option<bool>,
    /// The health, where it knows it.
    health: Option<Health>,
}

/// Brings the conditions up to date.
pub(crate) async fn update(pass: &mut Pass<'_>, outcome: &Outcome) {
    let Some(mut verdicts) = by_state(pass.state(), &pass.status.operational_status) else {
        return;
    };
    let view = ask_back_end(pass, outcome).await;
    let failed_before = find_condition(&pass.stored.conditions, ConditionType::Manageable.as_str())
        .is_some_and(|condition| condition.reason == reasons::POWER_FAILURE);
    if power_matters(pass) && view.power_failure.unwrap_or(failed_before) {
        verdicts.manageable = Verdict(Truth::False, reasons::POWER_FAILURE);
    }
    let waiting = waiting_text(outcome);
    let mut list = Vec::with_capacity(ConditionType::ALL.len());
    for kind in ConditionType::ALL {
        let verdict = verdicts.of(kind, view.health.as_ref());
        let waits =
            kind == ConditionType::Progressing || (kind == ConditionType::Ready && verdict.0 != Truth::True);
        let unknown_health = kind == ConditionType::Healthy && view.health.is_none();
        let kept = find_condition(&pass.stored.conditions, kind.as_str()).filter(|_| unknown_health);
        list.push(match kept {
            Some(known) => known.clone(),
            None => condition(pass, kind, verdict, if waits { &waiting } else { "" }),
        });
    }
    let ours = |known: &Condition| ConditionType::ALL.iter().any(|kind| kind.as_str() == known.type_);
    list.extend(
        pass.stored
            .conditions
            .iter()
            .filter(|known| !ours(known))
            .cloned(),
    );
    pass.status.conditions = list;
}

/// A condition whose time is the stored one unless its status flipped.
fn condition(pass: &Pass<'_>, kind: ConditionType, verdict: Verdict, message: &str) -> Condition {
    let status = verdict.0.text();
    let since = find_condition(&pass.stored.conditions, kind.as_str())
        .filter(|known| known.status == status)
        .map_or_else(|| pass.now(), |known| known.last_transition_time.clone());
    Condition {
        type_: kind.as_str().to_owned(),
        status: status.to_owned(),
        reason: verdict.1.to_owned(),
        message: message.to_owned(),
        observed_generation: pass.host.metadata.generation,
        last_transition_time: since,
    }
}

/// What the host waits for, for people; empty where it does not.
fn waiting_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Requeue {
            reason: WaitReason::Steady,
            ..
        }
        | Outcome::Again
        | Outcome::Deleted => String::new(),
        Outcome::Requeue { reason, .. } => reason.to_string(),
        Outcome::Stop { reason } => reason.to_string(),
        Outcome::Error(error) => format!("retrying: {error}"),
    }
}

/// The conditions that follow from the state and the operational status; none for a state this version does not know.
fn by_state(state: &ProvisioningState, operational: &OperationalStatus) -> Option<Verdicts> {
    let busy = |reason| Verdicts {
        manageable: MANAGEABLE,
        available: NOT_AVAILABLE,
        provisioned: NOT_PROVISIONED,
        ready: NOT_PROVISIONED,
        progressing: Verdict(Truth::True, reason),
    };
    let idle = Verdicts {
        progressing: NOT_PROGRESSING,
        ..busy("")
    };
    let mut verdicts = match state {
        ProvisioningState::None | ProvisioningState::Unmanaged => Verdicts {
            manageable: Verdict(Truth::False, reasons::NOT_MANAGED),
            ..idle
        },
        ProvisioningState::Registering => {
            let failed = *operational == OperationalStatus::Error;
            let reason = if failed {
                reasons::REGISTRATION_FAILED
            } else {
                reasons::REGISTERING
            };
            Verdicts {
                manageable: Verdict(Truth::False, reason),
                ..busy(reasons::REGISTERING)
            }
        }
        ProvisioningState::Inspecting | ProvisioningState::MatchProfile => busy(reasons::INSPECTING),
        ProvisioningState::Preparing => busy(reasons::PREPARING),
        ProvisioningState::Available | ProvisioningState::Ready => Verdicts {
            available: Verdict(Truth::True, reasons::AVAILABLE),
            ..idle
        },
        ProvisioningState::Provisioning => busy(reasons::PROVISIONING),
        ProvisioningState::Provisioned | ProvisioningState::ExternallyProvisioned => {
            let provisioned = Verdict(Truth::True, reasons::PROVISIONED);
            Verdicts {
                provisioned,
                ready: provisioned,
                ..idle
            }
        }
        ProvisioningState::Deprovisioning => busy(reasons::DEPROVISIONING),
        ProvisioningState::PoweringOffBeforeDelete => busy(reasons::POWERING_OFF_BEFORE_DELETE),
        ProvisioningState::Deleting => busy(reasons::DELETING),
        ProvisioningState::Unknown(_) => return None,
    };
    match operational {
        OperationalStatus::Error => verdicts.ready = Verdict(Truth::False, reasons::ERROR),
        OperationalStatus::Servicing => verdicts.ready = Verdict(Truth::False, reasons::SERVICING),
        OperationalStatus::Detached => {
            verdicts.ready = Verdict(Truth::False, reasons::DETACHED);
            verdicts.progressing = verdicts.ready;
        }
        _ => {}
    }
    Some(verdicts)
}

/// Whether a power failure would be of interest.
fn power_matters(pass: &Pass<'_>) -> bool {
    let detached = pass.status.operational_status == OperationalStatus::Detached;
    let unmanaged = matches!(
        pass.state(),
        ProvisioningState::None
            | ProvisioningState::Unmanaged
            | ProvisioningState::Registering
            | ProvisioningState::Deleting
    );
    !detached && !unmanaged
}

/// Asks the back end about power and health, if this pass talked with it and it answers.
async fn ask_back_end(pass: &Pass<'_>, outcome: &Outcome) -> BackEndView {
    let answers = !matches!(
        outcome,
        Outcome::Error(_)
            | Outcome::Requeue {
                reason: WaitReason::NotReady { .. } | WaitReason::Busy { .. },
                ..
            }
    );
    let Some(provisioner) = pass.provisioner_made().filter(|_| answers) else {
        return BackEndView::default();
    };
    BackEndView {
        power_failure: if power_matters(pass) {
            Some(provisioner.has_power_failure().await)
        } else {
            None
        },
        health: provisioner.get_health().await,
    }
}

impl Verdicts {
    /// The verdict of a condition. Where the back end does not know the health, a stored verdict is kept instead.
    fn of(&self, kind: ConditionType, health: Option<&Health>) -> Verdict {
        match kind {
            ConditionType::Ready => self.ready,
            ConditionType::AvailableForProvisioning => self.available,
            ConditionType::Manageable => self.manageable,
            ConditionType::Progressing => self.progressing,
            ConditionType::Provisioned => self.provisioned,
            ConditionType::Healthy => match health {
                Some(Health::Ok) => Verdict(Truth::True, reasons::HEALTHY),
                Some(Health::Warning) => Verdict(Truth::False, reasons::WARNING),
                Some(Health::Critical) => Verdict(Truth::False, reasons::CRITICAL_ERROR),
                Some(Health::Other(_)) | None => Verdict(Truth::Unknown, reasons::UNKNOWN),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_each_state() {
        use OperationalStatus as Op;
        use ProvisioningState as State;
        // Order: manageable, available, provisioned, progressing, ready.
        let table = [
            (State::None, Op::Unset, "FFFFF"),
            (State::Registering, Op::Ok, "FFFTF"),
            (State::Available, Op::Ok, "TTFFF"),
            (State::Inspecting, Op::Ok, "TFFTF"),
            (State::Provisioning, Op::Ok, "TFFTF"),
            (State::Provisioned, Op::Ok, "TFTFT"),
            (State::ExternallyProvisioned, Op::Ok, "TFTFT"),
            (State::Provisioned, Op::Error, "TFTFF"),
            (State::Provisioned, Op::Detached, "TFTFF"),
            (State::Deleting, Op::Ok, "TFFTF"),
        ];
        for (state, operational, expected) in table {
            let found = by_state(&state, &operational).unwrap();
            let row = [
                found.manageable,
                found.available,
                found.provisioned,
                found.progressing,
                found.ready,
            ];
            let text: String = row
                .iter()
                .map(|verdict| if verdict.0 == Truth::True { 'T' } else { 'F' })
                .collect();
            assert_eq!(text, expected, "{state:?} {operational:?}");
        }
        let failed = by_state(&State::Registering, &Op::Error).unwrap();
        assert_eq!(
            failed.manageable,
            Verdict(Truth::False, reasons::REGISTRATION_FAILED)
        );
    }

    #[test]
    fn health_texts() {
        let table = [
            (Some(Health::Ok), Verdict(Truth::True, reasons::HEALTHY)),
            (Some(Health::Warning), Verdict(Truth::False, reasons::WARNING)),
            (
                Some(Health::Critical),
                Verdict(Truth::False, reasons::CRITICAL_ERROR),
            ),
            (
                Some(Health::Other("Odd".into())),
                Verdict(Truth::Unknown, reasons::UNKNOWN),
            ),
            (None, Verdict(Truth::Unknown, reasons::UNKNOWN)),
        ];
        let verdicts = by_state(&ProvisioningState::Available, &OperationalStatus::Ok).unwrap();
        for (found, expected) in table {
            assert_eq!(
                verdicts.of(ConditionType::Healthy, found.as_ref()),
                expected,
                "{found:?}"
            );
        }
    }
}

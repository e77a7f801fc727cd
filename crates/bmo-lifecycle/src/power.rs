//! Power of a host that is available or in use: it follows `spec.online` and the reboot annotations.
//!
//! A soft power-off asks the operating system. Only if that has failed the next attempt is hard, as it is if a reboot
//! key says so. Not here yet: data images before switching on, and servicing while the host is off.

use std::time::Duration;

use bmo_api::{ErrorType, RebootMode, annotations};
use bmo_provisioner::{PowerOffRequest, PowerOnRequest, Progress};

use crate::context::{Called, Pass};
use crate::pass::{Metric, Operation, Outcome, PassError, WaitReason};
use crate::step::{Step, StepResult};

/// How often the power of an idle host is looked at.
const POLL: Duration = Duration::from_mins(1);

/// How long a rebooted host stays off at least: hardware wants a moment, and watchers see that it was off.
const REBOOT_PAUSE: Duration = Duration::from_secs(1);

/// What the host is used for: decides whether a reboot has to be forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Nothing yet: only forced reboots count.
    Available,
    /// A workload runs.
    Provisioned,
}

/// The power that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    on: bool,
    /// How to reboot, where that is why it is to be off.
    reboot: Option<RebootMode>,
}

/// Sees to the power, and waits until there is a reason to look again.
pub(crate) async fn manage(pass: &mut Pass<'_>, used: Use) -> StepResult {
    read_power(pass, used).await?;
    if !pass.status.powered_on && pass.has_bare_reboot_key() {
        if pass.stored.powered_on {
            return Ok(Step::Stay(Outcome::Requeue {
                after: REBOOT_PAUSE,
                reason: WaitReason::RebootPause,
            }));
        }
        // Off is what the key asked for. It is gone before the host is switched on, so that it reboots once.
        pass.remove_annotation(annotations::REBOOT);
        return Ok(Step::again());
    }
    let wish = wish(pass, used);
    if pass.status.powered_on == wish.on {
        return Ok(steady(pass));
    }
    if wish.on {
        power_on(pass).await
    } else {
        power_off(pass, wish).await
    }
}

/// Stores the power state the back end sees.
async fn read_power(pass: &mut Pass<'_>, used: Use) -> Result<(), PassError> {
    let provisioner = pass.provisioner().await?;
    let state = provisioner
        .update_hardware_state()
        .await
        .called(Operation::ReadPower)?;
    if let Some(on) = state.powered_on.filter(|on| *on != pass.status.powered_on) {
        if wish(pass, used).on == on {
            pass.count(Metric::PowerChange { on });
        }
        pass.status.powered_on = on;
        pass.succeeded(&ErrorType::PowerManagementError);
    }
    Ok(())
}

/// The power that spec and annotations ask for.
///
/// A host that must never be switched off cannot be held off: `online: false` and the keys that hold it off are
/// ignored, and the key that we remove reboots it once.
fn wish(pass: &Pass<'_>, used: Use) -> Wish {
    let never_off = pass.host.spec.disable_power_off;
    let online = pass.host.spec.online || (never_off && pass.status.powered_on);
    let reboot = pass
        .reboot_wanted(used == Use::Available, never_off)
        .filter(|_| online);
    Wish {
        on: online && reboot.is_none(),
        reboot,
    }
}

/// Everything is as wanted: no error of an earlier step is true any more.
fn steady(pass: &mut Pass<'_>) -> Step {
    if pass
        .status
        .error_type
        .as_ref()
        .is_some_and(|error| *error != ErrorType::ServicingError)
    {
        pass.clear_error();
    }
    pass.status.error_count = 0;
    Step::Stay(Outcome::Requeue {
        after: POLL,
        reason: WaitReason::Steady,
    })
}

async fn power_on(pass: &mut Pass<'_>) -> StepResult {
    let request = PowerOnRequest {
        force: pass.has_error(&ErrorType::PowerManagementError),
    };
    let provisioner = pass.provisioner().await?;
    let progress = provisioner.power_on(request).await.called(Operation::PowerOn)?;
    if let Err(step) = pass.follow(Operation::PowerOn, &ErrorType::PowerManagementError, progress) {
        return Ok(step);
    }
    done(pass, true);
    Ok(steady(pass))
}

async fn power_off(pass: &mut Pass<'_>, wish: Wish) -> StepResult {
    let retry = pass.has_error(&ErrorType::PowerManagementError);
    let mode = if retry {
        RebootMode::Hard
    } else {
        wish.reboot.unwrap_or_default()
    };
    if wish.reboot.is_some() && !retry {
        pass.tell_unreadable_reboot_keys();
    }
    let request = PowerOffRequest {
        mode,
        force: retry,
        automated_cleaning_mode: pass.host.automated_cleaning_mode(),
    };
    let provisioner = pass.provisioner().await?;
    let progress = provisioner.power_off(request).await.called(Operation::PowerOff)?;
    let progress = announce_hard_retry(progress, mode);
    let rebooted = pass.host.spec.disable_power_off && !matches!(progress, Progress::Failed { .. });
    if rebooted {
        pass.remove_annotation(annotations::REBOOT);
        pass.succeeded(&ErrorType::PowerManagementError);
        return Ok(Step::again());
    }
    if let Err(step) = pass.follow(Operation::PowerOff, &ErrorType::PowerManagementError, progress) {
        return Ok(step);
    }
    done(pass, false);
    Ok(match wish.reboot {
        Some(_) => Step::Stay(Outcome::Requeue {
            after: REBOOT_PAUSE,
            reason: WaitReason::RebootPause,
        }),
        None => steady(pass),
    })
}

/// Tells the user what the next attempt will be, if this one was soft.
fn announce_hard_retry(progress: Progress, mode: RebootMode) -> Progress {
    match progress {
        Progress::Failed { message } if mode == RebootMode::Soft => Progress::failed(format!(
            "soft power off failed, the next attempt will be hard: {message}"
        )),
        other => other,
    }
}

/// The power is as it was asked for. Stored here for back ends that cannot tell the power state.
fn done(pass: &mut Pass<'_>, on: bool) {
    if pass.status.powered_on != on {
        pass.count(Metric::PowerChange { on });
    }
    pass.status.powered_on = on;
}

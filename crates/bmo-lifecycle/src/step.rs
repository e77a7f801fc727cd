//! What a guard or a handler says about how the pass goes on.

use bmo_api::ProvisioningState;

use crate::pass::{Outcome, PassError, WaitReason};

/// How the pass goes on.
#[derive(Debug)]
pub(crate) enum Step {
    /// It ends here, in the same state.
    Stay(Outcome),
    /// The host enters another state.
    Go {
        /// Which one.
        to: ProvisioningState,
        /// What becomes of the record of failures.
        how: Leave,
    },
}

/// Why a state is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Its work is done: nothing is wrong any more.
    Completed,
    /// Something else is to be done first: an error stays recorded.
    Diverted,
    /// Provisioning failed: counted when, and only when, the next state is entered.
    FailedProvisioning,
}

/// What a handler returns.
pub(crate) type StepResult = Result<Step, PassError>;

/// What a guard returns: nothing if the pass goes on as if it were not there.
pub(crate) type GuardResult = Result<Option<Step>, PassError>;

impl Step {
    /// The work of this state is done.
    pub(crate) fn completed(to: ProvisioningState) -> Self {
        Self::Go {
            to,
            how: Leave::Completed,
        }
    }

    /// Another state's work comes first.
    pub(crate) fn diverted(to: ProvisioningState) -> Self {
        Self::Go {
            to,
            how: Leave::Diverted,
        }
    }

    /// Look again after a while.
    pub(crate) fn wait(after: std::time::Duration, reason: WaitReason) -> Self {
        Self::Stay(if after.is_zero() {
            Outcome::Again
        } else {
            Outcome::Requeue { after, reason }
        })
    }

    /// Look again at once.
    pub(crate) fn again() -> Self {
        Self::Stay(Outcome::Again)
    }
}

//! Early ends of a method: waiting, failing, not being able to tell.
//!
//! Methods are written as a sequence of steps with `?`; whatever ends the sequence early is a [`Stop`].

use std::time::Duration;

use bmo_provisioner::{Progress, ProvisionerError};

/// Why a method ends before its work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// To be called again.
    Pending {
        /// After how long.
        after: Duration,
        /// What is waited for.
        waiting_for: String,
    },
    /// Failed, for the user to see.
    Failed(String),
    /// An error that may pass.
    Error(ProvisionerError),
}

/// What a step answers.
pub type Flow<T = ()> = Result<T, Stop>;

impl From<ProvisionerError> for Stop {
    fn from(error: ProvisionerError) -> Self {
        Self::Error(error)
    }
}

impl Stop {
    /// Failed, with a text that is never empty.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

/// The answer of a method.
pub fn progress<T>(flow: Flow<T>) -> bmo_provisioner::Result<Progress<T>> {
    match flow {
        Ok(value) => Ok(Progress::complete(value)),
        Err(Stop::Pending { after, waiting_for }) => Ok(Progress::pending(after, waiting_for)),
        Err(Stop::Failed(message)) => Ok(Progress::failed(message)),
        Err(Stop::Error(error)) => Err(error),
    }
}

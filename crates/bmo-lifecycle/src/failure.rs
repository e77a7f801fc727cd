//! The record of failures in a status: `operationalStatus`, `errorType`, `errorMessage`, `errorCount`.
//!
//! A failure that a user has to know of is *recorded* and tried again with growing delays. Each operation owns its
//! kind of error: it takes its own back when it gets going again, and no other's. `errorCount` counts failures in a
//! row of the same operation; it is kept while the operation runs again (so that delays grow and deletion gives up in
//! the end) and reset once it succeeds.

use bmo_api::{ErrorType, OperationalStatus};
use bmo_provisioner::Progress;

use crate::backoff::backoff;
use crate::context::Pass;
use crate::pass::{EventKind, Metric, Operation, Outcome, WaitReason};
use crate::step::Step;

impl Pass<'_> {
    /// Records a failure and waits: counted, told in an event, tried again with growing delays.
    pub(crate) fn fail(&mut self, error: ErrorType, message: impl Into<String>) -> Step {
        let message = message.into();
        let other = self
            .status
            .error_type
            .as_ref()
            .is_some_and(|known| *known != error);
        self.status.error_count = if other {
            1
        } else {
            self.status.error_count.saturating_add(1)
        };
        self.record(&error, &message);
        self.event(EventKind::Normal, error.event_reason(), message.clone());
        self.count(Metric::HostError(error.clone()));
        self.wait_after_failure(error, message)
    }

    /// Like [`Self::fail`], but a failure that is recorded already is not counted or told again.
    pub(crate) fn fail_once(&mut self, error: ErrorType, message: impl Into<String>) -> Step {
        let message = message.into();
        if self.is_recorded(&error, &message) {
            self.wait_after_failure(error, message)
        } else {
            self.fail(error, message)
        }
    }

    /// Whether exactly this failure is what the status tells.
    pub(crate) fn is_recorded(&self, error: &ErrorType, message: &str) -> bool {
        self.status.error_type.as_ref() == Some(error)
            && self.status.error_message == message
            && self.status.operational_status == OperationalStatus::Error
    }

    /// Puts a failure into the status, without counting or telling it.
    pub(crate) fn record(&mut self, error: &ErrorType, message: &str) {
        self.status.operational_status = OperationalStatus::Error;
        self.status.error_type = Some(error.clone());
        message.clone_into(&mut self.status.error_message);
    }

    fn wait_after_failure(&self, error: ErrorType, message: String) -> Step {
        let after = backoff(self.status.error_count, self.observed.jitter);
        Step::Stay(Outcome::Requeue {
            after,
            reason: WaitReason::Failure { error, message },
        })
    }

    /// Whether a failure of this kind is recorded.
    pub(crate) fn has_error(&self, error: &ErrorType) -> bool {
        self.status.error_type.as_ref() == Some(error)
    }

    /// An operation got going (again): its error is taken back, its count is kept.
    pub(crate) fn clear_error_of(&mut self, error: &ErrorType) {
        if self.has_error(error) {
            self.clear_error();
        }
        self.leave_initial_status();
    }

    /// An operation succeeded: its error and its count are taken back.
    pub(crate) fn succeeded(&mut self, error: &ErrorType) {
        if self.has_error(error) {
            self.status.error_count = 0;
        }
        self.clear_error_of(error);
    }

    /// Takes back whatever error is recorded. A host that is delayed, detached or serviced stays so.
    pub(crate) fn clear_error(&mut self) {
        self.status.error_type = None;
        self.status.error_message.clear();
        if self.status.operational_status == OperationalStatus::Error {
            self.status.operational_status = OperationalStatus::Ok;
        }
        self.leave_initial_status();
    }

    /// The status a host has while nobody works with it yet is left as soon as somebody does.
    fn leave_initial_status(&mut self) {
        if matches!(
            self.status.operational_status,
            OperationalStatus::Unset | OperationalStatus::Discovered
        ) {
            self.status.operational_status = OperationalStatus::Ok;
        }
    }

    /// The operational status that fits the recorded error, for a host that is no longer delayed or detached.
    pub(crate) fn restore_operational_status(&mut self) {
        self.status.operational_status = if self.status.error_type.is_some() {
            OperationalStatus::Error
        } else {
            OperationalStatus::Ok
        };
    }

    /// The usual reaction to how far an operation is: wait while it is pending, record its failure, or, once it is
    /// done, give what it yields.
    pub(crate) fn follow<T>(
        &mut self,
        operation: Operation,
        error: &ErrorType,
        progress: Progress<T>,
    ) -> Result<T, Step> {
        match progress {
            Progress::Complete { value } => {
                self.succeeded(error);
                Ok(value)
            }
            Progress::Pending { after, waiting_for } => {
                self.clear_error_of(error);
                Err(Step::wait(
                    after,
                    WaitReason::BackEnd {
                        operation,
                        waiting_for,
                    },
                ))
            }
            Progress::Failed { message } => Err(self.fail(error.clone(), message)),
        }
    }
}

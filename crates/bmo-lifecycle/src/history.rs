//! `status.operationHistory`: when the long operations started and ended.

use std::time::Duration;

use bmo_api::{OperationMetric, ProvisioningState};

use crate::context::Pass;
use crate::pass::{Metric, TimedOperation};

/// The operation that is timed in a state.
fn timed(state: &ProvisioningState) -> Option<TimedOperation> {
    match state {
        ProvisioningState::Registering => Some(TimedOperation::Register),
        ProvisioningState::Inspecting => Some(TimedOperation::Inspect),
        ProvisioningState::Provisioning => Some(TimedOperation::Provision),
        ProvisioningState::Deprovisioning => Some(TimedOperation::Deprovision),
        _ => None,
    }
}

impl Pass<'_> {
    fn metric_mut(&mut self, operation: TimedOperation) -> &mut OperationMetric {
        let history = &mut self.status.operation_history;
        match operation {
            TimedOperation::Register => &mut history.register,
            TimedOperation::Inspect => &mut history.inspect,
            TimedOperation::Provision => &mut history.provision,
            TimedOperation::Deprovision => &mut history.deprovision,
        }
    }

    /// A state is left and another one entered, at the same moment.
    pub(crate) fn history_of_transition(&mut self, from: &ProvisioningState, to: &ProvisioningState) {
        if let Some(operation) = timed(from) {
            self.end_operation(operation);
        }
        if let Some(operation) = timed(to) {
            self.start_operation(operation);
        }
    }

    /// Starts the clock of an operation, unless it runs.
    pub(crate) fn start_operation(&mut self, operation: TimedOperation) {
        let now = self.now();
        let metric = self.metric_mut(operation);
        if metric.start.is_none() || metric.end.is_some() {
            *metric = OperationMetric {
                start: Some(now),
                end: None,
            };
        }
    }

    /// Stops the clock of an operation and says whether it ran.
    pub(crate) fn end_operation(&mut self, operation: TimedOperation) -> bool {
        let now = self.now();
        let metric = self.metric_mut(operation);
        let Some(start) = metric.start.clone().filter(|_| metric.end.is_none()) else {
            return false;
        };
        let duration = Duration::try_from(now.0.duration_since(start.0)).unwrap_or_default();
        metric.end = Some(now);
        self.count(Metric::OperationDuration { operation, duration });
        true
    }
}

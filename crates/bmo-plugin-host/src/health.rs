//! What the host counts about a plugin, and when that makes the plugin unhealthy.
//!
//! In process nothing can be killed. A call that does not answer in time is cancelled; until it answers after all
//! it counts as *abandoned*. Beyond a bound no new call is made, so that a plugin that hangs costs a bounded
//! number of threads and the hosts it serves wait with a reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Abandoned calls at which a plugin counts as unhealthy.
pub const ABANDONED_BOUND: u64 = 16;

/// Live figures of one loaded plugin. Clones share them.
#[derive(Clone, Debug)]
pub struct PluginHealth {
    counters: Arc<Counters>,
    bound: u64,
}

#[derive(Debug, Default)]
struct Counters {
    calls: AtomicU64,
    in_flight: AtomicU64,
    timeouts: AtomicU64,
    abandoned: AtomicU64,
    late_answers: AtomicU64,
    stray_answers: AtomicU64,
    malformed: AtomicU64,
    crashes: AtomicU64,
}

/// The figures at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthSnapshot {
    /// Calls made so far.
    pub calls: u64,
    /// Calls that are waited for now.
    pub in_flight: u64,
    /// Calls that were not answered by their deadline.
    pub timeouts: u64,
    /// Calls that are waited for no longer and have not answered yet.
    pub abandoned: u64,
    /// Abandoned calls that answered after all.
    pub late_answers: u64,
    /// Answers to calls that were answered already, or never made.
    pub stray_answers: u64,
    /// Documents that could not be read.
    pub malformed: u64,
    /// Calls that ended with an internal error of the plugin, such as a panic.
    pub crashes: u64,
}

impl Default for PluginHealth {
    fn default() -> Self {
        Self::with_bound(ABANDONED_BOUND)
    }
}

impl PluginHealth {
    /// Figures that call `bound` abandoned calls unhealthy.
    pub fn with_bound(bound: u64) -> Self {
        Self {
            counters: Arc::default(),
            bound,
        }
    }

    /// The figures now.
    pub fn snapshot(&self) -> HealthSnapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        HealthSnapshot {
            calls: read(&counters.calls),
            in_flight: read(&counters.in_flight),
            timeouts: read(&counters.timeouts),
            abandoned: read(&counters.abandoned),
            late_answers: read(&counters.late_answers),
            stray_answers: read(&counters.stray_answers),
            malformed: read(&counters.malformed),
            crashes: read(&counters.crashes),
        }
    }

    /// Why the plugin is unhealthy, for readiness and conditions; `None` while it is healthy.
    pub fn problem(&self) -> Option<String> {
        let abandoned = self.counters.abandoned.load(Ordering::Relaxed);
        (abandoned >= self.bound).then(|| {
            format!(
                "{abandoned} calls to the plugin have not answered and ignore their cancellation (bound: {}); no new \
                 ones are made until some answer; if it stays so, restart the operator and look at the plugin's back end",
                self.bound
            )
        })
    }

    pub(crate) fn call_begun(&self) {
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        self.counters.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn call_answered(&self) {
        self.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn call_abandoned(&self) {
        self.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.counters.abandoned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn timed_out(&self) {
        self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered_late(&self) {
        self.counters.abandoned.fetch_sub(1, Ordering::Relaxed);
        self.counters.late_answers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn answered_unasked(&self) {
        self.counters.stray_answers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn malformed(&self) {
        self.counters.malformed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn crashed(&self) {
        self.counters.crashes.fetch_add(1, Ordering::Relaxed);
    }
}

//! What time it is.
//!
//! Behind a trait so that tests with tokio's paused clock see hours pass in status and events too.

use jiff::{SignedDuration, Timestamp};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that moves with tokio's, which tests can pause and advance.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Timestamp,
    began: tokio::time::Instant,
}

impl TokioClock {
    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            began: tokio::time::Instant::now(),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.began.elapsed()).unwrap_or(SignedDuration::ZERO);
        self.start.checked_add(passed).unwrap_or(self.start)
    }
}

//! How long to wait before the next attempt.

use std::time::Duration;

/// Failures that still double the delay.
const LIMIT: u32 = 9;

/// The delay after the `failures`th failure in a row: `2^failures` minutes (at most `2^9`), up to half of it taken
/// away by `jitter` (in `0.0..1.0`), so that hosts which failed together do not come back together.
///
/// It never shrinks from one failure to the next, whatever the jitter: 0.5–1 min, 1–2 min, 2–4 min … 256–512 min.
pub(crate) fn backoff(failures: i64, jitter: f64) -> Duration {
    let exponent = u32::try_from(failures.max(0)).unwrap_or(LIMIT).min(LIMIT);
    let longest = Duration::from_mins(1 << exponent);
    longest.mul_f64(1.0 - 0.5 * jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_from_failure_to_failure_up_to_512_minutes() {
        let mut shortest = Duration::ZERO;
        for failures in 0..=109 {
            let earliest = backoff(failures, 1.0);
            assert!(earliest >= shortest, "{failures}");
            shortest = earliest;
            assert!(backoff(failures, 0.0) <= Duration::from_mins(512));
        }
        assert_eq!(backoff(1, 0.0), Duration::from_mins(2));
        assert_eq!(backoff(1, 1.0), Duration::from_mins(1));
        assert_eq!(backoff(9, 1.0), backoff(8, 0.0));
    }
}

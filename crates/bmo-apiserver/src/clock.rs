//! The wall clock of the server. Timers always use tokio's time; timestamps written into objects come from here, so
//! that tests under tokio's paused clock see both move together.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::fmt::strtime;
use tokio::time::Instant;

/// Where timestamps in objects come from. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self::from_fn(Timestamp::now)
    }

    /// Starts at the machine's time and then advances with tokio's clock, paused or not. Needs a tokio runtime when
    /// the clock is paused.
    pub fn tokio() -> Self {
        Self::tokio_from(Timestamp::now())
    }

    /// As [`Clock::tokio`], starting at `start`.
    pub fn tokio_from(start: Timestamp) -> Self {
        let base = Instant::now();
        Self::from_fn(move || start.checked_add(base.elapsed()).unwrap_or(start))
    }

    /// Any source of time.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Now, in UTC.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// Now as `metav1.Time` writes it: RFC 3339 with whole seconds.
    pub fn seconds(&self) -> String {
        seconds(self.now())
    }
}

/// `metav1.Time`: RFC 3339 with whole seconds.
pub fn seconds(at: Timestamp) -> String {
    strtime::format("%Y-%m-%dT%H:%M:%SZ", at).unwrap_or_else(|_| at.to_string())
}

/// `metav1.MicroTime`: RFC 3339 with six digits of a second.
pub fn micros(at: Timestamp) -> String {
    strtime::format("%Y-%m-%dT%H:%M:%S.%6fZ", at).unwrap_or_else(|_| at.to_string())
}

/// The age of something as kubectl prints it: at most two units, one from a certain length on.
pub fn human_duration(seconds: i64) -> String {
    match seconds {
        i64::MIN..=-2 => "<invalid>".into(),
        -1..=-1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / 60, "m", seconds % 60, "s"),
        600..10_800 => format!("{}m", seconds / 60),
        10_800..28_800 => two(seconds / 3600, "h", seconds / 60 % 60, "m"),
        28_800..172_800 => format!("{}h", seconds / 3600),
        172_800..691_200 => two(seconds / 86_400, "d", seconds / 3600 % 24, "h"),
        691_200..63_072_000 => format!("{}d", seconds / 86_400),
        63_072_000..252_288_000 => two(seconds / 31_536_000, "y", seconds / 86_400 % 365, "d"),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

fn two(a: i64, a_unit: &str, b: i64, b_unit: &str) -> String {
    if b == 0 {
        format!("{a}{a_unit}")
    } else {
        format!("{a}{a_unit}{b}{b_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_writes_them() {
        for (age, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (150, "2m30s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
        ] {
            assert_eq!(human_duration(age), text, "{age} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_tokio_clock_follows_paused_time() {
        let clock = Clock::tokio();
        let before = clock.now();
        tokio::time::sleep(std::time::Duration::from_hours(1)).await;
        assert!(clock.now().duration_since(before).as_secs() >= 3600);
    }

    #[test]
    fn timestamps_have_the_digits_kubernetes_writes() {
        let at: Timestamp = "2026-11-30T20:37:54.123456789Z".parse().unwrap();
        assert_eq!(seconds(at), "2026-11-30T20:37:54Z");
        assert_eq!(micros(at), "2026-11-30T20:37:54.123456Z");
    }
}

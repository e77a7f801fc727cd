//! The work queue: which host is looked at next, and when.
//!
//! One entry per host. A host is handled by at most one worker at a time; wakes that come meanwhile are folded
//! into one more pass. Errors are retried with growing delays (5 ms … 1000 s) kept per host, so that one bad
//! host delays no other. A pass that asks for an immediate repeat gets it, but a host that asks for it many
//! times in a row is slowed down, so that a fault cannot turn into a busy loop.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::metrics::Metrics;

/// First delay after an error.
const FIRST_RETRY: Duration = Duration::from_millis(5);
/// Longest delay after an error.
const LONGEST_RETRY: Duration = Duration::from_secs(1000);
/// How many immediate repeats in a row are taken as progress rather than a loop.
const FREE_REPEATS: u32 = 16;

/// Namespace and name of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl HostKey {
    /// The host `name` in `namespace`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// When a host is to be looked at again after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Only when something wakes it.
    OnWake,
    /// After a while, or when something wakes it.
    After(Duration),
    /// At once: the pass made progress and there is more to do.
    Now,
    /// The pass failed: again with a growing delay.
    Retry,
}

/// See the module head.
pub(crate) struct WorkQueue {
    state: Mutex<State>,
    changed: Notify,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<(HostKey, Instant)>,
    entries: HashMap<HostKey, Entry>,
    timers: BTreeSet<(Instant, HostKey)>,
}

/// What is known of one host. Absent: nothing is queued, running, scheduled or counted.
#[derive(Default)]
struct Entry {
    queued: bool,
    running: bool,
    woken_while_running: bool,
    timer: Option<Instant>,
    failures: u32,
    repeats: u32,
}

impl Entry {
    fn is_idle(&self) -> bool {
        !self.queued && !self.running && self.timer.is_none() && self.failures == 0 && self.repeats == 0
    }
}

impl State {
    /// Puts the host in line unless it is there; a host being handled is handled once more afterwards.
    /// Returns whether it was put in line now.
    fn wake(&mut self, key: &HostKey, now: Instant) -> bool {
        let entry = self.entries.entry(key.clone()).or_default();
        if entry.running {
            entry.woken_while_running = true;
            return false;
        }
        if let Some(at) = entry.timer.take() {
            self.timers.remove(&(at, key.clone()));
        }
        let added = !entry.queued;
        if added {
            entry.queued = true;
            self.ready.push_back((key.clone(), now));
        }
        added
    }

    /// Moves hosts whose time has come into the line; returns when the next one's comes.
    fn fire_timers(&mut self, now: Instant) -> Option<Instant> {
        while let Some((at, key)) = self.timers.first().cloned() {
            if at > now {
                return Some(at);
            }
            self.wake(&key, now);
            self.timers.remove(&(at, key));
        }
        None
    }

    fn schedule(&mut self, key: &HostKey, at: Instant) {
        self.entries.entry(key.clone()).or_default().timer = Some(at);
        self.timers.insert((at, key.clone()));
    }
}

impl WorkQueue {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            metrics,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the host looked at as soon as a worker is free.
    pub(crate) fn wake(&self, key: &HostKey) {
        let added = self.lock().wake(key, Instant::now());
        if added {
            self.metrics.queue_adds.inc();
            self.metrics.queue_depth.inc();
        }
        self.changed.notify_one();
    }

    /// The next host to look at; the caller must report its end with [`WorkQueue::finished`].
    pub(crate) async fn next(&self) -> HostKey {
        loop {
            let next_timer = {
                let mut state = self.lock();
                let now = Instant::now();
                let before = state.ready.len();
                let next_timer = state.fire_timers(now);
                let fired = state.ready.len() - before;
                self.metrics.queue_adds.inc_by(fired as u64);
                self.metrics.queue_depth.inc_by(i64::try_from(fired).unwrap_or(0));
                if let Some((key, since)) = state.ready.pop_front() {
                    let entry = state.entries.entry(key.clone()).or_default();
                    entry.queued = false;
                    entry.running = true;
                    self.metrics.queue_depth.dec();
                    self.metrics.queue_duration.observe((now - since).as_secs_f64());
                    // Another waiting worker has to look at what is left.
                    self.changed.notify_one();
                    return key;
                }
                next_timer
            };
            match next_timer {
                Some(at) => tokio::select! {
                    () = self.changed.notified() => {}
                    () = tokio::time::sleep_until(at) => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    /// Ends the handling of a host and schedules the next.
    pub(crate) fn finished(&self, key: &HostKey, next: Next) {
        let mut state = self.lock();
        let now = Instant::now();
        let entry = state.entries.entry(key.clone()).or_default();
        entry.running = false;
        let delay = entry.delay(next);
        if matches!(next, Next::Retry) {
            self.metrics.queue_retries.inc();
        }
        let woken = std::mem::take(&mut entry.woken_while_running);
        match delay {
            // A failing host waits for its delay even when something woke it, or a host whose own failed
            // writes wake it would never slow down.
            Some(delay) if matches!(next, Next::Retry) => state.schedule(key, now + delay),
            _ if woken || delay == Some(Duration::ZERO) => {
                let added = u64::from(state.wake(key, now));
                self.metrics.queue_adds.inc_by(added);
                self.metrics.queue_depth.inc_by(i64::from(added != 0));
            }
            Some(delay) => state.schedule(key, now + delay),
            None => {}
        }
        if state.entries.get(key).is_some_and(Entry::is_idle) {
            state.entries.remove(key);
        }
        drop(state);
        self.changed.notify_one();
    }
}

impl Entry {
    /// How long to wait before the next pass, `None` for until something wakes the host.
    fn delay(&mut self, next: Next) -> Option<Duration> {
        match next {
            Next::OnWake => {
                (self.failures, self.repeats) = (0, 0);
                None
            }
            Next::After(delay) => {
                (self.failures, self.repeats) = (0, 0);
                Some(delay)
            }
            Next::Now => {
                self.failures = 0;
                self.repeats = self.repeats.saturating_add(1);
                Some(
                    self.repeats
                        .checked_sub(FREE_REPEATS)
                        .map_or(Duration::ZERO, backoff),
                )
            }
            Next::Retry => {
                let delay = backoff(self.failures);
                self.failures = self.failures.saturating_add(1);
                Some(delay)
            }
        }
    }
}

/// The `n`-th delay of a growing series.
fn backoff(n: u32) -> Duration {
    FIRST_RETRY
        .saturating_mul(2_u32.saturating_pow(n))
        .min(LONGEST_RETRY)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::{FREE_REPEATS, HostKey, Next, WorkQueue, backoff};
    use crate::metrics::Metrics;

    fn queue() -> WorkQueue {
        WorkQueue::new(Arc::new(Metrics::new()))
    }

    fn host(name: &str) -> HostKey {
        HostKey::new("ns", name)
    }

    async fn is_empty(queue: &WorkQueue) -> bool {
        timeout(Duration::from_millis(1), queue.next()).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn wakes_during_a_pass_become_one_more_pass() {
        let queue = queue();
        queue.wake(&host("a"));
        queue.wake(&host("a"));
        assert_eq!(queue.next().await, host("a"));
        queue.wake(&host("a"));
        queue.wake(&host("a"));
        assert!(is_empty(&queue).await, "a host must not be handled twice at once");
        queue.finished(&host("a"), Next::After(Duration::from_mins(1)));
        assert_eq!(queue.next().await, host("a"));
        queue.finished(&host("a"), Next::OnWake);
        assert!(is_empty(&queue).await);
    }

    #[tokio::test(start_paused = true)]
    async fn delays_and_wakes() {
        let queue = queue();
        let start = Instant::now();
        for name in ["a", "b"] {
            queue.wake(&host(name));
            assert_eq!(queue.next().await, host(name));
            queue.finished(&host(name), Next::After(Duration::from_mins(1)));
        }
        queue.wake(&host("b"));
        assert_eq!(queue.next().await, host("b"));
        assert_eq!(start.elapsed(), Duration::ZERO);
        queue.finished(&host("b"), Next::OnWake);
        assert_eq!(queue.next().await, host("a"));
        assert_eq!(start.elapsed(), Duration::from_mins(1));
        queue.finished(&host("a"), Next::OnWake);
        assert!(is_empty(&queue).await, "the wake replaced the timer of b");
    }

    #[tokio::test(start_paused = true)]
    async fn errors_slow_down_one_host_only() {
        let queue = queue();
        let start = Instant::now();
        queue.wake(&host("bad"));
        for _ in 0..8 {
            assert_eq!(queue.next().await, host("bad"));
            queue.finished(&host("bad"), Next::Retry);
        }
        let waited: Duration = (0..7).map(backoff).sum();
        assert!(start.elapsed() >= waited);
        queue.wake(&host("good"));
        assert_eq!(queue.next().await, host("good"));
        assert_eq!(backoff(40), Duration::from_secs(1000));
    }

    #[tokio::test(start_paused = true)]
    async fn endless_repeats_are_slowed_down() {
        let queue = queue();
        let start = Instant::now();
        queue.wake(&host("a"));
        for _ in 0..FREE_REPEATS + 10 {
            queue.next().await;
            queue.finished(&host("a"), Next::Now);
        }
        assert!(start.elapsed() > Duration::from_secs(1));
    }
}

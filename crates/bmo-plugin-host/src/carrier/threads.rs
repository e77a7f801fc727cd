//! Threads for code that may block: made when needed up to a bound, ended when idle, never waited for.
//!
//! Not the runtime's blocking threads, because a runtime waits for those when it ends, and a plugin that hangs
//! would hang the end of the process.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::lock::lock;

/// How long a thread waits for more work.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// A bounded set of threads. Jobs beyond the bound wait.
pub(crate) struct Threads {
    name: String,
    bound: usize,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    idle: usize,
    total: usize,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("name", &self.name)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}

impl Threads {
    pub(crate) fn new(name: String, bound: usize) -> Self {
        Self {
            name,
            bound,
            shared: Arc::default(),
        }
    }

    /// Runs `job` on one of the threads, soon.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = lock(&self.shared.state);
        state.queue.push_back(Box::new(job));
        if state.idle >= state.queue.len() || state.total >= self.bound {
            self.shared.work.notify_one();
            return;
        }
        state.total += 1;
        let shared = self.shared.clone();
        let started = thread::Builder::new()
            .name(self.name.clone())
            .spawn(move || shared.serve());
        if let Err(error) = started {
            state.total -= 1;
            tracing::error!(%error, threads = state.total, "cannot start a thread; the call waits for a free one");
        }
    }
}

impl Shared {
    fn serve(&self) {
        while let Some(job) = self.next() {
            // Our own jobs do not panic; one that does must not take the count of threads with it.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            let (woken, wait) = self
                .work
                .wait_timeout(state, IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if wait.timed_out() && state.queue.is_empty() {
                state.total -= 1;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::Threads;

    #[test]
    fn a_job_that_blocks_holds_up_no_other_until_the_bound() {
        let threads = Threads::new("test".to_owned(), 2);
        let (release, blocked) = mpsc::channel::<()>();
        threads.run(move || blocked.recv().unwrap());
        let (done, results) = mpsc::channel();
        for number in 0..10 {
            let done = done.clone();
            threads.run(move || done.send(number).unwrap());
        }
        let mut seen: Vec<i32> = (0..10)
            .map(|_| results.recv_timeout(Duration::from_secs(10)).unwrap())
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        release.send(()).unwrap();
    }
}

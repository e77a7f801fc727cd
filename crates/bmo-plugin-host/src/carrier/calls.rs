//! The calls that have no answer yet, by token.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;

use crate::lock::lock;

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was waited for.
    Taken,
    /// It was waited for once.
    Late,
    /// Nobody asked, or it was answered already.
    Stray,
}

#[derive(Debug)]
enum Call {
    Waiting(oneshot::Sender<Vec<u8>>),
    Abandoned,
}

/// The open calls. Tokens are counted up and never used twice.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Call>>,
}

impl Calls {
    pub(crate) fn begin(&self) -> (u64, oneshot::Receiver<Vec<u8>>) {
        let token = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        lock(&self.open).insert(token, Call::Waiting(sender));
        (token, receiver)
    }

    pub(crate) fn answer(&self, token: u64, bytes: &[u8]) -> Answer {
        let call = lock(&self.open).remove(&token);
        match call {
            Some(Call::Waiting(sender)) => {
                // A receiver that went away just now is dealt with by the one who drops the call.
                let _ = sender.send(bytes.to_vec());
                Answer::Taken
            }
            Some(Call::Abandoned) => Answer::Late,
            None => Answer::Stray,
        }
    }

    /// Stops waiting for a call. False where it has been answered.
    pub(crate) fn abandon(&self, token: u64) -> bool {
        let mut open = lock(&self.open);
        match open.get_mut(&token) {
            Some(call) => {
                *call = Call::Abandoned;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Calls};

    #[test]
    fn every_answer_is_taken_once() {
        let calls = Calls::default();
        let (token, mut waiting) = calls.begin();
        assert_eq!(calls.answer(token, b"one"), Answer::Taken);
        assert_eq!(calls.answer(token, b"two"), Answer::Stray);
        assert_eq!(waiting.try_recv().unwrap(), b"one");
        assert_eq!(calls.answer(99, b"never asked"), Answer::Stray);

        let (token, _waiting) = calls.begin();
        assert!(calls.abandon(token));
        assert_eq!(calls.answer(token, b"late"), Answer::Late);
        assert!(!calls.abandon(token));
    }
}

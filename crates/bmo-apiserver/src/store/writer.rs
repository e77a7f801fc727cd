//! The writer task of a durable store: takes what is queued, one transaction, one sync, then publishes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use super::{Object, Record, State, Storage, StorageError, Write, WriteError, check};

/// Writes that may wait in the queue before callers wait to queue theirs.
const QUEUE: usize = 1024;
/// Most writes in one transaction.
const BATCH: usize = 256;

type Answer = oneshot::Sender<Result<Arc<Object>, WriteError>>;

#[derive(Debug)]
pub(super) enum Job {
    Write(Write, Answer),
    Close(oneshot::Sender<()>),
}

/// A write that was checked and waits for its transaction.
struct Accepted {
    object: Arc<Object>,
    deleted: bool,
    answer: Answer,
}

pub(super) fn start(
    storage: Box<dyn Storage>,
    state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
) -> mpsc::Sender<Job> {
    let (queue, jobs) = mpsc::channel(QUEUE);
    tokio::spawn(run(storage, state, changed, jobs));
    queue
}

async fn run(
    mut storage: Box<dyn Storage>,
    state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
    mut jobs: mpsc::Receiver<Job>,
) {
    let mut compacted = lock(&state).history.floor();
    let mut queued = Vec::new();
    while jobs.recv_many(&mut queued, BATCH).await > 0 {
        let mut close = None;
        let mut writes = Vec::new();
        for job in queued.drain(..) {
            match job {
                Job::Write(write, answer) => writes.push((write, answer)),
                Job::Close(done) => close = Some(done),
            }
        }
        let accepted = accept(&state, writes);
        let floor = lock(&state).history.floor();
        // The ring moves by one with each write; the log is cut in larger steps.
        let compact_to = (floor >= compacted + 1000).then_some(floor);
        let records: Vec<_> = accepted
            .iter()
            .map(|write| (write.object.clone(), write.deleted))
            .collect();
        let done = tokio::task::spawn_blocking(move || {
            let result = commit(storage.as_mut(), &records, compact_to);
            (storage, result)
        })
        .await;
        let Ok((returned, result)) = done else {
            tracing::error!("the store's writer panicked; no further writes are possible");
            return;
        };
        storage = returned;
        if compact_to.is_some() && result.is_ok() {
            compacted = floor;
        }
        publish(&state, &changed, accepted, result);
        if let Some(done) = close {
            drop(storage);
            jobs.close();
            let _ = done.send(());
            return;
        }
    }
}

/// Checks each write against the state that those before it will have made.
fn accept(state: &Mutex<State>, writes: Vec<(Write, Answer)>) -> Vec<Accepted> {
    let state = lock(state);
    let mut rev = state.rev;
    let mut pending: HashMap<String, Option<u64>> = HashMap::new();
    let mut accepted = Vec::with_capacity(writes.len());
    for (write, answer) in writes {
        let current = match pending.get(&write.key) {
            Some(rev) => *rev,
            None => state.current.get(&write.key).map(|object| object.rev),
        };
        match check(write, current, rev + 1) {
            Ok((object, deleted)) => {
                rev += 1;
                pending.insert(object.key.clone(), (!deleted).then_some(rev));
                accepted.push(Accepted {
                    object,
                    deleted,
                    answer,
                });
            }
            Err(error) => {
                let _ = answer.send(Err(error));
            }
        }
    }
    accepted
}

fn commit(
    storage: &mut dyn Storage,
    batch: &[(Arc<Object>, bool)],
    compact_to: Option<u64>,
) -> Result<(), StorageError> {
    let records: Vec<Record> = batch
        .iter()
        .map(|(object, deleted)| Record {
            rev: object.rev,
            key: object.key.clone(),
            object: object.json(),
            deleted: *deleted,
        })
        .collect();
    if !records.is_empty() {
        storage.txn(&records)?;
    }
    if let Some(floor) = compact_to
        && let Err(error) = storage.compact(floor)
    {
        tracing::warn!(%error, "the store could not forget old revisions; it goes on and tries again later");
    }
    Ok(())
}

fn publish(
    state: &Mutex<State>,
    changed: &watch::Sender<u64>,
    accepted: Vec<Accepted>,
    result: Result<(), StorageError>,
) {
    if let Err(error) = result {
        tracing::error!(%error, "a batch of writes failed");
        for write in accepted {
            let _ = write.answer.send(Err(WriteError::Storage(error.to_string())));
        }
        return;
    }
    let mut answers = Vec::with_capacity(accepted.len());
    let mut guard = lock(state);
    for write in accepted {
        guard.apply(write.object.clone(), write.deleted);
        answers.push((write.answer, write.object));
    }
    let rev = guard.rev;
    drop(guard);
    changed.send_replace(rev);
    for (answer, object) in answers {
        let _ = answer.send(Ok(object));
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

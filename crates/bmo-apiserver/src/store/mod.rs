//! The store: every object's current state and the last changes, in memory, over a durable log.
//!
//! One writer applies batches: it checks what each write expects, gives it the next revision, makes the batch durable
//! with one sync, and only then publishes it and answers. Readers and watchers see committed state only. Watchers read
//! from a ring of the last changes; who is further behind than the ring gets [`TooOld`] and lists again.
//!
//! Durability is a [`Storage`]: four calls, so that another file format can be put in. In memory there is nothing to
//! wait for, so writes are applied at once, which keeps tests under a paused clock deterministic.

mod history;
pub mod memory;
pub mod redb;
mod writer;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

pub use history::{Change, ChangeKind};

/// How many changes watchers can be behind, by default.
pub const DEFAULT_HISTORY: usize = 2048;

/// Prefix of the keys of CustomResourceDefinitions; the registry follows it.
pub const CRD_PREFIX: &str = "apiextensions.k8s.io/customresourcedefinitions/";

/// One stored version of an object.
#[derive(Debug)]
pub struct Object {
    /// `group/plural/namespace/name`, the namespace empty for cluster-scoped kinds.
    pub key: String,
    /// Revision of the write that made this version; equal to `metadata.resourceVersion`.
    pub rev: u64,
    pub value: Value,
    json: OnceLock<Bytes>,
}

impl Object {
    fn new(key: String, rev: u64, value: Value) -> Self {
        Self {
            key,
            rev,
            value,
            json: OnceLock::new(),
        }
    }

    /// The object as JSON text, rendered once.
    pub fn json(&self) -> Bytes {
        self.json
            .get_or_init(|| serde_json::to_vec(&self.value).unwrap_or_default().into())
            .clone()
    }
}

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Absent,
    /// The version last read.
    Rev(u64),
}

/// One conditional write.
#[derive(Debug)]
pub struct Write {
    pub key: String,
    pub expect: Expect,
    pub put: Put,
}

#[derive(Debug)]
pub enum Put {
    /// The new object; `metadata.resourceVersion` is set by the store.
    Set(Value),
    /// Removes the object. The value is its last state, which watchers see in the DELETED event.
    Delete(Value),
}

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The object is not what the writer expected.
    #[error("the object has another version than expected")]
    Conflict,
    #[error("the store cannot write: {0}")]
    Storage(String),
}

/// The ring does not reach back to the revision asked for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("revision {asked} is older than {oldest}, the oldest that is kept")]
pub struct TooOld {
    pub asked: u64,
    pub oldest: u64,
}

/// A record of the durable log: what one revision did to one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub rev: u64,
    pub key: String,
    /// JSON of the object; of its last state if `deleted`.
    pub object: Bytes,
    pub deleted: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("{0}")]
    InUse(String),
    #[error("{0}")]
    Failed(String),
}

/// A durable log of revisions. Calls block; the store makes them off the runtime's threads.
pub trait Storage: Send + 'static {
    /// Makes a batch durable, all or nothing. Returns the last revision.
    fn txn(&mut self, batch: &[Record]) -> Result<u64, StorageError>;
    /// The live objects whose key starts with `prefix`, as of `rev` (which must not be older than the floor).
    fn range(&self, prefix: &str, rev: u64) -> Result<Vec<Record>, StorageError>;
    /// The records after `rev` in order, and the floor: the oldest revision that can be asked for.
    fn since(&self, rev: u64) -> Result<(u64, Vec<Record>), StorageError>;
    /// Forgets what was overwritten or deleted at or before `rev`.
    fn compact(&mut self, rev: u64) -> Result<(), StorageError>;
}

#[derive(Debug)]
struct State {
    rev: u64,
    crd_rev: u64,
    current: BTreeMap<String, Arc<Object>>,
    history: history::History,
}

impl State {
    fn apply(&mut self, object: Arc<Object>, deleted: bool) {
        self.rev = object.rev;
        if object.key.starts_with(CRD_PREFIX) {
            self.crd_rev = object.rev;
        }
        let previous = if deleted {
            self.current.remove(&object.key)
        } else {
            self.current.insert(object.key.clone(), object.clone())
        };
        self.history.push(Change::new(object, previous, deleted));
    }
}

/// All objects of one server.
#[derive(Debug)]
pub struct Store {
    state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
    /// `None` in memory.
    writer: Option<mpsc::Sender<writer::Job>>,
}

/// Several objects at one revision.
#[derive(Debug)]
pub struct Snapshot {
    pub rev: u64,
    pub objects: Vec<Arc<Object>>,
}

impl Store {
    /// A store that is gone with the process.
    pub fn in_memory(history: usize) -> Self {
        let state = State {
            rev: 1,
            crd_rev: 0,
            current: BTreeMap::new(),
            history: history::History::new(history, 1),
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            changed: Arc::new(watch::channel(1).0),
            writer: None,
        }
    }

    /// A store over `storage`; goes on at its last revision. Must be called within a tokio runtime.
    pub fn open(storage: Box<dyn Storage>, history: usize) -> Result<Self, StorageError> {
        let (floor, _) = storage.since(u64::MAX)?;
        let mut state = State {
            rev: floor.max(1),
            crd_rev: 0,
            current: BTreeMap::new(),
            history: history::History::new(history, floor.max(1)),
        };
        for record in storage.range("", floor)? {
            let object = Arc::new(parse(record)?);
            state.current.insert(object.key.clone(), object);
        }
        for record in storage.since(floor)?.1 {
            let deleted = record.deleted;
            state.apply(Arc::new(parse(record)?), deleted);
        }
        // The registry has to read the definitions once, whatever their revisions are.
        state.crd_rev = state.rev;
        let changed = Arc::new(watch::channel(state.rev).0);
        let state = Arc::new(Mutex::new(state));
        let writer = writer::start(storage, state.clone(), changed.clone());
        Ok(Self {
            state,
            changed,
            writer: Some(writer),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The revision of the last write.
    pub fn rev(&self) -> u64 {
        self.lock().rev
    }

    /// Changes whenever a CustomResourceDefinition was written.
    pub fn crd_rev(&self) -> u64 {
        self.lock().crd_rev
    }

    /// Resolves to the latest revision each time it grows.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.lock().current.get(key).cloned()
    }

    /// The current objects under a prefix, in key order.
    pub fn list(&self, prefix: &str) -> Snapshot {
        let state = self.lock();
        Snapshot {
            rev: state.rev,
            objects: under(&state.current, prefix).cloned().collect(),
        }
    }

    /// The objects under a prefix as they were at `rev`.
    pub fn list_at(&self, prefix: &str, rev: u64) -> Result<Snapshot, TooOld> {
        let state = self.lock();
        let mut objects: BTreeMap<&str, Arc<Object>> = under(&state.current, prefix)
            .map(|object| (object.key.as_str(), object.clone()))
            .collect();
        let later = state.history.since(rev)?;
        for change in later
            .iter()
            .rev()
            .filter(|change| change.object.key.starts_with(prefix))
        {
            match &change.previous {
                Some(previous) => objects.insert(&change.object.key, previous.clone()),
                None => objects.remove(change.object.key.as_str()),
            };
        }
        Ok(Snapshot {
            rev,
            objects: objects.into_values().collect(),
        })
    }

    /// The changes after `rev` under a prefix, and the revision up to which they go.
    pub fn changes(&self, prefix: &str, rev: u64) -> Result<(u64, Vec<Arc<Change>>), TooOld> {
        let state = self.lock();
        let mut changes = state.history.since(rev)?;
        changes.retain(|change| change.object.key.starts_with(prefix));
        Ok((state.rev, changes))
    }

    /// Forgets all changes so far, as if many more had been made: watchers that are behind get [`TooOld`].
    pub fn forget_history(&self) {
        let mut state = self.lock();
        let rev = state.rev;
        state.history.forget(rev);
    }

    /// Makes one write. Returns the stored object once it is durable and visible to readers.
    pub async fn write(&self, write: Write) -> Result<Arc<Object>, WriteError> {
        let Some(writer) = &self.writer else {
            let mut state = self.lock();
            let current = state.current.get(&write.key).map(|object| object.rev);
            let rev = state.rev + 1;
            let (object, deleted) = check(write, current, rev)?;
            state.apply(object.clone(), deleted);
            drop(state);
            self.changed.send_replace(rev);
            return Ok(object);
        };
        let (answer, result) = oneshot::channel();
        let gone = || WriteError::Storage("the store is closed".into());
        writer
            .send(writer::Job::Write(write, answer))
            .await
            .map_err(|_| gone())?;
        result.await.map_err(|_| gone())?
    }

    /// Finishes what is queued and closes the file, so that it can be opened again.
    pub async fn close(&self) {
        if let Some(writer) = &self.writer {
            let (done, closed) = oneshot::channel();
            if writer.send(writer::Job::Close(done)).await.is_ok() {
                let _ = closed.await;
            }
        }
    }
}

/// The new version of an object, if the write finds what it expects.
fn check(write: Write, current: Option<u64>, rev: u64) -> Result<(Arc<Object>, bool), WriteError> {
    let as_expected = match write.expect {
        Expect::Absent => current.is_none(),
        Expect::Rev(rev) => current == Some(rev),
    };
    if !as_expected {
        return Err(WriteError::Conflict);
    }
    let (mut value, deleted) = match write.put {
        Put::Set(value) => (value, false),
        Put::Delete(value) => (value, true),
    };
    crate::object::set_meta(&mut value, "resourceVersion", Some(rev.to_string().into()));
    Ok((Arc::new(Object::new(write.key, rev, value)), deleted))
}

fn under<'a>(
    current: &'a BTreeMap<String, Arc<Object>>,
    prefix: &'a str,
) -> impl Iterator<Item = &'a Arc<Object>> {
    current
        .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .take_while(move |(key, _)| key.starts_with(prefix))
        .map(|(_, object)| object)
}

fn parse(record: Record) -> Result<Object, StorageError> {
    let value = serde_json::from_slice(&record.object).map_err(|error| {
        StorageError::Failed(format!(
            "revision {} of {} is not JSON: {error}",
            record.rev, record.key
        ))
    })?;
    Ok(Object::new(record.key, record.rev, value))
}

#[cfg(test)]
mod tests;

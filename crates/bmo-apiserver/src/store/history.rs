//! The ring of the last changes, from which watches and lists at a past revision are answered.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Object, TooOld};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// What one revision did.
#[derive(Debug)]
pub struct Change {
    pub kind: ChangeKind,
    /// The new version, or the last state of a deleted object with the revision of its deletion.
    pub object: Arc<Object>,
    /// The version before it.
    pub previous: Option<Arc<Object>>,
}

impl Change {
    pub(super) fn new(object: Arc<Object>, previous: Option<Arc<Object>>, deleted: bool) -> Self {
        let kind = match (deleted, &previous) {
            (true, _) => ChangeKind::Deleted,
            (false, None) => ChangeKind::Added,
            (false, Some(_)) => ChangeKind::Modified,
        };
        Self {
            kind,
            object,
            previous,
        }
    }
}

#[derive(Debug)]
pub(super) struct History {
    limit: usize,
    /// The oldest revision that can still be asked for.
    floor: u64,
    changes: VecDeque<Arc<Change>>,
}

impl History {
    pub(super) fn new(limit: usize, floor: u64) -> Self {
        Self {
            limit: limit.max(1),
            floor,
            changes: VecDeque::new(),
        }
    }

    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    pub(super) fn push(&mut self, change: Change) {
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > self.limit {
            if let Some(oldest) = self.changes.pop_front() {
                self.floor = oldest.object.rev;
            }
        }
    }

    pub(super) fn forget(&mut self, rev: u64) {
        self.changes.retain(|change| change.object.rev > rev);
        self.floor = self.floor.max(rev);
    }

    /// The changes after `rev`, oldest first.
    pub(super) fn since(&self, rev: u64) -> Result<Vec<Arc<Change>>, TooOld> {
        if rev < self.floor {
            return Err(TooOld {
                asked: rev,
                oldest: self.floor,
            });
        }
        let start = self.changes.partition_point(|change| change.object.rev <= rev);
        Ok(self.changes.range(start..).cloned().collect())
    }
}

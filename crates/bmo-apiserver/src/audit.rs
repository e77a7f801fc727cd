//! Counts of requests, so that tests can say how many API writes something costs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::faults::RequestInfo;

/// What one count is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: &'static str,
    pub group: String,
    /// Plural.
    pub resource: String,
    /// Empty for the main resource.
    pub subresource: String,
    pub user_agent: String,
    /// HTTP status code of the answer.
    pub code: u16,
}

impl Count {
    /// Whether it is a create, update, patch or delete.
    pub fn is_write(&self) -> bool {
        matches!(
            self.verb,
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }
}

/// The requests of one server since the last reset.
#[derive(Debug, Default)]
pub struct Audit {
    counts: Mutex<BTreeMap<Count, u64>>,
}

impl Audit {
    pub(crate) fn record(&self, request: RequestInfo, code: u16) {
        let count = Count {
            verb: request.verb,
            group: request.group,
            resource: request.resource,
            subresource: request.subresource,
            user_agent: request.user_agent,
            code,
        };
        *self
            .counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(count)
            .or_default() += 1;
    }

    /// All counts.
    pub fn counts(&self) -> BTreeMap<Count, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many requests match.
    pub fn total(&self, matches: impl Fn(&Count) -> bool) -> u64 {
        self.counts()
            .into_iter()
            .filter(|(count, _)| matches(count))
            .map(|(_, times)| times)
            .sum()
    }

    /// Successful writes, those of events not counted.
    pub fn writes(&self) -> u64 {
        self.total(|count| count.is_write() && count.code < 300 && count.resource != "events")
    }

    /// Starts counting anew.
    pub fn reset(&self) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

//! Faults on purpose, for tests: requests that fail before or after their write was made, answers that get lost,
//! delays, and watches that break.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// Which requests a fault is about; `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matcher {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: Option<String>,
    /// Plural, e.g. `secrets`.
    pub resource: Option<String>,
    /// Empty for the main resource.
    pub subresource: Option<String>,
    pub name: Option<String>,
    /// Start of the User-Agent.
    pub user_agent: Option<String>,
}

impl Matcher {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Every create, update, patch and delete: what [`Matcher::verb`] `"write"` means.
    pub fn writes() -> Self {
        Self::any().verb("write")
    }

    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.into());
        self
    }

    #[must_use]
    pub fn resource(mut self, plural: &str) -> Self {
        self.resource = Some(plural.into());
        self
    }

    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    #[must_use]
    pub fn user_agent(mut self, start: &str) -> Self {
        self.user_agent = Some(start.into());
        self
    }

    fn matches(&self, request: &RequestInfo) -> bool {
        let same =
            |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        let verb = self
            .verb
            .as_deref()
            .is_none_or(|wanted| wanted == request.verb || (wanted == "write" && request.is_write()));
        verb && same(&self.resource, &request.resource)
            && same(&self.subresource, &request.subresource)
            && same(&self.name, &request.name)
            && self
                .user_agent
                .as_deref()
                .is_none_or(|start| request.user_agent.starts_with(start))
    }
}

/// What happens to a request that a fault meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Answered with this status code; nothing was done.
    FailBefore(u16),
    /// Done, and then answered with this status code.
    FailAfter(u16),
    /// Nothing was done, and the connection breaks in the answer.
    BreakBefore,
    /// Done, but the connection breaks in the answer.
    BreakAfter,
    /// Done, later.
    Delay(Duration),
}

/// One fault: skips the first `skip` matching requests, then meets `times` of them.
#[derive(Debug, Clone)]
pub struct Fault {
    pub matcher: Matcher,
    pub skip: u64,
    pub times: u64,
    pub action: Action,
}

/// The facts of a request that faults and counters look at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestInfo {
    pub verb: &'static str,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub user_agent: String,
}

impl RequestInfo {
    pub fn is_write(&self) -> bool {
        matches!(
            self.verb,
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }
}

/// The faults of one server. None by default.
#[derive(Debug)]
pub struct Faults {
    list: Mutex<Vec<Fault>>,
    dropped_watches: watch::Sender<u64>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            list: Mutex::default(),
            dropped_watches: watch::channel(0).0,
        }
    }
}

impl Faults {
    /// Adds a fault. Of several that match a request, the first one that is due counts.
    pub fn add(&self, fault: Fault) {
        self.list
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(fault);
    }

    /// The `n`-th (from 0) matching request meets `action`, once.
    pub fn nth(&self, n: u64, matcher: Matcher, action: Action) {
        self.add(Fault {
            matcher,
            skip: n,
            times: 1,
            action,
        });
    }

    /// The next matching request meets `action`, once.
    pub fn once(&self, matcher: Matcher, action: Action) {
        self.nth(0, matcher, action);
    }

    /// Every matching request meets `action`, until [`Faults::clear`].
    pub fn always(&self, matcher: Matcher, action: Action) {
        self.add(Fault {
            matcher,
            skip: 0,
            times: u64::MAX,
            action,
        });
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Ends all watches that are open now, as a restart of the server would.
    pub fn drop_watches(&self) {
        self.dropped_watches.send_modify(|count| *count += 1);
    }

    pub(crate) fn watch_drops(&self) -> watch::Receiver<u64> {
        self.dropped_watches.subscribe()
    }

    /// What this request meets. Counts it against every fault that matches.
    pub(crate) fn meet(&self, request: &RequestInfo) -> Option<Action> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let mut met = None;
        for fault in list.iter_mut().filter(|fault| fault.matcher.matches(request)) {
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 && met.is_none() {
                fault.times = if fault.times == u64::MAX {
                    u64::MAX
                } else {
                    fault.times - 1
                };
                met = Some(fault.action.clone());
            }
        }
        list.retain(|fault| fault.times > 0);
        met
    }
}

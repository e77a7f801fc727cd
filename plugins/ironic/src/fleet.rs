//! One list of all nodes for all hosts.
//!
//! Two things need it: counting busy hosts (see `capacity`), and waiting. While many nodes are on their way at once,
//! asking for each of them again and again would be most of what Ironic has to do; a list with a few members of every
//! node costs little more than one node, and tells all hosts which of them has got anywhere.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::client::{ApiError, Ironic, ListedNode, Node};

/// From how many nodes on their way the list is worth its cost.
pub const CROWD: usize = 4;
/// How old a list may be for those who wait.
const AGE: Duration = Duration::from_secs(1);
/// A list that takes long to read is read less often: at most this part of the time is spent on reading.
const SHARE: u32 = 5;

/// The newest list. One for all hosts of a plugin.
#[derive(Debug, Default)]
pub struct Fleet {
    list: Mutex<List>,
}

/// A list and when it was read.
#[derive(Debug, Default)]
pub struct List {
    read: Option<Instant>,
    took: Duration,
    nodes: HashMap<String, ListedNode>,
}

impl List {
    /// The nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &ListedNode> {
        self.nodes.values()
    }
}

impl Fleet {
    /// A list that is no older than `age`, or than it has to be to spare Ironic, and not older than `since`.
    pub async fn list(
        &self,
        ironic: &Ironic,
        age: Duration,
        since: Option<Instant>,
    ) -> Result<MutexGuard<'_, List>, ApiError> {
        let mut list = self.list.lock().await;
        let age = age.max(list.took * SHARE);
        let good = list
            .read
            .is_some_and(|read| read.elapsed() < age && since.is_none_or(|since| read > since));
        if !good {
            let begin = Instant::now();
            let nodes = ironic.nodes().await?;
            *list = List {
                read: Some(begin),
                took: begin.elapsed(),
                nodes: nodes.into_iter().map(|node| (node.uuid.clone(), node)).collect(),
            };
        }
        Ok(list)
    }

    /// Whether a node that was seen at that time is still where it was.
    pub async fn is_still(&self, ironic: &Ironic, node: &Node, seen: Instant) -> bool {
        let Ok(list) = self.list(ironic, AGE, Some(seen)).await else {
            return false;
        };
        list.nodes.get(&node.uuid).is_some_and(|now| {
            now.provision_state == node.provision_state
                && now.target_provision_state == node.target_provision_state
                && now.maintenance == node.maintenance
                && now.fault == node.fault
                && now.last_error == node.last_error
        })
    }
}

//! [`Storage`] in memory: the model the file is tested against, and a stand-in where durability is not wanted but the
//! writer's path is.

use std::collections::BTreeMap;

use super::{Record, Storage, StorageError};

/// Keeps its log in a map.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    log: BTreeMap<u64, Record>,
    floor: u64,
}

impl Storage for MemoryStorage {
    fn txn(&mut self, batch: &[Record]) -> Result<u64, StorageError> {
        for record in batch {
            self.log.insert(record.rev, record.clone());
        }
        Ok(self.log.keys().next_back().copied().unwrap_or(self.floor))
    }

    fn range(&self, prefix: &str, rev: u64) -> Result<Vec<Record>, StorageError> {
        let mut live = BTreeMap::new();
        for record in self
            .log
            .range(..=rev)
            .map(|(_, record)| record)
            .filter(|r| r.key.starts_with(prefix))
        {
            if record.deleted {
                live.remove(&record.key);
            } else {
                live.insert(record.key.clone(), record.clone());
            }
        }
        Ok(live.into_values().collect())
    }

    fn since(&self, rev: u64) -> Result<(u64, Vec<Record>), StorageError> {
        let records = match rev.checked_add(1) {
            Some(first) => self
                .log
                .range(first..)
                .map(|(_, record)| record.clone())
                .collect(),
            None => Vec::new(),
        };
        Ok((self.floor, records))
    }

    fn compact(&mut self, rev: u64) -> Result<(), StorageError> {
        let live: Vec<u64> = self.range("", rev)?.iter().map(|record| record.rev).collect();
        self.log.retain(|at, _| *at > rev || live.contains(at));
        self.floor = self.floor.max(rev);
        Ok(())
    }
}

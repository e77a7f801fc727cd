//! [`Storage`] in one redb file.
//!
//! Tables: `log` (revision → key, object, whether deleted), `cur` (key → revision that made it, revision of its last
//! change) and `meta` (the floor and the format). The objects live in the log only; `cur` says which of its records
//! are live. A commit is durable when it returns (redb's default), so nothing that was acknowledged is lost by a kill.

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};

use super::{Record, Storage, StorageError};

const LOG: TableDefinition<'_, u64, (&str, &[u8], bool)> = TableDefinition::new("log");
const CUR: TableDefinition<'_, &str, (u64, u64)> = TableDefinition::new("cur");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// Raised when the layout changes in a way older programs cannot read.
const FORMAT: u64 = 1;

/// The file, open and locked for this process.
#[derive(Debug)]
pub struct RedbStorage {
    db: Database,
}

fn failed(error: impl std::fmt::Display) -> StorageError {
    StorageError::Failed(error.to_string())
}

impl RedbStorage {
    /// Opens or makes the file (mode 0600). Refuses a file that another process has open.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        crate::private::create_file(path).map_err(|error| {
            StorageError::Failed(format!("cannot open the data file {}: {error}", path.display()))
        })?;
        let mut db = Database::create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => StorageError::InUse(format!(
                "the data file {} is in use by another process: stop that one first, or choose another data directory",
                path.display()
            )),
            other => StorageError::Failed(format!("cannot open the data file {}: {other}", path.display())),
        })?;
        Self::prepare(&db)?;
        // The file grows by doubling and keeps what is freed; this is the one moment nobody reads.
        if let Err(error) = db.compact() {
            tracing::warn!(%error, "the data file could not be compacted");
        }
        Ok(Self { db })
    }

    fn prepare(db: &Database) -> Result<(), StorageError> {
        let txn = db.begin_write().map_err(failed)?;
        {
            txn.open_table(LOG).map_err(failed)?;
            txn.open_table(CUR).map_err(failed)?;
            let mut meta = txn.open_table(META).map_err(failed)?;
            let found = meta.get("format").map_err(failed)?.map(|format| format.value());
            match found {
                None => {
                    meta.insert("format", FORMAT).map_err(failed)?;
                    meta.insert("floor", 0).map_err(failed)?;
                }
                Some(FORMAT) => {}
                Some(other) => {
                    return Err(StorageError::Failed(format!(
                        "the data file has format {other}, this program reads format {FORMAT}: use the program that wrote it, or another data directory"
                    )));
                }
            }
        }
        txn.commit().map_err(failed)
    }

    fn floor(&self) -> Result<u64, StorageError> {
        let txn = self.db.begin_read().map_err(failed)?;
        let meta = txn.open_table(META).map_err(failed)?;
        Ok(meta
            .get("floor")
            .map_err(failed)?
            .map_or(0, |floor| floor.value()))
    }

    /// Revisions at or before `rev` that a list as of `rev` no longer sees: overwritten ones and deletions.
    fn dead(
        log: &impl ReadableTable<u64, (&'static str, &'static [u8], bool)>,
        rev: u64,
    ) -> Result<Vec<u64>, StorageError> {
        let mut latest: HashMap<String, u64> = HashMap::new();
        let mut dead = Vec::new();
        for entry in log.range(..=rev).map_err(failed)? {
            let (at, value) = entry.map_err(failed)?;
            let (key, _, deleted) = value.value();
            if let Some(older) = latest.remove(key) {
                dead.push(older);
            }
            if deleted {
                dead.push(at.value());
            } else {
                latest.insert(key.to_owned(), at.value());
            }
        }
        Ok(dead)
    }
}

impl Storage for RedbStorage {
    fn txn(&mut self, batch: &[Record]) -> Result<u64, StorageError> {
        let txn = self.db.begin_write().map_err(failed)?;
        {
            let mut log = txn.open_table(LOG).map_err(failed)?;
            let mut cur = txn.open_table(CUR).map_err(failed)?;
            for record in batch {
                let key = record.key.as_str();
                log.insert(record.rev, (key, record.object.as_ref(), record.deleted))
                    .map_err(failed)?;
                if record.deleted {
                    cur.remove(key).map_err(failed)?;
                } else {
                    let created = cur
                        .get(key)
                        .map_err(failed)?
                        .map_or(record.rev, |found| found.value().0);
                    cur.insert(key, (created, record.rev)).map_err(failed)?;
                }
            }
        }
        txn.commit().map_err(failed)?;
        Ok(batch.last().map_or(0, |record| record.rev))
    }

    fn range(&self, prefix: &str, rev: u64) -> Result<Vec<Record>, StorageError> {
        let txn = self.db.begin_read().map_err(failed)?;
        let log = txn.open_table(LOG).map_err(failed)?;
        let mut live = std::collections::BTreeMap::new();
        for entry in log.range(..=rev).map_err(failed)? {
            let (at, value) = entry.map_err(failed)?;
            let (key, object, deleted) = value.value();
            if !key.starts_with(prefix) {
                continue;
            }
            if deleted {
                live.remove(key);
            } else {
                live.insert(key.to_owned(), record(at.value(), key, object, false));
            }
        }
        Ok(live.into_values().collect())
    }

    fn since(&self, rev: u64) -> Result<(u64, Vec<Record>), StorageError> {
        let mut records = Vec::new();
        if let Some(first) = rev.checked_add(1) {
            let txn = self.db.begin_read().map_err(failed)?;
            let log = txn.open_table(LOG).map_err(failed)?;
            for entry in log.range(first..).map_err(failed)? {
                let (at, value) = entry.map_err(failed)?;
                let (key, object, deleted) = value.value();
                records.push(record(at.value(), key, object, deleted));
            }
        }
        Ok((self.floor()?, records))
    }

    fn compact(&mut self, rev: u64) -> Result<(), StorageError> {
        let txn = self.db.begin_write().map_err(failed)?;
        {
            let mut log = txn.open_table(LOG).map_err(failed)?;
            for dead in Self::dead(&log, rev)? {
                log.remove(dead).map_err(failed)?;
            }
            txn.open_table(META)
                .map_err(failed)?
                .insert("floor", rev)
                .map_err(failed)?;
        }
        txn.commit().map_err(failed)
    }
}

fn record(rev: u64, key: &str, object: &[u8], deleted: bool) -> Record {
    Record {
        rev,
        key: key.to_owned(),
        object: Bytes::copy_from_slice(object),
        deleted,
    }
}

//! Who owns whom, by uid, kept up to date from the store's changes.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::object;
use crate::store::{ChangeKind, Object, Store};

#[derive(Debug, Default)]
pub struct Graph {
    rev: Option<u64>,
    /// Key of the object with a uid.
    keys: HashMap<String, String>,
    /// Keys of the objects that name a uid as owner.
    dependents: HashMap<String, BTreeSet<String>>,
}

fn owner_uids(value: &Value) -> impl Iterator<Item = &str> {
    object::owner_references(value).filter_map(|owner| owner.get("uid")?.as_str())
}

impl Graph {
    pub fn key_of(&self, uid: &str) -> Option<&str> {
        self.keys.get(uid).map(String::as_str)
    }

    pub fn dependents(&self, uid: &str) -> impl Iterator<Item = &str> {
        self.dependents.get(uid).into_iter().flatten().map(String::as_str)
    }

    /// Takes in what changed since the last call; returns the keys to look at.
    pub fn update(&mut self, store: &Store) -> BTreeSet<String> {
        let mut due = BTreeSet::new();
        let changes = self.rev.map(|rev| store.changes("", rev));
        let Some(Ok((rev, changes))) = changes else {
            self.rebuild(store, &mut due);
            return due;
        };
        self.rev = Some(rev);
        for change in changes {
            let object = &change.object;
            if let Some(previous) = &change.previous {
                self.remove(previous);
            }
            if change.kind == ChangeKind::Deleted {
                self.deleted(object, &mut due);
            } else {
                self.add(object);
                Self::note(object, &mut due);
            }
        }
        due
    }

    fn rebuild(&mut self, store: &Store, due: &mut BTreeSet<String>) {
        let snapshot = store.list("");
        *self = Self {
            rev: Some(snapshot.rev),
            ..Self::default()
        };
        for object in &snapshot.objects {
            self.add(object);
            Self::note(object, due);
        }
    }

    fn add(&mut self, object: &Object) {
        self.keys
            .insert(object::meta(&object.value, "uid").to_owned(), object.key.clone());
        for uid in owner_uids(&object.value) {
            self.dependents
                .entry(uid.to_owned())
                .or_default()
                .insert(object.key.clone());
        }
    }

    fn remove(&mut self, object: &Object) {
        self.keys.remove(object::meta(&object.value, "uid"));
        for uid in owner_uids(&object.value) {
            if let Some(keys) = self.dependents.get_mut(uid) {
                keys.remove(&object.key);
                if keys.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
    }

    /// An object is of interest if it is going or has owners.
    fn note(object: &Object, due: &mut BTreeSet<String>) {
        if object::is_deleting(&object.value) || owner_uids(&object.value).next().is_some() {
            due.insert(object.key.clone());
        }
    }

    /// What may go on when an object is gone: its dependents, its owners, its namespace, its definition.
    fn deleted(&self, object: &Object, due: &mut BTreeSet<String>) {
        due.extend(
            self.dependents(object::meta(&object.value, "uid"))
                .map(str::to_owned),
        );
        due.extend(
            owner_uids(&object.value)
                .filter_map(|uid| self.key_of(uid))
                .map(str::to_owned),
        );
        let namespace = object::namespace(&object.value);
        if !namespace.is_empty() {
            due.insert(format!("/namespaces//{namespace}"));
        }
        let mut parts = object.key.split('/');
        if let (Some(group), Some(plural)) = (parts.next(), parts.next())
            && !group.is_empty()
        {
            due.insert(format!("{}/{plural}.{group}", crate::store::CRD_PREFIX));
        }
    }
}

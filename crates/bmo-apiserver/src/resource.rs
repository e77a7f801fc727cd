//! The registry: which resources are served, and how each is named, checked and stored.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::builtin::{self, Builtin, event};
use crate::crd;
use crate::error::Names;
use crate::object::{self, api_version};
use crate::schema::Schema;
use crate::store::{CRD_PREFIX, Object, Store};

/// Where a resource comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Builtin(Builtin),
    Custom,
}

/// A column of the table form.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub ty: String,
    pub format: String,
    pub description: String,
    pub priority: i64,
    pub path: String,
}

/// One resource in one version.
#[derive(Debug)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub storage_version: String,
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub list_kind: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    pub has_status: bool,
    pub origin: Origin,
    pub schema: Schema,
    /// The schema as published.
    pub openapi: Value,
    pub columns: Vec<Column>,
    /// JSON paths (`.spec.x`) that field selectors may use.
    pub selectable: Vec<String>,
    pub key_prefix: String,
}

impl Resource {
    pub fn builtin(&self) -> Option<Builtin> {
        match self.origin {
            Origin::Builtin(builtin) => Some(builtin),
            Origin::Custom => None,
        }
    }

    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Group and plural, for messages.
    pub fn names(&self) -> Names<'_> {
        Names {
            group: &self.group,
            what: &self.plural,
        }
    }

    /// Group and kind, for messages.
    pub fn kind_names(&self) -> Names<'_> {
        Names {
            group: &self.group,
            what: &self.kind,
        }
    }

    /// The schema of the stored form.
    pub fn storage_schema(&self) -> &Schema {
        match self.builtin() {
            Some(Builtin::EventV1) => &builtin::of(Builtin::Event).schema,
            _ => &self.schema,
        }
    }

    pub fn has_generation(&self) -> bool {
        self.builtin().is_none_or(Builtin::has_generation)
    }

    /// The key of an object.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        format!("{}{namespace}/{name}", self.key_prefix)
    }

    /// The prefix of all keys, or of those of one namespace.
    pub fn prefix(&self, namespace: &str) -> String {
        if namespace.is_empty() {
            self.key_prefix.clone()
        } else {
            format!("{}{namespace}/", self.key_prefix)
        }
    }

    /// A stored object as this version shows it; `None` if it is stored just so.
    pub fn converted(&self, stored: &Value) -> Option<Value> {
        if self.builtin() == Some(Builtin::EventV1) {
            return Some(event::to_v1(stored));
        }
        let shown = self.api_version();
        if stored.get("apiVersion").and_then(Value::as_str) == Some(&shown) {
            return None;
        }
        let mut value = stored.clone();
        object::set(&mut value, "apiVersion", Some(shown.into()));
        crate::schema::prune(&self.schema, &mut value, false);
        Some(value)
    }

    pub fn view<'a>(&self, stored: &'a Value) -> Cow<'a, Value> {
        self.converted(stored).map_or(Cow::Borrowed(stored), Cow::Owned)
    }

    /// An object of this version in the form in which it is stored.
    pub fn stored_form(&self, mut value: Value) -> Value {
        if self.builtin() == Some(Builtin::EventV1) {
            return event::to_core(&value);
        }
        if self.version != self.storage_version {
            let stored = api_version(&self.group, &self.storage_version);
            object::set(&mut value, "apiVersion", Some(stored.into()));
        }
        value
    }
}

/// Group, version and plural.
type Id = (String, String, String);

/// All resources at one moment.
#[derive(Debug, Default)]
pub struct Resources {
    list: Vec<Arc<Resource>>,
    by_id: HashMap<Id, Arc<Resource>>,
}

impl Resources {
    fn new(list: Vec<Arc<Resource>>) -> Self {
        let id = |one: &Resource| (one.group.clone(), one.version.clone(), one.plural.clone());
        let by_id = list.iter().map(|one| (id(one), one.clone())).collect();
        Self { list, by_id }
    }

    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.by_id
            .get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
    }

    /// The resource that stores objects of a kind, whatever the version.
    pub fn of_kind(&self, group: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.list
            .iter()
            .find(|one| one.group == group && one.kind == kind)
    }

    /// In the order in which they were defined, built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.list.iter()
    }

    /// One resource for each place where objects are stored.
    pub fn storages(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.list
            .iter()
            .filter(|one| one.version == one.storage_version && one.builtin() != Some(Builtin::EventV1))
    }
}

/// Compiled resources of a definition, as of one of its generations.
type Compiled = (u64, Arc<Vec<Arc<Resource>>>);

/// Follows the definitions in the store.
#[derive(Debug, Default)]
pub struct Registry {
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    crd_rev: Option<u64>,
    resources: Arc<Resources>,
    /// By uid of the definition.
    compiled: HashMap<String, Compiled>,
}

impl Registry {
    /// The resources as of the last write to a definition.
    pub fn resources(&self, store: &Store) -> Arc<Resources> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let rev = store.crd_rev();
        if cache.crd_rev == Some(rev) {
            return cache.resources.clone();
        }
        let snapshot = store.list(CRD_PREFIX);
        let mut compiled = HashMap::new();
        let mut list = builtin::resources().to_vec();
        for object in &snapshot.objects {
            let (uid, generation, custom) = compile(object, &cache.compiled);
            list.extend(custom.iter().cloned());
            compiled.insert(uid, (generation, custom));
        }
        *cache = Cache {
            crd_rev: Some(rev),
            resources: Arc::new(Resources::new(list)),
            compiled,
        };
        cache.resources.clone()
    }
}

fn compile(object: &Object, known: &HashMap<String, Compiled>) -> (String, u64, Arc<Vec<Arc<Resource>>>) {
    let uid = object::meta(&object.value, "uid").to_owned();
    let generation = object
        .value
        .pointer("/metadata/generation")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    if let Some((seen, resources)) = known.get(&uid)
        && *seen == generation
    {
        return (uid, generation, resources.clone());
    }
    let resources = crd::resources(&object.value).into_iter().map(Arc::new).collect();
    (uid, generation, Arc::new(resources))
}

//! Caches of resource types for one plugin: reflectors, scoped as the plugin asked.
//!
//! Reads are answered from a cache only where that gives what the API server would: one object, or all objects of a
//! namespace or of the cluster. What the scope does not cover and what needs the server (selectors, other formats,
//! old revisions) is not answered here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmo_provisioner::wire::{CacheScope, HostRequirements, TypeRef};
use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher::Config;
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::path::ResourcePath;
use crate::lock::lock;

/// How long the first read of a cache waits for it to be filled before it goes to the API server. Later reads do not
/// wait: a cache that cannot be filled, because the type is not installed, must not slow every pass.
const FILL: Duration = Duration::from_secs(5);

/// The caches of one plugin.
pub(super) struct Caches {
    client: kube::Client,
    by_type: HashMap<(String, String, String), Cache>,
    tasks: Arc<Mutex<Vec<AbortHandle>>>,
}

struct Cache {
    resource: ApiResource,
    scope: CacheScope,
    parts: Mutex<Option<Vec<Part>>>,
}

/// The cache of one namespace, or of all.
#[derive(Clone)]
struct Part {
    namespace: Option<String>,
    store: Store<DynamicObject>,
    /// A read has waited for it in vain.
    given_up: Arc<AtomicBool>,
}

/// What a cache says to a read.
#[derive(Debug, PartialEq)]
pub(super) enum CacheAnswer {
    /// The object, or the list.
    Found(Value),
    /// There is no such object.
    Missing,
    /// The API server must be asked.
    Ask,
}

impl Drop for Caches {
    fn drop(&mut self) {
        for task in lock(&self.tasks).drain(..) {
            task.abort();
        }
    }
}

impl Caches {
    /// Knows the types a plugin asked for, and starts the caches it scoped.
    pub(super) fn new(client: kube::Client, requirements: &HostRequirements) -> Self {
        let mut by_type = HashMap::new();
        for resource in &requirements.extra_types {
            by_type.insert(key(resource), Cache::new(whole_cluster(resource)));
        }
        for scope in &requirements.cache_by_type {
            by_type.insert(key(&scope.resource), Cache::new(scope.clone()));
        }
        let caches = Self {
            client,
            by_type,
            tasks: Arc::default(),
        };
        for scope in &requirements.cache_by_type {
            if let Some(cache) = caches.by_type.get(&key(&scope.resource)) {
                caches.parts(cache);
            }
        }
        caches
    }

    /// Answers a GET, if a cache can.
    pub(super) async fn read(&self, path: &ResourcePath<'_>) -> CacheAnswer {
        if path.subresource || !only_harmless(path.query) {
            return CacheAnswer::Ask;
        }
        let key = (
            path.group.to_owned(),
            path.version.to_owned(),
            path.plural.to_owned(),
        );
        let Some(cache) = self.by_type.get(&key) else {
            return CacheAnswer::Ask;
        };
        let parts: Vec<Part> = self
            .parts(cache)
            .into_iter()
            .filter(|part| part.covers(path.namespace))
            .collect();
        let complete = match (path.namespace, cache.scope.namespaces.len()) {
            // A list of everything needs everything.
            (None, scoped) => scoped == 0,
            (Some(_), _) => !parts.is_empty(),
        };
        if !complete {
            return CacheAnswer::Ask;
        }
        for part in &parts {
            if !part.filled().await {
                tracing::debug!(
                    plural = path.plural,
                    "the cache is not filled yet; asking the API server"
                );
                return CacheAnswer::Ask;
            }
        }
        cache.answer(path, &parts)
    }

    /// The parts of a cache, started now where they are not yet.
    fn parts(&self, cache: &Cache) -> Vec<Part> {
        let mut parts = lock(&cache.parts);
        parts
            .get_or_insert_with(|| {
                let namespaces = &cache.scope.namespaces;
                if namespaces.is_empty() || !cache.scope.resource.namespaced {
                    return vec![self.start(cache, None)];
                }
                namespaces
                    .iter()
                    .map(|namespace| self.start(cache, Some(namespace)))
                    .collect()
            })
            .clone()
    }

    fn start(&self, cache: &Cache, namespace: Option<&String>) -> Part {
        let client = self.client.clone();
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &cache.resource),
            None => Api::all_with(client, &cache.resource),
        };
        let mut config = Config::default();
        if let Some(labels) = &cache.scope.label_selector {
            config = config.labels(labels);
        }
        if let Some(fields) = &cache.scope.field_selector {
            config = config.fields(fields);
        }
        let writer = reflector::store::Writer::new(cache.resource.clone());
        let store = writer.as_reader();
        let kind = cache.resource.kind.clone();
        let place = namespace.cloned().unwrap_or_else(|| "all namespaces".to_owned());
        tracing::info!(kind, namespace = %place, labels = ?cache.scope.label_selector, "starting a cache a plugin asked for");
        let stream = watcher(api, config).default_backoff().reflect(writer);
        let task = tokio::spawn(async move {
            let mut stream = std::pin::pin!(stream);
            while let Some(event) = stream.next().await {
                if let Err(error) = event {
                    tracing::warn!(kind, namespace = %place, %error, "a cache a plugin asked for cannot be filled; trying again");
                }
            }
        });
        lock(&self.tasks).push(task.abort_handle());
        Part {
            namespace: namespace.cloned(),
            store,
            given_up: Arc::default(),
        }
    }
}

impl Cache {
    fn new(scope: CacheScope) -> Self {
        let TypeRef {
            group,
            version,
            kind,
            plural,
            ..
        } = scope.resource.clone();
        let api_version = if group.is_empty() {
            version.clone()
        } else {
            format!("{group}/{version}")
        };
        let mut resource = ApiResource::from_gvk_with_plural(
            &kube::core::GroupVersionKind { group, version, kind },
            &plural,
        );
        resource.api_version = api_version;
        Self {
            resource,
            scope,
            parts: Mutex::default(),
        }
    }

    fn answer(&self, path: &ResourcePath<'_>, parts: &[Part]) -> CacheAnswer {
        let Some(name) = path.name else {
            let items: Vec<Value> = parts
                .iter()
                .flat_map(|part| part.store.state())
                .filter(|object| {
                    path.namespace.is_none() || object.metadata.namespace.as_deref() == path.namespace
                })
                .map(|object| self.value(&object))
                .collect();
            let kind = format!("{}List", self.resource.kind);
            return CacheAnswer::Found(
                json!({ "apiVersion": self.resource.api_version, "kind": kind, "metadata": {}, "items": items }),
            );
        };
        let mut reference = ObjectRef::<DynamicObject>::new_with(name, self.resource.clone());
        if let Some(namespace) = path.namespace {
            reference = reference.within(namespace);
        }
        match parts.iter().find_map(|part| part.store.get(&reference)) {
            Some(object) => CacheAnswer::Found(self.value(&object)),
            None => CacheAnswer::Missing,
        }
    }

    /// The object as the API server would give it: lists leave out what each item is.
    fn value(&self, object: &DynamicObject) -> Value {
        let mut value = serde_json::to_value(object).unwrap_or_default();
        value["apiVersion"] = json!(self.resource.api_version);
        value["kind"] = json!(self.resource.kind);
        value
    }
}

impl Part {
    async fn filled(&self) -> bool {
        let patience = if self.given_up.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            FILL
        };
        let filled = matches!(
            tokio::time::timeout(patience, self.store.wait_until_ready()).await,
            Ok(Ok(()))
        );
        self.given_up.store(!filled, Ordering::Relaxed);
        filled
    }

    fn covers(&self, namespace: Option<&str>) -> bool {
        self.namespace.is_none() || self.namespace.as_deref() == namespace
    }
}

fn key(resource: &TypeRef) -> (String, String, String) {
    (
        resource.group.clone(),
        resource.version.clone(),
        resource.plural.clone(),
    )
}

fn whole_cluster(resource: &TypeRef) -> CacheScope {
    CacheScope {
        resource: resource.clone(),
        namespaces: Vec::new(),
        label_selector: None,
        field_selector: None,
    }
}

/// Whether a query changes nothing about what is asked for: paging and a revision that may be any.
fn only_harmless(query: &str) -> bool {
    query.split('&').filter(|pair| !pair.is_empty()).all(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "limit" | "pretty" => true,
            "resourceVersion" => value.is_empty() || value == "0",
            "watch" => value == "false",
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::only_harmless;

    #[test]
    fn only_plain_reads_are_answered_from_a_cache() {
        for query in [
            "",
            "limit=500",
            "resourceVersion=0",
            "resourceVersion=&limit=1",
            "watch=false",
        ] {
            assert!(only_harmless(query), "{query}");
        }
        for query in [
            "labelSelector=a%3Db",
            "fieldSelector=x",
            "resourceVersion=7",
            "continue=t",
            "dryRun=All",
        ] {
            assert!(!only_harmless(query), "{query}");
        }
    }
}

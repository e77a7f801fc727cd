//! A cache of objects of one kind, fed by watches and by the answers to our own writes.
//!
//! A watch lags behind. If a pass saw a host older than what the pass before it wrote, it could call the back end
//! twice for one thing. So each answer to a write goes into the cache at once, and what a watch delivers later is
//! taken only if it is not older. Versions are compared as numbers, which Kubernetes guarantees since 1.35 and
//! etcd has always given; other texts are taken as they come.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::runtime::watcher::Event;
use kube::{Resource, ResourceExt};

use crate::queue::HostKey;

/// What a change of the cache means for those who look at it.
#[derive(Debug)]
pub(crate) enum Change<K> {
    /// The object is new or different.
    Updated {
        /// What was cached before, if anything.
        old: Option<Arc<K>>,
        /// What is cached now.
        new: Arc<K>,
    },
    /// The object is gone.
    Removed {
        /// What was cached before.
        old: Arc<K>,
    },
}

/// See the module head.
pub(crate) struct Cache<K> {
    objects: Mutex<HashMap<HostKey, Arc<K>>>,
}

/// Objects met in an initial list that is still coming in, one per watch.
#[derive(Debug, Default)]
pub(crate) struct Listing(Option<HashSet<HostKey>>);

impl<K> Default for Cache<K> {
    fn default() -> Self {
        Self {
            objects: Mutex::default(),
        }
    }
}

impl<K> Cache<K>
where
    K: Resource<DynamicType = ()>,
{
    fn lock(&self) -> MutexGuard<'_, HashMap<HostKey, Arc<K>>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object of that name.
    pub(crate) fn get(&self, key: &HostKey) -> Option<Arc<K>> {
        self.lock().get(key).cloned()
    }

    /// All objects for which `wanted` holds.
    pub(crate) fn select(&self, wanted: impl Fn(&K) -> bool) -> Vec<Arc<K>> {
        self.lock()
            .values()
            .filter(|object| wanted(object))
            .cloned()
            .collect()
    }

    /// Takes an object unless a newer one is known; returns what changed.
    pub(crate) fn put(&self, mut object: K) -> Option<Change<K>> {
        // Nothing here reads them, and they are often the larger part of an object.
        object.meta_mut().managed_fields = None;
        let key = key_of(&object);
        let mut objects = self.lock();
        let old = objects.get(&key).cloned();
        if old
            .as_ref()
            .is_some_and(|old| !is_newer(old.meta(), object.meta()))
        {
            return None;
        }
        let new = Arc::new(object);
        objects.insert(key, new.clone());
        Some(Change::Updated { old, new })
    }

    /// Takes an object whatever is known: it was just read from the server itself.
    pub(crate) fn replace(&self, object: K) -> Option<Change<K>> {
        self.lock().remove(&key_of(&object));
        self.put(object)
    }

    /// Drops an object.
    pub(crate) fn remove(&self, key: &HostKey) -> Option<Change<K>> {
        self.lock().remove(key).map(|old| Change::Removed { old })
    }

    /// Takes an event of a watch over `namespace` (or all) into the cache; returns what changed.
    pub(crate) fn apply(
        &self,
        event: Event<K>,
        namespace: Option<&str>,
        listing: &mut Listing,
    ) -> Vec<Change<K>> {
        match event {
            Event::Init => {
                listing.0 = Some(HashSet::new());
                Vec::new()
            }
            Event::InitApply(object) => {
                if let Some(met) = &mut listing.0 {
                    met.insert(key_of(&object));
                }
                self.put(object).into_iter().collect()
            }
            Event::InitDone => self.drop_unlisted(&listing.0.take().unwrap_or_default(), namespace),
            Event::Apply(object) => self.put(object).into_iter().collect(),
            Event::Delete(object) => self.delete(&object).into_iter().collect(),
        }
    }

    /// Drops an object that a watch says is gone, unless a namesake made since is known.
    fn delete(&self, object: &K) -> Option<Change<K>> {
        let key = key_of(object);
        let mut objects = self.lock();
        let same = objects
            .get(&key)
            .is_some_and(|known| known.meta().uid == object.meta().uid);
        if same {
            objects.remove(&key).map(|old| Change::Removed { old })
        } else {
            None
        }
    }

    /// After a complete list: what it did not hold is gone.
    fn drop_unlisted(&self, met: &HashSet<HostKey>, namespace: Option<&str>) -> Vec<Change<K>> {
        let mut objects = self.lock();
        let gone: Vec<HostKey> = objects
            .keys()
            .filter(|key| namespace.is_none_or(|namespace| key.namespace == namespace) && !met.contains(*key))
            .cloned()
            .collect();
        gone.iter()
            .filter_map(|key| objects.remove(key))
            .map(|old| Change::Removed { old })
            .collect()
    }
}

/// Namespace and name of an object.
pub(crate) fn key_of<K: Resource>(object: &K) -> HostKey {
    HostKey::new(object.namespace().unwrap_or_default(), object.name_any())
}

type Meta = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Whether `new` is to take the place of `old`: another object of the same name, or a later version of it.
fn is_newer(old: &Meta, new: &Meta) -> bool {
    if old.uid != new.uid {
        return true;
    }
    let number = |meta: &Meta| {
        meta.resource_version
            .as_deref()
            .and_then(|text| text.parse::<u128>().ok())
    };
    match (number(old), number(new)) {
        (Some(old), Some(new)) => new > old,
        _ => old.resource_version != new.resource_version,
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;
    use kube::runtime::watcher::Event;

    use super::{Cache, Change, HostKey, Listing};

    fn secret(name: &str, uid: &str, version: &str) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.namespace = Some("ns".into());
        secret.metadata.name = Some(name.into());
        secret.metadata.uid = Some(uid.into());
        secret.metadata.resource_version = Some(version.into());
        secret
    }

    fn version(cache: &Cache<Secret>, name: &str) -> Option<String> {
        cache
            .get(&HostKey::new("ns", name))?
            .metadata
            .resource_version
            .clone()
    }

    #[test]
    fn what_a_watch_says_late_does_not_undo_a_write() {
        let cache = Cache::default();
        let listing = &mut Listing::default();
        assert!(cache.put(secret("a", "1", "9")).is_some());
        assert!(cache.put(secret("a", "1", "12")).is_some(), "our write");
        assert!(
            cache
                .apply(Event::Apply(secret("a", "1", "10")), None, listing)
                .is_empty()
        );
        assert!(
            cache
                .apply(Event::Apply(secret("a", "1", "12")), None, listing)
                .is_empty()
        );
        assert_eq!(version(&cache, "a").as_deref(), Some("12"));
        assert_eq!(
            cache
                .apply(Event::Apply(secret("a", "1", "13")), None, listing)
                .len(),
            1
        );
    }

    #[test]
    fn a_namesake_is_another_object() {
        let cache = Cache::default();
        let listing = &mut Listing::default();
        cache.put(secret("a", "1", "9"));
        assert!(cache.put(secret("a", "2", "3")).is_some());
        assert!(
            cache
                .apply(Event::Delete(secret("a", "1", "10")), None, listing)
                .is_empty()
        );
        assert_eq!(version(&cache, "a").as_deref(), Some("3"));
    }

    #[test]
    fn a_list_drops_what_it_lacks_in_its_namespace() {
        let cache = Cache::default();
        let listing = &mut Listing::default();
        cache.put(secret("a", "1", "1"));
        cache.put(secret("b", "2", "2"));
        for event in [Event::Init, Event::InitApply(secret("a", "1", "1"))] {
            assert!(cache.apply(event, Some("ns"), listing).is_empty());
        }
        let gone = cache.apply(Event::InitDone, Some("ns"), listing);
        assert!(
            matches!(gone.as_slice(), [Change::Removed { old }] if old.metadata.name.as_deref() == Some("b"))
        );
        cache.put(secret("b", "2", "2"));
        cache.apply(Event::Init, Some("other"), listing);
        assert!(cache.apply(Event::InitDone, Some("other"), listing).is_empty());
    }
}

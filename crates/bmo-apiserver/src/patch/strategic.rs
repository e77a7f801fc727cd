//! Strategic merge for the built-in kinds. They have few lists, so the merge keys are a table here.

use serde_json::{Map, Value};

/// How a list of a built-in kind is merged.
#[derive(Debug, Clone, Copy)]
enum ListStrategy {
    Replace,
    /// A set of values.
    Union,
    /// Items by this key.
    ByKey(&'static str),
}

fn strategy(field: &str) -> ListStrategy {
    match field {
        "finalizers" => ListStrategy::Union,
        "ownerReferences" => ListStrategy::ByKey("uid"),
        "conditions" => ListStrategy::ByKey("type"),
        _ => ListStrategy::Replace,
    }
}

/// Merges `patch` into `object`: maps field by field, null removes, lists by their strategy, `$patch`, `$retainKeys`
/// and `$deleteFromPrimitiveList` directives as kubectl writes them.
pub fn strategic_merge(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        *object = Value::Object(without_directives(patch));
        return;
    }
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(map) = object else { return };
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = value.as_array().cloned().unwrap_or_default();
            if let Some(Value::Array(items)) = map.get_mut(field) {
                items.retain(|item| !gone.contains(item));
            }
        } else if key.starts_with('$') {
            // Orders and retained keys change nothing in these kinds.
        } else if value.is_null() || value.get("$patch").and_then(Value::as_str) == Some("delete") {
            map.shift_remove(key);
        } else if let Value::Array(items) = value {
            let old = map
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            map.insert(key.clone(), Value::Array(merge_list(strategy(key), old, items)));
        } else {
            strategic_merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

fn without_directives(patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .filter(|(key, _)| !key.starts_with('$'))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn merge_list(strategy: ListStrategy, mut old: Vec<Value>, new: &[Value]) -> Vec<Value> {
    let key = match strategy {
        ListStrategy::Replace => return new.to_vec(),
        ListStrategy::Union => {
            let more: Vec<Value> = new.iter().filter(|item| !old.contains(item)).cloned().collect();
            old.extend(more);
            return old;
        }
        ListStrategy::ByKey(key) => key,
    };
    if new
        .iter()
        .any(|item| item.get("$patch").and_then(Value::as_str) == Some("replace"))
    {
        return new
            .iter()
            .filter(|item| item.get("$patch").is_none())
            .cloned()
            .collect();
    }
    for item in new {
        let place = old.iter().position(|found| found.get(key) == item.get(key));
        let delete = item.get("$patch").and_then(Value::as_str) == Some("delete");
        match place {
            Some(index) if delete => {
                old.remove(index);
            }
            Some(index) => strategic_merge(&mut old[index], item),
            None if delete => {}
            None => old.push(item.clone()),
        }
    }
    old
}

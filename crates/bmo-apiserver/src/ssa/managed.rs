//! `metadata.managedFields`: who owns which field, kept on every write, and conflicts of server-side apply.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::set::FieldSet;
use super::typed;
use crate::error::{ApiError, Result};
use crate::object;
use crate::schema::Schema;

/// Fields nobody owns because the server sets them.
const SERVER_FIELDS: [&[&str]; 10] = [
    &["f:apiVersion"],
    &["f:kind"],
    &["f:metadata", "f:name"],
    &["f:metadata", "f:namespace"],
    &["f:metadata", "f:creationTimestamp"],
    &["f:metadata", "f:selfLink"],
    &["f:metadata", "f:uid"],
    &["f:metadata", "f:generation"],
    &["f:metadata", "f:managedFields"],
    &["f:metadata", "f:resourceVersion"],
];

/// Most entries of kind `Update` that are kept; older ones become one.
const MAX_UPDATERS: usize = 10;

/// What kind of write made an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Apply,
    Update,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    manager: String,
    operation: Operation,
    api_version: String,
    time: String,
    subresource: String,
    fields: FieldSet,
}

impl Entry {
    fn is_by(&self, who: &Manager<'_>, operation: Operation) -> bool {
        self.manager == who.name
            && self.operation == operation
            && self.subresource == who.subresource
            && self.api_version == who.api_version
    }

    /// As conflict messages name it.
    fn describe(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            let _ = write!(text, " with subresource {:?}", self.subresource);
        }
        if self.operation == Operation::Update {
            let _ = write!(text, " using {}", self.api_version);
        }
        text
    }
}

/// Who writes, through which endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Manager<'a> {
    pub name: &'a str,
    /// Of the request, e.g. `metal3.io/v1alpha1`.
    pub api_version: &'a str,
    /// Empty for the main endpoint.
    pub subresource: &'a str,
    /// RFC 3339.
    pub now: &'a str,
    /// Whether the kind has a status subresource, whose fields the main endpoint then does not own.
    pub has_status: bool,
}

impl Manager<'_> {
    /// Drops what this endpoint cannot set.
    fn strip(&self, set: &mut FieldSet) {
        for path in SERVER_FIELDS {
            set.remove_below(path);
        }
        set.unmark("f:metadata");
        if self.subresource == "status" {
            set.keep_only("f:status");
        } else if self.has_status {
            set.remove_below(&["f:status"]);
        }
    }
}

fn parse(object: &Value) -> Vec<Entry> {
    let entries = object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            Some(Entry {
                manager: text("manager"),
                operation: match entry.get("operation")?.as_str()? {
                    "Apply" => Operation::Apply,
                    "Update" => Operation::Update,
                    _ => return None,
                },
                api_version: text("apiVersion"),
                time: text("time"),
                subresource: text("subresource"),
                fields: FieldSet::from_fields_v1(entry.get("fieldsV1")?),
            })
        })
        .collect()
}

fn store(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| (a.operation, &a.time, &a.manager).cmp(&(b.operation, &b.time, &b.manager)));
    cap(&mut entries);
    if entries.is_empty() {
        return object::set_meta(object, "managedFields", None);
    }
    let json = entries.iter().map(|entry| {
        let mut json = json!({"manager": entry.manager, "operation": match entry.operation {
            Operation::Apply => "Apply", Operation::Update => "Update" }, "apiVersion": entry.api_version});
        if !entry.time.is_empty() {
            json["time"] = json!(entry.time);
        }
        json["fieldsType"] = json!("FieldsV1");
        json["fieldsV1"] = entry.fields.to_fields_v1();
        if !entry.subresource.is_empty() {
            json["subresource"] = json!(entry.subresource);
        }
        json
    });
    let json = json.collect();
    object::set_meta(object, "managedFields", Some(Value::Array(json)));
}

/// Folds the oldest updaters into one, so that the list stays short.
fn cap(entries: &mut Vec<Entry>) {
    while entries
        .iter()
        .filter(|entry| entry.operation == Operation::Update)
        .count()
        > MAX_UPDATERS
    {
        let Some(oldest) = entries
            .iter()
            .position(|entry| entry.operation == Operation::Update)
        else {
            return;
        };
        let folded = entries.remove(oldest);
        let Some(next) = entries
            .iter_mut()
            .find(|entry| entry.operation == Operation::Update)
        else {
            return;
        };
        next.fields.union(&folded.fields);
        "ancient-changes".clone_into(&mut next.manager);
    }
}

/// Updates the managedFields of `new` for a create, update or patch over `old` (an empty object for a create).
pub fn on_update(schema: Option<&Schema>, old: &Value, new: &mut Value, who: &Manager<'_>) {
    let asked = new.pointer("/metadata/managedFields").and_then(Value::as_array);
    if asked.is_some_and(|entries| entries.is_empty() || entries.iter().all(|entry| *entry == json!({}))) {
        return object::set_meta(new, "managedFields", None);
    }
    let mut entries = parse(new);
    if entries.is_empty() {
        entries = parse(old);
    }
    let mut changed = typed::compare(schema, old, new);
    who.strip(&mut changed.added);
    who.strip(&mut changed.modified);
    let mut written = changed.added;
    written.union(&changed.modified);
    let own = entries
        .iter()
        .position(|entry| entry.is_by(who, Operation::Update));
    for (index, entry) in entries.iter_mut().enumerate() {
        entry.fields.difference(&changed.removed);
        if Some(index) != own {
            entry.fields.difference(&written);
        }
    }
    match own {
        Some(index) => {
            let before = entries[index].fields.clone();
            entries[index].fields.union(&written);
            if before != entries[index].fields || !written.is_empty() {
                who.now.clone_into(&mut entries[index].time);
            }
        }
        None if !written.is_empty() => entries.push(entry(who, Operation::Update, written)),
        None => {}
    }
    store(new, entries);
}

fn entry(who: &Manager<'_>, operation: Operation, fields: FieldSet) -> Entry {
    Entry {
        manager: who.name.to_owned(),
        operation,
        api_version: who.api_version.to_owned(),
        time: who.now.to_owned(),
        subresource: who.subresource.to_owned(),
        fields,
    }
}

/// Applies a configuration over the live object (an empty one for a create) and returns the result.
pub fn apply(
    schema: Option<&Schema>,
    live: &Value,
    config: &Value,
    who: &Manager<'_>,
    force: bool,
) -> Result<Value> {
    if config
        .pointer("/metadata/managedFields")
        .is_some_and(|found| !found.is_null())
    {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let mut config = config.clone();
    restrict(&mut config, who);
    let mut fields = typed::field_set(schema, &config);
    who.strip(&mut fields);
    let mut entries = parse(live);
    let own = entries
        .iter()
        .position(|entry| entry.is_by(who, Operation::Apply));

    let mut result = live.clone();
    typed::merge(schema, &mut result, &config);
    if let Some(own) = own {
        let mut dropped = entries[own].fields.clone();
        dropped.difference(&fields);
        let mut kept = fields.clone();
        for (index, entry) in entries.iter().enumerate() {
            if index != own {
                dropped.difference(&entry.fields);
                kept.union(&entry.fields);
            }
        }
        typed::remove(schema, &mut result, &dropped, &kept);
    }

    let changed = typed::compare(schema, live, &result);
    let mut written = changed.added;
    written.union(&changed.modified);
    let mut conflicts = Vec::new();
    for (index, entry) in entries.iter_mut().enumerate() {
        if Some(index) == own {
            continue;
        }
        let taken = entry.fields.intersection(&written).intersection(&fields);
        if !taken.is_empty() {
            conflicts.extend(taken.paths().into_iter().map(|path| (entry.describe(), path)));
            entry.fields.difference(&taken);
        }
        entry.fields.difference(&changed.removed);
    }
    if !conflicts.is_empty() && !force {
        return Err(ApiError::apply_conflict(&conflicts));
    }
    let something_changed = !written.is_empty() || !changed.removed.is_empty();
    match own {
        Some(index) if entries[index].fields == fields && !something_changed => {}
        Some(index) => entries[index] = entry(who, Operation::Apply, fields),
        None => entries.push(entry(who, Operation::Apply, fields)),
    }
    store(&mut result, entries);
    Ok(result)
}

/// Leaves in the configuration only what the endpoint can set.
fn restrict(config: &mut Value, who: &Manager<'_>) {
    if who.subresource == "status" {
        if let Some(map) = config.as_object_mut() {
            map.retain(|field, _| matches!(field.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
        }
        let meta = object::meta_mut(config);
        meta.retain(|field, _| matches!(field.as_str(), "name" | "namespace" | "uid" | "resourceVersion"));
    } else if who.has_status {
        object::take(config, "status");
    }
    for field in ["creationTimestamp", "generation", "selfLink", "managedFields"] {
        object::set_meta(config, field, None);
    }
}

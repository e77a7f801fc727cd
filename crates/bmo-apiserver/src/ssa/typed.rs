//! Values along their schema: which fields a value has, how two values differ, merging one into the other, and taking
//! fields out. Without a schema, maps are taken field by field and lists as a whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::set::FieldSet;
use crate::schema::{ListType, Schema};

/// How a pair of schema and value is owned.
enum Shape<'a> {
    /// As one.
    Leaf,
    Fields(&'a Map<String, Value>),
    /// Items with the path element of each.
    Items(Vec<(String, &'a Value)>),
}

fn shape<'a>(schema: Option<&Schema>, value: &'a Value) -> Shape<'a> {
    match value {
        Value::Object(map) if !schema.is_some_and(|schema| schema.atomic_map) => Shape::Fields(map),
        Value::Array(items) => match schema.map_or(&ListType::Atomic, |schema| &schema.list_type) {
            ListType::Atomic => Shape::Leaf,
            list_type => {
                let item_schema = schema.and_then(|schema| schema.items.as_deref());
                Shape::Items(
                    items
                        .iter()
                        .map(|item| (item_element(list_type, item_schema, item), item))
                        .collect(),
                )
            }
        },
        _ => Shape::Leaf,
    }
}

/// The path element of a list item.
fn item_element(list_type: &ListType, schema: Option<&Schema>, item: &Value) -> String {
    match list_type {
        ListType::Map(keys) => {
            let mut found = BTreeMap::new();
            for key in keys {
                let default = || schema?.properties.get(key)?.default.as_ref();
                if let Some(value) = item.get(key).or_else(default) {
                    found.insert(key, value);
                }
            }
            format!("k:{}", serde_json::to_string(&found).unwrap_or_default())
        }
        ListType::Set | ListType::Atomic => format!("v:{item}"),
    }
}

fn field_schema<'a>(schema: Option<&'a Schema>, name: &str) -> Option<&'a Schema> {
    schema.and_then(|schema| schema.field(name))
}

fn items_schema(schema: Option<&Schema>) -> Option<&Schema> {
    schema.and_then(|schema| schema.items.as_deref())
}

/// The fields a value sets, as an applied configuration owns them: leaves and list items.
pub fn field_set(schema: Option<&Schema>, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(schema, value, false, &mut Vec::new(), &mut set);
    set
}

/// `containers`: also the maps and lists that hold the leaves.
fn collect(
    schema: Option<&Schema>,
    value: &Value,
    containers: bool,
    path: &mut Vec<String>,
    set: &mut FieldSet,
) {
    match shape(schema, value) {
        Shape::Fields(map) if !map.is_empty() => {
            let is_struct = schema.is_some_and(|schema| schema.is_struct);
            if containers && !path.is_empty() && !is_struct {
                set.insert(path);
            }
            for (name, field) in map {
                path.push(format!("f:{name}"));
                collect(field_schema(schema, name), field, containers, path, set);
                path.pop();
            }
        }
        Shape::Items(items) if !items.is_empty() => {
            if containers && !path.is_empty() {
                set.insert(path);
            }
            for (element, item) in items {
                path.push(element);
                set.insert(path);
                if item.is_object() {
                    collect(items_schema(schema), item, containers, path, set);
                }
                path.pop();
            }
        }
        _ => {
            if !path.is_empty() {
                set.insert(path);
            }
        }
    }
}

/// What changed between two values.
#[derive(Debug, Default)]
pub struct Comparison {
    pub added: FieldSet,
    pub modified: FieldSet,
    pub removed: FieldSet,
}

pub fn compare(schema: Option<&Schema>, old: &Value, new: &Value) -> Comparison {
    let mut result = Comparison::default();
    compare_at(schema, Some(old), Some(new), &mut Vec::new(), &mut result);
    result
}

fn compare_at(
    schema: Option<&Schema>,
    old: Option<&Value>,
    new: Option<&Value>,
    path: &mut Vec<String>,
    result: &mut Comparison,
) {
    let (old, new) = match (old, new) {
        (None, None) => return,
        (None, Some(new)) => return collect(schema, new, true, path, &mut result.added),
        (Some(old), None) => return collect(schema, old, true, path, &mut result.removed),
        (Some(old), Some(new)) => (old, new),
    };
    match (shape(schema, old), shape(schema, new)) {
        (Shape::Fields(old), Shape::Fields(new)) => {
            for name in old
                .keys()
                .chain(new.keys().filter(|name| !old.contains_key(*name)))
            {
                path.push(format!("f:{name}"));
                compare_at(
                    field_schema(schema, name),
                    old.get(name),
                    new.get(name),
                    path,
                    result,
                );
                path.pop();
            }
        }
        (Shape::Items(old), Shape::Items(new)) => {
            let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (old.into_iter().collect(), new.into_iter().collect());
            for element in old
                .keys()
                .chain(new.keys().filter(|element| !old.contains_key(*element)))
            {
                path.push(element.clone());
                let (old, new) = (old.get(element).copied(), new.get(element).copied());
                compare_at(items_schema(schema), old, new, path, result);
                path.pop();
            }
        }
        (Shape::Leaf, Shape::Leaf) => {
            if old != new {
                result.modified.insert(path);
            }
        }
        // One was replaced by a value of another shape.
        _ => {
            collect(schema, old, true, path, &mut result.removed);
            collect(schema, new, true, path, &mut result.added);
            result.removed.difference(&result.added.clone());
            result.modified.insert(path);
        }
    }
}

/// Merges an applied configuration into the live value.
pub fn merge(schema: Option<&Schema>, live: &mut Value, config: &Value) {
    match (shape(schema, live), shape(schema, config)) {
        (Shape::Fields(_), Shape::Fields(config)) => {
            let Value::Object(live) = live else { return };
            for (name, value) in config {
                match live.get_mut(name) {
                    Some(field) => merge(field_schema(schema, name), field, value),
                    None => {
                        live.insert(name.clone(), value.clone());
                    }
                }
            }
        }
        (Shape::Items(old), Shape::Items(new)) => {
            let places: Vec<String> = old.into_iter().map(|(element, _)| element).collect();
            let Value::Array(live) = live else { return };
            for (element, item) in new {
                match places.iter().position(|place| *place == element) {
                    Some(index) => merge(items_schema(schema), &mut live[index], item),
                    None => live.push(item.clone()),
                }
            }
        }
        _ => *live = config.clone(),
    }
}

/// Takes the fields of a set out of a value. Maps and lists that become empty by it go too, unless `keep` has them.
pub fn remove(schema: Option<&Schema>, value: &mut Value, set: &FieldSet, keep: &FieldSet) {
    remove_at(schema, value, set, Some(keep));
}

fn remove_at(schema: Option<&Schema>, value: &mut Value, set: &FieldSet, keep: Option<&FieldSet>) {
    let elements: Option<Vec<String>> = match shape(schema, value) {
        Shape::Items(items) => Some(items.into_iter().map(|(element, _)| element).collect()),
        Shape::Fields(_) => None,
        Shape::Leaf => return,
    };
    match (value, elements) {
        (Value::Object(map), None) => {
            map.retain(|name, field| {
                let element = format!("f:{name}");
                let Some(child) = set.child(&element) else {
                    return true;
                };
                survives(
                    field_schema(schema, name),
                    field,
                    child,
                    keep.and_then(|keep| keep.child(&element)),
                )
            });
        }
        (Value::Array(items), Some(elements)) => {
            let mut element = elements.iter();
            items.retain_mut(|item| {
                let Some(element) = element.next() else {
                    return true;
                };
                let Some(child) = set.child(element) else {
                    return true;
                };
                survives(
                    items_schema(schema),
                    item,
                    child,
                    keep.and_then(|keep| keep.child(element)),
                )
            });
        }
        _ => {}
    }
}

/// Removes from a field or item what `set` says; false if it is to go altogether.
fn survives(schema: Option<&Schema>, value: &mut Value, set: &FieldSet, keep: Option<&FieldSet>) -> bool {
    let kept = keep.is_some_and(|keep| !keep.is_empty());
    if set.is_member() && !kept {
        return false;
    }
    let was_empty = is_empty(value);
    remove_at(schema, value, set, keep);
    was_empty || kept || !is_empty(value)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

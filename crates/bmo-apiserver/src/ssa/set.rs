//! A set of field paths as a trie. Path elements are written as in `FieldsV1`: `f:name` for a field, `k:{"name":"a"}`
//! for an item of a list by key, `v:"x"` for an item of a set.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Whether the path that leads here is itself in the set.
    member: bool,
    children: BTreeMap<String, FieldSet>,
}

impl FieldSet {
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(Self::is_empty)
    }

    pub fn is_member(&self) -> bool {
        self.member
    }

    pub fn child(&self, element: &str) -> Option<&FieldSet> {
        self.children.get(element)
    }

    pub fn insert(&mut self, path: &[String]) {
        path.iter()
            .fold(self, |node, element| {
                node.children.entry(element.clone()).or_default()
            })
            .member = true;
    }

    /// Removes a path and everything below it.
    pub fn remove_below(&mut self, path: &[&str]) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let mut node = &mut *self;
        for element in parents {
            match node.children.get_mut(*element) {
                Some(child) => node = child,
                None => return,
            }
        }
        node.children.remove(*last);
        self.tidy();
    }

    /// Takes a top-level element itself out of the set, keeping what is below it.
    pub fn unmark(&mut self, element: &str) {
        if let Some(child) = self.children.get_mut(element) {
            child.member = false;
        }
        self.tidy();
    }

    /// Keeps only what is at or below a top-level element.
    pub fn keep_only(&mut self, element: &str) {
        self.children.retain(|found, _| found == element);
    }

    pub fn union(&mut self, other: &Self) {
        self.member |= other.member;
        for (element, child) in &other.children {
            self.children.entry(element.clone()).or_default().union(child);
        }
    }

    pub fn difference(&mut self, other: &Self) {
        if other.member {
            self.member = false;
        }
        for (element, child) in &other.children {
            if let Some(own) = self.children.get_mut(element) {
                own.difference(child);
            }
        }
        self.tidy();
    }

    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self {
            member: self.member && other.member,
            children: BTreeMap::new(),
        };
        for (element, child) in &self.children {
            if let Some(theirs) = other.children.get(element) {
                let shared = child.intersection(theirs);
                if !shared.is_empty() {
                    both.children.insert(element.clone(), shared);
                }
            }
        }
        both
    }

    fn tidy(&mut self) {
        self.children.retain(|_, child| !child.is_empty());
    }

    /// Every path, as `.spec.list[name="a"].field`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    /// What is owned at a level comes before what is owned below it.
    fn collect(&self, path: &str, paths: &mut Vec<String>) {
        let below = |element: &str| format!("{path}{}", readable(element));
        paths.extend(
            self.children
                .iter()
                .filter(|(_, child)| child.member)
                .map(|(element, _)| below(element)),
        );
        for (element, child) in &self.children {
            child.collect(&below(element), paths);
        }
    }

    /// Reads `FieldsV1`.
    pub fn from_fields_v1(json: &Value) -> Self {
        let mut set = Self::default();
        if let Some(map) = json.as_object() {
            for (element, child) in map {
                if element == "." {
                    set.member = true;
                    continue;
                }
                let mut child = Self::from_fields_v1(child);
                if child.children.is_empty() {
                    child.member = true;
                }
                set.children.insert(element.clone(), child);
            }
        }
        set
    }

    /// Writes `FieldsV1`.
    pub fn to_fields_v1(&self) -> Value {
        let mut map = Map::new();
        if self.member && !self.children.is_empty() {
            map.insert(".".into(), Value::Object(Map::new()));
        }
        for (element, child) in &self.children {
            map.insert(element.clone(), child.to_fields_v1());
        }
        Value::Object(map)
    }
}

/// A path element as messages show it.
fn readable(element: &str) -> String {
    let (kind, text) = element.split_once(':').unwrap_or(("", element));
    match kind {
        "f" => format!(".{text}"),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
            let mut shown = String::new();
            for (key, value) in keys {
                let comma = if shown.is_empty() { "" } else { "," };
                let _ = write!(shown, "{comma}{key}={value}");
            }
            format!("[{shown}]")
        }
        "v" => format!("[={text}]"),
        _ => format!("[{text}]"),
    }
}

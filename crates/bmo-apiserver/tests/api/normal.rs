//! Answers without what differs between runs.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Value, json};

/// Placeholders of one scenario: the same uid or version always gets the same one.
pub struct Normal {
    namespace: String,
    uid: Regex,
    age: Regex,
    time: Regex,
    seen: HashMap<(char, String), usize>,
    /// Names that were generated, with what they are shown as.
    pub names: Vec<(String, String)>,
}

impl Normal {
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.into(),
            uid: Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap(),
            age: Regex::new(r"^\d+[smhd](\d+[smh])?$").unwrap(),
            time: Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap(),
            seen: HashMap::new(),
            names: Vec::new(),
        }
    }

    fn number(&mut self, kind: char, text: &str) -> usize {
        let next = self.seen.keys().filter(|(found, _)| *found == kind).count() + 1;
        *self.seen.entry((kind, text.to_owned())).or_insert(next)
    }

    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.replace(&self.namespace, "{ns}");
        for (name, shown) in &self.names {
            text = text.replace(name, shown);
        }
        if self.age.is_match(&text) {
            return "<age>".into();
        }
        let text = self.time.replace_all(&text, "<time>").into_owned();
        let uids: Vec<String> = self
            .uid
            .find_iter(&text)
            .map(|found| found.as_str().to_owned())
            .collect();
        uids.iter().fold(text, |text, uid| {
            text.replace(uid, &format!("<uid {}>", self.number('u', uid)))
        })
    }

    pub fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => {
                // In order of names, so that numbering does not depend on how a server orders fields.
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                let mut out = serde_json::Map::new();
                for key in keys {
                    let inner = &map[key];
                    let shown = match (key.as_str(), inner) {
                        ("resourceVersion", Value::String(rev)) if !rev.is_empty() => {
                            json!(format!("<version {}>", self.number('v', rev)))
                        }
                        ("continue", Value::String(text)) if text.is_empty() => continue,
                        ("continue", Value::String(_)) => json!("<continue>"),
                        ("items", Value::Null) => json!([]),
                        // What a field means is told in each server's own words.
                        ("description", _) => continue,
                        _ => self.value(inner),
                    };
                    out.insert(self.text(key), shown);
                }
                Value::Object(out)
            }
            other => other.clone(),
        }
    }
}

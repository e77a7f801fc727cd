//! Events: stored in the form of `v1`, shown as `events.k8s.io/v1` by renaming fields.

use serde_json::{Value, json};

use crate::object;

/// `(v1, events.k8s.io/v1)`
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn rename(value: &Value, name: impl Fn(&str) -> Option<&'static str>, api_version: &str) -> Value {
    let Some(map) = value.as_object() else {
        return value.clone();
    };
    let renamed = map
        .iter()
        .map(|(key, value)| (name(key).unwrap_or(key).to_owned(), value.clone()));
    let mut out = Value::Object(renamed.collect());
    object::set(&mut out, "apiVersion", Some(json!(api_version)));
    out
}

/// The stored form of an `events.k8s.io/v1` event.
pub fn to_core(event: &Value) -> Value {
    rename(
        event,
        |key| NAMES.iter().find(|(_, new)| *new == key).map(|(old, _)| *old),
        "v1",
    )
}

/// A stored event in the form of `events.k8s.io/v1`.
pub fn to_v1(event: &Value) -> Value {
    rename(
        event,
        |key| NAMES.iter().find(|(old, _)| *old == key).map(|(_, new)| *new),
        "events.k8s.io/v1",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_are_one_event() {
        let new = json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
            "regarding": {"kind": "X"}, "note": "text", "reason": "R", "reportingController": "c"});
        let old = to_core(&new);
        assert_eq!(old["apiVersion"], "v1");
        assert_eq!(
            (&old["message"], &old["involvedObject"]["kind"]),
            (&json!("text"), &json!("X"))
        );
        assert_eq!(to_v1(&old), new);
    }
}

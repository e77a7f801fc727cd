//! Builds the JSON patch that brings a node from what it is to what it should be. Nothing to do is an empty patch,
//! and an empty patch is no request.

use std::fmt;

use serde_json::{Map, Value, json};

/// A part of a node with members of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Facts about the machine.
    Properties,
    /// What is or will be deployed.
    InstanceInfo,
    /// How to reach the BMC, and how to boot the ramdisk.
    DriverInfo,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Self::Properties => "properties",
            Self::InstanceInfo => "instance_info",
            Self::DriverInfo => "driver_info",
        }
    }
}

/// A patch that is being built. Its `Debug` output hides the values of secrets.
#[derive(Clone, Default, PartialEq)]
pub struct Patch {
    operations: Vec<Value>,
    resets_interfaces: bool,
}

impl Patch {
    /// Changes the driver; interfaces that are not set beside it get their defaults.
    pub fn set_driver(&mut self, wanted: &str, current: &str) {
        self.set("driver", wanted, current);
        self.resets_interfaces = true;
    }

    /// Whether the driver changes.
    pub fn resets_interfaces(&self) -> bool {
        self.resets_interfaces
    }

    /// Sets a member of the node itself. `null` removes it: such a member always exists.
    pub fn set(&mut self, name: &str, wanted: impl Into<Value>, current: impl Into<Value>) {
        self.change(
            &format!("/{}", escape(name)),
            wanted.into(),
            Some(&current.into()),
        );
    }

    /// Removes a member of the node itself.
    pub fn remove(&mut self, name: &str) {
        self.operations
            .push(json!({ "op": "remove", "path": format!("/{}", escape(name)) }));
    }

    /// Sets a member of a section, or removes it where `null` is wanted and it is there.
    pub fn set_in(
        &mut self,
        section: Section,
        name: &str,
        wanted: impl Into<Value>,
        current: &Map<String, Value>,
    ) {
        self.change(
            &format!("/{}/{}", section.name(), escape(name)),
            wanted.into(),
            current.get(name),
        );
    }

    fn change(&mut self, path: &str, wanted: Value, current: Option<&Value>) {
        match (wanted, current) {
            (Value::Null, None) => {}
            (Value::Null, Some(_)) => self.operations.push(json!({ "op": "remove", "path": path })),
            (wanted, Some(current)) if same(&wanted, current) => {}
            (wanted, _) => self
                .operations
                .push(json!({ "op": "add", "path": path, "value": wanted })),
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The body of the request.
    pub fn into_body(self) -> Value {
        Value::Array(self.operations)
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for operation in &self.operations {
            list.entry(&redacted(operation).to_string());
        }
        list.finish()
    }
}

/// Equal in value. Numbers are compared as numbers; a text never equals a number or a truth value.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) if left.is_f64() || right.is_f64() => {
            left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}

/// The operation with every value hidden whose path or name tells of a secret.
fn redacted(operation: &Value) -> Value {
    let path = operation["path"].as_str().unwrap_or_default();
    let mut shown = operation.clone();
    if is_secret(path) {
        shown["value"] = json!("<hidden>");
    } else if let Some(value) = shown.get_mut("value") {
        hide(value);
    }
    shown
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if is_secret(name) {
                    *value = json!("<hidden>");
                } else {
                    hide(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}

/// Whether a name tells that its value must not be shown.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "secret", "token", "configdrive"]
        .iter()
        .any(|word| name.contains(word))
}

/// A name as a part of a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::{Patch, Section, same};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    #[test]
    fn operation_for_wanted_and_current() {
        let table = [
            (
                json!("new"),
                json!({}),
                Some(json!({"op": "add", "path": "/properties/baz", "value": "new"})),
            ),
            (
                json!("new"),
                json!({"baz": null}),
                Some(json!({"op": "add", "path": "/properties/baz", "value": "new"})),
            ),
            (
                json!("new"),
                json!({"baz": "old"}),
                Some(json!({"op": "add", "path": "/properties/baz", "value": "new"})),
            ),
            (json!("same"), json!({"baz": "same"}), None),
            (
                Value::Null,
                json!({"baz": "old"}),
                Some(json!({"op": "remove", "path": "/properties/baz"})),
            ),
            (
                Value::Null,
                json!({"baz": null}),
                Some(json!({"op": "remove", "path": "/properties/baz"})),
            ),
            (Value::Null, json!({}), None),
        ];
        for (wanted, current, operation) in table {
            let mut patch = Patch::default();
            patch.set_in(
                Section::Properties,
                "baz",
                wanted.clone(),
                current.as_object().unwrap(),
            );
            let expected = operation.into_iter().collect::<Vec<_>>();
            assert_eq!(patch.into_body(), json!(expected), "{wanted} over {current}");
        }
    }

    #[test]
    fn members_of_the_node_itself() {
        let mut patch = Patch::default();
        patch.set("foo", "baz", "bar");
        patch.set("equal", "bar", "bar");
        patch.remove("deploy_interface");
        assert_eq!(
            patch.into_body(),
            json!([{"op": "add", "path": "/foo", "value": "baz"}, {"op": "remove", "path": "/deploy_interface"}])
        );
    }

    #[test]
    fn equality_of_values() {
        let table = [
            (json!(null), json!("x"), false),
            (json!("x"), json!("x"), true),
            (json!(true), json!(true), true),
            (json!(1), json!(1.0), true),
            (json!("1"), json!(1), false),
            (json!("true"), json!(true), false),
            (json!({"a": 1, "b": ["x"]}), json!({"b": ["x"], "a": 1}), true),
            (json!({"a": ""}), json!({"a": "x"}), false),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!({"a": 1}), json!({"b": 1}), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!([1]), json!([1, 2]), false),
            (json!({}), json!([]), false),
            (json!({}), json!("x"), false),
        ];
        for (left, right, equal) in table {
            assert_eq!(same(&left, &right), equal, "{left} and {right}");
        }
    }

    #[test]
    fn debug_output_hides_secrets() {
        let mut patch = Patch::default();
        patch.set(
            "driver_info",
            json!({"redfish_password": "hunter2", "nested": [{"my_secret": "hunter2"}]}),
            json!({}),
        );
        patch.set_in(
            Section::InstanceInfo,
            "image_pull_secret",
            "user:hunter2",
            &Map::new(),
        );
        patch.set_in(Section::InstanceInfo, "image_source", "http://i", &Map::new());
        let shown = format!("{patch:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("http://i"), "{shown}");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(".{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_there_needs_no_change(value in any_value(), name in ".{0,8}") {
            prop_assert!(same(&value, &value));
            let current = Map::from_iter([(name.clone(), value.clone())]);
            let mut patch = Patch::default();
            patch.set_in(Section::DriverInfo, &name, value.clone(), &current);
            prop_assert_eq!(patch.is_empty(), !value.is_null());
            let _ = format!("{patch:?}");
        }
    }
}

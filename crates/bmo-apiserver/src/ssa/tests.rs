use proptest::prelude::*;
use serde_json::{Value, json};

use super::managed::{Manager, apply, on_update};
use super::set::FieldSet;
use super::typed;
use crate::schema::Schema;

fn schema() -> Schema {
    Schema::compile(&json!({"type": "object", "properties": {
        "metadata": {"type": "object", "properties": {
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}},
        "spec": {"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "n": {"type": "object", "properties": {"x": {"type": "string"}}},
            "ref": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"name": {"type": "string"}, "ns": {"type": "string"}}},
            "plain": {"type": "array", "items": {"type": "string"}},
            "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "v": {"type": "string"}}}}}},
        "status": {"type": "object", "properties": {"p": {"type": "string"}}}}}))
    .unwrap()
}

fn who(name: &str) -> Manager<'_> {
    Manager {
        name,
        api_version: "t.io/v1",
        subresource: "",
        now: "2026-01-01T00:00:00Z",
        has_status: true,
    }
}

fn owned<'a>(object: &'a Value, manager: &str) -> &'a Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries
        .iter()
        .find(|entry| entry["manager"] == manager)
        .map_or(&Value::Null, |entry| &entry["fieldsV1"])
}

#[test]
fn an_applied_list_item_is_owned_by_key() {
    let schema = schema();
    let config = json!({"metadata": {"name": "n", "labels": {"l": "1"}}, "spec": {"list": [{"name": "i", "v": "1"}], "ref": {"name": "r"}}});
    let object = apply(
        Some(&schema),
        &json!({"metadata": {}}),
        &config,
        &who("one"),
        false,
    )
    .unwrap();
    assert_eq!(
        owned(&object, "one"),
        &json!({"f:metadata": {"f:labels": {"f:l": {}}},
            "f:spec": {"f:list": {r#"k:{"name":"i"}"#: {".": {}, "f:name": {}, "f:v": {}}}, "f:ref": {}}})
    );
}

#[test]
fn two_managers_share_a_list_and_conflict_on_a_value() {
    let schema = schema();
    let base = json!({"metadata": {}});
    let first = json!({"spec": {"a": "1", "list": [{"name": "x", "v": "1"}]}});
    let object = apply(Some(&schema), &base, &first, &who("one"), false).unwrap();
    let second = json!({"spec": {"list": [{"name": "y", "v": "2"}]}});
    let object = apply(Some(&schema), &object, &second, &who("two"), false).unwrap();
    assert_eq!(
        object["spec"]["list"],
        json!([{"name": "x", "v": "1"}, {"name": "y", "v": "2"}])
    );

    let clash = json!({"spec": {"a": "2", "list": [{"name": "y", "v": "2"}]}});
    let refused = apply(Some(&schema), &object, &clash, &who("two"), false).unwrap_err();
    assert_eq!((refused.code, refused.reason), (409, "Conflict"));
    assert_eq!(
        refused.message,
        r#"Apply failed with 1 conflict: conflict with "one": .spec.a"#
    );

    let forced = apply(Some(&schema), &object, &clash, &who("two"), true).unwrap();
    assert_eq!(forced["spec"]["a"], "2");
    assert_eq!(
        owned(&forced, "one")["f:spec"].get("f:a"),
        None,
        "the field went to the other manager"
    );
}

#[test]
fn what_is_no_longer_applied_goes_unless_another_owns_it() {
    let schema = schema();
    let base = json!({"metadata": {}});
    let first = json!({"spec": {"a": "1", "b": "2", "n": {"x": "3"}, "list": [{"name": "x", "v": "1"}]}});
    let object = apply(Some(&schema), &base, &first, &who("one"), false).unwrap();
    let object = apply(
        Some(&schema),
        &object,
        &json!({"spec": {"b": "2"}}),
        &who("two"),
        false,
    )
    .unwrap();
    let object = apply(
        Some(&schema),
        &object,
        &json!({"spec": {"a": "1"}}),
        &who("one"),
        false,
    )
    .unwrap();
    assert_eq!(object["spec"], json!({"a": "1", "b": "2"}));
}

#[test]
fn an_update_takes_over_what_it_changes() {
    let schema = schema();
    let object = apply(
        Some(&schema),
        &json!({"metadata": {}}),
        &json!({"spec": {"a": "1", "b": "1"}}),
        &who("one"),
        false,
    )
    .unwrap();
    let mut new = object.clone();
    new["spec"]["a"] = json!("2");
    new["spec"]["n"] = json!({"x": "y"});
    on_update(Some(&schema), &object, &mut new, &who("editor"));
    assert_eq!(owned(&new, "one"), &json!({"f:spec": {"f:b": {}}}));
    assert_eq!(
        owned(&new, "editor"),
        &json!({"f:spec": {"f:a": {}, "f:n": {".": {}, "f:x": {}}}})
    );
}

#[test]
fn status_is_owned_through_its_own_endpoint_only() {
    let schema = schema();
    let config = json!({"spec": {"a": "1"}, "status": {"p": "x"}});
    let main = apply(
        Some(&schema),
        &json!({"metadata": {}}),
        &config,
        &who("one"),
        false,
    )
    .unwrap();
    assert_eq!(main.get("status"), None);
    let status = Manager {
        subresource: "status",
        ..who("one")
    };
    let object = apply(Some(&schema), &main, &config, &status, false).unwrap();
    assert_eq!(object["status"]["p"], "x");
    assert_eq!(object["metadata"]["managedFields"].as_array().unwrap().len(), 2);
}

fn spec() -> impl Strategy<Value = Value> {
    let text = prop::option::of("[a-c]");
    let list = prop::option::of(prop::collection::btree_map("[a-c]", "[a-c]", 0..3));
    (
        text.clone(),
        text.clone(),
        text,
        list,
        prop::option::of(prop::collection::vec("[a-c]", 0..2)),
    )
        .prop_map(|(a, b, x, list, plain)| {
            let mut spec = json!({});
            let mut put = |key: &str, value: Option<Value>| {
                if let Some(value) = value {
                    spec[key] = value;
                }
            };
            put("a", a.map(Value::from));
            put("b", b.map(Value::from));
            put("n", x.map(|x| json!({"x": x})));
            put("plain", plain.map(Value::from));
            put(
                "list",
                list.map(|list| {
                    list.into_iter()
                        .map(|(name, v)| json!({"name": name, "v": v}))
                        .collect()
                }),
            );
            json!({"spec": spec})
        })
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(config in spec()) {
        let schema = schema();
        let once = apply(Some(&schema), &json!({"metadata": {}}), &config, &who("one"), false).unwrap();
        let later = Manager { now: "2027-01-01T00:00:00Z", ..who("one") };
        prop_assert_eq!(&apply(Some(&schema), &once, &config, &later, false).unwrap(), &once);
    }

    #[test]
    fn a_single_applier_gets_exactly_what_it_applied_last(first in spec(), second in spec()) {
        let schema = schema();
        let one = apply(Some(&schema), &json!({"metadata": {}}), &first, &who("one"), false).unwrap();
        let two = apply(Some(&schema), &one, &second, &who("one"), false).unwrap();
        let direct = apply(Some(&schema), &json!({"metadata": {}}), &second, &who("one"), false).unwrap();
        let set = |object: &Value| typed::field_set(Some(&schema), &object["spec"]);
        let mut extra = set(&two);
        extra.difference(&set(&direct));
        // Emptied maps may stay where they were applied empty.
        prop_assert!(typed::compare(Some(&schema), &direct, &two).modified.paths().iter().all(|p| p.contains("managedFields")), "{two} {direct}");
        prop_assert!(extra.is_empty(), "{:?}", extra.paths());
    }

    #[test]
    fn forced_apply_never_fails_and_others_keep_the_rest(first in spec(), second in spec()) {
        let schema = schema();
        let one = apply(Some(&schema), &json!({"metadata": {}}), &first, &who("one"), false).unwrap();
        let two = apply(Some(&schema), &one, &second, &who("two"), true).unwrap();
        let wanted = typed::field_set(Some(&schema), &second["spec"]);
        prop_assert_eq!(typed::field_set(Some(&schema), &two["spec"]).intersection(&wanted), wanted);
    }

    #[test]
    fn fields_v1_round_trips(config in spec()) {
        let set = typed::field_set(Some(&schema()), &config);
        prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), set);
    }
}

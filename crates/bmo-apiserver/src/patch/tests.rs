use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn patched(object: &Value, patch: &Value) -> Result<Value> {
    let mut object = object.clone();
    json_patch(&mut object, patch)?;
    Ok(object)
}

#[test]
fn a_test_for_null_holds_where_nothing_is() {
    let patch = json!([{"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "add", "path": "/metadata/finalizers", "value": ["f"]}]);
    assert_eq!(
        patched(&json!({"metadata": {}}), &patch).unwrap()["metadata"]["finalizers"],
        json!(["f"])
    );
    let taken = json!({"metadata": {"finalizers": ["x"]}});
    assert_eq!(patched(&taken, &patch).unwrap_err().code, 422);
}

#[test]
fn a_failed_operation_leaves_everything_as_it_was() {
    let patch = json!([{"op": "add", "path": "/a", "value": 1}, {"op": "remove", "path": "/nothing"}]);
    let mut object = json!({"b": 2});
    assert!(json_patch(&mut object, &patch).is_err());
    assert_eq!(object, json!({"b": 2}));
}

#[test]
fn strategic_lists_follow_their_strategy() {
    let mut object = json!({"metadata": {"finalizers": ["a"], "labels": {"x": "1", "y": "2"},
        "ownerReferences": [{"uid": "1", "name": "one"}, {"uid": "2", "name": "two"}]}});
    let patch = json!({"metadata": {"finalizers": ["b"], "labels": {"x": null, "z": "3"},
        "ownerReferences": [{"uid": "1", "name": "new"}, {"uid": "2", "$patch": "delete"}],
        "$deleteFromPrimitiveList/finalizers": ["a"]}});
    strategic_merge(&mut object, &patch);
    assert_eq!(
        object,
        json!({"metadata": {"finalizers": ["b"], "labels": {"y": "2", "z": "3"},
            "ownerReferences": [{"uid": "1", "name": "new"}]}})
    );
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(1)),
        Just(json!("x")),
        Just(json!(true)),
        Just(Value::Null)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn without_nulls(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(map) => map.values().all(without_nulls),
        _ => true,
    }
}

proptest! {
    #[test]
    fn merging_twice_is_merging_once(object in json_value(), patch in json_value()) {
        let mut once = object;
        merge_patch(&mut once, &patch);
        let mut twice = once.clone();
        merge_patch(&mut twice, &patch);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn merging_into_nothing_gives_the_patch_without_nulls(patch in json_value()) {
        let mut object = Value::Null;
        merge_patch(&mut object, &patch);
        if without_nulls(&patch) {
            prop_assert_eq!(object, patch);
        }
    }

    #[test]
    fn strategic_merge_is_merge_patch_on_maps(object in json_value(), patch in json_value()) {
        let (mut merged, mut strategic) = (json!({"m": object.clone()}), json!({"m": object}));
        merge_patch(&mut merged, &json!({"m": patch}));
        strategic_merge(&mut strategic, &json!({"m": patch}));
        prop_assert_eq!(merged, strategic);
    }
}

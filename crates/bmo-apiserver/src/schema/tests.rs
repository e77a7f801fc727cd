use serde_json::{Value, json};

use super::*;

fn schema(json: &Value) -> Schema {
    Schema::compile(json).unwrap()
}

/// A field `x` of this schema in an object.
fn field(json: &Value) -> Schema {
    schema(&json!({"type": "object", "properties": {"x": json}}))
}

fn messages(schema: &Schema, value: &Value) -> Vec<String> {
    validate(schema, value)
        .iter()
        .map(|error| format!("{}: {}", error.field, error.body()))
        .collect()
}

#[test]
fn every_keyword_has_the_message_of_the_api_server() {
    let rows = [
        (
            json!({"type": "integer"}),
            json!("a"),
            r#"x: Invalid value: "string": x in body must be of type integer: "string""#,
        ),
        (
            json!({"type": "string"}),
            json!(null),
            r#"x: Invalid value: "null": x in body must be of type string: "null""#,
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!("c"),
            r#"x: Unsupported value: "c": supported values: "a", "b""#,
        ),
        (
            json!({"type": "string", "pattern": "^a+$"}),
            json!("b"),
            r#"x: Invalid value: "b": x in body should match '^a+$'"#,
        ),
        (
            json!({"type": "string", "minLength": 2}),
            json!("b"),
            r#"x: Invalid value: "b": x in body should be at least 2 chars long"#,
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("abc"),
            "x: Too long: may not be more than 2 bytes",
        ),
        (
            json!({"type": "integer", "minimum": 2}),
            json!(1),
            "x: Invalid value: 1: x in body should be greater than or equal to 2",
        ),
        (
            json!({"type": "integer", "maximum": 2}),
            json!(3),
            "x: Invalid value: 3: x in body should be less than or equal to 2",
        ),
        (
            json!({"type": "integer", "minimum": 2, "exclusiveMinimum": true}),
            json!(2),
            "x: Invalid value: 2: x in body should be greater than 2",
        ),
        (
            json!({"type": "integer", "multipleOf": 2}),
            json!(3),
            "x: Invalid value: 3: x in body should be a multiple of 2",
        ),
        (
            json!({"type": "array", "maxItems": 1, "items": {"type": "string"}}),
            json!(["a", "b"]),
            "x: Too many: 2: must have at most 1 items",
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {"type": "string"}}),
            json!([]),
            "x: Invalid value: 0: x in body should have at least 1 items",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            json!(["a", "a"]),
            r#"x[1]: Duplicate value: "a""#,
        ),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
            json!({}),
            "x.a: Required value",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("soon"),
            r#"x: Invalid value: "soon": x in body must be of type date-time: "soon""#,
        ),
    ];
    for (property, value, message) in rows {
        assert_eq!(
            messages(&field(&property), &json!({"x": value})),
            [message],
            "{property}"
        );
    }
}

#[test]
fn values_in_range_pass() {
    let rows = [
        (
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!("50%"),
        ),
        (
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!(5),
        ),
        (json!({"type": "string", "nullable": true}), json!(null)),
        (json!({"type": "boolean", "enum": [true, false]}), json!(false)),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"a": "b"}),
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("2026-11-30T20:37:54Z"),
        ),
    ];
    for (property, value) in rows {
        assert_eq!(
            messages(&field(&property), &json!({"x": value})),
            Vec::<String>::new(),
            "{property}"
        );
    }
}

#[test]
fn nested_errors_name_their_place() {
    let list = field(
        &json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}),
    );
    let found = messages(&list, &json!({"x": [{"n": 1}, {"n": true}]}));
    assert_eq!(
        found,
        [r#"x[1].n: Invalid value: "boolean": x[1].n in body must be of type integer: "boolean""#]
    );
}

#[test]
fn what_was_invalid_before_may_stay() {
    let schema = field(&json!({"type": "string", "enum": ["a"]}));
    let old = json!({"x": "gone", "y": 1});
    assert!(validate_update(&schema, &json!({"x": "gone", "y": 2}), &old).is_empty());
    assert_eq!(validate_update(&schema, &json!({"x": "other"}), &old).len(), 1);
}

#[test]
fn pruning_drops_the_unknown_and_says_so() {
    let schema = schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"k": {"type": "object"}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}}}}}));
    let mut value = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "n"}, "other": 1,
        "spec": {"a": "1", "typo": 2, "free": {"any": 1, "k": {"inner": 1}}, "list": [{"b": "x", "c": 1}]}});
    let dropped = prune(&schema, &mut value, true);
    assert_eq!(
        dropped,
        ["other", "spec.typo", "spec.free.k.inner", "spec.list[0].c"]
    );
    assert_eq!(
        value,
        json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "n"},
            "spec": {"a": "1", "free": {"any": 1, "k": {}}, "list": [{"b": "x"}]}})
    );
}

#[test]
fn defaults_fill_what_is_missing_or_null() {
    let schema = schema(&json!({"type": "object", "properties": {
        "a": {"type": "string", "default": "x"}, "b": {"type": "string", "default": "y"},
        "c": {"type": "string", "nullable": true, "default": "z"}, "d": {"type": "string"},
        "o": {"type": "object", "default": {}, "properties": {"in": {"type": "integer", "default": 3}}}}}));
    let mut value = json!({"a": "own", "b": null, "c": null, "d": null});
    drop_nulls(&schema, &mut value);
    apply_defaults(&schema, &mut value);
    assert_eq!(value, json!({"a": "own", "b": "y", "c": null, "o": {"in": 3}}));
}

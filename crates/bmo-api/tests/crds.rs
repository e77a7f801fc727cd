//! The generated CRDs are held against the facts of the field, row by row and in both directions.
//!
//! `facts/crds.tsv` has a row for every path of every schema, `facts/crds-meta.tsv` one for every CRD.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Where ours differs on purpose: CRD, path, column, our value.
const DIFFERENCES: [(&str, &str, &str, &str); 1] = [(
    // Hosts that could not be detached carry this error; a list without it would make their status unwritable.
    "baremetalhosts.metal3.io",
    "status.errorType",
    "enum",
    r#"["provisioned registration error","registration error","inspection error","preparation error","provisioning error","power management error","servicing error","detach error"]"#,
)];

/// Columns of the facts that are keywords of the schema, with the keyword.
const KEYWORDS: [(&str, &str); 24] = [
    ("format", "format"),
    ("default", "default"),
    ("enum", "enum"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("exclusiveMinimum", "exclusiveMinimum"),
    ("exclusiveMaximum", "exclusiveMaximum"),
    ("minLength", "minLength"),
    ("maxLength", "maxLength"),
    ("pattern", "pattern"),
    ("minItems", "minItems"),
    ("maxItems", "maxItems"),
    ("minProperties", "minProperties"),
    ("maxProperties", "maxProperties"),
    ("uniqueItems", "uniqueItems"),
    ("nullable", "nullable"),
    ("anyOf", "anyOf"),
    ("x-int-or-string", "x-kubernetes-int-or-string"),
    ("x-preserve-unknown", "x-kubernetes-preserve-unknown-fields"),
    ("x-embedded", "x-kubernetes-embedded-resource"),
    ("x-list-type", "x-kubernetes-list-type"),
    ("x-list-map-keys", "x-kubernetes-list-map-keys"),
    ("x-map-type", "x-kubernetes-map-type"),
    ("x-validations(CEL)", "x-kubernetes-validations"),
];
/// Keywords that the facts show in another way.
const STRUCTURE: [&str; 6] = [
    "type",
    "description",
    "properties",
    "items",
    "additionalProperties",
    "required",
];

type Row = BTreeMap<String, String>;

/// Rows of a table with a header, by column.
fn table(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    lines
        .map(|line| {
            let cells = line.split('\t').map(str::to_owned);
            header.iter().map(ToString::to_string).zip(cells).collect()
        })
        .collect()
}

/// A value in one spelling, whatever spaces and number formats it came with.
fn canonical(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => match value.as_f64() {
            Some(number) => number.to_string(),
            None => value.to_string(),
        },
        Err(_) => text.to_owned(),
    }
}

/// Every path of a schema with what its row should say.
fn rows(path: &str, schema: &Value, required: bool, found: &mut BTreeMap<String, Row>) {
    let object: &Map<String, Value> = schema.as_object().unwrap();
    let mut row = Row::new();
    let is_map = object.contains_key("additionalProperties");
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    row.insert(
        "type".to_owned(),
        format!("{kind}{}", if is_map { "(map)" } else { "" }),
    );
    row.insert(
        "required".to_owned(),
        if required { "yes" } else { "no" }.to_owned(),
    );
    for (keyword, value) in object {
        if let Some((column, _)) = KEYWORDS.iter().find(|(_, known)| known == keyword) {
            let text = match value {
                Value::String(text) if keyword != "default" => text.clone(),
                Value::Array(list) if keyword == "x-kubernetes-list-map-keys" => list
                    .iter()
                    .map(|key| key.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join(","),
                other => canonical(&other.to_string()),
            };
            row.insert((*column).to_owned(), text);
        } else {
            assert!(
                STRUCTURE.contains(&keyword.as_str()),
                "{path}: unexpected keyword {keyword}"
            );
        }
    }
    found.insert(
        if path.is_empty() {
            ".".to_owned()
        } else {
            path.to_owned()
        },
        row,
    );
    let needed = |name: &str| {
        object
            .get("required")
            .is_some_and(|list| list.as_array().unwrap().contains(&name.into()))
    };
    for (name, property) in object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        rows(&path, property, needed(name), found);
    }
    if let Some(items) = object.get("items") {
        rows(&format!("{path}[]"), items, false, found);
    }
    if let Some(values) = object.get("additionalProperties") {
        rows(&format!("{path}{{}}"), values, false, found);
    }
}

fn difference(crd: &str, path: &str, column: &str) -> Option<&'static str> {
    DIFFERENCES
        .iter()
        .find(|it| (it.0, it.1, it.2) == (crd, path, column))
        .map(|it| it.3)
}

#[test]
fn every_path_of_every_schema_is_as_the_facts_say() {
    let facts = table(include_str!("facts/crds.tsv"));
    let mut wrong = Vec::new();
    for crd in bmo_api::crds() {
        let name = crd.metadata.name.clone().unwrap();
        let crd = serde_json::to_value(&crd).unwrap();
        let mut ours = BTreeMap::new();
        rows(
            "",
            &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
            false,
            &mut ours,
        );
        let theirs: Vec<&Row> = facts.iter().filter(|row| row["crd"] == name).collect();
        assert!(!theirs.is_empty(), "no facts about {name}");
        for fact in theirs {
            let path = &fact["path"];
            let Some(row) = ours.remove(path) else {
                wrong.push(format!("{name} {path}: missing"));
                continue;
            };
            for column in ["type", "required"]
                .into_iter()
                .chain(KEYWORDS.iter().map(|(column, _)| *column))
            {
                let fact = fact.get(column).map(|text| canonical(text)).unwrap_or_default();
                let expected = difference(&name, path, column).map_or(fact, str::to_owned);
                let found = row.get(column).map(|text| canonical(text)).unwrap_or_default();
                if found != expected {
                    wrong.push(format!(
                        "{name} {path}: {column} is {found:?}, expected {expected:?}"
                    ));
                }
            }
        }
        wrong.extend(
            ours.keys()
                .map(|path| format!("{name} {path}: no such path in the facts")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_kind_of_the_facts_is_there() {
    let ours: Vec<String> = bmo_api::crds()
        .into_iter()
        .filter_map(|crd| crd.metadata.name)
        .collect();
    let facts: Vec<String> = table(include_str!("facts/crds-meta.tsv"))
        .into_iter()
        .map(|mut row| row.remove("crd").unwrap())
        .collect();
    assert_eq!(ours, facts);
}

#[test]
fn names_columns_and_subresources_are_as_the_facts_say() {
    let facts = table(include_str!("facts/crds-meta.tsv"));
    for crd in bmo_api::crds() {
        let crd = serde_json::to_value(&crd).unwrap();
        let (spec, version) = (&crd["spec"], &crd["spec"]["versions"][0]);
        let name = crd["metadata"]["name"].as_str().unwrap();
        let fact = facts
            .iter()
            .find(|row| row["crd"] == name)
            .unwrap_or_else(|| panic!("no facts about {name}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let short: Vec<String> = spec["names"]["shortNames"]
            .as_array()
            .into_iter()
            .flatten()
            .map(text)
            .collect();
        let columns: Vec<String> = version["additionalPrinterColumns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|column| {
                let priority = column["priority"].as_i64().unwrap_or(0);
                let cell = |key: &str| text(&column[key]);
                format!(
                    "{}|{}|{}|prio={priority}",
                    cell("name"),
                    cell("type"),
                    cell("jsonPath")
                )
            })
            .collect();
        let subresources: Vec<&String> = version["subresources"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|it| it.0)
            .collect();
        let ours = [
            ("group", text(&spec["group"])),
            ("kind", text(&spec["names"]["kind"])),
            ("listKind", text(&spec["names"]["listKind"])),
            ("plural", text(&spec["names"]["plural"])),
            ("singular", text(&spec["names"]["singular"])),
            ("shortNames", short.join(",")),
            ("scope", text(&spec["scope"])),
            (
                "subresources",
                subresources
                    .iter()
                    .map(|it| it.as_str())
                    .collect::<Vec<_>>()
                    .join(","),
            ),
            (
                "additionalPrinterColumns(name|type|jsonPath|priority)",
                columns.join("; "),
            ),
        ];
        for (column, found) in ours {
            assert_eq!(found, fact[column], "{name}: {column}");
        }
        assert_eq!(version["name"], "v1alpha1");
        assert!(version["served"] == true && version["storage"] == true);
    }
}

#[test]
fn every_member_is_described() {
    fn check(path: &str, schema: &Value) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let described = property["description"]
                .as_str()
                .is_some_and(|text| text.ends_with('.'));
            assert!(
                described || name == "metadata",
                "{path} has no description, or one that is no sentence"
            );
            check(&path, property);
        }
        for key in ["items", "additionalProperties"] {
            if schema[key].is_object() {
                check(&format!("{path}[]"), &schema[key]);
            }
        }
    }
    for crd in bmo_api::crds() {
        let crd = serde_json::to_value(&crd).unwrap();
        check(
            crd["metadata"]["name"].as_str().unwrap(),
            &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
        );
    }
}

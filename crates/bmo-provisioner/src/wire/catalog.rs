//! The schemas of the protocol, one document for each method and one for the documents around them.
//!
//! `cargo xtask schemas` writes them to `docs/protocol/v1/`. The folder is frozen: within a major version members
//! are only added, and those that are added may be absent.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::method::{ALL, Direction, Entry};
use super::rpc::{JsonRpc, Notice, Request, RpcError};

/// File name (without folder) and content of every schema, sorted by name.
pub fn schemas() -> Vec<(String, Value)> {
    let mut files: Vec<_> = ALL
        .iter()
        .map(|entry| (file_name(entry.name), method_schema(entry)))
        .collect();
    files.push(("envelope.json".to_owned(), envelope_schema()));
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// The file of a method: its name with dots for slashes.
pub fn file_name(method: &str) -> String {
    format!("{}.json", method.replace('/', "."))
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn method_schema(entry: &Entry) -> Value {
    let mut generator = generator();
    let mut properties = Map::new();
    properties.insert("params".to_owned(), (entry.params)(&mut generator).to_value());
    if let Some(result) = entry.result {
        properties.insert("result".to_owned(), result(&mut generator).to_value());
    }
    let direction = match entry.direction {
        Direction::HostToPlugin => "the host asks the plugin",
        Direction::PluginToHost => "the plugin asks the host",
        Direction::NoticeToPlugin => "the host tells the plugin",
        Direction::NoticeToHost => "the plugin tells the host",
    };
    document(
        entry.name,
        &format!("{} ({direction}).", entry.about.trim().trim_end_matches('.')),
        &properties,
        generator,
    )
}

fn envelope_schema() -> Value {
    let mut generator = generator();
    let mut properties = Map::new();
    properties.insert(
        "request".to_owned(),
        generator.subschema_for::<Request<Value>>().to_value(),
    );
    properties.insert("response".to_owned(), response_schema(&mut generator));
    properties.insert(
        "notification".to_owned(),
        generator.subschema_for::<Notice<Value>>().to_value(),
    );
    document(
        "envelope",
        "The JSON-RPC 2.0 documents around every method.",
        &properties,
        generator,
    )
}

/// An answer has a result or an error, which a derived schema cannot say.
fn response_schema(generator: &mut SchemaGenerator) -> Value {
    let version = generator.subschema_for::<JsonRpc>().to_value();
    let error = generator.subschema_for::<RpcError>().to_value();
    json!({
        "type": "object",
        "required": ["jsonrpc", "id"],
        "properties": { "jsonrpc": version, "id": { "type": "integer", "minimum": 0 }, "result": {}, "error": error },
        "oneOf": [{ "required": ["result"] }, { "required": ["error"] }],
    })
}

fn document(
    title: &str,
    about: &str,
    properties: &Map<String, Value>,
    mut generator: SchemaGenerator,
) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": about,
        "type": "object",
        "properties": properties,
        "$defs": generator.take_definitions(true),
    })
}

#[cfg(test)]
mod tests {
    use super::schemas;

    #[test]
    fn every_method_has_a_file_of_its_own() {
        let files = schemas();
        let mut names: Vec<_> = files.iter().map(|(name, _)| name.clone()).collect();
        names.dedup();
        assert_eq!(names.len(), files.len());
        assert!(names.contains(&"provisioner.register.json".to_owned()));
        assert!(names.contains(&"envelope.json".to_owned()));
    }
}

//! The form a client wants its answer in: the object, a table, or its metadata only.

use bytes::Bytes;
use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};

use crate::error::{ApiError, Result};
use crate::object;
use crate::resource::Resource;
use crate::store::Object;
use crate::table;

/// What `metadata.includeObject` of a table says: how much of each object its row carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

impl IncludeObject {
    pub fn parse(text: &str) -> Self {
        match text {
            "None" => Self::None,
            "Object" => Self::Object,
            _ => Self::Metadata,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Object,
    Table(IncludeObject),
    PartialMetadata,
}

/// One media range of an Accept header.
struct Range<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

fn ranges(header: &str) -> impl Iterator<Item = Range<'_>> {
    header.split(',').map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        Range {
            media_type,
            parameters: parts.filter_map(|part| part.split_once('=')).collect(),
        }
    })
}

impl Range<'_> {
    fn get(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map_or("", |(_, value)| value)
    }

    fn is_json(&self) -> bool {
        matches!(self.media_type, "application/json" | "application/*" | "*/*" | "")
    }
}

fn accept(headers: &HeaderMap) -> &str {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// Whether the aggregated discovery document is wanted before the plain one.
pub fn wants_aggregated_discovery(headers: &HeaderMap) -> bool {
    ranges(accept(headers))
        .find(Range::is_json)
        .is_some_and(|range| range.get("g") == "apidiscovery.k8s.io" && range.get("v") == "v2")
}

impl Form {
    /// The first form of the Accept header that is known; protobuf is passed over, since clients name JSON after it.
    pub fn of(headers: &HeaderMap, include: IncludeObject) -> Result<Self> {
        let header = accept(headers);
        if header.is_empty() {
            return Ok(Self::Object);
        }
        for range in ranges(header).filter(Range::is_json) {
            match (range.get("as"), range.get("g"), range.get("v")) {
                ("", ..) => return Ok(Self::Object),
                ("Table", "meta.k8s.io", "v1" | "v1beta1") => return Ok(Self::Table(include)),
                ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1" | "v1beta1") => {
                    return Ok(Self::PartialMetadata);
                }
                _ => {}
            }
        }
        Err(ApiError::not_acceptable(&["application/json"]))
    }

    /// A stored object as JSON text in this form.
    pub fn render(self, resource: &Resource, stored: &Object, now: jiff::Timestamp) -> Bytes {
        if self == Self::Object && resource.converted(&stored.value).is_none() {
            return stored.json();
        }
        to_bytes(&self.render_value(resource, &stored.value, now))
    }

    /// As [`Form::render`], for a value that is not in the store.
    pub fn render_value(self, resource: &Resource, stored: &Value, now: jiff::Timestamp) -> Value {
        let view = resource.view(stored);
        match self {
            Self::Object => view.into_owned(),
            Self::PartialMetadata => partial(&view),
            Self::Table(include) => {
                let meta = json!({
                    "resourceVersion": object::meta(&view, "resourceVersion")
                });
                table::render(resource, &[view.as_ref()], include, true, now, &meta)
            }
        }
    }
}

/// `meta.k8s.io/v1` PartialObjectMetadata of an object.
pub fn partial(value: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]})
}

pub fn to_bytes(value: &Value) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

//! Protobuf request bodies of the built-in kinds, which kubectl and client-go send. Answers are always JSON.
//!
//! A body is the magic `k8s\0`, then a `runtime.Unknown` that names the kind and holds its message. The messages are
//! tables of field numbers here, decoded straight to JSON: the numbers are those of the public `generated.proto` files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use prost::bytes::{Buf, Bytes};
use prost::encoding::{WireType, decode_key, decode_varint};
use serde_json::{Map, Value, json};

use crate::clock::{micros, seconds};
use crate::error::{ApiError, Result};

const MAGIC: &[u8] = b"k8s\0";

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Bytes,
    Bool,
    Int,
    /// Seconds and nanoseconds, written as `metav1.Time`.
    Time,
    MicroTime,
    Message(&'static [Field]),
    /// A map entry from text to text or bytes.
    TextMap,
    BytesMap,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    number: u32,
    name: &'static str,
    kind: Kind,
    repeated: bool,
}

const fn one(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        number,
        name,
        kind,
        repeated: false,
    }
}

const fn many(number: u32, name: &'static str, kind: Kind) -> Field {
    Field {
        number,
        name,
        kind,
        repeated: true,
    }
}

use Kind::{Bool, Bytes as Raw, BytesMap, Int, Message, MicroTime, Text, TextMap, Time};

const OWNER: &[Field] = &[
    one(1, "kind", Text),
    one(3, "name", Text),
    one(4, "uid", Text),
    one(5, "apiVersion", Text),
    one(6, "controller", Bool),
    one(7, "blockOwnerDeletion", Bool),
];
const META: &[Field] = &[
    one(1, "name", Text),
    one(2, "generateName", Text),
    one(3, "namespace", Text),
    one(5, "uid", Text),
    one(6, "resourceVersion", Text),
    one(7, "generation", Int),
    one(8, "creationTimestamp", Time),
    one(9, "deletionTimestamp", Time),
    one(10, "deletionGracePeriodSeconds", Int),
    one(11, "labels", TextMap),
    one(12, "annotations", TextMap),
    many(13, "ownerReferences", Message(OWNER)),
    many(14, "finalizers", Text),
];
const NAMESPACE: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(2, "spec", Message(&[many(1, "finalizers", Text)])),
    one(3, "status", Message(&[one(1, "phase", Text)])),
];
const SECRET: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(2, "data", BytesMap),
    one(3, "type", Text),
    one(4, "stringData", TextMap),
    one(5, "immutable", Bool),
];
const CONFIG_MAP: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(2, "data", TextMap),
    one(3, "binaryData", BytesMap),
    one(4, "immutable", Bool),
];
const REFERENCE: &[Field] = &[
    one(1, "kind", Text),
    one(2, "namespace", Text),
    one(3, "name", Text),
    one(4, "uid", Text),
    one(5, "apiVersion", Text),
    one(6, "resourceVersion", Text),
    one(7, "fieldPath", Text),
];
const SOURCE: &[Field] = &[one(1, "component", Text), one(2, "host", Text)];
const SERIES: &[Field] = &[one(1, "count", Int), one(2, "lastObservedTime", MicroTime)];
const EVENT: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(2, "involvedObject", Message(REFERENCE)),
    one(3, "reason", Text),
    one(4, "message", Text),
    one(5, "source", Message(SOURCE)),
    one(6, "firstTimestamp", Time),
    one(7, "lastTimestamp", Time),
    one(8, "count", Int),
    one(9, "type", Text),
    one(10, "eventTime", MicroTime),
    one(11, "series", Message(SERIES)),
    one(12, "action", Text),
    one(13, "related", Message(REFERENCE)),
    one(14, "reportingComponent", Text),
    one(15, "reportingInstance", Text),
];
const EVENT_V1: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(2, "eventTime", MicroTime),
    one(3, "series", Message(SERIES)),
    one(4, "reportingController", Text),
    one(5, "reportingInstance", Text),
    one(6, "action", Text),
    one(7, "reason", Text),
    one(8, "regarding", Message(REFERENCE)),
    one(9, "related", Message(REFERENCE)),
    one(10, "note", Text),
    one(11, "type", Text),
    one(12, "deprecatedSource", Message(SOURCE)),
    one(13, "deprecatedFirstTimestamp", Time),
    one(14, "deprecatedLastTimestamp", Time),
    one(15, "deprecatedCount", Int),
];
const LEASE: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(
        2,
        "spec",
        Message(&[
            one(1, "holderIdentity", Text),
            one(2, "leaseDurationSeconds", Int),
            one(3, "acquireTime", MicroTime),
            one(4, "renewTime", MicroTime),
            one(5, "leaseTransitions", Int),
            one(6, "strategy", Text),
            one(7, "preferredHolder", Text),
        ]),
    ),
];
const ACCESS_REVIEW: &[Field] = &[
    one(1, "metadata", Message(META)),
    one(
        2,
        "spec",
        Message(&[
            one(
                1,
                "resourceAttributes",
                Message(&[
                    one(1, "namespace", Text),
                    one(2, "verb", Text),
                    one(3, "group", Text),
                    one(4, "version", Text),
                    one(5, "resource", Text),
                    one(6, "subresource", Text),
                    one(7, "name", Text),
                ]),
            ),
            one(
                2,
                "nonResourceAttributes",
                Message(&[one(1, "path", Text), one(2, "verb", Text)]),
            ),
        ]),
    ),
];
const DELETE_OPTIONS: &[Field] = &[
    one(1, "gracePeriodSeconds", Int),
    one(
        2,
        "preconditions",
        Message(&[one(1, "uid", Text), one(2, "resourceVersion", Text)]),
    ),
    one(3, "orphanDependents", Bool),
    one(4, "propagationPolicy", Text),
    many(5, "dryRun", Text),
];
const UNKNOWN: &[Field] = &[
    one(
        1,
        "typeMeta",
        Message(&[one(1, "apiVersion", Text), one(2, "kind", Text)]),
    ),
    one(2, "raw", Raw),
];

fn message_of(api_version: &str, kind: &str) -> Option<&'static [Field]> {
    Some(match (api_version, kind) {
        ("v1", "Namespace") => NAMESPACE,
        ("v1", "Secret") => SECRET,
        ("v1", "ConfigMap") => CONFIG_MAP,
        ("v1", "Event") => EVENT,
        ("events.k8s.io/v1", "Event") => EVENT_V1,
        ("coordination.k8s.io/v1", "Lease") => LEASE,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview") => ACCESS_REVIEW,
        (_, "DeleteOptions") => DELETE_OPTIONS,
        _ => return None,
    })
}

/// Decodes an object with its `apiVersion` and `kind`.
pub fn decode(body: &[u8]) -> Result<Value> {
    let broken = || ApiError::bad_request("the protobuf body is not one of a Kubernetes object");
    let body = body.strip_prefix(MAGIC).ok_or_else(broken)?;
    let unknown = message(UNKNOWN, Bytes::copy_from_slice(body)).ok_or_else(broken)?;
    let text = |name: &str| {
        unknown
            .pointer(&format!("/typeMeta/{name}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let Some(fields) = message_of(api_version, kind) else {
        return Err(ApiError::unsupported_media_type(&[
            "application/json",
            "application/yaml",
        ]));
    };
    let raw = unknown.get("raw").and_then(Value::as_str).unwrap_or_default();
    let raw = STANDARD.decode(raw).map_err(|_| broken())?;
    let decoded = message(fields, raw.into()).ok_or_else(broken)?;
    let mut object = json!({"apiVersion": api_version, "kind": kind});
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), decoded) {
        object.extend(fields);
    }
    Ok(object)
}

fn message(fields: &[Field], mut buffer: Bytes) -> Option<Value> {
    let mut object = Map::new();
    while buffer.has_remaining() {
        let (number, wire) = decode_key(&mut buffer).ok()?;
        let field = fields.iter().find(|field| field.number == number);
        match wire {
            WireType::Varint => {
                let number = decode_varint(&mut buffer).ok()?;
                if let Some(field) = field {
                    object.insert(field.name.into(), varint(field.kind, number));
                }
            }
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(&mut buffer).ok()?).ok()?;
                if length > buffer.remaining() {
                    return None;
                }
                let part = buffer.split_to(length);
                if let Some(field) = field {
                    put(&mut object, field, part)?;
                }
            }
            WireType::SixtyFourBit if buffer.remaining() >= 8 => buffer.advance(8),
            WireType::ThirtyTwoBit if buffer.remaining() >= 4 => buffer.advance(4),
            _ => return None,
        }
    }
    Some(Value::Object(object))
}

fn varint(kind: Kind, number: u64) -> Value {
    match kind {
        Bool => Value::Bool(number != 0),
        // Two's complement, as protobuf writes negative numbers.
        _ => Value::from(number.cast_signed()),
    }
}

fn put(object: &mut Map<String, Value>, field: &Field, part: Bytes) -> Option<()> {
    if matches!(field.kind, TextMap | BytesMap) {
        let value = if matches!(field.kind, TextMap) { Text } else { Raw };
        let entry = message(&[one(1, "key", Text), one(2, "value", value)], part)?;
        let key = entry
            .get("key")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let value = entry.get("value").cloned().unwrap_or_else(|| "".into());
        let map = object.entry(field.name).or_insert_with(|| json!({}));
        map.as_object_mut()?.insert(key, value);
        return Some(());
    }
    let value = match field.kind {
        Text => {
            let text = String::from_utf8(part.to_vec()).ok()?;
            // Go writes every string, empty ones too; JSON leaves those out.
            if text.is_empty() && !field.repeated {
                return Some(());
            }
            text.into()
        }
        Raw => STANDARD.encode(&part).into(),
        Message(fields) => message(fields, part)?,
        Time | MicroTime => match time(field.kind, part)? {
            text if text.is_empty() => return Some(()),
            text => text.into(),
        },
        Bool | Int | TextMap | BytesMap => return None,
    };
    if field.repeated {
        object
            .entry(field.name)
            .or_insert_with(|| json!([]))
            .as_array_mut()?
            .push(value);
    } else {
        object.insert(field.name.into(), value);
    }
    Some(())
}

/// Empty for the zero time, which means "not set".
fn time(kind: Kind, part: Bytes) -> Option<String> {
    let parts = message(&[one(1, "s", Int), one(2, "n", Int)], part)?;
    let number = |name: &str| parts.get(name).and_then(Value::as_i64).unwrap_or(0);
    let nanos = i32::try_from(number("n")).ok()?;
    if number("s") == 0 && nanos == 0 {
        return Some(String::new());
    }
    let at = Timestamp::new(number("s"), nanos).ok()?;
    Some(if matches!(kind, MicroTime) {
        micros(at)
    } else {
        seconds(at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;

    #[derive(Clone, PartialEq, prost::Message)]
    struct Meta {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(map = "string, string", tag = "11")]
        labels: std::collections::HashMap<String, String>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct SecretMessage {
        #[prost(message, optional, tag = "1")]
        metadata: Option<Meta>,
        #[prost(map = "string, bytes", tag = "2")]
        data: std::collections::HashMap<String, Vec<u8>>,
        #[prost(string, tag = "3")]
        ty: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct TypeMeta {
        #[prost(string, tag = "1")]
        api_version: String,
        #[prost(string, tag = "2")]
        kind: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Envelope {
        #[prost(message, optional, tag = "1")]
        type_meta: Option<TypeMeta>,
        #[prost(bytes, tag = "2")]
        raw: Vec<u8>,
    }

    #[test]
    fn a_secret_decodes() {
        let secret = SecretMessage {
            metadata: Some(Meta {
                name: "bmc".into(),
                labels: [("a".into(), "b".into())].into(),
            }),
            data: [("password".into(), b"x\x00y".to_vec())].into(),
            ty: "Opaque".into(),
        };
        let envelope = Envelope {
            type_meta: Some(TypeMeta {
                api_version: "v1".into(),
                kind: "Secret".into(),
            }),
            raw: secret.encode_to_vec(),
        };
        let body = [MAGIC, &envelope.encode_to_vec()].concat();
        assert_eq!(
            decode(&body).unwrap(),
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc", "labels": {"a": "b"}},
                "data": {"password": "eAB5"}, "type": "Opaque"})
        );
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&[MAGIC, &bytes].concat());
            let _ = message(EVENT, bytes.into());
        }
    }
}

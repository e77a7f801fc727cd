//! Messages of protocol version 1 as they were when it was frozen. They must be read and written the same for ever.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;

use bmo_provisioner::wire::method::{self as m, Method, Notification};
use bmo_provisioner::wire::rpc::{Notice, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("../../../docs/protocol/v1/golden.jsonl");

/// Reads a document as `T` and writes it again.
fn round_trip<T: DeserializeOwned + Serialize>(document: &Value) -> Value {
    let read: T =
        serde_json::from_value(document.clone()).unwrap_or_else(|error| panic!("{document}: {error}"));
    serde_json::to_value(read).unwrap()
}

fn method<M: Method>(document: &Value) -> Value
where
    M::Params: DeserializeOwned + Serialize,
    M::Result: DeserializeOwned + Serialize,
{
    if document.get("method").is_some() {
        round_trip::<Request<M::Params>>(document)
    } else {
        round_trip::<Response<M::Result>>(document)
    }
}

fn notification<N: Notification>(document: &Value) -> Value
where
    N::Params: DeserializeOwned + Serialize,
{
    round_trip::<Notice<N::Params>>(document)
}

macro_rules! by_name {
    ($name:expr, $document:expr; $($method:ident)*; $($notification:ident)*) => {
        match $name {
            $(m::$method::NAME => method::<m::$method>($document),)*
            $(m::$notification::NAME => notification::<m::$notification>($document),)*
            other => panic!("no method {other}"),
        }
    };
}

fn again(name: &str, document: &Value) -> Value {
    by_name!(name, document;
        Initialize HostConfigure Configure NewProvisioner DropProvisioner Register Provision Deprovision Delete PowerOn
        PowerOff PreprovisioningImageFormats InspectHardware UpdateHardwareState Adopt Prepare Service Detach HasCapacity
        GetFirmwareSettings GetFirmwareComponents AddBmcEventSubscription RemoveBmcEventSubscription GetDataImageStatus
        AttachDataImage DetachDataImage HasPowerFailure GetHealth UserData NetworkData MetaData KubeCall;
        Event Wake Log Cancel)
}

fn golden() -> impl Iterator<Item = (String, Value)> {
    GOLDEN.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        (line["of"].as_str().unwrap().to_owned(), line["message"].clone())
    })
}

#[test]
fn every_golden_message_is_read_and_written_the_same() {
    for (name, message) in golden() {
        assert_eq!(again(&name, &message), message, "{name}");
    }
}

#[test]
fn every_method_has_golden_messages() {
    let seen: BTreeSet<(String, bool)> = golden()
        .map(|(name, message)| (name, message.get("method").is_some()))
        .collect();
    for entry in m::ALL {
        assert!(
            seen.contains(&(entry.name.to_owned(), true)),
            "no request of {}",
            entry.name
        );
        let answered = seen.contains(&(entry.name.to_owned(), false));
        assert_eq!(answered, entry.result.is_some(), "answer of {}", entry.name);
    }
}

/// Either side may be newer: what it adds is ignored.
#[test]
fn unknown_members_are_ignored() {
    for (name, message) in golden() {
        let mut newer = message.clone();
        newer["added"] = json!({ "later": true });
        for part in ["params", "result"] {
            if newer.get(part).is_some_and(Value::is_object) {
                newer[part]["added"] = json!(["later"]);
            }
        }
        assert_eq!(again(&name, &newer), message, "{name}");
    }
}

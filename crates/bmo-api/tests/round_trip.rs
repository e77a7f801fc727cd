//! Objects as they are stored are read and written back unchanged, member by member.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use bmo_api::{
    BareMetalHost, BareMetalSwitch, BmcEventSubscription, DataImage, FirmwareSchema, HardwareData, HostClaim,
    HostDeployPolicy, HostFirmwareComponents, HostFirmwareSettings, HostNetworkAttachment, HostUpdatePolicy,
    PreprovisioningImage,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The object after one trip through its type.
fn through_type(object: &Value) -> Value {
    fn trip<T: Serialize + DeserializeOwned>(object: &Value) -> Value {
        let typed: T =
            serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error}: {object}"));
        serde_json::to_value(typed).unwrap()
    }
    match object["kind"].as_str().unwrap() {
        "BareMetalHost" => trip::<BareMetalHost>(object),
        "HardwareData" => trip::<HardwareData>(object),
        "HostFirmwareSettings" => trip::<HostFirmwareSettings>(object),
        "HostFirmwareComponents" => trip::<HostFirmwareComponents>(object),
        "HostUpdatePolicy" => trip::<HostUpdatePolicy>(object),
        "FirmwareSchema" => trip::<FirmwareSchema>(object),
        "DataImage" => trip::<DataImage>(object),
        "PreprovisioningImage" => trip::<PreprovisioningImage>(object),
        "BMCEventSubscription" => trip::<BmcEventSubscription>(object),
        "BareMetalSwitch" => trip::<BareMetalSwitch>(object),
        "HostClaim" => trip::<HostClaim>(object),
        "HostDeployPolicy" => trip::<HostDeployPolicy>(object),
        "HostNetworkAttachment" => trip::<HostNetworkAttachment>(object),
        kind => panic!("no type for {kind}"),
    }
}

/// Paths at which two values differ, with both sides.
fn differences(path: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(l), Value::Object(r)) => {
            for key in l.keys().chain(r.keys().filter(|key| !l.contains_key(*key))) {
                let side =
                    |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or("(absent)".into());
                differences(&format!("{path}.{key}"), &side(l), &side(r), found);
            }
        }
        (Value::Array(l), Value::Array(r)) if l.len() == r.len() => {
            for (index, (l, r)) in l.iter().zip(r).enumerate() {
                differences(&format!("{path}[{index}]"), l, r, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{path}: {left} became {right}")),
    }
}

#[test]
fn stored_objects_are_unchanged_by_a_trip_through_their_type() {
    let objects: Vec<Value> = serde_json::from_str(include_str!("fixtures/stored.json")).unwrap();
    assert!(objects.len() >= 12, "fixtures were lost");
    for object in objects {
        let mut found = Vec::new();
        differences("", &object, &through_type(&object), &mut found);
        assert!(found.is_empty(), "{}: {found:#?}", object["metadata"]["name"]);
    }
}

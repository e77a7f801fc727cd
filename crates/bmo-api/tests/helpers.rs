//! Questions about objects, as tables of input and answer.
#![allow(clippy::unwrap_used, reason = "a test")]

use bmo_api::*;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

fn host(spec: &Value, status: &Value) -> BareMetalHost {
    serde_json::from_value(json!({ "metadata": { "name": "h" }, "spec": spec, "status": status })).unwrap()
}

/// A host from its spec and status in JSON.
macro_rules! host {
    ($spec:tt) => {
        host(&json!($spec), &Value::Null)
    };
    ($spec:tt, $status:tt) => {
        host(&json!($spec), &json!($status))
    };
}

fn annotated(mut host: BareMetalHost, key: &str, value: &str) -> BareMetalHost {
    host.metadata.annotations = Some([(key.to_owned(), value.to_owned())].into());
    host
}

#[test]
fn inspection_is_needed_until_hardware_is_known() {
    let rows = vec![
        ("nothing known", host!({}), true),
        (
            "hardware known, even if empty",
            host!({}, { "hardware": {} }),
            false,
        ),
        (
            "a consumer alone",
            host!({ "consumerRef": { "name": "x" } }),
            true,
        ),
        (
            "provisioned",
            host!({}, { "provisioning": { "image": { "url": "not-empty" } } }),
            false,
        ),
        (
            "externally provisioned",
            host!({ "externallyProvisioned": true }),
            false,
        ),
    ];
    for (name, host, expected) in rows {
        assert_eq!(host.needs_hardware_inspection(), expected, "{name}");
    }
}

#[test]
fn provisioning_is_needed_when_something_else_is_to_run() {
    let rows = vec![
        ("image", host!({ "online": true, "image": { "url": "u" } }), true),
        ("no image", host!({ "online": true }), false),
        (
            "empty url",
            host!({ "online": true, "image": { "url": "" } }),
            false,
        ),
        (
            "offline",
            host!({ "online": false, "image": { "url": "u" } }),
            false,
        ),
        (
            "provisioned already",
            host!({ "online": true, "image": { "url": "u" } }, { "provisioning": { "image": { "url": "u" } } }),
            false,
        ),
        (
            "external",
            host!({ "online": true, "externallyProvisioned": true, "image": { "url": "u" } }),
            false,
        ),
        (
            "custom deploy",
            host!({ "online": true, "customDeploy": { "method": "m" } }),
            true,
        ),
        (
            "custom deploy done",
            host!(
                { "online": true, "customDeploy": { "method": "m" } },
                { "provisioning": { "customDeploy": { "method": "m" } } }
            ),
            false,
        ),
    ];
    for (name, host, expected) in rows {
        assert_eq!(host.needs_provisioning(), expected, "{name}");
    }
}

#[test]
fn credentials_match_only_as_a_whole() {
    let used = CredentialsStatus {
        reference: Some(SecretReference {
            name: Some("n".into()),
            namespace: Some("ns".into()),
        }),
        version: "1".into(),
    };
    assert!(used.matches("ns", "n", "1"));
    assert!(!used.matches("ns", "other", "1"));
    assert!(!used.matches("other", "n", "1"));
    assert!(!used.matches("ns", "n", "2"));
    assert!(!CredentialsStatus::default().matches("", "", ""));
}

#[test]
fn a_checksum_is_taken_or_refused_by_the_rules() {
    use ChecksumType::{Auto, Md5, Sha256, Sha512};
    let image = |url: &str, checksum: &str, kind: Option<&str>, format: Option<&str>| Image {
        url: url.into(),
        checksum: checksum.into(),
        checksum_type: kind.map(ChecksumType::from),
        format: format.map(ImageFormat::from),
        oci_auth_secret_name: None,
    };
    let usable = |value: &str, algorithm| {
        Ok(ImageChecksum {
            value: value.into(),
            algorithm,
        })
    };
    for kind in [Md5, Sha256, Sha512] {
        assert_eq!(
            image("http://u", "c", Some(kind.as_str()), None).checksum(),
            usable("c", Some(kind))
        );
    }
    assert_eq!(
        image("http://u", "c", Some(Auto.as_str()), None).checksum(),
        usable("c", None)
    );
    assert_eq!(image("http://u", "c", None, None).checksum(), usable("c", None));
    assert!(matches!(
        image("http://u", "", None, None).checksum(),
        Err(ChecksumError::Missing { .. })
    ));
    assert!(matches!(
        image("http://u", "", Some("md5"), None).checksum(),
        Err(ChecksumError::Missing { .. })
    ));
    let unknown = image("http://u", "c", Some("boondoggle"), None)
        .checksum()
        .unwrap_err();
    assert!(
        unknown.to_string().contains("boondoggle") && unknown.to_string().contains("sha512"),
        "{unknown}"
    );
    assert_eq!(image("oci://u", "", None, None).checksum(), usable("", None));
    for format in [None, Some("live-iso")] {
        let error = image("OCI://u", "c", None, format).checksum().unwrap_err();
        assert!(matches!(error, ChecksumError::NotAllowedForOci { .. }));
    }
    assert_eq!(
        image("http://u", "", None, Some("live-iso")).checksum(),
        usable("", None)
    );
}

#[test]
fn images_know_where_they_come_from_and_whether_they_are_written() {
    let image = |url: &str, format: Option<&str>| Image {
        url: url.into(),
        format: format.map(ImageFormat::from),
        ..Image::default()
    };
    for (url, expected) in [
        ("oci://r/i", true),
        ("OCI://r/i", true),
        ("Oci://r/i", true),
        ("http://r", false),
        ("https://r", false),
        ("", false),
    ] {
        assert_eq!(image(url, None).is_oci(), expected, "{url}");
    }
    assert!(image("u", Some("live-iso")).is_live_iso());
    assert!(!image("u", Some("raw")).is_live_iso());
    assert!(!image("u", None).is_live_iso());
}

#[test]
fn settings_have_defaults() {
    assert_eq!(host!({}).boot_mode(), BootMode::Uefi);
    assert_eq!(host!({ "bootMode": "" }).boot_mode(), BootMode::Uefi);
    assert_eq!(host!({ "bootMode": "UEFI" }).boot_mode(), BootMode::Uefi);
    assert_eq!(host!({ "bootMode": "legacy" }).boot_mode(), BootMode::Legacy);
    assert_eq!(
        host!({}).automated_cleaning_mode(),
        AutomatedCleaningMode::Metadata
    );
    assert_eq!(host!({}).state(), ProvisioningState::None);
}

#[test]
fn setters_say_whether_anything_changed() {
    use OperationalStatus::{Delayed, Detached, Discovered, Error, Ok, Unset};
    for (before, after, changed) in [
        (Ok, Discovered, true),
        (Detached, Detached, false),
        (Error, Error, false),
        (Unset, Delayed, true),
    ] {
        let mut status = BareMetalHostStatus {
            operational_status: before,
            ..Default::default()
        };
        assert_eq!(status.set_operational_status(after.clone()), changed);
        assert_eq!(status.operational_status, after);
    }
    for (before, after, changed) in [("p", "p", false), ("q", "p", true), ("", "p", true)] {
        let mut status = BareMetalHostStatus {
            hardware_profile: before.into(),
            ..Default::default()
        };
        assert_eq!(status.set_hardware_profile(after), changed);
        assert_eq!(status.hardware_profile, after);
    }
}

#[test]
fn bmc_details_are_any_of_the_two() {
    assert!(host!({ "bmc": { "address": "a" } }).has_bmc_details());
    assert!(host!({ "bmc": { "credentialsName": "c" } }).has_bmc_details());
    assert!(!host!({}).has_bmc_details());
    assert!(!host!({ "bmc": { "address": "", "credentialsName": "" } }).has_bmc_details());
}

#[test]
fn inspection_is_disabled_by_either_way() {
    assert!(!host!({}).inspection_disabled());
    assert!(annotated(host!({}), annotations::INSPECT, "disabled").inspection_disabled());
    assert!(!annotated(host!({}), annotations::INSPECT, "").inspection_disabled());
    assert!(host!({ "inspectionMode": "disabled" }).inspection_disabled());
    assert!(!host!({ "inspectionMode": "agent" }).inspection_disabled());
    assert!(
        annotated(
            host!({ "inspectionMode": "disabled" }),
            annotations::INSPECT,
            "disabled"
        )
        .inspection_disabled()
    );
}

#[test]
fn hardware_profiles_choose_the_disk() {
    let hints = |name: &str| HardwareProfile::find(name).unwrap().root_device_hints;
    for (name, device) in [
        ("unknown", "/dev/sda"),
        ("libvirt", "/dev/vda"),
        ("openstack", "/dev/vdb"),
    ] {
        assert_eq!(
            hints(name),
            RootDeviceHints {
                device_name: device.into(),
                ..Default::default()
            }
        );
    }
    for (name, address) in [("dell", "0:0:0:0"), ("dell-raid", "0:2:0:0")] {
        assert_eq!(
            hints(name),
            RootDeviceHints {
                hctl: address.into(),
                ..Default::default()
            }
        );
    }
    assert_eq!(hints("empty"), RootDeviceHints::default());
    assert!(
        HardwareProfile::find("bogus")
            .unwrap_err()
            .to_string()
            .contains("bogus")
    );
}

#[test]
fn network_interfaces_are_told_apart_by_mac_else_by_name() {
    let interface = |name: &str, mac: &str| NetworkInterface {
        name: name.into(),
        mac_address: mac.into(),
        ..NetworkInterface::default()
    };
    assert_eq!(interface("eth0", "02:00:00:00:00:AB").key(), "02:00:00:00:00:ab");
    assert_eq!(interface("eth0", "").key(), "eth0");
    assert!(interface("", "02:00:00:00:00:AB").is_valid() && interface("eth0", "").is_valid());
    assert!(!interface("", "").is_valid());
}

#[test]
fn firmware_components_have_three_forms() {
    for (component, known) in [
        ("bmc", true),
        ("bios", true),
        ("nic:NIC.1", true),
        ("nic:AD007", true),
        ("something", false),
        ("BMC", false),
        ("BIOS", false),
    ] {
        let update = FirmwareUpdate {
            component: component.into(),
            url: "u".into(),
        };
        assert_eq!(update.check_component().is_ok(), known, "{component}");
    }
}

#[test]
fn firmware_settings_are_checked_against_their_schema() {
    let schema: FirmwareSchemaSpec = serde_json::from_value(json!({ "schema": {
        "AssetTag": { "attribute_type": "String", "min_length": 1, "max_length": 16 },
        "ProcVirtualization": { "attribute_type": "Enumeration", "allowable_values": ["Enabled", "Disabled"] },
        "NetworkBootRetryCount": { "attribute_type": "Integer", "lower_bound": 1, "upper_bound": 20 },
        "SerialNumber": { "attribute_type": "String", "min_length": 1, "max_length": 16, "read_only": true },
        "QuietBoot": { "attribute_type": "Boolean" },
        "SysPassword": { "attribute_type": "Password" },
        "SriovEnable": {},
    } }))
    .unwrap();
    let text = |text: &str| IntOrString::String(text.to_owned());
    // setting, value, what the message says; empty: accepted
    let rows = [
        ("AssetTag", text("NewServer"), ""),
        (
            "AssetTag",
            text("NewServerPutInServiceIn2021"),
            "above the maximum length 16",
        ),
        ("AssetTag", text(""), "below the minimum length 1"),
        ("ProcVirtualization", text("Disabled"), ""),
        ("ProcVirtualization", text("Foo"), "unknown enumeration value"),
        ("NetworkBootRetryCount", text("10"), ""),
        ("NetworkBootRetryCount", IntOrString::Int(10), ""),
        ("NetworkBootRetryCount", text("42"), "above the maximum 20"),
        (
            "NetworkBootRetryCount",
            IntOrString::Int(0),
            "below the minimum 1",
        ),
        ("NetworkBootRetryCount", text("foo"), "not an integer"),
        ("QuietBoot", text("true"), ""),
        ("QuietBoot", text("Enabled"), "not a boolean"),
        ("SerialNumber", IntOrString::Int(42), "read-only"),
        ("SysPassword", text("x"), "passwords"),
        ("SriovEnable", text("Disabled"), ""),
        ("IceCream", text("Vanilla"), "not in the FirmwareSchema"),
    ];
    for (name, value, expected) in rows {
        let message = schema
            .check_setting(name, &value)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert_eq!(
            message.is_empty(),
            expected.is_empty(),
            "{name} {value:?}: {message}"
        );
        assert!(message.contains(expected), "{name} {value:?}: {message}");
        assert!(
            message.is_empty() || message.starts_with(&format!("Setting {name} is invalid, ")),
            "{message}"
        );
    }
}

#[test]
fn operations_are_measured_by_state() {
    let (start, end) = (
        time::whole_seconds("2026-01-01T00:00:00.9Z".parse().unwrap()),
        "2026-01-01T00:01:30Z",
    );
    let mut history = OperationHistory::default();
    let metric = history.metric_for_mut(&ProvisioningState::Inspecting).unwrap();
    assert_eq!(metric.duration(), Duration::ZERO);
    metric.start = Some(start);
    assert_eq!(metric.duration(), Duration::ZERO, "still going on");
    metric.end = Some(Time(end.parse().unwrap()));
    assert_eq!(
        history
            .metric_for(&ProvisioningState::Inspecting)
            .unwrap()
            .duration(),
        Duration::from_secs(90)
    );
    assert!(history.metric_for(&ProvisioningState::Available).is_none());
}

#[test]
fn a_condition_keeps_its_time_until_its_status_flips() {
    let condition = |status: &str, reason: &str, second: i64| Condition {
        type_: "Ready".into(),
        status: status.into(),
        reason: reason.into(),
        message: String::new(),
        observed_generation: Some(1),
        last_transition_time: Time(Timestamp::from_second(second).unwrap()),
    };
    let mut conditions = Vec::new();
    assert!(set_condition(&mut conditions, condition("False", "Error", 1)));
    assert!(!set_condition(&mut conditions, condition("False", "Error", 2)));
    assert!(set_condition(&mut conditions, condition("False", "Servicing", 3)));
    assert_eq!(
        find_condition(&conditions, "Ready"),
        Some(&condition("False", "Servicing", 1))
    );
    assert!(set_condition(
        &mut conditions,
        condition("True", "Provisioned", 4)
    ));
    assert_eq!(conditions, [condition("True", "Provisioned", 4)]);
}

#[test]
fn one_odd_object_does_not_stop_a_watch() {
    for odd in [
        json!({ "metadata": { "name": "no-spec" } }),
        json!({ "metadata": { "name": "x" }, "spec": null, "status": {} }),
        json!({ "metadata": { "name": "x" }, "spec": { "future": 1 }, "status": { "conditions": null } }),
        json!({ "metadata": { "name": "x" }, "spec": { "online": true, "bootMode": "" } }),
    ] {
        let host: Result<BareMetalHost, _> = serde_json::from_value(odd.clone());
        assert!(host.is_ok(), "{odd}: {host:?}");
    }
}

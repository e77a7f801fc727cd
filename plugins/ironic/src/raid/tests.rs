//! Interfaces, steps and volumes for what is wanted and what is there.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::float_cmp,
    reason = "tables of values, compared exactly"
)]

use super::Volumes;
use bmo_api::RaidConfig;
use serde_json::{Value, json};

fn config(value: Value) -> Option<RaidConfig> {
    (!value.is_null()).then(|| serde_json::from_value(value).unwrap())
}

fn hw() -> Value {
    json!({"hardwareRAIDVolumes": [{"level": "1", "name": "root"}, {"level": "1", "name": "v1"}]})
}

fn sw() -> Value {
    json!({"softwareRAIDVolumes": [{"level": "1"}]})
}

#[test]
fn steps_for_target_and_actual() {
    let (hw_none, sw_none) = (
        json!({"hardwareRAIDVolumes": []}),
        json!({"softwareRAIDVolumes": []}),
    );
    const HW: &[&str] = &["raid/delete_configuration", "raid/create_configuration"];
    const SW: &[&str] = &[
        "raid/delete_configuration",
        "deploy/erase_devices_metadata",
        "raid/create_configuration",
    ];
    let table: Vec<(&str, Value, Value, &[&str])> = vec![
        ("redfish", json!(null), json!(null), &[]),
        ("redfish", json!({}), json!(null), &[]),
        (
            "redfish",
            json!({"hardwareRAIDVolumes": null, "softwareRAIDVolumes": null}),
            json!(null),
            &[],
        ),
        ("redfish", hw(), json!(null), HW),
        ("redfish", hw(), hw(), &[]),
        ("redfish", hw_none.clone(), hw(), &HW[..1]),
        ("redfish", hw_none.clone(), hw_none.clone(), &[]),
        ("redfish", hw_none, json!(null), &HW[..1]),
        ("redfish", json!({}), hw(), &[]),
        ("no-raid", hw(), json!(null), &[]),
        ("agent", sw(), json!(null), SW),
        ("agent", sw(), sw(), &[]),
        ("agent", sw_none.clone(), json!(null), &[]),
        ("agent", sw_none.clone(), json!({}), &[]),
        ("agent", sw_none.clone(), sw_none.clone(), &[]),
        ("agent", sw_none, sw(), &SW[..2]),
        (
            "redfish",
            json!({"hardwareRAIDVolumes": null, "softwareRAIDVolumes": [{"level": "1"}]}),
            json!(null),
            SW,
        ),
    ];
    for (driver, target, actual, expected) in table {
        let (wanted, present) = (config(target.clone()), config(actual.clone()));
        let volumes = Volumes {
            target: wanted.as_ref(),
            actual: present.as_ref(),
        };
        let steps: Vec<_> = volumes
            .steps(driver)
            .iter()
            .map(|step| format!("{}/{}", step.interface, step.name))
            .collect();
        assert_eq!(steps, expected, "{driver}: {target} over {actual}");
    }
}

#[test]
fn interface_for_driver_and_volumes() {
    let table = [
        ("no-raid", json!(null), json!(null), Ok("no-raid")),
        ("no-raid", json!({}), json!(null), Ok("no-raid")),
        ("no-raid", hw(), json!(null), Err("does not support RAID")),
        ("no-raid", sw(), json!(null), Ok("agent")),
        ("agent", json!(null), json!(null), Ok("agent")),
        ("agent", json!({}), json!(null), Ok("agent")),
        ("agent", sw(), json!(null), Ok("agent")),
        ("agent", hw(), json!(null), Err("only software RAID")),
        ("redfish", json!(null), json!(null), Ok("redfish")),
        ("redfish", json!({}), json!(null), Ok("redfish")),
        ("redfish", hw(), json!(null), Ok("redfish")),
        ("redfish", sw(), json!(null), Ok("agent")),
        ("redfish", json!({"softwareRAIDVolumes": []}), sw(), Ok("agent")),
    ];
    for (driver, target, actual, expected) in table {
        let (wanted, present) = (config(target.clone()), config(actual));
        let volumes = Volumes {
            target: wanted.as_ref(),
            actual: present.as_ref(),
        };
        match (volumes.interface(driver), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{driver}: {target}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{found}"),
            other => panic!("{driver}: {target}: {other:?}"),
        }
    }
}

fn disks(target: Value, has_hints: bool) -> Result<Value, String> {
    let wanted = config(target);
    Volumes {
        target: wanted.as_ref(),
        actual: None,
    }
    .logical_disks(has_hints)
    .map(Value::from)
}

#[test]
fn volumes_in_ironics_language() {
    let hardware = json!({"hardwareRAIDVolumes": [
        {"level": "1", "name": "root", "rotational": false, "sizeGibibytes": 100},
        {"level": "5+0", "name": "v1", "rotational": true, "numberOfPhysicalDisks": 2, "controller": "c",
         "physicalDisks": ["a", "b"], "sizeGibibytes": 0},
    ]});
    let mut expected = json!([
        {"size_gb": 100, "raid_level": "1", "volume_name": "root", "disk_type": "ssd"},
        {"size_gb": "MAX", "raid_level": "5+0", "volume_name": "v1", "disk_type": "hdd", "number_of_physical_disks": 2,
         "controller": "c", "physical_disks": ["a", "b"]},
    ]);
    assert_eq!(disks(hardware.clone(), true).unwrap(), expected);
    expected[0]["is_root_volume"] = json!(true);
    assert_eq!(disks(hardware, false).unwrap(), expected);

    let software = json!({"softwareRAIDVolumes": [
        {"level": "1", "rootVolume": false, "physicalDisks": [{"minSizeGigabytes": 100}, {"minSizeGigabytes": 200}]},
        {"level": "1+0", "rootVolume": true, "sizeGibibytes": 7},
    ]});
    assert_eq!(
        disks(software, false).unwrap(),
        json!([
            {"controller": "software", "size_gb": "MAX", "raid_level": "1", "is_root_volume": false,
             "physical_disks": [{"size": ">= 100"}, {"size": ">= 200"}]},
            {"controller": "software", "size_gb": 7, "raid_level": "1+0", "is_root_volume": true},
        ])
    );
    for nothing in [
        json!(null),
        json!({}),
        json!({"hardwareRAIDVolumes": [], "softwareRAIDVolumes": []}),
    ] {
        assert_eq!(disks(nothing, false).unwrap(), json!([]));
    }
}

#[test]
fn volumes_that_cannot_be() {
    let table = [
        (
            json!({"hardwareRAIDVolumes": [{"level": "1", "physicalDisks": ["a", "b"]}]}),
            "'controller' must be specified",
        ),
        (
            json!({"hardwareRAIDVolumes": [{"level": "1", "controller": "c", "physicalDisks": ["a", "b"], "numberOfPhysicalDisks": 3}]}),
            "numberOfPhysicalDisks 3 but names 2",
        ),
        (
            json!({"hardwareRAIDVolumes": [{"level": "1", "name": "v1"}, {"level": "1", "name": "v1"}]}),
            "\"v1\" is used twice: by volume[1] and volume[0]",
        ),
        (json!({"softwareRAIDVolumes": [{"level": "0"}]}), "must be 1"),
    ];
    for (target, part) in table {
        let error = disks(target, false).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    assert!(
        disks(
            json!({"hardwareRAIDVolumes": [{"level": "1"}, {"level": "1"}]}),
            false
        )
        .is_ok(),
        "no names"
    );
}

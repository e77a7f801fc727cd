//! The mapping, member by member.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::float_cmp,
    reason = "tables of values, compared exactly"
)]

use super::details;
use bmo_api::{DiskType, Lldp, Nic, Vlan};
use proptest::prelude::*;
use serde_json::{Value, json};

fn of(inventory: Value, plugin_data: Value) -> bmo_api::HardwareDetails {
    details(&json!({ "inventory": inventory, "plugin_data": plugin_data })).unwrap()
}

fn lldp_of(told: Value) -> Nic {
    let interfaces = json!([{ "name": "eth0", "mac_address": "52:54:00:00:00:01" }]);
    of(
        json!({ "interfaces": interfaces }),
        json!({ "parsed_lldp": { "eth0": told } }),
    )
    .nics
    .remove(0)
}

#[test]
fn vlans_as_json_writes_them() {
    let nic = lldp_of(json!({
        "switch_port_vlans": [{"id": 1, "name": "vlan1"}, {"id": 4094.0, "name": "vlan4094"}],
        "switch_port_untagged_vlan_id": 1,
    }));
    let vlan = |id, name: &str| Vlan {
        id,
        name: name.to_owned(),
    };
    assert_eq!(
        (nic.vlans, nic.vlan_id),
        (vec![vlan(1, "vlan1"), vlan(4094, "vlan4094")], 1)
    );
}

#[test]
fn malformed_vlans_keep_what_is_right() {
    let nic = lldp_of(json!({
        "switch_port_vlans": [{"name": "a"}, {"id": 2}, {"id": "3", "name": "c"}, {"id": 4, "name": 4}, {}],
        "switch_port_untagged_vlan_id": "1",
    }));
    let vlan = |id, name: &str| Vlan {
        id,
        name: name.to_owned(),
    };
    assert_eq!(
        nic.vlans,
        vec![vlan(0, "a"), vlan(2, ""), vlan(0, "c"), vlan(4, ""), vlan(0, "")]
    );
    assert_eq!(nic.vlan_id, 0);
    for list in [json!({"id": 1}), json!("1"), Value::Null] {
        assert!(lldp_of(json!({ "switch_port_vlans": list })).vlans.is_empty());
    }
}

#[test]
fn lldp_has_what_was_told() {
    let lldp = |id: &str, port: &str, name: &str| {
        Some(Lldp {
            switch_id: id.to_owned(),
            port_id: port.to_owned(),
            switch_system_name: name.to_owned(),
        })
    };
    let table = [
        (
            json!({"switch_chassis_id": "i", "switch_port_id": "p", "switch_system_name": "n"}),
            lldp("i", "p", "n"),
        ),
        (json!({"switch_chassis_id": "i"}), lldp("i", "", "")),
        (json!({"switch_port_id": "p"}), lldp("", "p", "")),
        (json!({"switch_system_name": "n"}), lldp("", "", "n")),
        (
            json!({"switch_chassis_id": "i", "switch_port_id": 7, "other": "x"}),
            lldp("i", "", ""),
        ),
        (json!(null), None),
        (json!({}), None),
        (json!({"switch_chassis_id": "", "switch_port_id": ""}), None),
        (json!({"switch_chassis_id": 1, "switch_port_id": []}), None),
        (json!("text"), None),
    ];
    for (told, expected) in table {
        assert_eq!(lldp_of(told.clone()).lldp, expected, "{told}");
    }
}

#[test]
fn an_entry_for_each_address() {
    let inventory = json!({ "interfaces": [
        {"name": "eth0", "mac_address": "00:11:22:33:44:55", "ipv4_address": "192.0.2.1", "vendor": "0x8086",
         "product": "0x1572", "speed_mbps": 10000, "pci_address": "0000:3b:00.0"},
        {"name": "eth1", "mac_address": "66:77:88:99:aa:bb", "ipv6_address": "2001:db8::1", "speed_mbps": 1000},
        {"name": "eth46", "mac_address": "00:11:22:33:44:66", "ipv4_address": "192.0.2.2", "ipv6_address": "2001:db8::2",
         "vendor": "0x1af4", "product": null},
        {"name": "ethNoIp", "mac_address": "cc:dd:ee:ff:00:11"},
    ]});
    let plugin = json!({
        "all_interfaces": {"eth0": {"pxe_enabled": true}, "eth1": {"pxe_enabled": false}},
        "parsed_lldp": {"eth0": {"switch_port_untagged_vlan_id": 7}},
    });
    let nics = of(inventory, plugin).nics;
    let seen: Vec<_> = nics
        .iter()
        .map(|nic| (nic.name.as_str(), nic.ip.as_str(), nic.speed_gbps, nic.pxe))
        .collect();
    assert_eq!(
        seen,
        [
            ("eth0", "192.0.2.1", 10, true),
            ("eth1", "2001:db8::1", 1, false),
            ("eth46", "192.0.2.2", 0, false),
            ("eth46", "2001:db8::2", 0, false),
            ("ethNoIp", "", 0, false),
        ]
    );
    assert_eq!(
        (nics[0].model.as_str(), nics[0].pci_address.as_str()),
        ("0x8086 0x1572", "0000:3b:00.0")
    );
    assert_eq!(
        (nics[0].vlan_id, nics[2].model.as_str()),
        (7, "0x1af4"),
        "no space at the end"
    );
}

#[test]
fn disks() {
    let inventory = json!({ "disks": [
        {"name": "/dev/sda", "rotational": true, "size": 11, "vendor": "v", "model": "m", "serial": "s", "wwn": "w",
         "wwn_vendor_extension": "we", "wwn_with_extension": "wwe", "hctl": "6:0:0:0"},
        {"name": "/dev/nvme0n1p1", "by_path": "/dev/disk/by-path/n"},
        {"by_path": "/dev/disk/by-path/x"},
        {"name": "/dev/nvme0n1", "rotational": true},
        {"name": "/dev/sdb", "wwn": null},
    ]});
    let storage = of(inventory, json!(null)).storage;
    let kinds: Vec<_> = storage
        .iter()
        .map(|disk| disk.disk_type.clone().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            DiskType::Hdd,
            DiskType::Nvme,
            DiskType::Ssd,
            DiskType::Hdd,
            DiskType::Ssd
        ]
    );
    let sda = serde_json::to_value(&storage[0]).unwrap();
    assert_eq!(
        sda,
        json!({"name": "/dev/sda", "alternateNames": ["/dev/sda"], "rotational": true, "type": "HDD", "sizeBytes": 11,
               "vendor": "v", "model": "m", "serialNumber": "s", "wwn": "w", "wwnVendorExtension": "we",
               "wwnWithExtension": "wwe", "hctl": "6:0:0:0"})
    );
    assert_eq!(storage[1].name, "/dev/disk/by-path/n");
    assert_eq!(
        storage[1].alternate_names,
        ["/dev/nvme0n1p1", "/dev/disk/by-path/n"]
    );
    assert_eq!(storage[2].alternate_names, ["/dev/disk/by-path/x"]);
    assert!(of(json!({"disks": null}), json!(null)).storage.is_empty());
}

#[test]
fn processor_memory_and_vendor() {
    for (frequency, clock) in [
        (json!("1900.0000"), 1900.0),
        (json!("2499.998"), 2500.0),
        (json!("2100 MHz"), 2100.0),
        (json!(3000.4), 3000.0),
        (json!(""), 0.0),
        (json!("not-a-number"), 0.0),
        (json!(null), 0.0),
    ] {
        let cpu = of(
            json!({"cpu": {"frequency": frequency, "flags": ["b", "a"], "count": 4}}),
            json!(null),
        )
        .cpu;
        assert_eq!(cpu.clock_megahertz, clock, "{frequency}");
        assert_eq!((cpu.flags, cpu.count), (vec!["a".to_owned(), "b".to_owned()], 4));
    }
    let details = of(
        json!({"hostname": "node-0", "memory": {"physical_mb": 16384.0},
               "system_vendor": {"manufacturer": "M", "product_name": "P", "serial_number": "S",
                                 "firmware": {"vendor": "V", "version": "1", "build_date": "D"}}}),
        json!("not an object"),
    );
    assert_eq!(
        (details.hostname.as_str(), details.ram_mebibytes),
        ("node-0", 16384)
    );
    assert_eq!(details.system_vendor.product_name, "P");
    assert_eq!(
        (
            details.firmware.bios.vendor.as_str(),
            details.firmware.bios.date.as_str()
        ),
        ("V", "D")
    );
}

#[test]
fn a_wrong_type_in_the_inventory_is_an_error() {
    assert!(details(&json!({"inventory": {"memory": {"physical_mb": "much"}}})).is_err());
    assert!(details(&json!({"inventory": "text"})).is_err());
    assert!(details(&json!({"inventory": null})).is_ok());
}

fn any_value() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        Just("inventory"),
        Just("plugin_data"),
        Just("interfaces"),
        Just("disks"),
        Just("cpu"),
        Just("memory"),
        Just("parsed_lldp"),
        Just("all_interfaces"),
        Just("eth0"),
        Just("switch_port_vlans"),
        Just("id"),
        Just("frequency"),
        Just("physical_mb"),
        Just("size"),
        Just("name"),
        Just("pxe_enabled"),
        Just("speed_mbps")
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!("eth0")),
        ".{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_is_read_or_refused(document in any_value()) {
        let _ = details(&document);
        let _ = details(&json!({ "inventory": document, "plugin_data": document }));
    }
}

//! What inspection finds in every machine of the fixture.

use bmo_api::{Cpu, HardwareDetails, Lldp, Nic, Storage};

const TEBIBYTE: i64 = 1 << 40;

/// The hardware of every machine.
pub fn hardware_details() -> HardwareDetails {
    let first = lldp("aa:bb:cc:dd:ee:ff", "Ethernet1/1", "switch01.example.com");
    let second = lldp("ff:ee:dd:cc:bb:aa", "Ethernet1/2", "switch02.example.com");
    HardwareDetails {
        ram_mebibytes: 128 * 1024,
        nics: vec![
            nic(
                "nic-1",
                "virt-io",
                "ab:cd:12:34:56:78",
                "192.168.100.1",
                true,
                first,
            ),
            nic(
                "nic-2",
                "e1000",
                "12:34:56:78:ab:cd",
                "192.168.100.2",
                false,
                second,
            ),
        ],
        storage: vec![disk("disk-1 (boot)"), disk("disk-2")],
        cpu: Cpu {
            arch: "x86_64".to_owned(),
            model: "FancyPants CPU".to_owned(),
            clock_megahertz: 3000.0,
            flags: ["fpu", "hypervisor", "sse", "vmx"].map(str::to_owned).to_vec(),
            count: 1,
        },
        ..HardwareDetails::default()
    }
}

fn nic(name: &str, model: &str, mac: &str, ip: &str, pxe: bool, lldp: Lldp) -> Nic {
    Nic {
        name: name.to_owned(),
        model: model.to_owned(),
        mac: mac.to_owned(),
        ip: ip.to_owned(),
        speed_gbps: 1,
        pxe,
        lldp: Some(lldp),
        ..Nic::default()
    }
}

fn lldp(switch: &str, port: &str, name: &str) -> Lldp {
    Lldp {
        switch_id: switch.to_owned(),
        port_id: port.to_owned(),
        switch_system_name: name.to_owned(),
    }
}

fn disk(name: &str) -> Storage {
    Storage {
        name: name.to_owned(),
        size_bytes: 93 * TEBIBYTE,
        model: "Dell CFJ61".to_owned(),
        ..Storage::default()
    }
}

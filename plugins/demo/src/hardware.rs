//! The hardware every demo host has.

use bmo_plugin::api::{Cpu, HardwareDetails, Nic, Storage};

const MEBIBYTES_PER_GIBIBYTE: i64 = 1024;
const TEBIBYTE: i64 = 1 << 40;

pub(crate) fn details() -> HardwareDetails {
    HardwareDetails {
        ram_mebibytes: 128 * MEBIBYTES_PER_GIBIBYTE,
        nics: vec![
            nic("nic-1", "virt-io", "ab:cd:12:34:56:78", "192.168.100.1", true),
            nic("nic-2", "e1000", "12:34:56:78:ab:cd", "192.168.100.2", false),
        ],
        storage: vec![disk("disk-1 (boot)"), disk("disk-2")],
        cpu: Cpu {
            arch: "x86_64".to_owned(),
            model: "Core 2 Duo".to_owned(),
            clock_megahertz: 3000.0,
            flags: ["lm", "hypervisor", "vmx"].map(str::to_owned).to_vec(),
            count: 1,
        },
        ..HardwareDetails::default()
    }
}

fn nic(name: &str, model: &str, mac: &str, ip: &str, pxe: bool) -> Nic {
    Nic {
        name: name.to_owned(),
        model: model.to_owned(),
        mac: mac.to_owned(),
        ip: ip.to_owned(),
        speed_gbps: 1,
        pxe,
        ..Nic::default()
    }
}

fn disk(name: &str) -> Storage {
    Storage {
        name: name.to_owned(),
        rotational: false,
        size_bytes: 93 * TEBIBYTE,
        model: "Dell CFJ61".to_owned(),
        ..Storage::default()
    }
}

//! From Ironic's inventory to what the API calls hardware details.
//!
//! The inventory proper has a fixed shape, and a wrong type in it is an error. What inspection plugins add (which
//! interface booted, what the switches told) is taken as far as it can be understood.

use bmo_api::{
    Bios, Cpu, DiskType, Firmware, HardwareDetails, HardwareSystemVendor, Lldp, Nic, Storage, Vlan,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
struct Document {
    #[serde(default, deserialize_with = "null")]
    inventory: Inventory,
    #[serde(default)]
    plugin_data: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Inventory {
    #[serde(deserialize_with = "null")]
    hostname: String,
    #[serde(deserialize_with = "null")]
    memory: Memory,
    #[serde(deserialize_with = "null")]
    cpu: Processor,
    #[serde(deserialize_with = "null")]
    interfaces: Vec<Interface>,
    #[serde(deserialize_with = "null")]
    disks: Vec<Disk>,
    #[serde(deserialize_with = "null")]
    system_vendor: SystemVendor,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Memory {
    #[serde(deserialize_with = "number")]
    physical_mb: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Processor {
    #[serde(deserialize_with = "null")]
    architecture: String,
    #[serde(deserialize_with = "null")]
    model_name: String,
    #[serde(deserialize_with = "null")]
    frequency: Value,
    #[serde(deserialize_with = "null")]
    flags: Vec<String>,
    #[serde(deserialize_with = "number")]
    count: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Interface {
    #[serde(deserialize_with = "null")]
    name: String,
    #[serde(deserialize_with = "null")]
    mac_address: String,
    #[serde(deserialize_with = "null")]
    ipv4_address: String,
    #[serde(deserialize_with = "null")]
    ipv6_address: String,
    #[serde(deserialize_with = "null")]
    vendor: String,
    #[serde(deserialize_with = "null")]
    product: String,
    #[serde(deserialize_with = "number")]
    speed_mbps: i64,
    #[serde(deserialize_with = "null")]
    pci_address: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Disk {
    #[serde(deserialize_with = "null")]
    name: String,
    #[serde(deserialize_with = "null")]
    by_path: String,
    #[serde(deserialize_with = "null")]
    rotational: bool,
    #[serde(deserialize_with = "number")]
    size: i64,
    #[serde(deserialize_with = "null")]
    vendor: String,
    #[serde(deserialize_with = "null")]
    model: String,
    #[serde(deserialize_with = "null")]
    serial: String,
    #[serde(deserialize_with = "null")]
    wwn: String,
    #[serde(deserialize_with = "null")]
    wwn_vendor_extension: String,
    #[serde(deserialize_with = "null")]
    wwn_with_extension: String,
    #[serde(deserialize_with = "null")]
    hctl: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SystemVendor {
    #[serde(deserialize_with = "null")]
    manufacturer: String,
    #[serde(deserialize_with = "null")]
    product_name: String,
    #[serde(deserialize_with = "null")]
    serial_number: String,
    #[serde(deserialize_with = "null")]
    firmware: SystemFirmware,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SystemFirmware {
    #[serde(deserialize_with = "null")]
    vendor: String,
    #[serde(deserialize_with = "null")]
    version: String,
    #[serde(deserialize_with = "null")]
    build_date: String,
}

/// Reads the answer of Ironic's inventory call.
///
/// # Errors
/// What in the inventory is not as it should be.
pub fn details(document: &Value) -> Result<HardwareDetails, serde_json::Error> {
    let Document {
        inventory,
        plugin_data,
    } = Document::deserialize(document)?;
    let vendor = inventory.system_vendor;
    Ok(HardwareDetails {
        system_vendor: HardwareSystemVendor {
            manufacturer: vendor.manufacturer,
            product_name: vendor.product_name,
            serial_number: vendor.serial_number,
        },
        firmware: Firmware {
            bios: Bios {
                date: vendor.firmware.build_date,
                vendor: vendor.firmware.vendor,
                version: vendor.firmware.version,
            },
        },
        ram_mebibytes: inventory.memory.physical_mb,
        nics: inventory
            .interfaces
            .iter()
            .flat_map(|interface| nics(interface, &plugin_data))
            .collect(),
        storage: inventory.disks.into_iter().map(storage).collect(),
        cpu: cpu(inventory.cpu),
        hostname: inventory.hostname,
    })
}

fn cpu(cpu: Processor) -> Cpu {
    let mut flags = cpu.flags;
    flags.sort_unstable();
    let frequency = match &cpu.frequency {
        Value::String(text) => leading_number(text),
        other => other.as_f64().unwrap_or_default(),
    };
    Cpu {
        arch: cpu.architecture,
        model: cpu.model_name,
        clock_megahertz: frequency.round(),
        flags,
        count: cpu.count,
    }
}

/// The number a text begins with; zero where it begins with none.
fn leading_number(text: &str) -> f64 {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    text[..end].parse().unwrap_or_default()
}

/// One entry for each address of an interface, IPv4 first; one without an address where it has none.
fn nics(interface: &Interface, plugin_data: &Value) -> Vec<Nic> {
    let told = &plugin_data["parsed_lldp"][&interface.name];
    let nic = Nic {
        name: interface.name.clone(),
        model: format!("{} {}", interface.vendor, interface.product)
            .trim()
            .to_owned(),
        mac: interface.mac_address.clone(),
        ip: interface.ipv4_address.clone(),
        speed_gbps: interface.speed_mbps / 1000,
        vlans: vlans(told),
        vlan_id: vlan_id(&told["switch_port_untagged_vlan_id"]),
        pxe: plugin_data["all_interfaces"][&interface.name]["pxe_enabled"] == true,
        lldp: lldp(told),
        pci_address: interface.pci_address.clone(),
    };
    let with_ipv6 = (!interface.ipv6_address.is_empty()).then(|| Nic {
        ip: interface.ipv6_address.clone(),
        ..nic.clone()
    });
    let with_ipv4 = (!interface.ipv4_address.is_empty() || with_ipv6.is_none()).then_some(nic);
    with_ipv4.into_iter().chain(with_ipv6).collect()
}

fn lldp(told: &Value) -> Option<Lldp> {
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let lldp = Lldp {
        switch_id: text("switch_chassis_id"),
        port_id: text("switch_port_id"),
        switch_system_name: text("switch_system_name"),
    };
    (lldp != Lldp::default()).then_some(lldp)
}

/// The VLANs a switch offers on a port. JSON has only one kind of number, so ids are taken in any spelling of a
/// whole number; an entry keeps the parts of it that are right.
fn vlans(told: &Value) -> Vec<Vlan> {
    let list = told["switch_port_vlans"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .map(|vlan| Vlan {
            id: vlan_id(&vlan["id"]),
            name: vlan["name"].as_str().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// A VLAN id, zero for what is none.
fn vlan_id(value: &Value) -> i32 {
    let id = value
        .as_f64()
        .filter(|id| id.fract() == 0.0 && (0.0..=4094.0).contains(id))
        .unwrap_or_default();
    #[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
    let id = id as i32;
    id
}

fn storage(disk: Disk) -> Storage {
    let alternate_names = [&disk.name, &disk.by_path]
        .into_iter()
        .filter(|name| !name.is_empty())
        .cloned()
        .collect();
    let disk_type = if disk.rotational {
        DiskType::Hdd
    } else if disk.name.starts_with("/dev/nvme") {
        DiskType::Nvme
    } else {
        DiskType::Ssd
    };
    Storage {
        name: if disk.by_path.is_empty() {
            disk.name
        } else {
            disk.by_path
        },
        alternate_names,
        rotational: disk.rotational,
        disk_type: Some(disk_type),
        size_bytes: disk.size,
        vendor: disk.vendor,
        model: disk.model,
        serial_number: disk.serial,
        wwn: disk.wwn,
        wwn_vendor_extension: disk.wwn_vendor_extension,
        wwn_with_extension: disk.wwn_with_extension,
        hctl: disk.hctl,
    }
}

/// `null` reads as nothing.
fn null<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A whole number, also where it is written with a fraction of zero.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Option::<serde_json::Number>::deserialize(deserializer)?;
    let Some(value) = value else { return Ok(0) };
    if let Some(whole) = value.as_i64() {
        return Ok(whole);
    }
    let number = value.as_f64().filter(|number| number.abs() < 9e15);
    #[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
    let whole = number.map(|number| number as i64);
    whole.ok_or_else(|| serde::de::Error::custom(format!("the number {value} is too large")))
}

#[cfg(test)]
mod tests;

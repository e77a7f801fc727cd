"""The lab's machines: who they are, what their agent reports, and what of it a HardwareData must show.

One table for all parts, so that the emulated BMC, the fake agent and the tests cannot disagree. Machine `n` (0 … 19)
has a Redfish BMC; machine 20 has the IPMI one. Everything is computed from the number; nothing is read from a file.
"""

REDFISH_MACHINES = 20
IPMI_MACHINE = 20
USERNAME, PASSWORD = "admin", "password"


def system_id(n):
    """The Redfish system's identifier, the last part of its address."""
    return f"b0b0b0b0-0000-4000-8000-0000000000{n:02d}"


def mac(n, nic=0):
    return f"52:54:00:b0:{nic:02x}:{n:02x}"


def number_of(*, system=None, address=None):
    """The machine with that Redfish system id or MAC address; None for a stranger."""
    for n in range(REDFISH_MACHINES + 1):
        if system and system_id(n) == system.rsplit("/", 1)[-1].lower():
            return n
        if address and address.lower() in (mac(n, 0), mac(n, 1)):
            return n
    return None


def inventory(n):
    """What the agent of machine `n` posts when it inspects, in the shape of Ironic's inspection API."""
    first, second = mac(n, 0), mac(n, 1)

    def nic(name, address, pci, **more):
        return {"name": name, "mac_address": address, "ipv4_address": None, "ipv6_address": None, "has_carrier": True,
                "lldp": [], "vendor": "0x8086", "product": "0x1572", "client_id": None, "biosdevname": None,
                "speed_mbps": 25000, "pci_address": pci} | more

    def disk(name, path, **more):
        return {"name": name, "by_path": path, "hctl": None, "wwn": None, "wwn_with_extension": None,
                "wwn_vendor_extension": None, "vendor": "BMO"} | more

    # LLDP type, value: chassis id (a MAC address), port id (an interface name), system name
    lldp = [[1, "04" + "0200000000fe"], [2, "05" + f"Ethernet1/{n}".encode().hex()], [5, b"lab-switch".hex()]]
    nics = [nic("eth0", first, "0000:01:00.0", ipv4_address=f"172.22.0.{100 + n}", ipv6_address=f"fd00:22::{100 + n:x}", lldp=lldp),
            nic("eth1", second, "0000:01:00.1", speed_mbps=10000)]
    disks = [disk("/dev/sda", "/dev/disk/by-path/pci-0000:00:17.0-ata-1", model="LAB SSD", size=480103981056, rotational=False,
                  serial=f"SSD{n:04d}", hctl="0:0:0:0", wwn=f"0x5002538e40a1{n:04d}", wwn_with_extension=f"0x5002538e40a1{n:04d}"),
             disk("/dev/sdb", None, model="LAB HDD", size=2000398934016, rotational=True, serial=f"HDD{n:04d}", hctl="1:0:0:0"),
             disk("/dev/nvme0n1", None, model="LAB NVME", size=1000204886016, rotational=False, serial=f"NVME{n:04d}")]
    return {
        "inventory": {
            "interfaces": nics,
            "disks": disks,
            "cpu": {"model_name": "Lab CPU @ 2.10GHz", "frequency": "2099.7", "count": 8 + n, "architecture": "x86_64",
                    "flags": ["vmx", "fpu", "sse2"]},
            "memory": {"total": (16384 + 1024 * n) << 20, "physical_mb": 16384 + 1024 * n},
            "bmc_address": "127.0.0.1", "bmc_v6address": "::/0",
            "system_vendor": {"product_name": "Lab Server", "serial_number": f"LAB{n:04d}", "manufacturer": "BMO",
                              "firmware": {"vendor": "Lab BIOS", "version": "1.2.3", "build_date": "01/02/2026"}},
            "boot": {"current_boot_mode": "uefi", "pxe_interface": first},
            "hostname": f"machine-{n}"},
        "root_disk": {"name": "/dev/sda", "size": 480103981056},
        "boot_interface": first,
        "error": None}


def hardware(n):
    """What `HardwareData.spec.hardware` must be for machine `n`; keys with an empty value are left out."""
    lldp = {"switchID": "02:00:00:00:00:fe", "portID": f"Ethernet1/{n}", "switchSystemName": "lab-switch"}
    eth0 = {"name": "eth0", "mac": mac(n, 0), "model": "0x8086 0x1572", "pciAddress": "0000:01:00.0", "speedGbps": 25,
            "pxe": True, "lldp": lldp}
    eth1 = {"name": "eth1", "mac": mac(n, 1), "model": "0x8086 0x1572", "pciAddress": "0000:01:00.1", "speedGbps": 10}
    path = "/dev/disk/by-path/pci-0000:00:17.0-ata-1"
    return {
        "hostname": f"machine-{n}",
        "ramMebibytes": 16384 + 1024 * n,
        "systemVendor": {"manufacturer": "BMO", "productName": "Lab Server", "serialNumber": f"LAB{n:04d}"},
        "firmware": {"bios": {"vendor": "Lab BIOS", "version": "1.2.3", "date": "01/02/2026"}},
        "cpu": {"arch": "x86_64", "model": "Lab CPU @ 2.10GHz", "count": 8 + n, "clockMegahertz": 2100,
                "flags": ["fpu", "sse2", "vmx"]},
        "nics": [eth0 | {"ip": f"172.22.0.{100 + n}"}, eth0 | {"ip": f"fd00:22::{100 + n:x}"}, eth1],
        "storage": [
            {"name": path, "alternateNames": ["/dev/sda", path], "type": "SSD", "sizeBytes": 480103981056, "vendor": "BMO",
             "model": "LAB SSD", "serialNumber": f"SSD{n:04d}", "hctl": "0:0:0:0", "wwn": f"0x5002538e40a1{n:04d}",
             "wwnWithExtension": f"0x5002538e40a1{n:04d}"},
            {"name": "/dev/sdb", "alternateNames": ["/dev/sdb"], "type": "HDD", "rotational": True, "sizeBytes": 2000398934016,
             "vendor": "BMO", "model": "LAB HDD", "serialNumber": f"HDD{n:04d}", "hctl": "1:0:0:0"},
            {"name": "/dev/nvme0n1", "alternateNames": ["/dev/nvme0n1"], "type": "NVME", "sizeBytes": 1000204886016,
             "vendor": "BMO", "model": "LAB NVME", "serialNumber": f"NVME{n:04d}"}]}

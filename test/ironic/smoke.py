#!/usr/bin/env python3
"""Self-test of the lab, without an operator: nodes through their life by Ironic's API alone.

A Redfish node is enrolled with a wrong and then the right password, inspected by the agent, cleaned, deployed with an
image and a config drive that are compared byte for byte, undeployed and deleted; its image's checksum is refused when
wrong; the IPMI node is verified and powered on; BMC faults arrive.        usage: smoke.py    (after lab.sh start)
"""
import json
import sys

from labenv import Counter, Lab, machines, request
from steps import Steps, expect, until

LAB = Lab()
import configdrive  # noqa: E402  (needs the lab's Python, which Lab() has made sure of)

NODE, NUMBER = "smoke", 19
MAC = machines.mac(NUMBER)
USER_DATA = "#cloud-config\n# umlauts äöü and a tab\there\nusers: []\n"
NETWORK = {"links": [{"id": "eth0", "type": "phy", "ethernet_mac_address": MAC}], "networks": [], "services": []}
META = {"uuid": "11111111-2222-3333-4444-555555555555", "local-hostname": "smoke", "name": "given", "nested": {"a": [1, 2]}}


def node(name=NODE):
    return LAB.ironic("GET", f"nodes/{name}")


def provision(target, wanted, timeout=120, name=NODE, **more):
    LAB.ironic("PUT", f"nodes/{name}/states/provision", {"target": target} | more)

    def there():
        n = node(name)
        if n["provision_state"].endswith(("failed", "error")) and n["provision_state"] != wanted:
            raise RuntimeError(f"{target}: {n['provision_state']}: {n['last_error']}")
        return n["provision_state"] == wanted and not n["reservation"]
    until(f"{target} → {wanted}", there, timeout, pause=0.2, describe=lambda: f"It is in {node(name)['provision_state']}.")


def enrol():
    driver_info = {"redfish_address": LAB.env["REDFISH_URL"], "redfish_system_id": f"/redfish/v1/Systems/{machines.system_id(NUMBER)}",
                   "redfish_username": "admin", "redfish_password": "wrong"}
    LAB.ironic("POST", "nodes", {"name": NODE, "driver": "redfish", "driver_info": driver_info, "boot_interface": "redfish-virtual-media",
                                 "deploy_interface": "direct", "inspect_interface": "agent", "automated_clean": True,
                                 "properties": {"cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"}})
    LAB.ironic("PUT", f"nodes/{NODE}/states/provision", {"target": "manage"})
    until("enroll with an error", lambda: node()["provision_state"] == "enroll" and node()["last_error"], 60)
    if "401" not in node()["last_error"]:
        raise RuntimeError(node()["last_error"])
    LAB.ironic("PATCH", f"nodes/{NODE}", [{"op": "add", "path": "/driver_info/redfish_password", "value": "password"}])
    provision("manage", "manageable")
    LAB.ironic("POST", "ports", {"node_uuid": node()["uuid"], "address": MAC, "pxe_enabled": True})


def inspect():
    provision("inspect", "manageable")
    found = LAB.ironic("GET", f"nodes/{NODE}/inventory")
    expect(found["inventory"]["hostname"], f"machine-{NUMBER}", "hostname")
    lldp = found["plugin_data"]["parsed_lldp"]["eth0"]
    expect((lldp["switch_chassis_id"], lldp["switch_port_id"], lldp["switch_system_name"]),
           ("02:00:00:00:00:fe", f"Ethernet1/{NUMBER}", "lab-switch"), "LLDP")
    expect(found["plugin_data"]["all_interfaces"]["eth0"]["pxe_enabled"], True, "pxe_enabled of eth0")


def clean():
    before = LAB.agent(MAC)["cleanings"]
    provision("provide", "available")
    if LAB.agent(MAC)["cleanings"] <= before:
        raise RuntimeError("the agent was not asked to clean")


def set_image(checksum):
    LAB.ironic("PATCH", f"nodes/{NODE}", [{"op": "add", "path": "/instance_info", "value": {
        "image_source": LAB.env["IMAGE_URL"], "image_os_hash_algo": "sha256", "image_os_hash_value": checksum}}])


def deploy_wrong_checksum():
    set_image("0" * 64)
    provision("active", "deploy failed", configdrive={"meta_data": META})
    expect(LAB.agent(MAC)["deploys"][-1]["state"], "failed", "the write")
    # last_error is empty by now: Ironic powers the node off when a step failed, and power changes clear it
    events = [e["event"] for e in LAB.ironic("GET", f"nodes/{NODE}/history")["history"]]
    if not any("write_image failed" in event for event in events):
        raise RuntimeError(f"the node's history does not tell of it: {events}")


def deploy():
    before = len(LAB.agent(MAC)["deploys"])
    set_image(LAB.env["IMAGE_SHA256"])
    provision("active", "active", configdrive={"meta_data": META, "network_data": NETWORK, "user_data": USER_DATA})
    deploys = LAB.agent(MAC)["deploys"]
    expect(len(deploys) - before, 1, "images written")
    expect((deploys[-1]["state"], deploys[-1]["sha256"]), ("written", LAB.env["IMAGE_SHA256"]), "image")
    expect(LAB.bmc_power(NUMBER), "On", "power")
    iso = LAB.configdrive(MAC)
    files = configdrive.read(iso)
    expect(configdrive.label(iso), "config-2", "label of the config drive")
    expect(files[configdrive.LATEST + "user_data"], USER_DATA.encode(), "user_data")
    expect(json.loads(files[configdrive.LATEST + "network_data.json"]), NETWORK, "network_data.json")
    expect(json.loads(files[configdrive.LATEST + "meta_data.json"]), META, "meta_data.json")
    return f"config drive of {len(iso)} bytes, {len(files)} files"


def undeploy():
    provision("deleted", "available")
    expect(LAB.bmc_power(NUMBER), "Off", "power")


def delete():
    LAB.ironic("DELETE", f"nodes/{NODE}")
    expect([n for n in LAB.nodes() if n == NODE], [], "nodes left")


def ipmi():
    host, port = LAB.env["IPMI_ADDRESS"].removeprefix("ipmi://").split(":")
    driver_info = {"ipmi_address": host, "ipmi_port": port, "ipmi_username": "admin", "ipmi_password": "password", "ipmi_cipher_suite": "3"}
    LAB.ironic("POST", "nodes", {"name": "smoke-ipmi", "driver": "ipmi", "driver_info": driver_info, "boot_interface": "ipxe"})
    provision("manage", "manageable", name="smoke-ipmi")
    LAB.ironic("PUT", "nodes/smoke-ipmi/states/power", {"target": "power on"})
    until("power on", lambda: node("smoke-ipmi")["power_state"] == "power on", 30)
    LAB.ironic("DELETE", "nodes/smoke-ipmi")


def faults():
    LAB.bmc("POST", "/_ctl/fault", {"match": "GET /redfish/v1/Systems$", "status": 503, "count": 1})
    expect(LAB.bmc("GET", "/redfish/v1/Systems")[0], 503, "answer of a BMC with an ordered fault")
    expect(LAB.bmc("GET", "/redfish/v1/Systems")[0], 200, "answer once the fault is used up")


def counted():
    counter = Counter(LAB)
    request("GET", LAB.env["IRONIC_COUNT_ENDPOINT"] + "nodes")
    expect(sum(counter.take().values()), 1, "requests counted")


def main():
    LAB.reset()
    steps = Steps()
    steps.run("requests through the proxy are counted", counted)
    steps.run("a BMC fails as ordered", faults)
    steps.run("IPMI: verify and power on", ipmi)
    flow = [("enrol with a wrong, then the right password", enrol), ("inspect by agent", inspect), ("clean", clean),
            ("refuse an image whose checksum is wrong", deploy_wrong_checksum), ("deploy an image with a config drive", deploy),
            ("undeploy with cleaning", undeploy), ("delete", delete)]
    for name, action in flow:
        if not steps.run("Redfish: " + name, action):
            break
    steps.close()


if __name__ == "__main__":
    sys.exit(main())

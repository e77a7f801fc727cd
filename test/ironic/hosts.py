"""A BareMetalHost on one of the lab's machines, with its Secrets: made, changed and checked only through the API.

What the machine and Ironic really did is read from the lab, and compared with what the host was told to do.
"""
import base64
import json

import yaml

import configdrive
from kube import MERGE
from labenv import machines
from steps import Failed, expect, until

NAMESPACE = "ironic-flow"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
METAL3 = f"/apis/metal3.io/v1alpha1/namespaces/{NAMESPACE}"
HOSTS = f"{METAL3}/baremetalhosts"
WRONG_PASSWORD = "certainly-not-this-one"


class Host:
    """Host `node-<n>` on machine `n`."""

    def __init__(self, kube, lab, trail, n):
        self.kube, self.lab, self.trail, self.n = kube, lab, trail, n
        self.name, self.mac, self.path = f"node-{n}", machines.mac(n), f"{HOSTS}/node-{n}"
        self.node_name = f"{NAMESPACE}~{self.name}"

    # what a user does

    def create(self, password=machines.PASSWORD, **more):
        """Make the credentials and the host; `more` are further members of its spec."""
        self.secret("bmc", {"username": machines.USERNAME, "password": password})
        self.kube("POST", HOSTS, {
            "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": self.name},
            "spec": {"online": True, "bootMACAddress": self.mac, "bootMode": "UEFI", "automatedCleaningMode": "metadata",
                     "bmc": {"address": self.lab.env["REDFISH_ADDRESS_PREFIX"] + machines.system_id(self.n),
                             "credentialsName": f"{self.name}-bmc"}} | more})

    def secret(self, kind, texts):
        """Create the Secret `<host>-<kind>`, or replace the values of its keys."""
        name, data = f"{self.name}-{kind}", {k: base64.b64encode(v.encode()).decode() for k, v in texts.items()}
        if self.kube.maybe(f"{CORE}/secrets/{name}"):
            self.kube("PATCH", f"{CORE}/secrets/{name}", {"data": data}, MERGE, patience=60)
        else:
            self.kube("POST", f"{CORE}/secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}, patience=60)
        return {"name": name, "namespace": NAMESPACE}

    def patch(self, spec):
        self.kube("PATCH", self.path, {"spec": spec}, MERGE, patience=60)

    def order_image(self, checksum=None):
        """Ask for the lab's image with user, network and meta data of this host; `checksum` instead of the right one."""
        data = {"userData": self.user_data(), "networkData": yaml.safe_dump(self.network_data()), "metaData": yaml.safe_dump(self.meta_data())}
        references = {key: self.secret(key.lower(), {key: text}) for key, text in data.items()}
        image = {"url": self.lab.env["IMAGE_URL"], "checksum": checksum or self.lab.env["IMAGE_SHA256"], "checksumType": "sha256", "format": "qcow2"}
        self.patch({"image": image} | references)

    def user_data(self):
        return f"#cloud-config\n# {self.name}: umlauts äöü, a tab\there, \"quotes\", a backslash \\ and no newline at the end\nusers: []"

    def network_data(self):
        address = {"id": "n0", "type": "ipv4", "link": "eth0", "ip_address": f"192.0.2.{self.n + 10}", "netmask": "255.255.255.0",
                   "network_id": "lab", "routes": []}
        return {"links": [{"id": "eth0", "type": "phy", "ethernet_mac_address": self.mac, "mtu": 1500}], "networks": [address], "services": []}

    def meta_data(self):
        return {"local-hostname": f"named-by-user-{self.n}", "rack": "r-07", "slots": [1, 2], "nested": {"on": True}}

    # what a user sees

    def get(self):
        return self.kube("GET", self.path, patience=60)

    def status(self):
        return self.get().get("status") or {}

    def state(self):
        return (self.status().get("provisioning") or {}).get("state", "")

    def why(self):
        status = self.status()
        return f"It is: {json.dumps({k: status.get(k) for k in ('operationalStatus', 'errorType', 'errorMessage')})}. Its way: {self.trail.text(self.name)}"

    def await_state(self, wanted, timeout):
        until(f"{self.name} {wanted}", lambda: self.state() == wanted, timeout, describe=self.why)

    def await_error(self, kind, timeout):
        """The message of an error of that type, which a user must be able to read."""
        until(f"{self.name}: {kind}", lambda: self.status().get("errorType") == kind and self.status().get("errorMessage"), timeout, describe=self.why)
        return self.status()["errorMessage"]

    def delete(self, timeout=180):
        self.kube("DELETE", self.path, patience=60)
        until(f"{self.name} gone", lambda: self.kube.maybe(self.path) is None, timeout, describe=self.why)

    def await_power(self, on, timeout=60):
        """Both the host's status and the BMC say so."""
        until(f"{self.name} powered {'on' if on else 'off'}", lambda: self.status().get("poweredOn") is on and
              self.lab.bmc_power(self.n) == ("On" if on else "Off"), timeout, describe=self.why)

    # what really happened

    def agent(self):
        return self.lab.agent(self.mac)

    def deploys(self):
        return self.agent()["deploys"]

    def check_hardware(self):
        found = self.kube("GET", f"{METAL3}/hardwaredata/{self.name}", patience=60)["spec"]["hardware"]
        for where, hardware in (("HardwareData", found), ("status.hardware", self.status().get("hardware"))):
            compare(filled(hardware), machines.hardware(self.n), where)

    def check_deploy(self, number):
        """Exactly `number` images were ever written on the machine, and the last is the one ordered, with its config drive."""
        deploys = self.deploys()
        expect(len(deploys), number, f"{self.name}: images written so far")
        expect((deploys[-1]["state"], deploys[-1]["algorithm"], deploys[-1]["sha256"], deploys[-1]["image_url"]),
               ("written", "sha256", self.lab.env["IMAGE_SHA256"], self.lab.env["IMAGE_URL"]), f"{self.name}: image")
        iso = self.lab.configdrive(self.mac)
        files = configdrive.read(iso)
        names = {"local-hostname": self.name, "local_hostname": self.name, "name": self.name,
                 "metal3-name": self.name, "metal3-namespace": NAMESPACE, "uuid": self.get()["metadata"]["uid"]}
        expect(files[configdrive.LATEST + "user_data"], self.user_data().encode(), f"{self.name}: user_data")
        compare(json.loads(files[configdrive.LATEST + "network_data.json"]), self.network_data(), "network_data.json")
        compare(json.loads(files[configdrive.LATEST + "meta_data.json"]), names | self.meta_data(), "meta_data.json")
        return f"image of {deploys[-1]['bytes']} bytes, config drive of {len(iso)}"

    def check_gone(self):
        """No trace is left: of the host, in the API, but the data of its user; of the node, in Ironic; and the machine is off."""
        expect(self.kube.maybe(self.path), None, "host")
        until(f"{self.name}: HardwareData gone", lambda: self.kube.maybe(f"{METAL3}/hardwaredata/{self.name}") is None, 30)
        until(f"{self.name}: credentials gone with the host that owned them",
              lambda: self.kube.maybe(f"{CORE}/secrets/{self.name}-bmc") is None, 30)
        expect([n for n in self.lab.nodes() if n == self.node_name], [], "nodes in Ironic")
        expect(self.lab.bmc_power(self.n), "Off", "power")


def filled(value):
    """`value` without members that are empty, zero or false, which an API may show or leave out."""
    if isinstance(value, dict):
        return {k: v for k, v in ((k, filled(v)) for k, v in value.items()) if v not in (None, "", 0, [], {}, False)}
    return [filled(v) for v in value] if isinstance(value, list) else value


def compare(found, wanted, what):
    """As `expect`, but tells which member differs."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(found.keys() | wanted.keys()):
            compare(found.get(key), wanted.get(key), f"{what}.{key}")
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for i, (one, other) in enumerate(zip(found, wanted)):
            compare(one, other, f"{what}[{i}]")
    elif found != wanted:
        raise Failed(f"{what}: found {found!r}, wanted {wanted!r}")


def make_namespace(kube):
    kube("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, ok=(201, 409))

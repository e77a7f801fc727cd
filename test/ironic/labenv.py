"""The running lab as tests see it: lab.env, Ironic's API, the fake agent's records, the BMCs' faults, counted requests.

Importing this module also lets the modules of `lab/` and of `test/lib` be found.
"""
import base64
import collections
import json
import os
import pathlib
import re
import shlex
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "lab"), str(HERE.parent / "lib")]
sys.dont_write_bytecode = True

import machines  # noqa: E402  (found through the path above)

IRONIC_VERSION = "1.109"


def request(method, url, body=None, headers=None, timeout=60):
    """(status, body) of one HTTP request; the body is parsed where it is JSON, else bytes."""
    sent = {"Accept": "application/json"} | (headers or {})
    data = None
    if body is not None:
        data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, sent, method=method), timeout=timeout) as answer:
            status, kind, data = answer.status, answer.headers.get("Content-Type", ""), answer.read()
    except urllib.error.HTTPError as error:
        status, kind, data = error.code, error.headers.get("Content-Type", ""), error.read()
    return status, json.loads(data) if data and "json" in kind else data


class Lab:
    """The lab in BMO_LAB_DIR (default target/ironic-lab), by the lab.env that lab.sh wrote.

    A script that is run by another Python than the lab's starts itself again with that one, which has YAML and ISO.
    """

    def __init__(self):
        directory = pathlib.Path(os.environ.get("BMO_LAB_DIR") or HERE.parents[1] / "target" / "ironic-lab")
        try:
            lines = (directory / "lab.env").read_text().splitlines()
        except OSError:
            sys.exit(f"no lab in {directory}: start one with test/ironic/lab.sh start")
        words = (word for line in lines for word in shlex.split(line, comments=True))
        self.env = dict(word.split("=", 1) for word in words)
        if os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(self.env["LAB_PYTHON"]))):
            os.execv(self.env["LAB_PYTHON"], [self.env["LAB_PYTHON"], *sys.argv])
        self.agent_url = self.env["AGENT_CONTROL_URL"]
        self.basic = "Basic " + base64.b64encode(f"{machines.USERNAME}:{machines.PASSWORD}".encode()).decode()

    def ironic(self, method, path, body=None, ok=(200, 201, 202, 204), version=IRONIC_VERSION):
        """A request straight to Ironic, not counted; `path` begins after /v1/."""
        status, answer = request(method, self.env["IRONIC_ENDPOINT"] + path, body, {"X-OpenStack-Ironic-API-Version": version})
        if status not in ok:
            raise RuntimeError(f"Ironic: {method} {path}: {status} {str(answer)[:500]}")
        return answer

    def nodes(self):
        """What Ironic knows of its nodes now, by name."""
        fields = "uuid,name,provision_state,power_state,last_error,maintenance,instance_info"
        return {n["name"]: n for n in self.ironic("GET", f"nodes?fields={fields}")["nodes"]}

    def agent(self, mac):
        """What the agent of the machine with that MAC address did so far (see lab/records.py)."""
        return request("GET", f"{self.agent_url}/machines/{mac}")[1]

    def configdrive(self, mac):
        """The last config drive written on that machine, as the bytes of an ISO image."""
        status, iso = request("GET", f"{self.agent_url}/machines/{mac}/configdrive")
        return iso if status == 200 else None

    def agent_rule(self, **rule):
        request("POST", f"{self.agent_url}/rules", rule)

    def bmc(self, method, path, body=None):
        """A request to the Redfish emulator: `/_ctl/…` or `/redfish/v1/…`."""
        return request(method, self.env["REDFISH_URL"] + path, body, {"Authorization": self.basic})

    def bmc_power(self, n):
        return self.bmc("GET", f"/redfish/v1/Systems/{machines.system_id(n)}")[1]["PowerState"]

    def reset(self):
        """Forget what earlier tests left: orders to fail, what the agent kept, nodes in Ironic, machines that run."""
        request("DELETE", f"{self.agent_url}/rules")
        self.bmc("DELETE", "/_ctl/fault")
        for node in self.nodes().values():
            self.ironic("PUT", f"nodes/{node['uuid']}/maintenance", {"reason": "left by a test"})
            self.ironic("DELETE", f"nodes/{node['uuid']}")
        for n in range(machines.REDFISH_MACHINES):
            self.bmc("PUT", f"/_ctl/power/{machines.system_id(n)}", {"state": "Off"})
        request("DELETE", f"{self.agent_url}/machines")


class Counter:
    """Requests that went through the counting proxy since the last look."""

    def __init__(self, lab):
        self.path, self.at = lab.env["COUNT_LOG"], 0
        self.take()

    def take(self):
        """Counter of `METHOD path status` since the last call, ids replaced by ID."""
        counted = collections.Counter()
        with open(self.path, encoding="utf-8") as log:
            log.seek(self.at)
            for line in iter(log.readline, ""):
                if not line.endswith("\n"):
                    break
                _, method, path, status, _ = line.split()
                path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[^/?]*(~|%7E)[^/?]*", "ID", path.split("?")[0])
                counted[f"{method} {path} {status}"] += 1
                self.at = log.tell()
        return counted

#!/usr/bin/env python3
"""Redfish BMCs of the lab's machines: sushy-tools' emulator with its fake driver, and what that driver lacks.

Added: BIOS attributes, firmware versions, memory, processors, simple storage, power changes after a short fixed time
instead of a random one, and faults that tests order:

    POST   /_ctl/fault {"match": "regex on 'METHOD path'", "status": 503, "message": "…", "delay": 0, "count": 3}
           status absent: only the delay; count absent: until cleared
    DELETE /_ctl/fault          GET /_ctl/fault          GET, DELETE /_ctl/log (requests seen)
    PUT    /_ctl/power/<system id> {"state": "Off"}      as if somebody pressed the button

All of it needs the BMC's user and password, as Redfish itself does.    usage: redfish_bmc.py PORT STATE_DIR AUTH_FILE
"""
import os
import re
import sys
import time

import flask
from sushy_tools import error
from sushy_tools.emulator import main
from sushy_tools.emulator.resources.systems import fakedriver

import machines

POWER_DELAY = float(os.environ.get("BMC_POWER_DELAY", "0.5"))
BIOS = {"BootMode": "Uefi", "ProcVirtualization": "Enabled", "SriovEnable": "Disabled", "L2Cache": "10x256 KB",
        "NumCores": "10", "QuietBoot": "true", "ProcTurboMode": "Enabled", "EmbeddedSata": "Raid",
        "NicBoot1": "NetworkBoot", "SecureBootStatus": "Enabled", "SerialNumber": "QPX12345"}


class Driver(fakedriver.FakeDriver):
    """The emulator's driver of machines that do not exist, made complete enough for Ironic's redfish interfaces."""

    def set_power_state(self, identity, state):
        system = self._get(identity)
        if state == "Nmi":
            return
        restart = "Restart" in state
        if state in ("ForceOff", "GracefulShutdown"):
            wanted = "Off"
        elif restart or "On" in state:
            wanted = "On"
        else:
            raise error.NotSupportedError(f"Power state {state} is not supported")
        if system["power_state"] == wanted and not restart:
            return
        if restart and POWER_DELAY:
            system["power_state"] = "Off"
        self._update(system, pending_power={"power_state": wanted, "apply_time": time.time() + POWER_DELAY})
        if wanted == "On" and system.get("bios_pending"):  # as real firmware does, at the next start
            bios = dict(system.get("bios") or BIOS) | system["bios_pending"]
            self._update(identity, bios=bios, bios_pending=None)
        self._get(identity)

    def get_bios(self, identity):
        return dict(self._get(identity).get("bios") or BIOS)

    def set_bios(self, identity, attributes):
        known = self.get_bios(identity)
        for name in attributes:
            if name not in known:
                raise error.BadRequest(f"Unknown BIOS attribute {name}")
        self._update(identity, bios_pending=attributes)

    def reset_bios(self, identity):
        self._update(identity, bios=dict(BIOS), bios_pending=None)

    def get_versions(self, identity):
        return dict(self._get(identity).get("versions") or {"BiosVersion": "1.0.0"})

    def set_versions(self, identity, firmware_versions):
        self._update(identity, versions=self.get_versions(identity) | firmware_versions)

    def reset_versions(self, identity):
        self._update(identity, versions=None)

    def get_total_memory(self, identity):
        return 16

    def get_total_cpus(self, identity):
        return 8

    def get_processors(self, identity):
        return [{"id": "CPU0", "Id": "CPU0", "socket": "CPU 0", "vendor": "Lab", "model": "Lab CPU", "cores": "4", "threads": "8"}]

    def get_simple_storage_collection(self, identity):
        disk = {"Name": "sda", "CapacityBytes": 480 * 10**9, "Status": {"State": "Enabled", "Health": "OK"}}
        return {"sata": {"Id": "sata", "Name": "SATA", "DeviceList": [disk]}}

    def find_or_create_storage_volume(self, data):
        return data.get("libvirtVolName") or "volume"

    def get_http_boot_uri(self, identity):
        return None


def configuration(port, state_dir, auth_file):
    """The emulator's configuration: one system, one disk controller and no volumes for each machine."""
    systems = [{"uuid": machines.system_id(n), "name": f"machine-{n}", "power_state": "Off", "external_notifier": False,
                "nics": [{"mac": machines.mac(n), "ip": f"172.22.0.{100 + n}"}]} for n in range(machines.REDFISH_MACHINES)]
    ids = [s["uuid"] for s in systems]
    controller = {"Id": "1", "Name": "Local Storage Controller", "Drives": ["D0", "D1"],
                  "StorageControllers": [{"MemberId": "0", "Name": "Lab RAID", "SpeedGbps": 12}]}
    drives = [{"Id": d, "Name": "Lab drive", "CapacityBytes": 899527000000, "Protocol": "SAS", "MediaType": "HDD"}
              for d in ("D0", "D1")]
    return {"SUSHY_EMULATOR_FAKE_DRIVER": True, "SUSHY_EMULATOR_FEATURE_SET": "full",
            "SUSHY_EMULATOR_LISTEN_IP": "127.0.0.1", "SUSHY_EMULATOR_LISTEN_PORT": port,
            "SUSHY_EMULATOR_STATE_DIR": state_dir, "SUSHY_EMULATOR_AUTH_FILE": auth_file,
            "SUSHY_EMULATOR_FAKE_SYSTEMS": systems,
            "SUSHY_EMULATOR_STORAGE": {i: [controller] for i in ids},
            "SUSHY_EMULATOR_DRIVES": {(i, "1"): drives for i in ids},
            "SUSHY_EMULATOR_VOLUMES": {(i, "1"): [] for i in ids}}


FAULTS, SEEN = [], []


@main.app.before_request
def inject_faults():
    request = f"{flask.request.method} {flask.request.path}"
    if flask.request.path.startswith("/_ctl"):
        return None
    SEEN.append((round(time.time(), 2), request))
    del SEEN[:-2000]
    for fault in list(FAULTS):
        if not re.search(fault["match"], request):
            continue
        if fault.get("count") is not None:
            fault["count"] -= 1
            if fault["count"] <= 0:
                FAULTS.remove(fault)
        time.sleep(fault.get("delay") or 0)
        if fault.get("status"):
            body = {"error": {"code": "Base.1.0.GeneralError", "message": fault.get("message", "ordered by a test")}}
            return flask.jsonify(body), fault["status"]
    return None


@main.app.route("/_ctl/fault", methods=["GET", "POST", "DELETE"])
def control_faults():
    if flask.request.method == "POST":
        FAULTS.append(flask.request.json)
    elif flask.request.method == "DELETE":
        FAULTS.clear()
    return flask.jsonify(FAULTS)


@main.app.route("/_ctl/log", methods=["GET", "DELETE"])
def control_log():
    seen = flask.jsonify(SEEN)
    if flask.request.method == "DELETE":
        SEEN.clear()
    return seen


@main.app.route("/_ctl/power/<identity>", methods=["PUT"])
def control_power(identity):
    main.app.systems._update(identity, power_state=flask.request.json["state"], pending_power=None)
    return flask.jsonify({})


if __name__ == "__main__":
    fakedriver.FakeDriver = main.fakedriver.FakeDriver = Driver
    port = int(sys.argv[1])
    main.app.configure(config_file=None, extra_config=configuration(port, sys.argv[2], sys.argv[3]))
    main.app.run(host="127.0.0.1", port=port, threaded=True)

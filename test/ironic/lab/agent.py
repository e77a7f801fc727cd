#!/usr/bin/env python3
"""The deployment agent of every machine of the lab at once, played from Ironic's public agent protocol.

Ironic believes that its nodes boot a ramdisk with an agent in it. This process asks Ironic which nodes are powered on
and waiting for one, and then does for each what the agent would: report the inventory when inspecting, else look the
node up, send heartbeats and carry out the commands that Ironic posts to the callback address. Nothing is written to a
disk, but what would be is kept per machine (see `records.py`), so that a test can compare it byte for byte.

Control, on the same port:

    GET    /_ctl/machines[/MAC]              what each machine's agent did, config drives as base64
    DELETE /_ctl/machines                    forget it
    GET    /_ctl/machines/MAC/configdrive    the last config drive written, as the ISO image it is
    POST   /_ctl/rules                       {"mode": "fail" | "silent" | "slow", "match": REGEX, "mac": MAC, "seconds": S, "count": N}
             match   on "inspect", "heartbeat" or "<command>:<interface>.<step>", as execute_deploy_step:deploy.write_image
             mac, count absent: every machine, until cleared. fail: that command or inspection fails. silent: no
             heartbeat, no inspection result. slow: the step takes S seconds
    DELETE /_ctl/rules                       GET /_ctl/rules

environment: IRONIC_URL AGENT_PORT, and HEARTBEAT (1.0), STEP_DELAY (0.5), BOOT_DELAY (0.5) in seconds
"""
import base64
import json
import os
import re
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import machines
from records import ImageError, Records, write_image

URL = os.environ["IRONIC_URL"].rstrip("/")
PORT = int(os.environ["AGENT_PORT"])
HEARTBEAT = float(os.environ.get("HEARTBEAT", "1.0"))
STEP_DELAY = float(os.environ.get("STEP_DELAY", "0.5"))
BOOT_DELAY = float(os.environ.get("BOOT_DELAY", "0.5"))
WAITING = ("inspect wait", "clean wait", "wait call-back", "rescue wait", "service wait")
AGENT_RUNS = WAITING + ("inspecting", "cleaning", "deploying", "rescuing", "servicing", "clean hold", "deploy hold", "service hold")
NO_TOKEN = "******"  # Ironic's mask: the token went another way, inside the virtual media image


def step(name, priority, interface="deploy", **more):
    return {"step": name, "priority": priority, "interface": interface, "reboot_requested": False} | more


STEPS = {
    "clean": [step("erase_devices", 10, abortable=True), step("erase_devices_metadata", 99, abortable=True),
              step("delete_configuration", 0, "raid", abortable=True), step("create_configuration", 0, "raid", abortable=True)],
    "deploy": [step("write_image", 0), step("apply_configuration", 0, "raid"),
               step("inject_files", 0, argsinfo={"files": {"description": "files", "required": True}})],
    "service": [step("burnin_cpu", 0)]}

RECORDS = Records()
SESSIONS, RULES, LOCK = {}, [], threading.Lock()
BEGAN = time.time()


def log(*words):
    print(f"[{time.time() - BEGAN:8.2f}]", *words, flush=True)


def request(method, url, body=None, headers=None, timeout=60):
    """One HTTP request with JSON both ways: (status, body)."""
    sent = {"Content-Type": "application/json", "Accept": "application/json"} | (headers or {})
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, sent, method=method), timeout=timeout) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def ironic(method, path, body=None, version="1.109"):
    return request(method, URL + path, body, {"X-OpenStack-Ironic-API-Version": version})


def rule(mac, what):
    """The first order of a test that fits; used up when it has a count."""
    with LOCK:
        for order in RULES:
            if order.get("mac", mac).lower() == mac and re.search(order.get("match", ""), what):
                if order.get("count") is not None:
                    order["count"] -= 1
                    if order["count"] <= 0:
                        RULES.remove(order)
                return order
    return {"mode": "ok"}


class Session:
    """One boot of one machine into the agent, from power on to power off."""

    def __init__(self, node):
        self.uuid, self.booted_in, self.driver_info = node["uuid"], node["provision_state"], node.get("driver_info") or {}
        self.token, self.commands, self.over, self.poke = None, [], False, threading.Event()
        self.number, self.macs = None, []
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def mac(self):
        return self.macs[0] if self.macs else "unknown"

    def say(self, *words):
        log(f"machine {self.number}" if self.number is not None else self.uuid[:8], *words)

    def run(self):
        try:
            time.sleep(BOOT_DELAY)
            self.who_am_i()
            status, node = ironic("GET", f"/v1/nodes/{self.uuid}?fields=provision_state")
            if self.over or status != 200 or node["provision_state"] != self.booted_in:
                return  # powered off meanwhile; the token is the next boot's
            RECORDS.count(self.mac, "boots")
            if self.booted_in == "inspect wait":
                self.inspect()
            elif self.look_up():
                self.beat()
        except Exception:
            traceback.print_exc()
        finally:
            self.over = True
            self.say("agent ends")

    def who_am_i(self):
        self.number = machines.number_of(system=self.driver_info.get("redfish_system_id"))
        if self.number is None:
            _, ports = ironic("GET", f"/v1/ports?node={self.uuid}")
            addresses = [p["address"] for p in ports["ports"]]
            known = [n for n in (machines.number_of(address=a) for a in addresses) if n is not None]
            self.number = known[0] if known else None
            self.macs = addresses
        if self.number is not None:
            self.macs = [machines.mac(self.number, 0), machines.mac(self.number, 1)]

    def inspect(self):
        mode = rule(self.mac, "inspect")["mode"]
        if mode == "silent":
            while not self.over:
                self.poke.wait(1)
            return
        report = machines.inventory(self.number if self.number is not None else 0)
        if mode == "fail":
            report["error"] = "ordered by a test: the inventory could not be collected"
        status, answer = ironic("POST", f"/v1/continue_inspection?node_uuid={self.uuid}", report)
        RECORDS.count(self.mac, "inspections")
        self.say("inventory sent:", status, "" if status == 202 else str(answer)[:200])

    def look_up(self):
        for _ in range(60):
            status, found = ironic("GET", f"/v1/lookup?node_uuid={self.uuid}&addresses={','.join(self.macs)}")
            if status == 200:
                self.token = found["config"]["agent_token"]
                if self.token == NO_TOKEN:
                    self.token = self.token_from_virtual_media() or NO_TOKEN
                return True
            if self.over:
                return False
            time.sleep(0.5)
        self.say("lookup gave up:", status, str(found)[:200])
        return False

    def beat(self):
        beat = {"callback_url": f"http://127.0.0.1:{PORT}/{self.uuid}", "agent_token": self.token, "agent_version": "13.0.0"}
        while not self.over:
            if rule(self.mac, "heartbeat")["mode"] != "silent":
                status, answer = ironic("POST", f"/v1/heartbeat/{self.uuid}", beat, version="1.68")
                if status != 202:
                    self.say("heartbeat refused:", status, str(answer)[:200])
                    if status in (401, 403, 404) or "agent token" in str(answer):
                        return
            self.poke.wait(HEARTBEAT)
            self.poke.clear()

    def bmc(self, method, path, body=None):
        """A request to this machine's own Redfish BMC; None where it has none."""
        address, system = self.driver_info.get("redfish_address"), self.driver_info.get("redfish_system_id")
        if not address:
            return None
        basic = base64.b64encode(f"{machines.USERNAME}:{machines.PASSWORD}".encode()).decode()
        return request(method, address.rstrip("/") + system + path, body, {"Authorization": "Basic " + basic}, timeout=15)[1]

    def token_from_virtual_media(self):
        """With virtual media the token is on the kernel command line inside the ISO that Ironic built and attached."""
        image = (self.bmc("GET", "/VirtualMedia/Cd") or {}).get("Image")
        if not image:
            self.say("no virtual media is attached, so there is no token")
            return None
        with urllib.request.urlopen(image, timeout=30) as answer:
            found = re.search(rb"ipa-agent-token=([^ \n\"]+)", answer.read())
        return found and found[1].decode()

    def power_off(self):
        """What a machine's own shutdown does: its BMC sees the power go."""
        self.over = True
        self.poke.set()
        self.bmc("POST", "/Actions/ComputerSystem.Reset", {"ResetType": "ForceOff"})

    def command(self, name, params):
        """One command of Ironic, answered at once; a step goes on in the background."""
        what = (params.get("step") or {})
        key = f"{name.partition('.')[2]}:{what.get('interface')}.{what.get('step')}"
        self.say("command", name, what.get("step", ""))
        entry = {"id": str(uuid.uuid4()), "command_name": name.partition(".")[2], "command_params": params,
                 "command_status": "SUCCEEDED", "command_error": None, "command_result": None}
        self.commands.append(entry)
        kind = re.match(r"(get|execute)_(clean|deploy|service)_steps?$", entry["command_name"])
        if kind and kind[1] == "execute":
            entry["command_status"] = "RUNNING"
            threading.Thread(target=self.execute, args=(entry, kind[2], what, key), daemon=True).start()
            return entry
        order = rule(self.mac, key)
        if order["mode"] == "fail":
            failed(entry, f"ordered by a test: {key}")
        elif kind:
            entry["command_result"] = {f"{kind[2]}_steps": {"LabHardwareManager": STEPS[kind[2]]},
                                       "hardware_manager_version": {"lab_hardware_manager": "1.0"}}
        elif entry["command_name"] == "collect_system_logs":
            entry["command_result"] = {"system_logs": base64.b64encode(b"log of the lab's agent\n").decode()}
        elif entry["command_name"] in ("power_off", "reboot"):
            threading.Timer(0.05, self.power_off).start()
        elif entry["command_name"] == "get_partition_uuids":
            entry["command_result"] = {}
        else:
            entry["command_result"] = {"result": f"{entry['command_name']}: done"}
        return entry

    def execute(self, entry, kind, what, key):
        order = rule(self.mac, key)
        result, problem = None, None
        deploy = RECORDS.begin_deploy(self.mac, what) if what.get("step") == "write_image" else None
        time.sleep(order.get("seconds", STEP_DELAY) if order["mode"] == "slow" else STEP_DELAY)
        try:
            if order["mode"] == "fail":
                problem = f"ordered by a test: {key}"
            elif deploy is not None:
                write_image(deploy)
            elif what.get("interface") == "raid" and what.get("step") in ("create_configuration", "apply_configuration"):
                node = entry["command_params"].get("node") or {}  # Ironic stores the answer as the node's raid_config
                wanted = node.get("target_raid_config") or (what.get("args") or {}).get("raid_config") or {}
                result = {"logical_disks": wanted.get("logical_disks", [])}
        except (ImageError, OSError, ValueError) as error:
            problem = str(error)
        RECORDS.end_step(self.mac, kind, what, deploy, problem)
        if problem:
            self.say(key, "failed:", problem)
            failed(entry, problem)
        else:
            entry["command_result"] = {f"{kind}_result": result, f"{kind}_step": what}
            entry["command_status"] = "SUCCEEDED"
        self.poke.set()


def failed(entry, details):
    entry["command_error"] = {"type": "CommandExecutionError", "code": 500, "message": "Command execution failed", "details": details}
    entry["command_status"] = "FAILED"


class Handler(BaseHTTPRequestHandler):
    """Ironic's commands at /<node uuid>/v1/commands, tests' orders at /_ctl."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path, _, query = self.path.partition("?")
        if path.startswith("/_ctl/"):
            return self.control(path.removeprefix("/_ctl/").strip("/").split("/"), body)
        found = re.match(r"/([0-9a-f-]{36})/v1/commands/?([0-9a-f-]{36})?$", path)
        session = SESSIONS.get(found[1]) if found else None
        if not session or (session.over and self.command == "POST"):
            return self.answer(404, {"faultstring": "no such agent", "code": 404})
        if self.command == "GET":
            one = next((c for c in session.commands if c["id"] == found[2]), None)
            return self.answer(200, one if found[2] else {"commands": session.commands})
        if f"agent_token={session.token}" not in query:
            return self.answer(401, {"faultstring": "Token invalid.", "code": 401})
        return self.answer(200, session.command(body["name"], body["params"]))

    do_GET = do_POST = do_DELETE = handle_any

    def control(self, path, body):
        if path[0] == "rules":
            with LOCK:
                if self.command == "POST":
                    RULES.append(body)
                elif self.command == "DELETE":
                    RULES.clear()
                return self.answer(200, list(RULES))
        if path == ["machines"] and self.command == "DELETE":
            RECORDS.forget()
            return self.answer(200, {})
        if path[0] == "machines":
            if len(path) == 3 and path[2] == "configdrive":
                iso = RECORDS.configdrive(path[1])
                return self.answer(200, iso, "application/octet-stream") if iso else self.answer(404, {"error": "none written"})
            return self.answer(200, RECORDS.of(path[1]) if len(path) == 2 else RECORDS.all())
        return self.answer(404, {"error": "unknown; see the head of agent.py"})


def watch_nodes():
    """Boot an agent on each node that waits for one with its power on; end those whose node went on."""
    fields = "uuid,provision_state,power_state,target_power_state,driver_info"
    while True:
        try:
            status, listed = ironic("GET", f"/v1/nodes?fields={fields}")
            nodes = listed["nodes"] if status == 200 else []
            for node in nodes:
                session, on = SESSIONS.get(node["uuid"]), node["power_state"] == "power on"
                alive = session and not session.over
                if not alive and on and node["provision_state"] in WAITING and not node["target_power_state"]:
                    SESSIONS[node["uuid"]] = Session(node)
                elif alive and (not on or node["provision_state"] not in AGENT_RUNS):
                    session.over = True
                    session.poke.set()
            if status == 200:
                gone = set(SESSIONS) - {n["uuid"] for n in nodes}
                for session in (SESSIONS[u] for u in gone):
                    session.over = True
        except Exception as error:
            log("asking Ironic for nodes:", error)
        time.sleep(0.4)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    log(f"agent on port {PORT} for {URL}")
    watch_nodes()

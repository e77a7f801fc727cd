#!/usr/bin/env python3
"""What a manager costs for N hosts: seconds, CPU, memory and API requests of each phase of their life.

The hosts are created, become available, are provisioned, left alone, deprovisioned and deleted. Nothing of the manager
is known but the resources, so that any manager can be measured. Its requests are counted in the API server's audit
log, so it must be the user of kubeconfig-manager (see kube.sh). Prints a line per phase, and the figures as JSON.

usage: fleet.py --lab DIR [--hosts N] [--idle SECONDS] [--max-writes N] [--json FILE] [--log FILE] -- MANAGER ARGUMENT…
       DIR is what kube.sh start was given; the CRDs are installed. The manager finds its kubeconfig in KUBECONFIG.
       --max-writes: fail when a host's life costs more writes than that, events not counted, or an idle host any.
"""
import argparse
import collections
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
sys.dont_write_bytecode = True

from kube import MERGE, Audit, Kube, Manager, in_parallel  # noqa: E402  (found through the path above)
from steps import Failed, Steps, expect  # noqa: E402

NAMESPACE = "fleet"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
HOSTS = f"/apis/metal3.io/v1alpha1/namespaces/{NAMESPACE}/baremetalhosts"
IMAGE = {"url": "http://127.0.0.1/image.qcow2", "checksum": "d41d8cd98f00b204e9800998ecf8427e", "checksumType": "md5"}
SETTLE = 1.5  # seconds after a phase in which late requests are still counted for it


class Fleet:
    def __init__(self, kube, audit, manager, options):
        self.kube, self.audit, self.manager, self.options, self.cpu = kube, audit, manager, options, 0.0
        self.figures = {"hosts": options.hosts, "phases": {}}

    def empty(self):
        """The manager with nothing to do, after five seconds."""
        self.kube.await_ready(self.manager)
        self.kube("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, ok=(201, 409))
        time.sleep(5)
        self.cpu, resident, _ = self.manager.usage()
        self.audit.take()
        self.figures["empty"] = {"cpu_s": round(self.cpu, 2), "rss_mib": round(resident, 1)}
        return f"{resident:.0f} MiB"

    def host(self, i):
        return f"{HOSTS}/host-{i:05d}"

    def create(self, i):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"bmc-{i:05d}"}, "stringData": {"username": "admin", "password": f"pw{i}"}}
        self.kube("POST", f"{CORE}/secrets", secret, ok=(201, 409))
        mac = "52:54:" + ":".join(f"{i >> shift & 255:02x}" for shift in (24, 16, 8, 0))
        bmc = {"address": f"redfish-virtualmedia+http://127.0.0.1:8000/redfish/v1/Systems/{i}", "credentialsName": f"bmc-{i:05d}"}
        self.kube("POST", HOSTS, {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": f"host-{i:05d}"},
                                  "spec": {"online": True, "bootMACAddress": mac, "bmc": bmc}})

    def delete(self, i):
        self.kube("DELETE", self.host(i))
        self.kube("DELETE", f"{CORE}/secrets/bmc-{i:05d}")

    def states(self):
        """How many hosts are in each state, and how many show an error."""
        states = collections.Counter()
        for host in self.kube("GET", HOSTS + "?resourceVersion=0")["items"]:
            status = host.get("status") or {}
            states[(status.get("provisioning") or {}).get("state", "")] += 1
            states["error"] += bool(status.get("errorMessage"))
        return states

    def phase(self, name, act, done):
        began, number, end = time.monotonic(), self.options.hosts, time.monotonic() + self.options.timeout
        act()
        while not done(states := self.states()):
            if not self.manager.alive():
                raise Failed(f"the manager ended with {self.manager.process.returncode}")
            if time.monotonic() > end:
                raise Failed(f"not within {self.options.timeout} s; hosts by state: {dict(states)}")
            time.sleep(0.2 if number <= 100 else 1)
        seconds = time.monotonic() - began
        time.sleep(SETTLE)
        cpu, resident, peak = self.manager.usage()
        counted = self.audit.take()
        writes, all_writes = Audit.writes(counted), Audit.writes(counted, events=True)
        self.figures["phases"][name] = {
            "s": round(seconds, 2), "cpu_s": round(cpu - self.cpu, 2), "rss_mib": round(resident, 1), "peak_mib": round(peak, 1),
            "writes": writes, "events": all_writes - writes, "reads": sum(counted.values()) - all_writes, "by": dict(counted.most_common())}
        self.cpu = cpu
        return f"{writes / number:.2f} writes and {(all_writes - writes) / number:.2f} events a host, {peak:.0f} MiB"

    def phases(self):
        everyone, n = range(self.options.hosts), self.options.hosts

        def change(image):
            in_parallel(lambda i: self.kube("PATCH", self.host(i), {"spec": {"image": image}}, MERGE), everyone)
        return [("available", lambda: in_parallel(self.create, everyone), lambda states: states["available"] == n),
                ("provisioned", lambda: change(IMAGE), lambda states: states["provisioned"] == n),
                ("idle", lambda: time.sleep(self.options.idle), lambda _: True),
                ("deprovisioned", lambda: change(None), lambda states: states["available"] == n),
                ("deleted", lambda: in_parallel(self.delete, everyone), lambda states: not states)]

    def total(self):
        """Sums over all phases but the idle one, and the bounds that were asked for."""
        phases, n = self.figures["phases"], self.options.hosts
        busy = [figures for name, figures in phases.items() if name != "idle"]
        total = {"writes_per_host": round(sum(p["writes"] for p in busy) / n, 2), "events_per_host": round(sum(p["events"] for p in busy) / n, 2),
                 "reads_per_host": round(sum(p["reads"] for p in busy) / n, 2), "cpu_ms_per_host": round(1000 * sum(p["cpu_s"] for p in busy) / n, 1),
                 "idle_writes": phases["idle"]["writes"], "idle_cpu_s": phases["idle"]["cpu_s"],
                 "peak_mib": max(p["peak_mib"] for p in phases.values()), "s": round(sum(p["s"] for p in busy), 1)}
        self.figures["total"] = total
        bound = self.options.max_writes
        if bound is not None and (total["writes_per_host"] > bound or total["idle_writes"]):
            raise Failed(f"{total['writes_per_host']} writes a host's life (at most {bound}), {total['idle_writes']} while idle (none wanted); "
                         f"by kind: { {name: p['by'] for name, p in phases.items()} }")
        return json.dumps(total)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--lab", required=True, help="folder that kube.sh start was given")
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--idle", type=int, default=60)
    parser.add_argument("--timeout", type=int, default=900, help="seconds for each phase")
    parser.add_argument("--max-writes", type=float)
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--log", default="/dev/null", help="file for the manager's output")
    parser.add_argument("manager", nargs="+", help="command of the manager, behind --")
    options = parser.parse_args()
    os.environ["KUBECONFIG"] = f"{options.lab}/kubeconfig-manager"
    manager, steps = Manager(options.manager, options.log), Steps()
    fleet = Fleet(Kube(f"{options.lab}/kubeconfig"), Audit(f"{options.lab}/audit.log"), manager, options)
    manager.start()
    try:
        going = steps.run("the manager starts", fleet.empty)
        for name, act, done in fleet.phases():
            going = going and steps.run(f"{options.hosts} hosts: {name}", fleet.phase, name, act, done)
        if going:
            steps.run("a host's life costs", fleet.total)
            steps.run("the manager ends at SIGTERM within 30 s", lambda: expect(manager.stop() is not None, True, "ended by itself"))
    finally:
        manager.stop(5)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(fleet.figures, indent=1) + "\n", encoding="utf-8")
    steps.close()


if __name__ == "__main__":
    main()

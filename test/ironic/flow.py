#!/usr/bin/env python3
"""Hosts through their whole life on a real Ironic, by BareMetalHosts alone.

First one host, step by step: wrong and right credentials, inspection, cleaning, an image with a config drive that is
compared byte for byte, power off and on, deprovisioning, deletion. Then --hosts at once. The requests that the manager
makes to Ironic are counted, for a life and while idle.

usage: flow.py --kubeconfig FILE [--hosts N] [--idle SECONDS] [--log FILE] [-- MANAGER ARGUMENT…]
       The lab runs (lab.sh start); the manager talks to Ironic through IRONIC_COUNT_ENDPOINT of lab.env. Where a command
       is given, it is started here and must write the kubeconfig or use it; otherwise it runs already.
"""
import argparse
import json
import time

from labenv import Counter, Lab, machines
from steps import Failed, Steps, expect, until

LAB = Lab()
from hosts import CORE, HOSTS, WRONG_PASSWORD, Host, make_namespace  # noqa: E402  (need the lab's Python)
from kube import Kube, Manager, Trail, in_parallel  # noqa: E402

LIFE = ["registering", "inspecting", "available", "provisioning", "provisioned", "deprovisioning", "available",
        "powering off before delete", "deleting"]


class Requests:
    """Requests to Ironic, phase by phase."""

    def __init__(self):
        self.counter, self.phases, self.all = Counter(LAB), [], {}

    def end(self, phase, hosts):
        counted = self.counter.take()
        total = sum(counted.values())
        self.phases.append((phase, total, hosts))
        for what, number in counted.items():
            self.all[what] = self.all.get(what, 0) + number
        return total

    def text(self):
        rows = [f"  {phase:32} {total:6} requests, {total / hosts:7.1f} a host" for phase, total, hosts in self.phases]
        rows.append("")
        for who, idle in (("one host", "one host: idle"), ("all hosts", "all hosts: idle")):
            life = sum(total / hosts for phase, total, hosts in self.phases if phase.startswith(who) and not phase.startswith(idle))
            if life:
                rows.append(f"  {who}: {life:.1f} requests for a life")
        top = sorted(self.all.items(), key=lambda item: -item[1])[:15]
        return "\n".join(["requests to Ironic:", *rows, "  most frequent:", *(f"    {number:5} {what}" for what, number in top)])


class OneHost:
    """The steps of a single host's life."""

    def __init__(self, kube, trail, requests, idle):
        self.host, self.kube, self.requests, self.idle = Host(kube, LAB, trail, 0), kube, requests, idle

    def steps(self):
        return [("wrong credentials are shown as a registration error", self.wrong_credentials),
                ("right credentials: registered", self.right_credentials),
                ("inspected: HardwareData is what the agent reported", self.inspected),
                ("available, powered on", self.available),
                ("cleaned and provisioned: image and config drive are what was ordered", self.provisioned),
                ("powered off and on", self.power),
                (f"idle for {self.idle} s", self.stay_idle),
                ("deprovisioned, cleaned", self.deprovisioned),
                ("deleted: nothing is left", self.deleted),
                ("went through all states", self.way)]

    def wrong_credentials(self):
        self.host.create(WRONG_PASSWORD)
        message = self.host.await_error("registration error", 90)
        events = self.kube("GET", f"{CORE}/events")
        if WRONG_PASSWORD in json.dumps([self.host.get(), events]):
            raise Failed("the password can be read in the host or its events")
        return message

    def right_credentials(self):
        self.host.secret("bmc", {"password": machines.PASSWORD})
        until("error gone", lambda: not self.host.status().get("errorMessage") and self.host.state() not in ("", "registering"), 90,
              describe=self.host.why)
        expect(self.host.status()["operationalStatus"], "OK", "operationalStatus")
        node = self.host.status()["provisioning"]["ID"]
        expect(node, LAB.nodes()[self.host.node_name]["uuid"], "provisioning.ID")
        return f"node {node}"

    def inspected(self):
        until("inspection over", lambda: self.host.state() in ("preparing", "available"), 180, describe=self.host.why)
        self.host.check_hardware()
        expect(self.host.agent()["inspections"], 1, "inspections by the agent")

    def available(self):
        self.host.await_state("available", 180)
        # Its disks are cleaned right before an image is written.
        expect(LAB.nodes()[self.host.node_name]["provision_state"], "manageable", "state of the node")
        self.host.await_power(True)
        expect(len(self.host.deploys()), 0, "images written")
        self.requests.end("one host: to available", 1)

    def provisioned(self):
        self.host.order_image()
        self.host.await_state("provisioned", 240)
        expect(LAB.nodes()[self.host.node_name]["provision_state"], "active", "state of the node")
        expect(self.host.status()["provisioning"]["image"]["url"], LAB.env["IMAGE_URL"], "provisioning.image.url")
        if not self.host.agent()["cleanings"]:
            raise Failed("the agent was not asked to clean")
        told = self.host.check_deploy(1)
        self.host.await_power(True)
        self.requests.end("one host: to provisioned", 1)
        return told

    def power(self):
        for on in (False, True):
            self.host.patch({"online": on})
            self.host.await_power(on, 120)
        expect(self.host.state(), "provisioned", "state")
        self.requests.end("one host: power off and on", 1)

    def stay_idle(self):
        time.sleep(self.idle)
        total = self.requests.end(f"one host: idle {self.idle} s", 1)
        return f"{total / (self.idle / 60):.1f} requests a minute"

    def deprovisioned(self):
        cleanings = self.host.agent()["cleanings"]
        self.host.patch({"image": None})
        self.host.await_state("available", 240)
        expect(LAB.nodes()[self.host.node_name]["provision_state"], "available", "state of the node")
        expect(self.host.agent()["cleanings"] > cleanings, True, "cleaned again")
        self.requests.end("one host: back to available", 1)

    def deleted(self):
        self.host.delete()
        self.host.check_gone()
        self.requests.end("one host: deleted", 1)

    def way(self):
        seen = self.host.trail.states(self.host.name)
        at = iter(seen)
        if not all(state in at for state in LIFE):
            raise Failed(f"states seen: {seen}, wanted in this order: {LIFE}")


class ManyHosts:
    """All hosts do each step at once; a step ends when the last host has ended it."""

    def __init__(self, kube, trail, requests, number, idle):
        self.hosts = [Host(kube, LAB, trail, n) for n in range(1, number + 1)]
        self.kube, self.trail, self.requests, self.idle = kube, trail, requests, idle

    def steps(self):
        n = len(self.hosts)
        return [(f"{n} hosts at once: available", self.available), (f"{n} hosts at once: provisioned", self.provisioned),
                (f"{n} hosts idle for {self.idle} s", self.stay_idle),
                (f"{n} hosts at once: deprovisioned", self.deprovisioned), (f"{n} hosts at once: deleted", self.deleted)]

    def all_in(self, state, timeout=900):
        def there():
            now = {h["metadata"]["name"]: h.get("status") or {} for h in self.kube("GET", HOSTS)["items"]}
            return all(((now[h.name].get("provisioning") or {}).get("state")) == state for h in self.hosts)
        until(f"all hosts {state}", there, timeout, pause=0.5, describe=lambda: "\n".join(f"  {h.name}: {self.trail.text(h.name)}" for h in self.hosts))

    def available(self):
        in_parallel(lambda host: host.create(), self.hosts)
        self.all_in("available")
        for host in self.hosts:
            host.check_hardware()
        self.requests.end("all hosts: to available", len(self.hosts))

    def provisioned(self):
        in_parallel(lambda host: host.order_image(), self.hosts)
        self.all_in("provisioned")
        for host in self.hosts:
            host.check_deploy(1)
            host.await_power(True, 120)
        self.requests.end("all hosts: to provisioned", len(self.hosts))

    def stay_idle(self):
        time.sleep(self.idle)
        total = self.requests.end(f"all hosts: idle {self.idle} s", len(self.hosts))
        return f"{total / len(self.hosts) / (self.idle / 60):.2f} requests a host and minute"

    def deprovisioned(self):
        in_parallel(lambda host: host.patch({"image": None}), self.hosts)
        self.all_in("available")
        self.requests.end("all hosts: back to available", len(self.hosts))

    def deleted(self):
        in_parallel(lambda host: self.kube("DELETE", host.path), self.hosts)
        until("all gone", lambda: not self.kube("GET", HOSTS)["items"], 300, pause=0.5)
        for host in self.hosts:
            host.check_gone()
        expect(LAB.nodes(), {}, "nodes in Ironic")
        self.requests.end("all hosts: deleted", len(self.hosts))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--hosts", type=int, default=10, help="how many at once after the first alone; 0: only the first")
    parser.add_argument("--idle", type=int, default=60, help="seconds to count requests of hosts that have nothing to do")
    parser.add_argument("--log", default="manager.log", help="file for the manager's output")
    parser.add_argument("manager", nargs="*", help="command of the manager, behind --")
    return parser.parse_args()


def main():
    options = arguments()
    if options.hosts >= machines.REDFISH_MACHINES:
        raise SystemExit(f"--hosts must be less than {machines.REDFISH_MACHINES}, the lab's number of machines")
    LAB.reset()
    manager = Manager(options.manager, options.log) if options.manager else None
    kube, steps, requests = Kube(options.kubeconfig), Steps(), Requests()
    try:
        if manager:
            steps.run("the manager starts", lambda: (manager.start(), kube.await_ready(manager)) and None)
        else:
            kube.await_ready()
        make_namespace(kube)
        trail = Trail(kube, HOSTS)
        parts = [OneHost(kube, trail, requests, options.idle)]
        if options.hosts:
            parts.append(ManyHosts(kube, trail, requests, options.hosts, options.idle))
        for part in parts:
            if not all(steps.run(name, action) for name, action in part.steps()):
                print(f"the hosts' way: {trail.seen}", flush=True)
                break
        trail.over = True
        if manager and manager.alive():
            cpu, _, peak = manager.usage()
            print(f"manager: {cpu:.1f} s of CPU, {peak:.0f} MiB at most", flush=True)
            steps.run("the manager ends at SIGTERM within 30 s", lambda: expect(manager.stop() is not None, True, "ended by itself"))
    finally:
        if manager:
            manager.stop(5)
    print(requests.text(), flush=True)
    if steps.failed and manager:
        print(f"the manager's last lines ({options.log}):\n{manager.tail()}", flush=True)
    steps.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What a host shows and does when its BMC, its image or its agent fails, on a real Ironic.

Each scenario has a host of its own, all run at the same time, since most of their time is waiting for retries. A user
must see why a host does not go on, and once the fault is gone the host must go on without help.

usage: faults.py --kubeconfig FILE [--only NAME] [--log FILE] [-- MANAGER ARGUMENT…]    (as flow.py)
"""
import argparse
import threading

from labenv import Lab, machines
from steps import Failed, Steps, expect, until

LAB = Lab()
from hosts import HOSTS, Host, make_namespace  # noqa: E402  (need the lab's Python)
from kube import Kube, Manager, Trail  # noqa: E402

QUICK = {"inspectionMode": "disabled", "automatedCleaningMode": "disabled"}  # straight to available
RETRIED = 420  # seconds in which a failure must have been tried again: the first back-off is one to two minutes


def available(host):
    host.create(**QUICK)
    host.await_state("available", 300)
    host.await_power(True, 120)


def wrong_checksum(host):
    """An image that is not the one ordered is refused with the reason, and the right checksum gets it provisioned."""
    available(host)
    host.order_image(checksum="0" * 64)
    message = host.await_error("provisioning error", RETRIED)
    if not any(word in message for word in ("sha256", "checksum", "write_image")):
        raise Failed(f"the message does not tell what is wrong: {message}")
    expect([d["state"] for d in host.deploys() if d["state"] == "written"], [], "images written")
    host.order_image()
    host.await_state("provisioned", RETRIED)
    return message


def agent_fails_to_write(host):
    """One failed write is shown, and tried again without help."""
    available(host)
    LAB.agent_rule(mode="fail", match="deploy.write_image", mac=host.mac, count=1)
    host.order_image()
    message = host.await_error("provisioning error", RETRIED)
    host.await_state("provisioned", RETRIED)
    expect([d["state"] for d in host.deploys()], ["failed", "written"], "images")
    return message


def agent_fails_to_inspect(host):
    """One failed inspection is shown, and tried again without help."""
    LAB.agent_rule(mode="fail", match="inspect", mac=host.mac, count=1)
    host.create()
    message = host.await_error("inspection error", RETRIED)
    host.await_state("available", RETRIED)
    host.check_hardware()
    return message


def bmc_refuses_power(host):
    """A BMC that answers 503 to the next power changes: the host is off in the end all the same."""
    available(host)
    LAB.bmc("POST", "/_ctl/fault", {"match": f"POST .*{machines.system_id(host.n)}/Actions/ComputerSystem.Reset", "status": 503, "count": 2})
    host.patch({"online": False})
    host.await_power(False, RETRIED)


def deleted_while_provisioning(host):
    """A host that is deleted while its image is written ends without a trace."""
    available(host)
    LAB.agent_rule(mode="slow", match="deploy.write_image", mac=host.mac, seconds=10)
    host.order_image()
    until("image being written", lambda: any(d["state"] == "writing" for d in host.deploys()), 120, describe=host.why)
    host.delete(RETRIED)
    host.check_gone()


def bmc_is_gone_when_deleted(host):
    """A host whose BMC answers no more can be deleted."""
    available(host)
    LAB.bmc("POST", "/_ctl/fault", {"match": f" /redfish/v1/Systems/{machines.system_id(host.n)}", "status": 503})
    host.delete(900)
    expect([n for n in LAB.nodes() if n == host.node_name], [], "nodes in Ironic")


SCENARIOS = [wrong_checksum, agent_fails_to_write, agent_fails_to_inspect, bmc_refuses_power, deleted_while_provisioning,
             bmc_is_gone_when_deleted]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--only", help="name of one scenario: " + ", ".join(s.__name__ for s in SCENARIOS))
    parser.add_argument("--log", default="manager.log")
    parser.add_argument("manager", nargs="*", help="command of the manager, behind --")
    options = parser.parse_args()
    LAB.reset()
    manager = Manager(options.manager, options.log) if options.manager else None
    kube, steps = Kube(options.kubeconfig), Steps()
    try:
        if manager:
            manager.start()
        kube.await_ready(manager)
        make_namespace(kube)
        trail = Trail(kube, HOSTS)
        threads = [threading.Thread(target=steps.run, args=(s.__doc__.strip(), s, Host(kube, LAB, trail, n)))
                   for n, s in enumerate(SCENARIOS) if options.only in (None, s.__name__)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        trail.over = True
        if steps.failed and manager:
            print(f"the manager's last lines ({options.log}):\n{manager.tail()}", flush=True)
    finally:
        if manager:
            manager.stop()
        LAB.reset()
    steps.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""kill -9 of the manager at random moments of a provisioning on a real Ironic: it goes on, and the image is written once.

One host is provisioned and deprovisioned until --kills kills are spent, about half of them in each direction. After
every kill the manager is started again with the same arguments. In each round the machine's agent must have been told
to write the image exactly once.

usage: kill.py --kubeconfig FILE [--kills 20] [--seed N] [--log FILE] -- MANAGER ARGUMENT…
"""
import argparse
import random
import time

from labenv import Lab
from steps import Failed, Steps, expect

LAB = Lab()
from hosts import HOSTS, Host, make_namespace  # noqa: E402  (need the lab's Python)
from kube import Kube, Manager, Trail  # noqa: E402

WRITING = 4  # seconds that the agent takes to write the image, so that kills fall into that too
LONGEST = 2.5  # seconds between start and kill at most


class Killer:
    """Kills and restarts the manager until the host is where it was told to go."""

    def __init__(self, kube, manager, host, kills, seed):
        self.kube, self.manager, self.host, self.left, self.random = kube, manager, host, kills, random.Random(seed)
        self.times = []

    def through(self, wanted, at_most):
        """Kill up to `at_most` times on the way to the state `wanted`; how often it was done."""
        done = 0
        while done < at_most and self.left and self.host.state() != wanted:
            pause = self.random.uniform(0.05, LONGEST)
            time.sleep(pause)
            self.manager.kill()
            self.left, done = self.left - 1, done + 1
            began = time.monotonic()
            self.manager.start()
            self.kube.await_ready(self.manager)
            self.times.append(time.monotonic() - began)
        self.host.await_state(wanted, 240)
        return done


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None, help="of the random moments; printed, so that a run can be repeated")
    parser.add_argument("--log", default="manager.log")
    parser.add_argument("manager", nargs="+", help="command of the manager, behind --")
    return parser.parse_args()


def main():
    options = arguments()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}", flush=True)
    LAB.reset()
    LAB.agent_rule(mode="slow", match="deploy.write_image", seconds=WRITING)
    manager, kube, steps = Manager(options.manager, options.log), Kube(options.kubeconfig), Steps()
    manager.start()
    try:
        kube.await_ready(manager)
        make_namespace(kube)
        trail = Trail(kube, HOSTS)
        host = Host(kube, LAB, trail, 0)
        killer = Killer(kube, manager, host, options.kills, seed)

        def prepare():
            host.create()
            host.await_state("available", 240)

        def provision(number):
            host.order_image()
            kills = killer.through("provisioned", 6)
            return f"{kills} kills, {host.check_deploy(number)}"

        def deprovision(number):
            host.patch({"image": None})
            kills = killer.through("available", 4)
            expect(len(host.deploys()), number, "images written so far")
            return f"{kills} kills"

        def delete():
            host.delete()
            host.check_gone()
            if killer.left:
                raise Failed(f"{killer.left} kills were not spent")
            return f"a restart took {sum(killer.times) / len(killer.times):.1f} s until the API answered, {max(killer.times):.1f} at most"

        going, number = steps.run("a host becomes available", prepare), 0
        while going and killer.left:
            number += 1
            going = steps.run(f"round {number}: provisioned, the image written once", provision, number) and \
                steps.run(f"round {number}: deprovisioned", deprovision, number)
        if going:
            steps.run(f"deleted after {options.kills} kills: nothing is left", delete)
        trail.over = True
        if steps.failed:
            print(f"the host's way: {trail.seen}\nthe manager's last lines ({options.log}):\n{manager.tail()}", flush=True)
    finally:
        manager.stop()
        LAB.reset()
    steps.close()


if __name__ == "__main__":
    main()

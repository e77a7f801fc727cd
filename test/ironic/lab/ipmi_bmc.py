#!/usr/bin/env python3
"""The IPMI BMC of one machine, on a UDP port of loopback; pyghmi speaks the protocol.    usage: ipmi_bmc.py PORT"""
import sys

from pyghmi.ipmi.bmc import Bmc

import machines


class Machine(Bmc):
    def __init__(self, port):
        super().__init__({machines.USERNAME: machines.PASSWORD}, port, address="127.0.0.1")
        self.power, self.boot = "off", "default"

    def get_power_state(self):
        return self.power

    def power_on(self):
        self.power = "on"

    def power_off(self):
        self.power = "off"

    power_shutdown = power_off
    power_reset = power_cycle = power_on

    def cold_reset(self):
        pass

    def get_boot_device(self):
        return self.boot

    def set_boot_device(self, bootdevice):
        self.boot = bootdevice

    def get_system_guid(self):
        return None


if __name__ == "__main__":
    Machine(int(sys.argv[1])).listen()

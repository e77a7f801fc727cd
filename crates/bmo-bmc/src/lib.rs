//! BMC addresses: from an address to the driver that serves it.

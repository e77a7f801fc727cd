//! The table of schemes: one row per kind of address, with everything that follows from it.
//!
//! An interface that is `None` is left to the back end's default. IPMI is what an address without scheme means.

/// How the details for the driver are made from the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Address and port; the privilege level from the query.
    Ipmi,
    /// Base URL, and the path as id of the system.
    Redfish {
        /// Give the id of the system even when it says nothing.
        always_system_id: bool,
    },
}

/// A kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Scheme of the address, without suffix.
    pub name: &'static str,
    /// Whether `+http` and `+https` may follow.
    pub takes_protocol: bool,
    /// How the details for the driver are made.
    pub family: Family,
    /// Driver.
    pub driver: &'static str,
    /// How the machine is booted.
    pub boot: Option<&'static str>,
    /// How BIOS settings are changed.
    pub bios: Option<&'static str>,
    /// How firmware is updated.
    pub firmware: Option<&'static str>,
    /// How boot devices are chosen and the like.
    pub management: Option<&'static str>,
    /// How power is switched.
    pub power: Option<&'static str>,
    /// How hardware RAID is set up.
    pub raid: Option<&'static str>,
    /// The vendor's own calls.
    pub vendor: Option<&'static str>,
    /// How the machine is inspected without booting it.
    pub inspect: Option<&'static str>,
    /// Whether secure boot can be switched.
    pub secure_boot: bool,
    /// Whether the machine can be booted from an ISO image.
    pub iso_image: bool,
    /// Whether the MAC address of the boot interface has to be known from the start.
    pub needs_mac: bool,
    /// Whether the machine boots over a provisioning network.
    pub needs_provisioning_network: bool,
}

/// What the IPMI kinds have in common.
const IPMI: Scheme = Scheme {
    name: "ipmi",
    takes_protocol: false,
    family: Family::Ipmi,
    driver: "ipmi",
    boot: Some("ipxe"),
    bios: None,
    firmware: None,
    management: None,
    power: None,
    raid: Some("no-raid"),
    vendor: None,
    inspect: None,
    secure_boot: false,
    iso_image: false,
    needs_mac: false,
    needs_provisioning_network: true,
};

/// What the Redfish kinds have in common.
const REDFISH: Scheme = Scheme {
    name: "redfish",
    takes_protocol: true,
    family: Family::Redfish {
        always_system_id: false,
    },
    driver: "redfish",
    boot: Some("ipxe"),
    bios: None,
    firmware: Some("redfish"),
    management: None,
    power: None,
    raid: Some("redfish"),
    vendor: None,
    inspect: Some("redfish"),
    secure_boot: true,
    iso_image: false,
    needs_mac: false,
    needs_provisioning_network: true,
};

/// What the iDRAC kinds have in common. The vendor interface is named because the driver's default is an older
/// protocol; inspection is plain Redfish because the back end has no other enabled.
const IDRAC: Scheme = Scheme {
    name: "idrac-redfish",
    driver: "idrac",
    bios: Some("idrac-redfish"),
    management: Some("idrac-redfish"),
    power: Some("idrac-redfish"),
    raid: Some("idrac-redfish"),
    vendor: Some("idrac-redfish"),
    ..REDFISH
};

/// A Redfish kind that boots from virtual media.
const VIRTUAL_MEDIA: Scheme = Scheme {
    name: "redfish-virtualmedia",
    boot: Some("redfish-virtual-media"),
    iso_image: true,
    needs_provisioning_network: false,
    ..REDFISH
};

/// Every kind of address.
pub const SCHEMES: [Scheme; 9] = [
    IPMI,
    Scheme {
        name: "libvirt",
        needs_mac: true,
        ..IPMI
    },
    REDFISH,
    Scheme {
        name: "ilo5-redfish",
        ..REDFISH
    },
    IDRAC,
    VIRTUAL_MEDIA,
    Scheme {
        name: "ilo5-virtualmedia",
        ..VIRTUAL_MEDIA
    },
    Scheme {
        name: "redfish-uefihttp",
        boot: Some("redfish-https"),
        family: Family::Redfish {
            always_system_id: true,
        },
        ..VIRTUAL_MEDIA
    },
    Scheme {
        name: "idrac-virtualmedia",
        boot: Some("idrac-redfish-virtual-media"),
        iso_image: true,
        needs_provisioning_network: false,
        ..IDRAC
    },
];

/// Protocol of the BMC's own address when the scheme does not name one.
const DEFAULT_PROTOCOL: &str = "https";

/// The row of a scheme (in lower case), and the protocol its suffix names.
pub(crate) fn find(scheme: &str) -> Option<(&'static Scheme, &str)> {
    let (name, suffix) = scheme
        .split_once('+')
        .map_or((scheme, None), |(name, suffix)| (name, Some(suffix)));
    let row = SCHEMES.iter().find(|row| row.name == name)?;
    match suffix {
        None => Some((row, DEFAULT_PROTOCOL)),
        Some(protocol @ ("http" | "https")) if row.takes_protocol => Some((row, protocol)),
        Some(_) => None,
    }
}

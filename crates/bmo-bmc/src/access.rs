//! What an address means for the driver that serves it.

use crate::credentials::Credentials;
use crate::schemes::{self, Family, Scheme};
use crate::url::{AddressError, BmcUrl};
use serde_json::{Map, Value};

/// Port of IPMI when the address names none.
const IPMI_PORT: &str = "623";
/// Query parameter with the privilege level of IPMI, and its value when it is not given.
const PRIVILEGE_LEVEL: (&str, &str) = ("privilegelevel", "ADMINISTRATOR");
/// Path of a Redfish service as such: it names no system.
const REDFISH_ROOT: &str = "redfish/v1";

/// A BMC address, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessDetails {
    scheme: &'static Scheme,
    protocol: String,
    url: BmcUrl,
    disable_certificate_verification: bool,
}

impl AccessDetails {
    /// Understands an address: `<scheme>://<host>[:<port>][/<path>]`, `<scheme>:<host>`, or a host alone for IPMI.
    ///
    /// `disable_certificate_verification` tells the driver to accept any certificate.
    pub fn parse(address: &str, disable_certificate_verification: bool) -> Result<Self, AddressError> {
        if address.is_empty() {
            return Err(AddressError::Missing);
        }
        let url = BmcUrl::parse(address)?;
        let Some((scheme, protocol)) = schemes::find(&url.scheme) else {
            return Err(AddressError::UnknownType {
                scheme: url.scheme,
                address: address.to_owned(),
            });
        };
        Ok(Self {
            scheme,
            protocol: protocol.to_owned(),
            url,
            disable_certificate_verification,
        })
    }

    /// The scheme with its suffix, such as `redfish+http`.
    pub fn kind(&self) -> &str {
        &self.url.scheme
    }

    /// The row of the table of schemes.
    pub fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// The address, taken apart.
    pub fn url(&self) -> &BmcUrl {
        &self.url
    }

    /// The BMC's host without port and brackets.
    pub fn hostname(&self) -> &str {
        self.url.hostname()
    }

    /// Driver that serves the BMC.
    pub fn driver(&self) -> &'static str {
        self.scheme.driver
    }

    /// How the machine is booted.
    pub fn boot_interface(&self) -> Option<&'static str> {
        self.scheme.boot
    }

    /// How BIOS settings are changed; `None`: the driver's default.
    pub fn bios_interface(&self) -> Option<&'static str> {
        self.scheme.bios
    }

    /// How firmware is updated; `None`: the driver's default.
    pub fn firmware_interface(&self) -> Option<&'static str> {
        self.scheme.firmware
    }

    /// How boot devices are chosen; `None`: the driver's default.
    pub fn management_interface(&self) -> Option<&'static str> {
        self.scheme.management
    }

    /// How power is switched; `None`: the driver's default.
    pub fn power_interface(&self) -> Option<&'static str> {
        self.scheme.power
    }

    /// How hardware RAID is set up; `no-raid` where it cannot be.
    pub fn raid_interface(&self) -> Option<&'static str> {
        self.scheme.raid
    }

    /// The vendor's own calls; `None`: the driver's default.
    pub fn vendor_interface(&self) -> Option<&'static str> {
        self.scheme.vendor
    }

    /// How the machine is inspected without booting it (inspection mode `fast`); `None` where it cannot be.
    pub fn inspect_interface(&self) -> Option<&'static str> {
        self.scheme.inspect
    }

    /// Whether the MAC address of the boot interface has to be known from the start.
    pub fn needs_mac(&self) -> bool {
        self.scheme.needs_mac
    }

    /// Whether secure boot can be switched.
    pub fn supports_secure_boot(&self) -> bool {
        self.scheme.secure_boot
    }

    /// Whether hardware RAID can be set up.
    pub fn supports_hardware_raid(&self) -> bool {
        self.scheme.raid != Some("no-raid")
    }

    /// Whether the machine can be inspected and provisioned from an ISO image.
    pub fn supports_iso_preprovisioning_image(&self) -> bool {
        self.scheme.iso_image
    }

    /// Whether the machine boots over a provisioning network.
    pub fn requires_provisioning_network(&self) -> bool {
        self.scheme.needs_provisioning_network
    }

    /// Whether the driver accepts any certificate.
    pub fn disable_certificate_verification(&self) -> bool {
        self.disable_certificate_verification
    }

    /// Start of the keys in [`Self::driver_info`].
    fn prefix(&self) -> &'static str {
        match self.scheme.family {
            Family::Ipmi => "ipmi",
            Family::Redfish { .. } => "redfish",
        }
    }

    /// Key of the BMC's address in [`Self::driver_info`].
    pub fn address_key(&self) -> &'static str {
        match self.scheme.family {
            Family::Ipmi => "ipmi_address",
            Family::Redfish { .. } => "redfish_address",
        }
    }

    /// What the driver needs to know. Holds the password: never to be logged.
    pub fn driver_info(&self, credentials: &Credentials) -> Map<String, Value> {
        let prefix = self.prefix();
        let mut info = Map::new();
        info.insert(format!("{prefix}_username"), credentials.username.clone().into());
        info.insert(format!("{prefix}_password"), credentials.password.clone().into());
        match self.scheme.family {
            Family::Ipmi => self.add_ipmi(&mut info),
            Family::Redfish { always_system_id } => self.add_redfish(&mut info, always_system_id),
        }
        if self.disable_certificate_verification {
            info.insert(format!("{prefix}_verify_ca"), false.into());
        }
        info
    }

    fn add_ipmi(&self, info: &mut Map<String, Value>) {
        let port = if self.url.port().is_empty() {
            IPMI_PORT
        } else {
            self.url.port()
        };
        let (parameter, default) = PRIVILEGE_LEVEL;
        let level = self
            .url
            .query_value(parameter)
            .unwrap_or_else(|| default.to_owned());
        info.insert(self.address_key().to_owned(), self.url.hostname().into());
        info.insert("ipmi_port".to_owned(), port.into());
        info.insert("ipmi_priv_level".to_owned(), level.into());
    }

    fn add_redfish(&self, info: &mut Map<String, Value>, always_system_id: bool) {
        let address = format!("{}://{}", self.protocol, self.url.host);
        info.insert(self.address_key().to_owned(), address.into());
        let names_a_system = !matches!(self.url.path.trim_matches('/'), "" | REDFISH_ROOT);
        if names_a_system || always_system_id {
            info.insert("redfish_system_id".to_owned(), self.url.path.clone().into());
        }
    }
}

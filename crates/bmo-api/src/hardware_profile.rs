//! Hardware profiles: named sets of assumptions about a machine, used where inspection does not tell.

use crate::root_device_hints::RootDeviceHints;

/// Name of the profile of machines nothing is assumed of.
pub const DEFAULT_PROFILE: &str = "unknown";
/// Name of the profile of libvirt's virtual machines.
pub const LIBVIRT_PROFILE: &str = "libvirt";

/// A set of assumptions about a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareProfile {
    /// Its name.
    pub name: String,
    /// The disk to use when the user gives no hint.
    pub root_device_hints: RootDeviceHints,
}

/// There is no profile of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no hardware profile is named {name:?}; known are {}", HardwareProfile::NAMES.join(", "))]
pub struct UnknownProfile {
    name: String,
}

impl HardwareProfile {
    /// Names of all profiles.
    pub const NAMES: [&'static str; 6] = ["unknown", "libvirt", "dell", "dell-raid", "openstack", "empty"];

    /// The profile of that name.
    pub fn find(name: &str) -> Result<Self, UnknownProfile> {
        let device = |device: &str| RootDeviceHints {
            device_name: device.to_owned(),
            ..Default::default()
        };
        let scsi = |address: &str| RootDeviceHints {
            hctl: address.to_owned(),
            ..Default::default()
        };
        let root_device_hints = match name {
            DEFAULT_PROFILE => device("/dev/sda"),
            LIBVIRT_PROFILE => device("/dev/vda"),
            "dell" => scsi("0:0:0:0"),
            "dell-raid" => scsi("0:2:0:0"),
            "openstack" => device("/dev/vdb"),
            "empty" => RootDeviceHints::default(),
            _ => {
                return Err(UnknownProfile {
                    name: name.to_owned(),
                });
            }
        };
        Ok(Self {
            name: name.to_owned(),
            root_device_hints,
        })
    }
}

//! Wanted and applied RAID volumes.

use crate::root_device_hints::RootDeviceHints;
use crate::schema;
use crate::text_enum::text_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

text_enum! {
    /// RAID level. Software volumes know only 0, 1 and 1+0.
    pub enum RaidLevel {
        /// Striping.
        Raid0 = "0",
        /// Mirroring.
        Raid1 = "1",
        /// Bit striping with error correction.
        Raid2 = "2",
        /// Striping with parity.
        Raid5 = "5",
        /// Striping with double parity.
        Raid6 = "6",
        /// Striped mirrors.
        Raid10 = "1+0",
        /// Striped RAID 5.
        Raid50 = "5+0",
        /// Striped RAID 6.
        Raid60 = "6+0",
    }
}

/// RAID volumes of a machine.
///
/// For each list *absent* and *empty* differ: an absent list leaves the volumes as they are, an empty one removes them.
/// Both are written always, the absent one as `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RaidConfig {
    /// Volumes of a RAID controller. An empty list removes all, an absent one changes nothing. The first is the root
    /// volume.
    #[serde(rename = "hardwareRAIDVolumes")]
    #[schemars(extend("x-bmo-nullable" = true))]
    pub hardware_raid_volumes: Option<Vec<HardwareRaidVolume>>,
    /// Volumes made by the operating system's software RAID. An empty list removes all, an absent one changes nothing.
    #[serde(rename = "softwareRAIDVolumes")]
    #[schemars(extend("x-bmo-nullable" = true, "maxItems" = 2))]
    pub software_raid_volumes: Option<Vec<SoftwareRaidVolume>>,
}

impl RaidConfig {
    /// How many software volumes are marked as root volume.
    pub fn root_volume_count(&self) -> usize {
        self.software_raid_volumes
            .iter()
            .flatten()
            .filter(|volume| volume.root_volume)
            .count()
    }
}

/// A volume of a RAID controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HardwareRaidVolume {
    /// Size in gibibytes; absent: as large as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>", extend("minimum" = 0))]
    pub size_gibibytes: Option<i64>,
    /// RAID level.
    pub level: RaidLevel,
    /// Name of the volume; unique within the machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 64))]
    pub name: String,
    /// True: only spinning disks; false: only others; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// How many disks to use; absent: what the level needs at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>", extend("minimum" = 1))]
    pub number_of_physical_disks: Option<i64>,
    /// Names of the disks to use, as the controller calls them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub physical_disks: Vec<String>,
    /// Name of the controller to use.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub controller: String,
}

/// A software RAID volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SoftwareRaidVolume {
    /// Size in gibibytes; absent: as large as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Int>", extend("minimum" = 0))]
    pub size_gibibytes: Option<i64>,
    /// RAID level: 0, 1 or 1+0.
    #[schemars(extend("enum" = ["0", "1", "1+0"]))]
    pub level: RaidLevel,
    /// The disks to use: at least two hints, or none for all disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2))]
    pub physical_disks: Vec<RootDeviceHints>,
    /// Whether the image goes onto this volume. At most one volume may say so.
    #[serde(default)]
    #[schemars(extend("x-bmo-default" = false))]
    pub root_volume: bool,
}

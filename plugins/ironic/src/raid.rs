//! RAID: from the volumes a user wants to what Ironic is told, and the steps that make it so.
//!
//! For each kind of volume an absent list means "as it is" and an empty one "none". Where a list of software volumes
//! is given, hardware volumes are not looked at.

use std::collections::HashMap;

use bmo_api::{HardwareRaidVolume, RaidConfig, RaidLevel, SoftwareRaidVolume};
use serde_json::{Map, Value, json};

use crate::hints;
use crate::steps::Step;

/// The driver interface of machines without a RAID controller that Ironic could set up.
const NO_RAID: &str = "no-raid";
/// The interface that sets up software RAID.
const AGENT: &str = "agent";

/// Wanted and present volumes.
#[derive(Clone, Copy, Debug)]
pub struct Volumes<'a> {
    /// Wanted.
    pub target: Option<&'a RaidConfig>,
    /// Present, where known.
    pub actual: Option<&'a RaidConfig>,
}

fn hardware(config: Option<&RaidConfig>) -> Option<&[HardwareRaidVolume]> {
    config.and_then(|config| config.hardware_raid_volumes.as_deref())
}

fn software(config: Option<&RaidConfig>) -> Option<&[SoftwareRaidVolume]> {
    config.and_then(|config| config.software_raid_volumes.as_deref())
}

impl Volumes<'_> {
    /// The interface to set the volumes up with, given the driver's own.
    pub fn interface<'a>(&self, of_driver: &'a str) -> Result<&'a str, String> {
        if self.target.is_none() {
            return Ok(of_driver);
        }
        let wants_hardware = hardware(self.target).is_some_and(|list| !list.is_empty());
        match of_driver {
            NO_RAID if wants_hardware => Err(
                "hardware RAID volumes are defined, but the host's BMC driver does not support RAID: remove \
                 spec.raid.hardwareRAIDVolumes or use a Redfish address"
                    .to_owned(),
            ),
            AGENT if wants_hardware => Err(
                "hardware RAID volumes are defined, but the host's BMC driver supports only software RAID: use \
                 spec.raid.softwareRAIDVolumes"
                    .to_owned(),
            ),
            _ if [self.target, self.actual].into_iter().any(|c| software(c).is_some_and(|list| !list.is_empty())) => {
                Ok(AGENT)
            }
            _ => Ok(of_driver),
        }
    }

    /// The clean steps that turn the present volumes into the wanted ones.
    pub fn steps(&self, of_driver: &str) -> Vec<Step> {
        if let Some(wanted) = software(self.target) {
            let present = software(self.actual).unwrap_or_default();
            if software(self.actual) == Some(wanted) || (wanted.is_empty() && present.is_empty()) {
                return Vec::new();
            }
            let create = (!wanted.is_empty()).then(|| Step::plain("raid", "create_configuration"));
            let remove = [
                Step::plain("raid", "delete_configuration"),
                Step::plain("deploy", "erase_devices_metadata"),
            ];
            return remove.into_iter().chain(create).collect();
        }
        match hardware(self.target) {
            Some(wanted) if of_driver != NO_RAID && hardware(self.actual) != Some(wanted) => {
                let create = (!wanted.is_empty()).then(|| Step::plain("raid", "create_configuration"));
                [Step::plain("raid", "delete_configuration")]
                    .into_iter()
                    .chain(create)
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The volumes in Ironic's language. `has_hints`: the user says elsewhere which disk is the root device.
    pub fn logical_disks(&self, has_hints: bool) -> Result<Vec<Value>, String> {
        let mut disks = match (hardware(self.target), software(self.target)) {
            (_, Some(volumes)) if !volumes.is_empty() => software_disks(volumes)?,
            (Some(volumes), _) => hardware_disks(volumes)?,
            _ => Vec::new(),
        };
        let marked = self.target.is_some_and(|target| target.root_volume_count() > 0);
        if let Some(first) = disks.first_mut().filter(|_| !has_hints && !marked) {
            first["is_root_volume"] = true.into();
        }
        Ok(disks)
    }
}

/// Zero means the same as absent: as large as possible.
fn size(gibibytes: Option<i64>) -> Value {
    gibibytes
        .filter(|size| *size > 0)
        .map_or_else(|| "MAX".into(), Value::from)
}

fn hardware_disks(volumes: &[HardwareRaidVolume]) -> Result<Vec<Value>, String> {
    let mut names = HashMap::new();
    let mut disks = Vec::new();
    for (at, volume) in volumes.iter().enumerate() {
        if !volume.name.is_empty()
            && let Some(first) = names.insert(volume.name.as_str(), at)
        {
            return Err(format!(
                "RAID volume name {:?} is used twice: by volume[{at}] and volume[{first}]",
                volume.name
            ));
        }
        disks.push(hardware_disk(volume)?);
    }
    Ok(disks)
}

fn hardware_disk(volume: &HardwareRaidVolume) -> Result<Value, String> {
    let mut disk = Map::new();
    disk.insert("size_gb".to_owned(), size(volume.size_gibibytes));
    disk.insert("raid_level".to_owned(), volume.level.as_str().into());
    if !volume.name.is_empty() {
        disk.insert("volume_name".to_owned(), volume.name.as_str().into());
    }
    if let Some(rotational) = volume.rotational {
        disk.insert(
            "disk_type".to_owned(),
            if rotational { "hdd" } else { "ssd" }.into(),
        );
    }
    if let Some(count) = volume.number_of_physical_disks {
        disk.insert("number_of_physical_disks".to_owned(), count.into());
    }
    if !volume.controller.is_empty() {
        disk.insert("controller".to_owned(), volume.controller.as_str().into());
    }
    if !volume.physical_disks.is_empty() {
        let named = volume.physical_disks.len();
        if volume.controller.is_empty() {
            return Err(
                "'controller' must be specified if 'physicalDisks' are used in a RAID volume".to_owned(),
            );
        }
        if let Some(count) = volume
            .number_of_physical_disks
            .filter(|count| usize::try_from(*count) != Ok(named))
        {
            return Err(format!(
                "a RAID volume wants numberOfPhysicalDisks {count} but names {named} physicalDisks: make them equal"
            ));
        }
        disk.insert("physical_disks".to_owned(), json!(volume.physical_disks));
    }
    Ok(Value::Object(disk))
}

fn software_disks(volumes: &[SoftwareRaidVolume]) -> Result<Vec<Value>, String> {
    if volumes
        .first()
        .is_some_and(|first| first.level != RaidLevel::Raid1)
    {
        return Err(
            "the level of the first software RAID volume must be 1: machines can boot only from that"
                .to_owned(),
        );
    }
    let disk = |volume: &SoftwareRaidVolume| {
        let mut disk = json!({
            "controller": "software",
            "size_gb": size(volume.size_gibibytes),
            "raid_level": volume.level.as_str(),
            "is_root_volume": volume.root_volume,
        });
        if !volume.physical_disks.is_empty() {
            disk["physical_disks"] = volume
                .physical_disks
                .iter()
                .map(|hint| Value::Object(hints::map(hint)))
                .collect();
        }
        disk
    };
    Ok(volumes.iter().map(disk).collect())
}

#[cfg(test)]
mod tests;

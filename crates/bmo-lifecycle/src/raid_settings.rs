//! The settings that preparation applies: which are wanted, which are stored.
//!
//! A list of volumes that is absent and one that is empty differ (absent: leave as it is; empty: remove all).

use bmo_api::{RaidConfig, RootDeviceHints};

use crate::context::Pass;

/// RAID volumes and root device hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreparedSettings {
    pub raid: Option<RaidConfig>,
    pub root_device_hints: Option<RootDeviceHints>,
}

/// The volumes to have, given what the user asks for and what there is.
///
/// Where the user asks for nothing any more but there is a record of volumes, hardware volumes stay and software
/// volumes go: the disks of a software RAID are of no use otherwise, hardware volumes may hold what came with the
/// machine.
pub(crate) fn wanted_raid(spec: Option<&RaidConfig>, stored: Option<&RaidConfig>) -> Option<RaidConfig> {
    let asks_nothing =
        spec.is_none_or(|raid| raid.hardware_raid_volumes.is_none() && raid.software_raid_volumes.is_none());
    match stored {
        Some(stored) if asks_nothing => Some(RaidConfig {
            hardware_raid_volumes: stored
                .hardware_raid_volumes
                .clone()
                .filter(|list| !list.is_empty()),
            software_raid_volumes: Some(Vec::new()),
        }),
        _ => spec.cloned(),
    }
}

impl Pass<'_> {
    /// The settings to have.
    pub(crate) fn wanted_settings(&self) -> PreparedSettings {
        let stored = &self.status.provisioning;
        PreparedSettings {
            raid: wanted_raid(self.host.spec.raid.as_ref(), stored.raid.as_ref()),
            root_device_hints: stored.root_device_hints.clone(),
        }
    }

    /// Whether preparation has something to apply.
    pub(crate) fn settings_differ(&self, wanted: &PreparedSettings) -> bool {
        wanted.raid != self.status.provisioning.raid
    }

    /// Stores settings that were applied.
    pub(crate) fn store_settings(&mut self, applied: PreparedSettings) {
        self.status.provisioning.raid = applied.raid;
        self.status.provisioning.root_device_hints = applied.root_device_hints;
    }

    /// Forgets what was applied: software volumes and firmware are gone, hardware volumes stay. The hints are those
    /// the user asks for, at once, so that no later pass has to write them.
    pub(crate) fn clear_settings(&mut self) {
        let provisioning = &mut self.status.provisioning;
        if let Some(raid) = &mut provisioning.raid {
            raid.software_raid_volumes = None;
        }
        provisioning.firmware = None;
        self.sync_hints();
    }
}

#[cfg(test)]
mod tests {
    use bmo_api::{HardwareRaidVolume, RaidLevel, SoftwareRaidVolume};

    use super::*;

    fn hardware() -> Vec<HardwareRaidVolume> {
        vec![HardwareRaidVolume {
            size_gibibytes: None,
            level: RaidLevel::Raid1,
            name: "root".into(),
            rotational: None,
            number_of_physical_disks: None,
            physical_disks: Vec::new(),
            controller: String::new(),
        }]
    }

    fn software() -> Vec<SoftwareRaidVolume> {
        vec![SoftwareRaidVolume {
            size_gibibytes: None,
            level: RaidLevel::Raid1,
            physical_disks: Vec::new(),
            root_volume: false,
        }]
    }

    fn raid(hw: Option<Vec<HardwareRaidVolume>>, sw: Option<Vec<SoftwareRaidVolume>>) -> RaidConfig {
        RaidConfig {
            hardware_raid_volumes: hw,
            software_raid_volumes: sw,
        }
    }

    #[test]
    fn what_is_stored_after_each_wish_of_one_host() {
        let mut stored = Some(raid(Some(vec![]), Some(vec![])));
        let nothing = raid(None, Some(vec![]));
        let with_hardware = raid(Some(hardware()), None);
        let both = raid(Some(hardware()), Some(software()));
        let table = [
            (None, true, nothing.clone()),
            (Some(RaidConfig::default()), false, nothing),
            (Some(with_hardware.clone()), true, with_hardware),
            (Some(both.clone()), true, both),
            (Some(raid(Some(vec![]), None)), true, raid(Some(vec![]), None)),
            (
                Some(raid(Some(vec![]), Some(vec![]))),
                true,
                raid(Some(vec![]), Some(vec![])),
            ),
            (
                Some(raid(None, Some(software()))),
                true,
                raid(None, Some(software())),
            ),
            (Some(raid(None, Some(vec![]))), true, raid(None, Some(vec![]))),
        ];
        for (row, (spec, dirty, expected)) in table.into_iter().enumerate() {
            let wanted = wanted_raid(spec.as_ref(), stored.as_ref());
            assert_eq!(wanted != stored, dirty, "row {row}");
            assert_eq!(wanted, Some(expected), "row {row}");
            assert_eq!(
                wanted_raid(spec.as_ref(), wanted.as_ref()),
                wanted,
                "row {row}: settled"
            );
            stored = wanted;
        }
    }

    #[test]
    fn a_host_that_never_had_volumes_has_no_record_of_them() {
        assert_eq!(wanted_raid(None, None), None);
    }
}

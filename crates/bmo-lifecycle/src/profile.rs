//! The hardware profile and the root device hints: what is stored follows what is asked for.

use bmo_api::hardware_profile::{DEFAULT_PROFILE, LIBVIRT_PROFILE};
use bmo_api::{HardwareProfile, RootDeviceHints};

use crate::context::Pass;
use crate::pass::EventKind;

impl Pass<'_> {
    /// The profile to use: the stored one, else the user's, else what the BMC address tells.
    fn wanted_profile(&self) -> &str {
        let spec = &self.host.spec;
        if !self.status.hardware_profile.is_empty() {
            &self.status.hardware_profile
        } else if !spec.hardware_profile.is_empty() {
            &spec.hardware_profile
        } else if spec.bmc.address.starts_with(LIBVIRT_PROFILE) {
            LIBVIRT_PROFILE
        } else {
            DEFAULT_PROFILE
        }
    }

    /// Stores the profile and the hints that follow from it.
    ///
    /// # Errors
    /// A text for the user, if there is no such profile.
    pub(crate) fn sync_profile(&mut self) -> Result<(), String> {
        let profile = HardwareProfile::find(self.wanted_profile()).map_err(|unknown| unknown.to_string())?;
        if self.status.hardware_profile != profile.name {
            self.event(
                EventKind::Normal,
                "ProfileSet",
                format!("Hardware profile set: {}", profile.name),
            );
            self.status.hardware_profile.clone_from(&profile.name);
        }
        self.status.provisioning.root_device_hints = self.wanted_hints(&profile);
        Ok(())
    }

    /// Stores the hints that follow from the stored profile; used where stored settings have just been cleared.
    pub(crate) fn sync_hints(&mut self) {
        if let Ok(profile) = HardwareProfile::find(self.wanted_profile()) {
            self.status.provisioning.root_device_hints = self.wanted_hints(&profile);
        }
    }

    /// The hints to use; none where a software RAID volume is the root device.
    fn wanted_hints(&self, profile: &HardwareProfile) -> Option<RootDeviceHints> {
        let spec = &self.host.spec;
        if spec
            .raid
            .as_ref()
            .is_some_and(|raid| raid.root_volume_count() > 0)
        {
            return None;
        }
        Some(
            spec.root_device_hints
                .clone()
                .unwrap_or_else(|| profile.root_device_hints.clone()),
        )
    }
}

//! The groups of methods a provisioner may implement beyond the minimum.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A group of methods. What a provisioner does not name here is never called; the operator goes on with the
/// answer given beside each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Capability {
    /// `inspect_hardware`. Absent: the host goes on without hardware details.
    Inspection,
    /// `update_hardware_state`. Absent: the power state is unknown, the last request counts as done.
    PowerState,
    /// `adopt`. Absent: a host found running is taken as it is.
    Adoption,
    /// `prepare` with RAID volumes. Absent: a host that asks for volumes fails preparation.
    Raid,
    /// `prepare` with BIOS settings, `get_firmware_settings`. Absent: as [`Capability::Raid`], and no settings.
    FirmwareSettings,
    /// `prepare` with firmware updates, `get_firmware_components`. Absent: as above, and no components.
    FirmwareComponents,
    /// `service`. Absent: a provisioned host that asks for servicing fails it.
    Servicing,
    /// `detach`. Absent: the host is let go without telling the back end.
    Detachment,
    /// `has_capacity`. Absent: there is always room.
    Capacity,
    /// `preprovisioning_image_formats`. Absent: no image is built.
    PreprovisioningImages,
    /// `get_data_image_status`, `attach_data_image`, `detach_data_image`. Absent: data images are refused.
    DataImages,
    /// `add_bmc_event_subscription`, `remove_bmc_event_subscription`. Absent: subscriptions are refused.
    EventSubscriptions,
    /// `has_power_failure`. Absent: no power failure is known.
    PowerFailure,
    /// `get_health`. Absent: the health is unknown.
    Health,
}

impl Capability {
    /// Every group, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::Inspection,
        Self::PowerState,
        Self::Adoption,
        Self::Raid,
        Self::FirmwareSettings,
        Self::FirmwareComponents,
        Self::Servicing,
        Self::Detachment,
        Self::Capacity,
        Self::PreprovisioningImages,
        Self::DataImages,
        Self::EventSubscriptions,
        Self::PowerFailure,
        Self::Health,
    ];

    /// The name used in messages and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspection => "inspection",
            Self::PowerState => "powerState",
            Self::Adoption => "adoption",
            Self::Raid => "raid",
            Self::FirmwareSettings => "firmwareSettings",
            Self::FirmwareComponents => "firmwareComponents",
            Self::Servicing => "servicing",
            Self::Detachment => "detachment",
            Self::Capacity => "capacity",
            Self::PreprovisioningImages => "preprovisioningImages",
            Self::DataImages => "dataImages",
            Self::EventSubscriptions => "eventSubscriptions",
            Self::PowerFailure => "powerFailure",
            Self::Health => "health",
        }
    }
}

/// A set of [`Capability`]. On the wire a list of names; names this version does not know are dropped, so that a
/// newer plugin can be loaded by an older operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Capabilities(BTreeSet<Capability>);

impl Capabilities {
    /// Only the minimum every provisioner has.
    pub fn minimum() -> Self {
        Self::default()
    }

    /// Every group there is.
    pub fn all() -> Self {
        Capability::ALL.into_iter().collect()
    }

    /// Whether the group is implemented.
    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    /// The groups in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = Capability> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl<const N: usize> From<[Capability; N]> for Capabilities {
    fn from(list: [Capability; N]) -> Self {
        list.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(Capability::ALL
            .into_iter()
            .filter(|known| names.iter().any(|name| name == known.name()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Capabilities, Capability};

    #[test]
    fn names_on_the_wire_are_the_names_in_messages() {
        for capability in Capability::ALL {
            assert_eq!(serde_json::to_value(capability).unwrap(), capability.name());
        }
        let all = serde_json::to_string(&Capabilities::all()).unwrap();
        assert_eq!(
            serde_json::from_str::<Capabilities>(&all).unwrap(),
            Capabilities::all()
        );
    }

    #[test]
    fn names_of_a_newer_plugin_are_dropped() {
        let set: Capabilities = serde_json::from_str(r#"["teleportation","adoption"]"#).unwrap();
        assert_eq!(set, Capabilities::from([Capability::Adoption]));
    }
}

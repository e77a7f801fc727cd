//! The conditions of a host: their names, their reasons, and how one is set.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// Aspect of a host that a condition reports. Order: `Ready` first, then by name, as they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConditionType {
    /// The machine runs what was asked for and nothing is wrong.
    Ready,
    /// The machine can be taken into use.
    AvailableForProvisioning,
    /// The BMC reports the hardware as sound.
    Healthy,
    /// The BMC can be used.
    Manageable,
    /// An operation is going on.
    Progressing,
    /// An image runs on the machine.
    Provisioned,
}

impl ConditionType {
    /// All of them, in the order they are listed.
    pub const ALL: [Self; 6] = [
        Self::Ready,
        Self::AvailableForProvisioning,
        Self::Healthy,
        Self::Manageable,
        Self::Progressing,
        Self::Provisioned,
    ];

    /// The text in `type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::AvailableForProvisioning => "AvailableForProvisioning",
            Self::Healthy => "Healthy",
            Self::Manageable => "Manageable",
            Self::Progressing => "Progressing",
            Self::Provisioned => "Provisioned",
        }
    }
}

/// Texts of `reason`.
pub mod reasons {
    /// No BMC details yet.
    pub const NOT_MANAGED: &str = "NotManaged";
    /// The BMC can be used.
    pub const MANAGEABLE: &str = "Manageable";
    /// The BMC is being checked.
    pub const REGISTERING: &str = "Registering";
    /// The BMC or its credentials do not work.
    pub const REGISTRATION_FAILED: &str = "RegistrationFailed";
    /// The BMC reports that the power does not follow.
    pub const POWER_FAILURE: &str = "PowerFailure";
    /// Ready to be provisioned.
    pub const AVAILABLE: &str = "Available";
    /// Not ready to be provisioned.
    pub const NOT_AVAILABLE: &str = "NotAvailable";
    /// The image runs.
    pub const PROVISIONED: &str = "Provisioned";
    /// No image runs.
    pub const NOT_PROVISIONED: &str = "NotProvisioned";
    /// Nothing is going on.
    pub const NOT_PROGRESSING: &str = "NotProgressing";
    /// The hardware is looked at.
    pub const INSPECTING: &str = "Inspecting";
    /// RAID and firmware are set up.
    pub const PREPARING: &str = "Preparing";
    /// The image is deployed.
    pub const PROVISIONING: &str = "Provisioning";
    /// The image is removed.
    pub const DEPROVISIONING: &str = "Deprovisioning";
    /// Switched off before it is given up.
    pub const POWERING_OFF_BEFORE_DELETE: &str = "PoweringOffBeforeDelete";
    /// The provisioner forgets the machine.
    pub const DELETING: &str = "Deleting";
    /// The last operation failed.
    pub const ERROR: &str = "Error";
    /// Firmware is changed while the machine is in use.
    pub const SERVICING: &str = "Servicing";
    /// Given up on request.
    pub const DETACHED: &str = "Detached";
    /// The hardware is sound.
    pub const HEALTHY: &str = "Healthy";
    /// The hardware needs attention.
    pub const WARNING: &str = "Warning";
    /// The hardware is broken.
    pub const CRITICAL_ERROR: &str = "CriticalError";
    /// The BMC does not tell.
    pub const UNKNOWN: &str = "Unknown";
}

/// The condition of that type.
pub fn find_condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Sets a condition and says whether anything changed.
///
/// `last_transition_time` of `wanted` is used only when the condition is new or its status flips; otherwise the old
/// time stays. A condition that is new goes to the end.
pub fn set_condition(conditions: &mut Vec<Condition>, wanted: Condition) -> bool {
    let Some(known) = conditions
        .iter_mut()
        .find(|condition| condition.type_ == wanted.type_)
    else {
        conditions.push(wanted);
        return true;
    };
    let last_transition_time: Time = if known.status == wanted.status {
        known.last_transition_time.clone()
    } else {
        wanted.last_transition_time.clone()
    };
    let wanted = Condition {
        last_transition_time,
        ..wanted
    };
    let changed = *known != wanted;
    *known = wanted;
    changed
}

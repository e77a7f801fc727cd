//! A node as Ironic describes it: the members that are used.
//!
//! Ironic masks secrets (`******`), so what is read here must never be written back where it may hold one.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::states::{PowerState, ProvisionState};

/// What Ironic writes where it hides a secret.
pub const MASK: &str = "******";

/// A node.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Its id.
    #[serde(deserialize_with = "text")]
    pub uuid: String,
    /// Its name; may be empty.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Whether the machine is on, as far as Ironic knows.
    pub power_state: PowerState,
    /// What it is to become; empty where nothing is under way.
    pub target_power_state: PowerState,
    /// Where the node is.
    pub provision_state: ProvisionState,
    /// Where it goes; stays set in failed states.
    pub target_provision_state: ProvisionState,
    /// When the provision state last changed.
    #[serde(deserialize_with = "text")]
    pub provision_updated_at: String,
    /// Whether Ironic leaves the node alone.
    pub maintenance: bool,
    /// Why; may be empty.
    #[serde(deserialize_with = "text")]
    pub maintenance_reason: String,
    /// The fault that led to it; empty where an operator did it.
    #[serde(deserialize_with = "text")]
    pub fault: String,
    /// Health as the BMC reports it; empty where unknown.
    #[serde(deserialize_with = "text")]
    pub health: String,
    /// What went wrong last; empty where nothing did.
    #[serde(deserialize_with = "text")]
    pub last_error: String,
    /// Which conductor works on the node; empty where none does.
    #[serde(deserialize_with = "text")]
    pub reservation: String,
    /// How to reach the BMC, and how to boot the ramdisk.
    #[serde(deserialize_with = "map")]
    pub driver_info: Map<String, Value>,
    /// Facts about the machine.
    #[serde(deserialize_with = "map")]
    pub properties: Map<String, Value>,
    /// What is or will be deployed.
    #[serde(deserialize_with = "map")]
    pub instance_info: Map<String, Value>,
    /// Id of what is deployed; empty where nothing is.
    #[serde(deserialize_with = "text")]
    pub instance_uuid: String,
    /// The driver.
    #[serde(deserialize_with = "text")]
    pub driver: String,
    /// How it boots.
    #[serde(deserialize_with = "text")]
    pub boot_interface: String,
    /// How it is deployed.
    #[serde(deserialize_with = "text")]
    pub deploy_interface: String,
    /// How it is inspected.
    #[serde(deserialize_with = "text")]
    pub inspect_interface: String,
    /// How RAID is set up.
    #[serde(deserialize_with = "text")]
    pub raid_interface: String,
    /// Network configuration of the ramdisk.
    pub network_data: Value,
    /// Whether it is cleaned between deployments; unset means the server's default.
    pub automated_clean: Option<bool>,
    /// Whether it is never powered off.
    #[serde(deserialize_with = "flag")]
    pub disable_power_off: bool,
}

impl Node {
    /// Whether an operation has left the node in maintenance because something failed.
    pub fn has_fault(&self) -> bool {
        !self.fault.is_empty()
    }

    /// The last error, or `otherwise` where Ironic gives none. A failure without a text would look like success.
    pub fn error_or<'a>(&'a self, otherwise: &'a str) -> &'a str {
        if self.last_error.is_empty() {
            otherwise
        } else {
            &self.last_error
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("uuid", &self.uuid)
            .field("name", &self.name)
            .field("provision_state", &self.provision_state)
            .field("power_state", &self.power_state)
            .field("maintenance", &self.maintenance)
            .field("fault", &self.fault)
            .field("last_error", &self.last_error)
            .finish_non_exhaustive()
    }
}

/// A node in the list of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ListedNode {
    /// Its id.
    #[serde(deserialize_with = "text")]
    pub uuid: String,
    /// Its name; may be empty.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Where it is.
    pub provision_state: ProvisionState,
    /// Where it goes.
    pub target_provision_state: ProvisionState,
    /// Whether Ironic leaves it alone.
    #[serde(deserialize_with = "flag")]
    pub maintenance: bool,
    /// The fault that led to it; may be empty.
    #[serde(deserialize_with = "text")]
    pub fault: String,
    /// What went wrong last; may be empty.
    #[serde(deserialize_with = "text")]
    pub last_error: String,
    /// How it boots.
    #[serde(deserialize_with = "text")]
    pub boot_interface: String,
}

/// A network port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Port {
    /// Its id.
    #[serde(deserialize_with = "text")]
    pub uuid: String,
    /// MAC address.
    #[serde(deserialize_with = "text")]
    pub address: String,
    /// The node it belongs to.
    #[serde(deserialize_with = "text")]
    pub node_uuid: String,
}

/// A BIOS setting.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BiosSetting {
    /// Name.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Value.
    #[serde(deserialize_with = "text")]
    pub value: String,
    /// Kind of value.
    #[serde(deserialize_with = "text")]
    pub attribute_type: String,
    /// Values of an enumeration.
    #[serde(deserialize_with = "list")]
    pub allowable_values: Vec<String>,
    /// Smallest number.
    pub lower_bound: Option<i64>,
    /// Largest number.
    pub upper_bound: Option<i64>,
    /// Shortest text.
    pub min_length: Option<i64>,
    /// Longest text.
    pub max_length: Option<i64>,
    /// Whether it can only be read.
    pub read_only: Option<bool>,
    /// Whether it differs from machine to machine.
    pub unique: Option<bool>,
}

/// A piece of firmware.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct FirmwareComponent {
    /// Which: `bios`, `bmc`, `nic:…`.
    #[serde(deserialize_with = "text")]
    pub component: String,
    /// Version found first.
    #[serde(deserialize_with = "text")]
    pub initial_version: String,
    /// Version now.
    #[serde(deserialize_with = "text")]
    pub current_version: String,
    /// Version flashed last.
    #[serde(deserialize_with = "text")]
    pub last_version_flashed: String,
    /// When that was noted.
    #[serde(deserialize_with = "text")]
    pub updated_at: String,
}

/// A virtual medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct VirtualMedium {
    /// Whether something is inserted.
    #[serde(deserialize_with = "flag")]
    pub inserted: bool,
}

/// What `validate` says about one interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Validity {
    /// Whether it could work; unset where it was not looked at.
    pub result: Option<bool>,
    /// Why not.
    #[serde(deserialize_with = "text")]
    pub reason: String,
}

/// The interfaces of `validate` that a deployment needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Validation {
    /// Booting.
    pub boot: Validity,
    /// Deploying.
    pub deploy: Validity,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<bool>::deserialize(deserializer)?.unwrap_or_default())
}

fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default())
}

fn map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::Node;
    use crate::client::states::{PowerState, ProvisionState};

    #[test]
    fn null_members_read_as_nothing() {
        let node: Node = serde_json::from_str(
            r#"{"uuid":"u","name":null,"power_state":null,"target_power_state":null,"provision_state":"wait call-back",
                "target_provision_state":null,"fault":null,"last_error":null,"instance_info":null,"automated_clean":null,
                "disable_power_off":null,"network_data":{},"unknown":{"a":1}}"#,
        )
        .unwrap();
        assert_eq!(node.provision_state, ProvisionState::DeployWait);
        assert_eq!(node.power_state, PowerState::default());
        assert_eq!((node.name.as_str(), node.automated_clean), ("", None));
    }

    #[test]
    fn debug_output_shows_no_driver_info() {
        let node: Node =
            serde_json::from_str(r#"{"uuid":"u","driver_info":{"redfish_password":"hunter2"}}"#).unwrap();
        assert!(!format!("{node:?}").contains("hunter2"));
    }
}

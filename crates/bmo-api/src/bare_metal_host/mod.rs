//! BareMetalHost: a machine, what is wanted of it and what is known about it.

pub mod conditions;
mod helpers;
pub mod spec;
pub mod status;

use crate::resource::custom_resource;
use spec::BareMetalHostSpec;
use status::BareMetalHostStatus;

custom_resource! {
    /// A bare-metal machine: how to reach its BMC, what it shall run, and how far that has come.
    BareMetalHost as "BareMetalHost" {
        plural: "baremetalhosts",
        short_names: ["bmh", "bmhost"],
        spec: BareMetalHostSpec,
        status: BareMetalHostStatus,
        status_subresource: true,
        columns: [
            ("Status", "string", ".status.operationalStatus", 1),
            ("State", "string", ".status.provisioning.state", 0),
            ("Consumer", "string", ".spec.consumerRef.name", 0),
            ("BMC", "string", ".spec.bmc.address", 1),
            ("Online", "string", ".spec.online", 0),
            ("Error", "string", ".status.errorType", 0),
            ("Age", "date", ".metadata.creationTimestamp", 0),
        ],
    }
}

//! A host nobody has looked at yet: managed if it says how to reach its BMC, else only known.

use bmo_api::{OperationalStatus, ProvisioningState};

use crate::context::Pass;
use crate::pass::{EventKind, Metric};
use crate::step::Step;

pub(super) fn handle(pass: &mut Pass<'_>) -> Step {
    if pass.host.has_bmc_details() {
        return Step::diverted(ProvisioningState::Registering);
    }
    pass.event(
        EventKind::Normal,
        "Discovered",
        "Discovered host with no BMC details",
    );
    pass.status.operational_status = OperationalStatus::Discovered;
    pass.count(Metric::HostUnmanaged);
    Step::diverted(ProvisioningState::Unmanaged)
}

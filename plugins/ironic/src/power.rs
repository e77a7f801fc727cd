//! Power: seeing that a machine is on or off. Soft first where that is asked for, hard where the machine's BMC
//! cannot do soft; a machine that must never be off is rebooted instead.

use std::time::Duration;

use bmo_api::{AutomatedCleaningMode, RebootMode};
use bmo_provisioner::{HardwareState, PowerOffRequest, PowerOnRequest, Progress, Result};

use crate::client::{Node, PowerState, ProvisionState, Target};
use crate::pace::{LONG, Phase, SHORT};
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};

/// How long an operating system has to shut down.
const SOFT_TIMEOUT: Duration = Duration::from_mins(3);

/// How a request for another power state ended.
enum Request {
    /// The pass ends.
    Ended(Stop),
    /// The machine's BMC has no such operation.
    Unsupported,
}

impl Pass {
    /// See [`bmo_provisioner::Provisioner::update_hardware_state`].
    pub async fn hardware_state(&self) -> Result<HardwareState> {
        let node = match self.node().await {
            Ok(node) => node,
            Err(stop) => return progress::<()>(Err(stop)).map(|_| HardwareState::default()),
        };
        let powered_on = match node.power_state {
            PowerState::On => Some(true),
            PowerState::Off => Some(false),
            _ => None,
        };
        Ok(HardwareState { powered_on })
    }

    /// See [`bmo_provisioner::Provisioner::power_on`].
    pub async fn switch_on(&self, request: PowerOnRequest) -> Result<Progress> {
        progress(self.switch_on_steps(&request).await)
    }

    async fn switch_on_steps(&self, request: &PowerOnRequest) -> Flow {
        let node = self.node().await?;
        if node.power_state == PowerState::On {
            return self.stays(&node, |target| {
                matches!(target, PowerState::Off | PowerState::SoftOff)
            });
        }
        if node.target_power_state == PowerState::On {
            return Err(self.pending_phase(&node, Phase::Power, SHORT, "the machine to be on"));
        }
        if !node.last_error.is_empty() && !request.force {
            return Err(self.failed(&format!("PowerOn operation failed: {}", node.last_error)));
        }
        match self.change_power(&node, &PowerState::On).await {
            Request::Ended(stop) => Err(stop),
            Request::Unsupported => Err(Stop::failed(
                "PowerOn operation failed: the BMC cannot switch the machine on",
            )),
        }
    }

    /// See [`bmo_provisioner::Provisioner::power_off`].
    pub async fn switch_off(&self, request: PowerOffRequest) -> Result<Progress> {
        progress(self.switch_off_steps(&request).await)
    }

    async fn switch_off_steps(&self, request: &PowerOffRequest) -> Flow {
        let node = self.node().await?;
        self.make_way_for_power_off(&node, request.automated_cleaning_mode)
            .await?;
        if node.power_state == PowerState::Off {
            return self.stays(&node, |target| *target == PowerState::On);
        }
        match node.target_power_state {
            PowerState::Off | PowerState::SoftOff => {
                return Err(self.pending_phase(&node, Phase::Power, SHORT, "the machine to be off"));
            }
            ref target => {
                let idle = *target == PowerState::default();
                if idle
                    && !node.last_error.is_empty()
                    && !request.force
                    && !node.last_error.contains("aborted")
                {
                    return Err(self.failed(&node.last_error));
                }
            }
        }
        let (soft, hard) = if node.disable_power_off {
            (PowerState::SoftRebooting, PowerState::Rebooting)
        } else {
            (PowerState::SoftOff, PowerState::Off)
        };
        if request.mode == RebootMode::Soft
            && !request.force
            && let Request::Ended(stop) = self.change_power(&node, &soft).await
        {
            return Err(stop);
        }
        match self.change_power(&node, &hard).await {
            Request::Ended(stop) => Err(stop),
            Request::Unsupported => Err(Stop::failed(format!(
                "the BMC cannot carry out {:?}",
                hard.as_str()
            ))),
        }
    }

    /// Done, unless an earlier request is about to switch the machine again.
    fn stays(&self, node: &Node, contrary: fn(&PowerState) -> bool) -> Flow {
        if contrary(&node.target_power_state) {
            let text = format!(
                "the machine to carry out {:?} first",
                node.target_power_state.as_str()
            );
            return Err(self.pending_phase(node, Phase::Power, SHORT, text));
        }
        Ok(())
    }

    /// Ends or waits for what does not bear that the machine is switched off.
    async fn make_way_for_power_off(&self, node: &Node, mode: AutomatedCleaningMode) -> Flow {
        use ProvisionState as S;
        match node.provision_state {
            S::InspectWait => Err(self.go(node, Target::Abort).await),
            S::Inspecting => Err(self.wait(node, LONG, "inspection to come to an end")),
            S::InspectFailed if node.target_provision_state != S::default() => {
                Err(self.go(node, Target::Manage).await)
            }
            S::CleanWait if mode == AutomatedCleaningMode::Disabled || is_manual_cleaning(node) => {
                Err(self.go(node, Target::Abort).await)
            }
            S::Cleaning | S::CleanWait => Err(self.wait(node, LONG, "cleaning to come to an end")),
            _ => Ok(()),
        }
    }

    async fn change_power(&self, node: &Node, target: &PowerState) -> Request {
        if node.target_provision_state != ProvisionState::default()
            && !node.provision_state.as_str().ends_with("failed")
        {
            return Request::Ended(self.wait(
                node,
                SHORT,
                "the node to come to rest before its power is changed",
            ));
        }
        let soft = matches!(target, PowerState::SoftOff | PowerState::SoftRebooting);
        match self
            .request_power(node, target, soft.then_some(SOFT_TIMEOUT))
            .await
        {
            Ok(()) => {
                let (reason, text) = match target {
                    PowerState::On => ("PowerOn", "Host powered on"),
                    PowerState::Off => ("PowerOff", "Host powered off"),
                    PowerState::SoftOff => ("PowerOff", "Host soft powered off"),
                    PowerState::SoftRebooting => ("Reboot", "Host soft rebooted"),
                    _ => ("Reboot", "Host rebooted"),
                };
                self.publish(reason, text);
                let stop = self.pending_phase(node, Phase::Power, SHORT, "the machine's power to change");
                Request::Ended(stop)
            }
            Err(error) if error.is(409) => Request::Ended(self.refused(&error)),
            Err(error) if error.is(400) && soft => Request::Unsupported,
            Err(error) => Request::Ended(self.error(&format!("failed to {} node", target.as_str()), &error)),
        }
    }
}

/// Cleaning that a user's wish for RAID or firmware began ends in `manageable`; the automatic one in `available`.
fn is_manual_cleaning(node: &Node) -> bool {
    node.target_provision_state == ProvisionState::Manageable
        || node.target_provision_state.as_str() == "clean"
}

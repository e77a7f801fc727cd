//! Questions about a host that its object alone answers.

use super::BareMetalHost;
use super::spec::{AutomatedCleaningMode, BootMode, CustomDeploy, InspectionMode};
use super::status::{
    BareMetalHostStatus, CredentialsStatus, OperationHistory, OperationMetric, OperationalStatus,
    ProvisioningState,
};
use crate::annotations::{self, InspectAnnotation};
use std::collections::BTreeMap;
use std::time::Duration;

impl BareMetalHost {
    /// The host's annotations; `None` when it has none.
    pub fn annotations(&self) -> Option<&BTreeMap<String, String>> {
        self.metadata.annotations.as_ref()
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations()?.get(key).map(String::as_str)
    }

    /// Where the host is on its way; `None` before it was first looked at.
    pub fn state(&self) -> ProvisioningState {
        self.status
            .as_ref()
            .map(|status| status.provisioning.state.clone())
            .unwrap_or_default()
    }

    /// The boot mode to use: the one asked for, else UEFI.
    pub fn boot_mode(&self) -> BootMode {
        self.spec.boot_mode.unwrap_or_default()
    }

    /// What to wipe between uses: what was asked for, else metadata.
    pub fn automated_cleaning_mode(&self) -> AutomatedCleaningMode {
        self.spec.automated_cleaning_mode.unwrap_or_default()
    }

    /// True when anything is said about the BMC.
    pub fn has_bmc_details(&self) -> bool {
        !self.spec.bmc.address.is_empty() || !self.spec.bmc.credentials_name.is_empty()
    }

    /// Namespace and name of the Secret with the BMC's credentials.
    pub fn credentials_key(&self) -> (String, String) {
        (
            self.metadata.namespace.clone().unwrap_or_default(),
            self.spec.bmc.credentials_name.clone(),
        )
    }

    /// True when the host is left alone on request (the value does not matter).
    pub fn is_paused(&self) -> bool {
        self.annotation(annotations::PAUSED).is_some()
    }

    /// True when the host is being deleted.
    pub fn is_being_deleted(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// True when inspection is switched off, by the spec or by the annotation.
    pub fn inspection_disabled(&self) -> bool {
        self.spec.inspection_mode == Some(InspectionMode::Disabled)
            || InspectAnnotation::of(self.annotations()) == InspectAnnotation::Disabled
    }

    /// True when the hardware is not known and the machine may still be looked at.
    pub fn needs_hardware_inspection(&self) -> bool {
        !self.spec.externally_provisioned
            && !self.was_provisioned()
            && self
                .status
                .as_ref()
                .is_none_or(|status| status.hardware.is_none())
    }

    /// True when an image was provisioned.
    pub fn was_provisioned(&self) -> bool {
        self.status
            .as_ref()
            .is_some_and(|status| !status.provisioning.image.is_empty())
    }

    /// True when no hardware profile was chosen yet.
    pub fn needs_hardware_profile(&self) -> bool {
        self.status
            .as_ref()
            .is_none_or(|status| status.hardware_profile.is_empty())
    }

    /// True when the machine shall run something that it does not run yet.
    pub fn needs_provisioning(&self) -> bool {
        if !self.spec.online || self.spec.externally_provisioned {
            return false;
        }
        let image_wanted = self.spec.image.as_ref().is_some_and(|image| !image.is_empty());
        let deployed = self
            .status
            .as_ref()
            .and_then(|status| status.provisioning.custom_deploy.as_ref());
        let method =
            |deploy: Option<&CustomDeploy>| deploy.map(|deploy| deploy.method.clone()).unwrap_or_default();
        let wanted_method = method(self.spec.custom_deploy.as_ref());
        (image_wanted && !self.was_provisioned())
            || (!wanted_method.is_empty() && wanted_method != method(deployed))
    }
}

impl BareMetalHostStatus {
    /// Sets the operational status and says whether it changed.
    pub fn set_operational_status(&mut self, wanted: OperationalStatus) -> bool {
        let changed = self.operational_status != wanted;
        self.operational_status = wanted;
        changed
    }

    /// Sets the hardware profile and says whether it changed.
    pub fn set_hardware_profile(&mut self, wanted: &str) -> bool {
        let changed = self.hardware_profile != wanted;
        if changed {
            wanted.clone_into(&mut self.hardware_profile);
        }
        changed
    }
}

impl CredentialsStatus {
    /// True when exactly this version of this Secret is meant.
    pub fn matches(&self, namespace: &str, name: &str, resource_version: &str) -> bool {
        self.version == resource_version
            && self.reference.as_ref().is_some_and(|reference| {
                reference.name.as_deref().unwrap_or_default() == name
                    && reference.namespace.as_deref().unwrap_or_default() == namespace
            })
    }
}

impl OperationHistory {
    /// The entry that measures a state; `None` for states that are not measured.
    pub fn metric_for(&self, state: &ProvisioningState) -> Option<&OperationMetric> {
        match state {
            ProvisioningState::Registering => Some(&self.register),
            ProvisioningState::Inspecting => Some(&self.inspect),
            ProvisioningState::Provisioning => Some(&self.provision),
            ProvisioningState::Deprovisioning => Some(&self.deprovision),
            _ => None,
        }
    }

    /// Like [`Self::metric_for`], to be changed.
    pub fn metric_for_mut(&mut self, state: &ProvisioningState) -> Option<&mut OperationMetric> {
        match state {
            ProvisioningState::Registering => Some(&mut self.register),
            ProvisioningState::Inspecting => Some(&mut self.inspect),
            ProvisioningState::Provisioning => Some(&mut self.provision),
            ProvisioningState::Deprovisioning => Some(&mut self.deprovision),
            _ => None,
        }
    }
}

impl OperationMetric {
    /// How long the operation took; zero unless it started and ended.
    pub fn duration(&self) -> Duration {
        match (&self.start, &self.end) {
            (Some(start), Some(end)) => Duration::try_from(end.0.duration_since(start.0)).unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }
}

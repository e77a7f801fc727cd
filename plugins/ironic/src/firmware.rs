//! Reading BIOS settings and firmware versions, as Ironic noted them when the node last changed its state.
//!
//! Since they do not change while a node rests, they are read once for each rest, and again every few minutes.

use std::time::Duration;

use bmo_api::{AttributeType, FirmwareComponentStatus, SettingSchema, Time};
use bmo_provisioner::{FirmwareSettings, FirmwareSettingsRequest, ProvisionerError, Result};
use tokio::time::Instant;

use crate::client::{ApiError, BiosSetting, FirmwareComponent};
use crate::pass::Pass;
use crate::pass::flow::Stop;

/// How long what was read of a resting node is good.
const AGE: Duration = Duration::from_mins(10);

impl Pass {
    /// See [`bmo_provisioner::Provisioner::get_firmware_settings`].
    pub async fn firmware_settings(&self, request: FirmwareSettingsRequest) -> Result<FirmwareSettings> {
        let id = self.registered("could not get BIOS settings")?;
        let known = self.shared.of_node(&id, |known| {
            let fresh = known.bios.as_ref().filter(|(read, _)| read.elapsed() < AGE);
            fresh
                .filter(|_| known.rests())
                .map(|(_, settings)| settings.clone())
        });
        let settings = if let Some(settings) = known {
            settings
        } else {
            let read = self.ironic.bios_settings(&id, true).await;
            let context = format!("could not get BIOS settings for node {id}");
            let settings = read.map_err(|error| self.plain_error(&context, &error))?;
            let noted = Some((Instant::now(), settings.clone()));
            self.shared.of_node(&id, |known| known.bios = noted);
            settings
        };
        let schema = settings
            .iter()
            .filter(|_| request.include_schema)
            .map(|s| (s.name.clone(), schema(s)))
            .collect();
        Ok(FirmwareSettings {
            settings: settings.into_iter().map(|s| (s.name, s.value)).collect(),
            schema,
        })
    }

    /// See [`bmo_provisioner::Provisioner::get_firmware_components`].
    pub async fn firmware_components(&self) -> Result<Vec<FirmwareComponentStatus>> {
        let id = self.registered("could not get firmware components")?;
        let known = self.shared.of_node(&id, |known| {
            let fresh = known.firmware.as_ref().filter(|(read, _)| read.elapsed() < AGE);
            fresh
                .filter(|_| known.rests())
                .map(|(_, components)| components.clone())
        });
        let components = if let Some(components) = known {
            components
        } else {
            let read = self.ironic.firmware_components(&id).await;
            let context = format!("could not get firmware components for node {id}");
            let components = read.map_err(|error| self.plain_error(&context, &error))?;
            let noted = Some((Instant::now(), components.clone()));
            self.shared.of_node(&id, |known| known.firmware = noted);
            components
        };
        Ok(components
            .into_iter()
            .filter(|component| is_known(&component.component))
            .map(status)
            .collect())
    }

    /// The node's id.
    pub fn registered(&self, doing: &str) -> Result<String> {
        let id = self.id();
        if id.is_empty() {
            return Err(ProvisionerError::needs_registration(format!(
                "{doing}: host not registered"
            )));
        }
        Ok(id)
    }

    /// An error of a call that is not part of a sequence of steps.
    pub fn plain_error(&self, context: &str, error: &ApiError) -> ProvisionerError {
        match self.error(context, error) {
            Stop::Error(error) => error,
            Stop::Failed(text)
            | Stop::Pending {
                waiting_for: text, ..
            } => ProvisionerError::transient(text),
        }
    }
}

fn is_known(component: &str) -> bool {
    matches!(component, "bios" | "bmc") || component.starts_with("nic:")
}

fn status(component: FirmwareComponent) -> FirmwareComponentStatus {
    FirmwareComponentStatus {
        component: component.component,
        initial_version: component.initial_version,
        current_version: component.current_version,
        last_version_flashed: component.last_version_flashed,
        updated_at: moment(&component.updated_at),
    }
}

/// A moment, to the second; `None` where there is none or it cannot be understood.
fn moment(text: &str) -> Option<Time> {
    let timestamp = text.parse::<jiff::Timestamp>().ok()?;
    Some(bmo_api::time::whole_seconds(timestamp))
}

fn schema(setting: &BiosSetting) -> SettingSchema {
    SettingSchema {
        attribute_type: Some(setting.attribute_type.as_str())
            .filter(|text| !text.is_empty())
            .map(AttributeType::from),
        allowable_values: setting.allowable_values.clone(),
        lower_bound: setting.lower_bound,
        upper_bound: setting.upper_bound,
        min_length: setting.min_length,
        max_length: setting.max_length,
        read_only: setting.read_only,
        unique: setting.unique,
    }
}

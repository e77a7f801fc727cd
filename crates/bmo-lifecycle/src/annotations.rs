//! What users ask for by annotations: hardware details from elsewhere, reboots, inspection.

use std::collections::BTreeMap;

use bmo_api::{HardwareDetails, InspectAnnotation, RebootAnnotation, RebootMode, annotations};
use serde_json::Value;

use crate::context::Pass;
use crate::pass::EventKind;

/// Takes hardware details from HardwareData or from the annotation `inspect.metal3.io/hardwaredetails`, where
/// inspection has not found any or is switched off. The annotation is removed in every case; a text that cannot be
/// read is told and ignored, so that it cannot keep a host from being worked with or deleted.
pub(crate) fn take_hardware_details(pass: &mut Pass<'_>) {
    let key = annotations::HARDWARE_DETAILS;
    let annotation = pass.host.annotation(key);
    let wanted = pass.status.hardware.is_none() || pass.host.inspection_disabled();
    let data = pass
        .observed
        .hardware_data
        .as_ref()
        .and_then(|data| data.spec.hardware.clone());
    let mut updated = false;
    if wanted {
        let details = match (data, annotation) {
            (Some(details), _) => Some((details, "HardwareData")),
            (None, None | Some("")) => None,
            (None, Some(text)) => match read_details(text) {
                Ok(details) => Some((details, "annotation")),
                Err(problem) => {
                    let message = format!("annotation {key} is ignored: {problem}");
                    pass.event(EventKind::Warning, "InvalidAnnotationValue", message);
                    updated = true;
                    None
                }
            },
        };
        if let Some((details, source)) =
            details.filter(|(details, _)| pass.status.hardware.as_ref() != Some(details))
        {
            pass.event(
                EventKind::Normal,
                "UpdateHardwareDetails",
                format!("Set hardware details from {source}"),
            );
            pass.status.hardware = Some(details);
            updated = true;
        }
    }
    if annotation.is_some() {
        pass.remove_annotation(key);
        if !updated {
            pass.event(
                EventKind::Normal,
                "RemoveAnnotation",
                format!("Hardware details are known; removed {key}"),
            );
        }
    }
}

/// Reads hardware details and refuses members it does not know.
fn read_details(text: &str) -> Result<HardwareDetails, String> {
    let input: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let details: HardwareDetails =
        serde_json::from_value(input.clone()).map_err(|error| error.to_string())?;
    let known = serde_json::to_value(&details).map_err(|error| error.to_string())?;
    match unknown_member(&input, &known) {
        Some(member) => Err(format!("unknown field {member:?}")),
        None => Ok(details),
    }
}

/// The first member of `input` that has content and did not make it into `known`.
fn unknown_member(input: &Value, known: &Value) -> Option<String> {
    match (input, known) {
        (Value::Object(input), Value::Object(known)) => {
            input.iter().find_map(|(key, value)| match known.get(key) {
                Some(known) => unknown_member(value, known),
                None => (!is_empty(value)).then(|| key.clone()),
            })
        }
        (Value::Array(input), Value::Array(known)) => input
            .iter()
            .zip(known)
            .find_map(|(input, known)| unknown_member(input, known)),
        _ => None,
    }
}

/// Whether a value is left out when it is written again.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
    }
}

impl Pass<'_> {
    /// The annotations without those that this pass removes.
    fn remaining_annotations(&self) -> BTreeMap<String, String> {
        let mut all = self.host.annotations().cloned().unwrap_or_default();
        all.retain(|key, _| !self.annotations_to_remove.contains(key));
        all
    }

    /// Whether a new inspection is asked for.
    pub(crate) fn inspection_requested(&self) -> bool {
        InspectAnnotation::of(Some(&self.remaining_annotations())) == InspectAnnotation::Requested
    }

    /// Whether the reboot key that we remove is there.
    pub(crate) fn has_bare_reboot_key(&self) -> bool {
        self.remaining_annotations().contains_key(annotations::REBOOT)
    }

    /// Whether any reboot key forces.
    pub(crate) fn reboot_forced(&self) -> bool {
        RebootAnnotation::wanted(Some(&self.remaining_annotations()), true).is_some()
    }

    /// The reboot that is asked for, and whether values could not be read. `bare_only` leaves out the keys of clients
    /// that want the host to stay off until they remove them.
    pub(crate) fn reboot_wanted(&self, force_required: bool, bare_only: bool) -> Option<RebootMode> {
        let mut keys = self.remaining_annotations();
        if bare_only {
            keys.retain(|key, _| key == annotations::REBOOT);
        }
        RebootAnnotation::wanted(Some(&keys), force_required)
    }

    /// Tells of reboot keys whose values cannot be read. Called when a reboot begins, not each time one is looked at.
    pub(crate) fn tell_unreadable_reboot_keys(&mut self) {
        for (_, parsed) in RebootAnnotation::all(Some(&self.remaining_annotations())) {
            if let Some(problem) = parsed
                .problem
                .filter(annotations::AnnotationProblem::is_unreadable)
            {
                self.event(EventKind::Normal, "InvalidAnnotationValue", problem.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read_details;

    #[test]
    fn hardware_details_of_a_wrong_shape_are_refused() {
        let table = [
            (
                r#"{"hostname":"h","cpu":{"arch":"x86_64"},"nics":[{"name":"a","pxe":false}]}"#,
                None,
            ),
            (r"{}", None),
            (
                r#"{"hardware":{"hostname":"h"}}"#,
                Some("unknown field \"hardware\""),
            ),
            (
                r#"{"nics":[{"name":"a"},{"mack":"b"}]}"#,
                Some("unknown field \"mack\""),
            ),
            (r#"{"hostname":"h","other":""}"#, None),
            ("text", Some("expected")),
        ];
        for (text, problem) in table {
            match (read_details(text), problem) {
                (Ok(_), None) => {}
                (Err(found), Some(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}

//! Steps of cleaning and servicing, and those that change firmware.

use std::collections::BTreeMap;

use bmo_api::{FirmwareUpdate, IntOrString};
use serde_json::{Value, json};

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The interface that carries it out.
    pub interface: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it is told; `null` where that is nothing.
    args: Value,
}

impl Step {
    /// A step that is told nothing.
    pub fn plain(interface: &'static str, name: &'static str) -> Self {
        Self {
            interface,
            name,
            args: Value::Null,
        }
    }

    /// A step as Ironic takes it.
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "interface": self.interface, "step": self.name });
        if !self.args.is_null() {
            value["args"] = self.args.clone();
        }
        value
    }
}

/// The steps that change BIOS settings and firmware. Without knowing the actual settings none is changed.
pub fn firmware(
    target: &BTreeMap<String, IntOrString>,
    actual: Option<&BTreeMap<String, String>>,
    updates: &[FirmwareUpdate],
) -> Vec<Step> {
    let settings = actual
        .map(|actual| changed_settings(target, actual))
        .unwrap_or_default();
    let updates: Vec<_> = updates
        .iter()
        .map(|update| json!({ "component": update.component, "url": update.url }))
        .collect();
    [
        ("bios", "apply_configuration", settings),
        ("firmware", "update", updates),
    ]
    .into_iter()
    .filter(|(_, _, settings)| !settings.is_empty())
    .map(|(interface, name, settings)| Step {
        interface,
        name,
        args: json!({ "settings": settings }),
    })
    .collect()
}

fn changed_settings(target: &BTreeMap<String, IntOrString>, actual: &BTreeMap<String, String>) -> Vec<Value> {
    let differs = |name: &String, wanted: &IntOrString| {
        let actual = actual.get(name).map(String::as_str).unwrap_or_default();
        match wanted {
            IntOrString::Int(number) => number.to_string() != actual,
            IntOrString::String(text) => text != actual,
        }
    };
    let setting = |(name, wanted): (&String, &IntOrString)| json!({ "name": name, "value": wanted });
    target
        .iter()
        .filter(|(name, wanted)| differs(name, wanted))
        .map(setting)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Step, firmware};
    use bmo_api::{FirmwareUpdate, IntOrString};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    #[test]
    fn settings_that_differ_keep_their_kind() {
        let text = |text: &str| IntOrString::String(text.to_owned());
        let target = BTreeMap::from([
            ("NetworkBootRetryCount".to_owned(), IntOrString::Int(10)),
            ("ProcVirtualization".to_owned(), text("Disabled")),
            ("ProcHyperthreading".to_owned(), text("Enabled")),
            ("NumCores".to_owned(), IntOrString::Int(10)),
        ]);
        let actual = [
            ("L2Cache", "10x256 KB"),
            ("NumCores", "10"),
            ("NetworkBootRetryCount", "20"),
            ("ProcVirtualization", "Enabled"),
            ("ProcHyperthreading", "Disabled"),
        ];
        let actual = actual
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let steps: Vec<Value> = firmware(&target, Some(&actual), &[])
            .iter()
            .map(Step::to_value)
            .collect();
        assert_eq!(
            json!(steps),
            json!([{"interface": "bios", "step": "apply_configuration", "args": {"settings": [
                {"name": "NetworkBootRetryCount", "value": 10},
                {"name": "ProcHyperthreading", "value": "Enabled"},
                {"name": "ProcVirtualization", "value": "Disabled"},
            ]}}])
        );
        assert!(firmware(&target, None, &[]).is_empty(), "nothing is known");
        assert!(
            firmware(&BTreeMap::new(), Some(&actual), &[]).is_empty(),
            "nothing is wanted"
        );
    }

    #[test]
    fn firmware_updates() {
        let update = |component: &str| FirmwareUpdate {
            component: component.to_owned(),
            url: format!("http://{component}"),
        };
        for updates in [
            vec![],
            vec![update("bmc")],
            vec![update("bios")],
            vec![update("bmc"), update("bios")],
        ] {
            let steps: Vec<Value> = firmware(&BTreeMap::new(), None, &updates)
                .iter()
                .map(Step::to_value)
                .collect();
            let settings: Vec<_> = updates
                .iter()
                .map(|u| json!({"component": u.component, "url": u.url}))
                .collect();
            let expected =
                json!([{"interface": "firmware", "step": "update", "args": {"settings": settings}}]);
            assert_eq!(
                json!(steps),
                if updates.is_empty() { json!([]) } else { expected }
            );
        }
        assert_eq!(
            Step::plain("raid", "x").to_value(),
            json!({"interface": "raid", "step": "x"})
        );
    }
}

//! The text in which Ironic keeps how a machine boots, among other things that are not ours.

use bmo_api::BootMode;
use serde_json::Value;

/// The text with the boot mode set and everything else as it was.
pub fn with_boot_mode(current: Option<&Value>, mode: BootMode) -> String {
    let piece = match mode {
        BootMode::Uefi => "boot_mode:uefi",
        BootMode::UefiSecureBoot => "boot_mode:uefi,secure_boot:true",
        BootMode::Legacy => "boot_mode:bios",
    };
    let current = current.and_then(Value::as_str).unwrap_or_default();
    let kept = current.split(',').filter(|item| {
        !item.is_empty() && !item.starts_with("boot_mode:") && !item.starts_with("secure_boot:")
    });
    kept.chain([piece]).collect::<Vec<_>>().join(",")
}

/// What one deployment is told beside the text.
pub fn of_instance(mode: BootMode) -> Value {
    match mode {
        BootMode::UefiSecureBoot => serde_json::json!({ "secure_boot": "true" }),
        BootMode::Uefi | BootMode::Legacy => serde_json::json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::with_boot_mode;
    use bmo_api::BootMode::{self, Legacy, Uefi, UefiSecureBoot};
    use serde_json::{Value, json};

    #[test]
    fn boot_mode_is_set_and_the_rest_is_kept() {
        const C: &str = "cpu_vt:true,cpu_aes:true,cpu_hugepages:true,cpu_hugepages_1g:true";
        let c = |text: &str| text.replace('C', C);
        let table: [(Value, BootMode, &str); 11] = [
            (Value::Null, Uefi, "boot_mode:uefi"),
            (json!(""), Uefi, "boot_mode:uefi"),
            (json!(7), Legacy, "boot_mode:bios"),
            (json!(c("C")), Uefi, "C,boot_mode:uefi"),
            (json!(c("C")), UefiSecureBoot, "C,boot_mode:uefi,secure_boot:true"),
            (json!(c("boot_mode:uefi,C")), Uefi, "C,boot_mode:uefi"),
            (json!(c("boot_mode:bios,C")), Legacy, "C,boot_mode:bios"),
            (json!(c("boot_mode:bios,C")), Uefi, "C,boot_mode:uefi"),
            (json!(c("boot_mode:uefi,C")), Legacy, "C,boot_mode:bios"),
            (
                json!(c("boot_mode:uefi,C")),
                UefiSecureBoot,
                "C,boot_mode:uefi,secure_boot:true",
            ),
            (
                json!(c("boot_mode:uefi,C,secure_boot:true")),
                Uefi,
                "C,boot_mode:uefi",
            ),
        ];
        for (current, mode, expected) in table {
            assert_eq!(
                with_boot_mode(Some(&current), mode),
                c(expected),
                "{current} {mode}"
            );
        }
        assert_eq!(with_boot_mode(None, Uefi), "boot_mode:uefi");
    }
}

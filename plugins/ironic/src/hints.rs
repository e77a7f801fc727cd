//! Root device hints in Ironic's language.

use bmo_api::RootDeviceHints;
use serde_json::{Map, Value, json};

/// The map of hints; empty where there are none.
pub fn map(hints: &RootDeviceHints) -> Map<String, Value> {
    let mut map = Map::new();
    let mut add = |name: &str, operator: &str, value: &str| {
        if !value.is_empty() {
            map.insert(name.to_owned(), format!("{operator} {value}").into());
        }
    };
    let by_path = hints.device_name.starts_with("/dev/disk/by-path/");
    add(
        if by_path { "by_path" } else { "name" },
        "s==",
        &hints.device_name,
    );
    add("hctl", "s==", &hints.hctl);
    add("model", "<in>", &hints.model);
    add("vendor", "<in>", &hints.vendor);
    add("serial", "s==", &hints.serial_number);
    add("wwn", "s==", &hints.wwn);
    add("wwn_with_extension", "s==", &hints.wwn_with_extension);
    add("wwn_vendor_extension", "s==", &hints.wwn_vendor_extension);
    if hints.min_size_gigabytes != 0 {
        map.insert(
            "size".to_owned(),
            json!(format!(">= {}", hints.min_size_gigabytes)),
        );
    }
    if let Some(rotational) = hints.rotational {
        map.insert("rotational".to_owned(), json!(rotational.to_string()));
    }
    map
}

#[cfg(test)]
mod tests {
    use super::map;
    use bmo_api::RootDeviceHints;
    use serde_json::{Value, json};

    #[test]
    fn each_hint_and_all_of_them() {
        let table = [
            (json!({"deviceName": "/dev/sda"}), json!({"name": "s== /dev/sda"})),
            (
                json!({"deviceName": "/dev/disk/by-path/p"}),
                json!({"by_path": "s== /dev/disk/by-path/p"}),
            ),
            (json!({"hctl": "0:0:0:0"}), json!({"hctl": "s== 0:0:0:0"})),
            (json!({"model": "m m"}), json!({"model": "<in> m m"})),
            (json!({"vendor": "v"}), json!({"vendor": "<in> v"})),
            (json!({"serialNumber": "s"}), json!({"serial": "s== s"})),
            (json!({"minSizeGigabytes": 40}), json!({"size": ">= 40"})),
            (json!({"wwn": "w"}), json!({"wwn": "s== w"})),
            (
                json!({"wwnWithExtension": "w"}),
                json!({"wwn_with_extension": "s== w"}),
            ),
            (
                json!({"wwnVendorExtension": "w"}),
                json!({"wwn_vendor_extension": "s== w"}),
            ),
            (json!({"rotational": true}), json!({"rotational": "true"})),
            (json!({"rotational": false}), json!({"rotational": "false"})),
            (json!({}), json!({})),
        ];
        let mut all = (json!({}), json!({}));
        for (hints, expected) in table {
            let parsed: RootDeviceHints = serde_json::from_value(hints.clone()).unwrap();
            assert_eq!(Value::Object(map(&parsed)), expected, "{hints}");
            all.0
                .as_object_mut()
                .unwrap()
                .extend(hints.as_object().unwrap().clone());
            all.1
                .as_object_mut()
                .unwrap()
                .extend(expected.as_object().unwrap().clone());
        }
        all.1.as_object_mut().unwrap().remove("name");
        all.0["deviceName"] = json!("/dev/disk/by-path/p");
        let parsed: RootDeviceHints = serde_json::from_value(all.0).unwrap();
        assert!(crate::patch::same(&Value::Object(map(&parsed)), &all.1));
    }
}

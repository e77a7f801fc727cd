//! Addresses and what must become of them, as tables.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use bmo_bmc::schemes::SCHEMES;
use bmo_bmc::{AccessDetails, AddressError, BmcUrl, Credentials, CredentialsError};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What an address leads to, in the words of `oracle.jsonl`.
fn outcome(address: &str, disable_verification: bool) -> Value {
    let text = |interface: Option<&'static str>| interface.unwrap_or_default();
    match AccessDetails::parse(address, disable_verification) {
        Err(error) => json!({ "error": error.to_string() }),
        Ok(access) => json!({
            "type": access.kind(),
            "driver": access.driver(),
            "boot_interface": text(access.boot_interface()),
            "bios_interface": text(access.bios_interface()),
            "firmware_interface": text(access.firmware_interface()),
            "management_interface": text(access.management_interface()),
            "power_interface": text(access.power_interface()),
            "raid_interface": text(access.raid_interface()),
            "vendor_interface": text(access.vendor_interface()),
            "inspect_interface": text(access.inspect_interface()),
            "needs_mac": access.needs_mac(),
            "secure_boot": access.supports_secure_boot(),
            "supports_iso_preprov": access.supports_iso_preprovisioning_image(),
            "requires_provisioning_network": access.requires_provisioning_network(),
            "driver_info": access.driver_info(&Credentials::new("u", "p")),
        }),
    }
}

#[test]
fn every_recorded_address_leads_to_the_recorded_outcome() {
    let mut wrong = Vec::new();
    let lines: Vec<&str> = include_str!("oracle.jsonl").lines().collect();
    assert_eq!(lines.len(), 76);
    for line in lines {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let row = row.as_object_mut().unwrap();
        let (id, address) = (row.remove("id").unwrap(), row.remove("address").unwrap());
        let disable = row
            .remove("disableCertificateVerification")
            .unwrap()
            .as_bool()
            .unwrap();
        let (expected, found) = (
            Value::Object(row.clone()),
            outcome(address.as_str().unwrap(), disable),
        );
        if expected != found {
            wrong.push(format!(
                "{id} {address}\n  expected {expected}\n  found    {found}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An IPv6 address without brackets.
const V6: &str = "fe80::fc33:62ff:fe83:8a76";
/// Address; scheme, host name, host, port, path, query.
const PARTS: [(&str, [&str; 6]); 19] = [
    (
        "libvirt://192.168.122.1:6233/?abc=def",
        [
            "libvirt",
            "192.168.122.1",
            "192.168.122.1:6233",
            "6233",
            "/",
            "abc=def",
        ],
    ),
    (
        "192.168.122.1",
        ["ipmi", "192.168.122.1", "192.168.122.1", "", "", ""],
    ),
    (
        "my.favoritebmc.com",
        ["ipmi", "my.favoritebmc.com", "my.favoritebmc.com", "", "", ""],
    ),
    (
        "192.168.122.1:6233",
        ["ipmi", "192.168.122.1", "192.168.122.1:6233", "6233", "", ""],
    ),
    (
        "[fe80::fc33:62ff:fe83:8a76]:6233",
        ["ipmi", V6, "[fe80::fc33:62ff:fe83:8a76]:6233", "6233", "", ""],
    ),
    (
        "ipmi://192.168.122.1:6233",
        ["ipmi", "192.168.122.1", "192.168.122.1:6233", "6233", "", ""],
    ),
    (
        "ipmi:192.168.122.1",
        ["ipmi", "192.168.122.1", "192.168.122.1", "", "", ""],
    ),
    (
        "ipmi:192.168.122.1:6233",
        ["ipmi", "192.168.122.1", "192.168.122.1:6233", "6233", "", ""],
    ),
    (
        "redfish://192.168.122.1",
        ["redfish", "192.168.122.1", "192.168.122.1", "", "", ""],
    ),
    (
        "redfish://192.168.122.1:6233/foo",
        [
            "redfish",
            "192.168.122.1",
            "192.168.122.1:6233",
            "6233",
            "/foo",
            "",
        ],
    ),
    (
        "redfish://[fe80::fc33:62ff:fe83:8a76]",
        ["redfish", V6, "[fe80::fc33:62ff:fe83:8a76]", "", "", ""],
    ),
    (
        "redfish://[fe80::fc33:62ff:fe83:8a76]:6233/foo",
        [
            "redfish",
            V6,
            "[fe80::fc33:62ff:fe83:8a76]:6233",
            "6233",
            "/foo",
            "",
        ],
    ),
    (
        "redfish:192.168.122.1",
        ["redfish", "192.168.122.1", "192.168.122.1", "", "", ""],
    ),
    (
        "foo://192.168.122.1",
        ["foo", "192.168.122.1", "192.168.122.1", "", "", ""],
    ),
    (
        "redfish://admin:pa%20ss@192.0.2.1/x",
        ["redfish", "192.0.2.1", "192.0.2.1", "", "/x", ""],
    ),
    (
        "redfish://h/a/../b//c/?",
        ["redfish", "h", "h", "", "/a/../b//c/", ""],
    ),
    ("redfish:", ["redfish", "", "", "", "", ""]),
    ("redfish:///x", ["redfish", "", "", "", "/x", ""]),
    (
        "ipmi://HOST.example",
        ["ipmi", "HOST.example", "HOST.example", "", "", ""],
    ),
];

#[test]
fn addresses_are_taken_apart() {
    for (address, expected) in PARTS {
        let url = BmcUrl::parse(address).unwrap_or_else(|error| panic!("{address}: {error}"));
        let found = [
            &url.scheme,
            url.hostname(),
            &url.host,
            url.port(),
            &url.path,
            &url.query,
        ];
        assert_eq!(found, expected, "{address}");
    }
}

#[test]
fn malformed_addresses_are_refused_with_the_reason() {
    let prefix = "failed to parse BMC address information: ";
    let rows = [
        (
            "my-.examplehost.com",
            "BMC address hostname/IP : [my-.examplehost.com] is invalid",
        ),
        (
            "[fe80::fc33:62ff:fe33:8xff]:6223",
            "BMC address hostname/IP : [fe80::fc33:62ff:fe33:8xff] is invalid",
        ),
        (
            "[fe80::fc33:62ff:fe83:8a76]",
            "parse \"[fe80::fc33:62ff:fe83:8a76]\": first path segment in URL cannot contain colon",
        ),
        (
            "<ipmi://192.168.122.1:6233>",
            "parse \"<ipmi://192.168.122.1:6233>\": first path segment in URL cannot contain colon",
        ),
        (
            "redfish:a:b:c",
            "parse \"redfish://a:b:c\": invalid port \":c\" after host",
        ),
        (
            "redfish:a b",
            "parse \"redfish://a b\": invalid character \" \" in host name",
        ),
        (
            "redfish:%41",
            "parse \"redfish://%41\": invalid URL escape \"%41\"",
        ),
        (
            "redfish:u^u@h",
            "parse \"redfish://u^u@h\": net/url: invalid userinfo",
        ),
        (
            "a b",
            "parse \"ipmi://a b\": invalid character \" \" in host name",
        ),
        ("ipmi://host.", "BMC address hostname/IP : [host.] is invalid"),
        (
            "ipmi://host+1.example.com.org",
            "BMC address hostname/IP : [host+1.example.com.org] is invalid",
        ),
        (
            "[@]host.example.com",
            "parse \"ipmi://[@]host.example.com\": net/url: invalid userinfo",
        ),
        (
            "a\u{1}\"\\b:c:d",
            "parse \"a\\x01\\\"\\\\b:c:d\": net/url: invalid control character in URL",
        ),
    ];
    for (address, expected) in rows {
        let found = BmcUrl::parse(address).err().map(|error| error.to_string());
        assert_eq!(found, Some(format!("{prefix}{expected}")), "{address}");
    }
    assert_eq!(
        AccessDetails::parse("", false).unwrap_err(),
        AddressError::Missing
    );
    for unknown in [
        "test:127.0.1.1",
        "test-needs-mac://h",
        "ipm:host.example.com:6223",
        "redfish+ftp://h",
        "ipmi+http://h",
    ] {
        let error = AccessDetails::parse(unknown, false).unwrap_err();
        assert!(
            matches!(error, AddressError::UnknownType { .. }),
            "{unknown}: {error}"
        );
    }
}

#[test]
fn the_system_id_is_left_out_only_where_it_says_nothing() {
    let rows = [
        ("redfish+https://192.168.122.1/", None),
        ("redfish+https://192.168.122.1/redfish/v1/", None),
        ("redfish-virtualmedia://192.168.122.1/redfish/v1/", None),
        ("idrac-virtualmedia://192.168.122.1/redfish/v1/", None),
        ("idrac-redfish://192.168.122.1/foo/bar", Some("/foo/bar")),
        ("ilo5-virtualmedia://192.168.122.1/foo/bar", Some("/foo/bar")),
        ("redfish-uefihttp://192.168.122.1", Some("")),
        (
            "redfish-uefihttp+http://192.168.122.1/redfish/v1/",
            Some("/redfish/v1/"),
        ),
    ];
    for (address, expected) in rows {
        let info = AccessDetails::parse(address, true)
            .unwrap()
            .driver_info(&Credentials::default());
        assert_eq!(
            info.get("redfish_system_id").and_then(Value::as_str),
            expected,
            "{address}"
        );
        assert_eq!(info["redfish_verify_ca"], false);
        assert_eq!(
            (&info["redfish_username"], &info["redfish_password"]),
            (&json!(""), &json!(""))
        );
    }
}

#[test]
fn every_scheme_and_every_suffix_is_served() {
    for scheme in SCHEMES {
        for suffix in ["", "+http", "+https"] {
            let address = format!("{}{suffix}://192.0.2.1", scheme.name);
            let served = AccessDetails::parse(&address, false);
            assert_eq!(
                served.is_ok(),
                suffix.is_empty() || scheme.takes_protocol,
                "{address}"
            );
            if let Ok(access) = served {
                assert!(
                    access
                        .driver_info(&Credentials::default())
                        .contains_key(access.address_key()),
                    "{address}"
                );
            }
        }
    }
}

#[test]
fn credentials_need_both_parts_and_show_neither() {
    assert_eq!(Credentials::new("u", "p").validate(), Ok(()));
    assert_eq!(
        Credentials::new("", "p").validate(),
        Err(CredentialsError::MissingUsername)
    );
    assert_eq!(
        Credentials::new("u", "").validate(),
        Err(CredentialsError::MissingPassword)
    );
    assert_eq!(
        Credentials::default().validate(),
        Err(CredentialsError::MissingUsername)
    );
    let shown = format!("{:?}", Credentials::new("root", "calvin"));
    assert!(!shown.contains("root") && !shown.contains("calvin"), "{shown}");
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(address in any::<String>()) {
        let _ = outcome(&address, true);
    }

    #[test]
    fn any_text_of_the_characters_that_matter_is_parsed_without_panic(
        address in "(redfish|ipmi|idrac-virtualmedia|)[+a-z]{0,5}[:/\\[\\]@%?#&;=+. a-f0-9\u{e9}-]{0,24}"
    ) {
        if let Ok(access) = AccessDetails::parse(&address, false) {
            // What is accepted is accepted again from its parts.
            let url = access.url();
            let again = format!("{}://{}", url.scheme, url.host);
            prop_assert!(AccessDetails::parse(&again, false).is_ok() , "{again}");
        }
    }
}

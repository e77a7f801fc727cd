//! Every variable, its default, and what a wrong value says.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::float_cmp,
    reason = "tables of values, compared exactly"
)]

use std::collections::HashMap;
use std::time::Duration;

use super::{Config, ConfigError, EnvironmentEndpoint, ForcePersistentBoot};

fn load(variables: &[(&str, &str)], image_builder: bool) -> Result<Config, ConfigError> {
    let table: HashMap<_, _> = variables
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    Config::load(&|name| table.get(name).cloned(), image_builder)
}

fn endpoint(variables: &[(&str, &str)]) -> Result<EnvironmentEndpoint, ConfigError> {
    let mut table: HashMap<_, _> = variables
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    table
        .entry("METAL3_AUTH_ROOT_DIR".to_owned())
        .or_insert_with(|| "/nonexistent".to_owned());
    EnvironmentEndpoint::load(&|name| table.get(name).cloned())
}

#[test]
fn defaults() {
    let config = load(&[], false).unwrap();
    assert_eq!(config.cache_ttl, Duration::from_secs(5));
    assert_eq!(config.timeout, Duration::from_secs(30));
    assert_eq!(config.provisioning_limit, 20);
    assert_eq!(config.live_iso_boot, ForcePersistentBoot::Default);
    assert_eq!(
        config.tls.authorities.to_str(),
        Some("/opt/metal3/certs/ca/tls.crt")
    );
    assert_eq!(
        config.tls.certificate.to_str(),
        Some("/opt/metal3/certs/client/tls.crt")
    );
    assert_eq!(config.tls.key.to_str(), Some("/opt/metal3/certs/client/tls.key"));
    assert!(!config.tls.insecure && !config.provisioning_network_disabled);
}

#[test]
fn parts_of_the_ramdisk() {
    let (k, r, i) = (
        ("DEPLOY_KERNEL_URL", "http://k"),
        ("DEPLOY_RAMDISK_URL", "http://r"),
        ("DEPLOY_ISO_URL", "http://i"),
    );
    let together = Some("can only be set together");
    let kernel = Some("requires DEPLOY_KERNEL_URL");
    let table: [(&[(&str, &str)], _, _); 6] = [
        (&[k, r], None, None),
        (&[i], None, None),
        (&[k, r, i], None, None),
        (&[k], together, None),
        (&[r], together, kernel),
        (&[i, k], together, None),
    ];
    for (variables, without_builder, with_builder) in table {
        for (builder, expected) in [(false, without_builder), (true, with_builder)] {
            let error = load(variables, builder).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(error, None, "{variables:?}"),
                Some(text) => assert!(
                    error.as_deref().is_some_and(|e| e.contains(text)),
                    "{variables:?}: {error:?}"
                ),
            }
        }
    }
    assert!(
        load(&[i, r], true)
            .unwrap_err()
            .to_string()
            .contains("requires DEPLOY_KERNEL_URL")
    );
}

#[test]
fn values_that_are_taken() {
    let config = load(
        &[
            ("IRONIC_CLIENT_CACHE_TTL", "0"),
            ("IRONIC_CLIENT_TIMEOUT", "2m"),
            ("PROVISIONING_LIMIT", "-1"),
            ("LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE", "Never"),
            ("DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE", "Always"),
            ("IRONIC_EXTERNAL_URL_V6", "https://[2001:db8::1]:6180"),
            ("PROVISIONING_NETWORK_DISABLED", "True"),
            ("IRONIC_INSECURE", "TRUE"),
            ("IRONIC_SKIP_CLIENT_SAN_VERIFY", "true"),
            ("IRONIC_CACERT_FILE", "/a"),
        ],
        false,
    )
    .unwrap();
    assert_eq!(
        (config.cache_ttl, config.timeout),
        (Duration::ZERO, Duration::from_mins(2))
    );
    assert_eq!(config.provisioning_limit, -1);
    assert_eq!(config.live_iso_boot, ForcePersistentBoot::Never);
    assert_eq!(config.direct_deploy_boot, ForcePersistentBoot::Always);
    assert!(config.provisioning_network_disabled && config.tls.insecure);
    assert_eq!(config.tls.authorities.to_str(), Some("/a"));
}

#[test]
fn a_wrong_value_names_variable_value_and_what_is_right() {
    let table = [
        ("IRONIC_CLIENT_CACHE_TTL", "soon", "duration"),
        ("IRONIC_CLIENT_CACHE_TTL", "-1s", "not negative"),
        ("IRONIC_CLIENT_TIMEOUT", "garbage", "duration"),
        ("IRONIC_CLIENT_TIMEOUT", "0s", "must be > 0"),
        ("IRONIC_CLIENT_TIMEOUT", "-1s", "must be > 0"),
        ("PROVISIONING_LIMIT", "many", "whole number"),
        (
            "LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE",
            "maybe",
            "Default, Always, Never",
        ),
        (
            "DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE",
            "never",
            "Default, Always, Never",
        ),
        ("IRONIC_EXTERNAL_URL_V6", "::1", "a URL"),
    ];
    for (name, value, right) in table {
        let error = load(&[(name, value)], false).unwrap_err().to_string();
        for part in ["invalid value for variable", name, value, right] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn first_wrong_setting_wins() {
    let variables = [
        ("PROVISIONING_LIMIT", "x"),
        ("DEPLOY_KERNEL_URL", "k"),
        ("IRONIC_CLIENT_TIMEOUT", "x"),
    ];
    assert!(
        load(&variables, false)
            .unwrap_err()
            .to_string()
            .contains("IRONIC_CLIENT_TIMEOUT")
    );
    assert!(
        load(&variables[..2], false)
            .unwrap_err()
            .to_string()
            .contains("DEPLOY_KERNEL_URL")
    );
}

#[test]
fn endpoint_and_its_credentials() {
    let missing = endpoint(&[]).unwrap_err().to_string();
    assert!(missing.contains("no IRONIC_ENDPOINT variable set"), "{missing}");
    for wrong in ["@foo::bar", "ironic:6385", "ftp://h/", "http://"] {
        let error = endpoint(&[("IRONIC_ENDPOINT", wrong)]).unwrap_err().to_string();
        assert!(error.contains("IRONIC_ENDPOINT"), "{wrong}: {error}");
    }
    let table = [
        ("https://example.test/v1", "https://example.test/v1/", None),
        ("https://example.test/v1/", "https://example.test/v1/", None),
        ("http://example.test:6385", "http://example.test:6385/", None),
        (
            "https://user:p%40ss@example.test/v1",
            "https://example.test/v1/",
            Some(("user", "p@ss")),
        ),
        (
            "https://user:@[fe80::1]:1/v1",
            "https://[fe80::1]:1/v1/",
            Some(("user", "")),
        ),
    ];
    for (text, url, auth) in table {
        let endpoint = endpoint(&[("IRONIC_ENDPOINT", text)]).unwrap();
        assert_eq!(endpoint.url.as_str(), url, "{text}");
        let found = endpoint
            .url_auth
            .as_ref()
            .map(|auth| (auth.username.as_str(), auth.password.expose()));
        assert_eq!(found, auth, "{text}");
    }
    let secret = endpoint(&[("IRONIC_ENDPOINT", "ftp://user:hunter2@h/")])
        .unwrap_err()
        .to_string();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn certificates_absent_are_none_and_half_an_identity_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (ca, certificate, key) = (path("ca"), path("crt"), path("key"));
    let variables = [
        ("IRONIC_CACERT_FILE", ca.as_str()),
        ("IRONIC_CLIENT_CERT_FILE", certificate.as_str()),
        ("IRONIC_CLIENT_PRIVATE_KEY_FILE", key.as_str()),
    ];
    let config = load(&variables, false).unwrap();
    assert_eq!(config.tls.read().unwrap(), super::TlsMaterial::default());
    std::fs::write(&key, "KEY").unwrap();
    let error = config.tls.read().unwrap_err().to_string();
    assert!(error.contains(&key) && error.contains(&certificate), "{error}");
    std::fs::write(&certificate, "CERT").unwrap();
    std::fs::write(&ca, "CA").unwrap();
    let material = config.tls.read().unwrap();
    assert_eq!(material.authorities.as_ref().unwrap().pem(), b"CA");
    assert_eq!(material.identity.as_ref().unwrap().pem(), b"CERT\nKEY");
    assert!(!format!("{material:?}").contains("KEY\""));
}

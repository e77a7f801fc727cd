//! Patches for one way to deploy after another, and what counts as the same image.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::float_cmp,
    reason = "tables of values, compared exactly"
)]

use super::{is_same, patch};
use crate::client::Node;
use crate::config::Config;
use bmo_api::{BootMode, ChecksumType, Image, ImageFormat};
use bmo_provisioner::{CustomDeployMethod, ProvisionRequest};
use serde_json::{Value, json};

const URL: &str = "http://i/image";

fn image(checksum: &str, kind: Option<ChecksumType>, format: Option<ImageFormat>) -> ProvisionRequest {
    let image = Image {
        url: URL.to_owned(),
        checksum: checksum.to_owned(),
        checksum_type: kind,
        format,
        ..Image::default()
    };
    ProvisionRequest {
        image: Some(image),
        ..ProvisionRequest::default()
    }
}

fn custom(mut request: ProvisionRequest) -> ProvisionRequest {
    request.custom_deploy = Some(CustomDeployMethod {
        method: "install_everything".to_owned(),
    });
    request
}

fn node(info: Value, deploy_interface: &str) -> Node {
    Node {
        instance_info: info.as_object().unwrap().clone(),
        deploy_interface: deploy_interface.to_owned(),
        ..Node::default()
    }
}

/// Operations as `path=value` or `-path`, without those that are the same for all.
fn operations(request: &ProvisionRequest, node: &Node) -> Vec<String> {
    let config = Config::load(&|_| None, false).unwrap();
    let body = patch(&config, request, node, "uid").into_body();
    let short = |operation: &Value| {
        let path = operation["path"]
            .as_str()
            .unwrap()
            .trim_start_matches("/instance_info/")
            .to_owned();
        match operation.get("value") {
            Some(Value::String(text)) => format!("{path}={text}"),
            Some(value) => format!("{path}={value}"),
            None => format!("-{path}"),
        }
    };
    body.as_array()
        .unwrap()
        .iter()
        .map(short)
        .filter(|text| !text.starts_with("root_device=") && !text.starts_with("/instance_uuid"))
        .collect()
}

#[test]
fn operations_of_each_way() {
    let md5 = || image("thechecksum", Some(ChecksumType::Md5), Some(ImageFormat::Raw));
    let live = || image("", None, Some(ImageFormat::LiveIso));
    let old = json!({"image_source": "http://old", "image_os_hash_algo": "md5", "image_os_hash_value": "x",
                     "image_disk_format": "raw", "image_pull_secret": "******", "capabilities": {}});
    let table: Vec<(&str, ProvisionRequest, Node, Vec<&str>)> = vec![
        (
            "image",
            md5(),
            node(json!({}), ""),
            vec![
                "capabilities={}",
                "image_source=http://i/image",
                "image_os_hash_algo=md5",
                "image_os_hash_value=thechecksum",
                "image_disk_format=raw",
                "/driver_info/force_persistent_boot_device=Default",
            ],
        ),
        (
            "image, checksum without type",
            image("thechecksum", Some(ChecksumType::Auto), None),
            node(json!({"capabilities": {}}), ""),
            vec![
                "image_source=http://i/image",
                "image_checksum=thechecksum",
                "/driver_info/force_persistent_boot_device=Default",
            ],
        ),
        (
            "live ISO",
            live(),
            node(json!({}), ""),
            vec![
                "capabilities={}",
                "boot_iso=http://i/image",
                "/deploy_interface=ramdisk",
                "/driver_info/force_persistent_boot_device=Default",
            ],
        ),
        (
            "image, then live ISO: nothing of the image is left",
            live(),
            node(old.clone(), "direct"),
            vec![
                "boot_iso=http://i/image",
                "-image_source",
                "-image_os_hash_algo",
                "-image_os_hash_value",
                "-image_disk_format",
                "-image_pull_secret",
                "/deploy_interface=ramdisk",
                "/driver_info/force_persistent_boot_device=Default",
            ],
        ),
        (
            "live ISO, then image",
            md5(),
            node(json!({"boot_iso": URL, "capabilities": {}}), "ramdisk"),
            vec![
                "-boot_iso",
                "image_source=http://i/image",
                "image_os_hash_algo=md5",
                "image_os_hash_value=thechecksum",
                "image_disk_format=raw",
                "-/deploy_interface",
                "/driver_info/force_persistent_boot_device=Default",
            ],
        ),
        (
            "custom deploy alone",
            custom(ProvisionRequest::default()),
            node(json!({"capabilities": {}}), ""),
            vec!["/deploy_interface=custom-agent"],
        ),
        (
            "custom deploy with an image without checksum",
            custom(image("", None, None)),
            node(json!({"capabilities": {}}), ""),
            vec!["image_source=http://i/image", "/deploy_interface=custom-agent"],
        ),
        (
            "custom deploy with a checksum whose type is found out",
            custom(image("thechecksum", None, None)),
            node(json!({"capabilities": {}}), ""),
            vec![
                "image_source=http://i/image",
                "image_checksum=thechecksum",
                "/deploy_interface=custom-agent",
            ],
        ),
        (
            "image, then custom deploy",
            custom(ProvisionRequest::default()),
            node(old, ""),
            vec![
                "-image_source",
                "-image_os_hash_algo",
                "-image_os_hash_value",
                "-image_disk_format",
                "-image_pull_secret",
                "/deploy_interface=custom-agent",
            ],
        ),
    ];
    for (case, request, node, expected) in table {
        assert_eq!(operations(&request, &node), expected, "{case}");
    }
}

#[test]
fn secure_boot_registry_secret_and_hints() {
    let mut request = image("", None, None);
    request.image.as_mut().unwrap().url = "oci://r/i".to_owned();
    request.boot_mode = BootMode::UefiSecureBoot;
    request.image_pull_secret = "user:pass".into();
    let found = operations(&request, &node(json!({}), ""));
    assert!(
        found.contains(&"capabilities={\"secure_boot\":\"true\"}".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"image_pull_secret=user:pass".to_owned()),
        "{found:?}"
    );
    request.image_pull_secret = "".into();
    assert!(
        !operations(&request, &node(json!({}), ""))
            .iter()
            .any(|text| text.contains("pull_secret"))
    );
    let found = operations(&request, &node(json!({"image_pull_secret": "******"}), ""));
    assert!(found.contains(&"-image_pull_secret".to_owned()), "{found:?}");

    request.root_device_hints = Some(bmo_api::RootDeviceHints {
        wwn: "w".to_owned(),
        ..Default::default()
    });
    let config = Config::load(&|_| None, false).unwrap();
    let body = patch(&config, &request, &Node::default(), "uid").into_body();
    assert!(
        body.to_string()
            .contains(r#"{"op":"add","path":"/instance_info/root_device","value":{"wwn":"s== w"}}"#)
    );
    assert_eq!(
        body[0],
        json!({"op": "add", "path": "/instance_uuid", "value": "uid"})
    );
}

#[test]
fn same_image() {
    let typed = |kind| image("c", Some(kind), None);
    let hashed =
        |algo: &str| json!({"image_source": URL, "image_os_hash_algo": algo, "image_os_hash_value": "c"});
    let plain = json!({"image_source": URL, "image_checksum": "c"});
    let table = [
        (typed(ChecksumType::Md5), hashed("md5"), true),
        (typed(ChecksumType::Auto), plain.clone(), true),
        (image("c", None, None), plain.clone(), true),
        (
            typed(ChecksumType::Md5),
            json!({"image_source": "http://other", "image_os_hash_algo": "md5", "image_os_hash_value": "c"}),
            false,
        ),
        (image("d", Some(ChecksumType::Md5), None), hashed("md5"), false),
        (typed(ChecksumType::Auto), hashed("md5"), false),
        (typed(ChecksumType::Sha512), hashed("md5"), false),
        (typed(ChecksumType::Md5), plain, false),
        (
            image("", None, Some(ImageFormat::LiveIso)),
            json!({"boot_iso": URL}),
            true,
        ),
        (
            image("", None, Some(ImageFormat::LiveIso)),
            json!({"boot_iso": "http://other"}),
            false,
        ),
        (ProvisionRequest::default(), json!({}), false),
    ];
    for (request, info, same) in table {
        assert_eq!(is_same(&request, &node(info.clone(), ""), "uid"), same, "{info}");
    }
    let mut mine = node(json!({}), "custom-agent");
    mine.instance_uuid = "uid".to_owned();
    assert!(is_same(&custom(ProvisionRequest::default()), &mine, "uid"));
    assert!(!is_same(&custom(ProvisionRequest::default()), &mine, "another"));
}

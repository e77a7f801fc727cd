use bmo_api::{ChecksumType, Image, ImageFormat};
use bmo_provisioner::{CustomDeployMethod, NoHostConfig, ProvisionRequest};
use serde_json::{Value, json};

use crate::outcome;
use crate::support::{Ironic, NODE, UID, error};

fn request() -> ProvisionRequest {
    let image = Image {
        url: "http://test-image".to_owned(),
        checksum: "abcd".to_owned(),
        checksum_type: Some(ChecksumType::Sha256),
        ..Image::default()
    };
    ProvisionRequest {
        image: Some(image),
        ..ProvisionRequest::default()
    }
}

fn live() -> ProvisionRequest {
    let mut live = request();
    let image = live.image.as_mut().unwrap();
    image.format = Some(ImageFormat::LiveIso);
    (image.checksum, image.checksum_type) = (String::new(), None);
    live
}

fn custom() -> ProvisionRequest {
    let custom_deploy = Some(CustomDeployMethod {
        method: "mine_memecoins".to_owned(),
    });
    ProvisionRequest {
        custom_deploy,
        ..ProvisionRequest::default()
    }
}

async fn ironic(members: Value) -> Ironic {
    let ironic = Ironic::newest().await;
    ironic.node(members.clone());
    ironic.patched(members);
    ironic.on_provision(202);
    let valid = json!({"boot": {"result": true}, "deploy": {"result": true}, "power": {"result": false, "reason": "x"}});
    ironic.on(&format!("GET /v1/nodes/{NODE}/validate"), 200, valid);
    ironic.on(&format!("DELETE /v1/nodes/{NODE}/maintenance"), 202, json!(null));
    ironic
}

#[tokio::test]
async fn provisioning_by_state() {
    let same = json!({"image_source": "http://test-image", "image_os_hash_algo": "sha256", "image_os_hash_value": "abcd"});
    let failed = |info: Value, error: &str| json!({"provision_state": "deploy failed", "instance_info": info, "last_error": error});
    let state = |state: &str| json!({"provision_state": state});
    let oci = "oci://quay.io/example/image@sha256:abc123";
    let mut oci_request = request();
    oci_request.image = Some(Image {
        url: oci.to_owned(),
        ..Image::default()
    });
    let mut no_checksum = request();
    no_checksum.image.as_mut().unwrap().checksum.clear();
    let reboot = ProvisionRequest {
        force_reboot: true,
        ..request()
    };
    let table = [
        (
            "deploy failed, other image",
            failed(json!({}), "no"),
            request(),
            "3",
            "active",
        ),
        (
            "deploy failed, same image",
            failed(same, "no work today"),
            request(),
            "failed: Image provisioning failed (url: http://test-image, checksum: abcd): no work today",
            "",
        ),
        (
            "deploy failed, same OCI image",
            failed(json!({"image_source": oci}), "image not found"),
            oci_request,
            "failed: Image provisioning failed (url: oci://quay.io/example/image@sha256:abc123): image not found",
            "",
        ),
        ("clean failed", state("clean failed"), request(), "3", "manage"),
        ("manageable", state("manageable"), request(), "3", "provide"),
        ("available", state("available"), request(), "3", "active"),
        ("available, live ISO", state("available"), live(), "3", "active"),
        (
            "available, custom deploy",
            state("available"),
            custom(),
            "3",
            "active",
        ),
        (
            "available, no checksum",
            state("available"),
            no_checksum,
            "failed: Validation failed: ",
            "",
        ),
        ("active", state("active"), request(), "done", ""),
        ("cleaning", state("cleaning"), request(), "10", ""),
        ("wait call-back", state("wait call-back"), request(), "10", ""),
        (
            "wait call-back, forced reboot",
            state("wait call-back"),
            reboot,
            "3",
            "deleted",
        ),
        (
            "maintenance and fault",
            json!({"maintenance": true, "fault": "power failure"}),
            request(),
            "10",
            "",
        ),
        ("maintenance", json!({"maintenance": true}), request(), "0", ""),
        (
            "error",
            json!({"provision_state": "error", "last_error": "bad"}),
            request(),
            "failed: bad",
            "",
        ),
        ("adopt failed", state("adopt failed"), request(), "3", "manage"),
    ];
    for (case, members, request, expected, target) in table {
        let ironic = ironic(members).await;
        let answer = ironic.pass().await.provision(request, &NoHostConfig).await;
        outcome::check(case, &outcome::of(answer), expected);
        assert_eq!(ironic.targets().join(" "), target, "{case}");
        if target == "active" {
            let uid = format!(r#"{{"op":"add","path":"/instance_uuid","value":"{UID}"}}"#);
            assert!(ironic.bodies("PATCH")[0].to_string().contains(&uid), "{case}");
            assert_eq!(ironic.event_reasons(), ["ProvisioningStarted"], "{case}");
        }
    }
}

#[tokio::test]
async fn what_the_deployment_is_told() {
    let drive = json!({"meta_data": {"uuid": UID, "metal3-namespace": "myns", "metal3-name": "myhost",
        "local-hostname": "myhost", "local_hostname": "myhost", "name": "myhost"}});
    let steps = json!([{"interface": "deploy", "step": "mine_memecoins", "args": {}, "priority": 80}]);
    let table = [
        (request(), json!({"target": "active", "configdrive": drive})),
        (live(), json!({"target": "active"})),
        (
            custom(),
            json!({"target": "active", "configdrive": drive, "deploy_steps": steps}),
        ),
    ];
    for (request, body) in table {
        let ironic = ironic(json!({"provision_state": "available"})).await;
        ironic
            .pass()
            .await
            .provision(request, &NoHostConfig)
            .await
            .unwrap();
        assert_eq!(
            ironic.bodies(&format!("PUT /v1/nodes/{NODE}/states/provision")),
            [body]
        );
    }
}

#[tokio::test]
async fn what_ironic_finds_wrong_before_a_deployment() {
    let validate = format!("GET /v1/nodes/{NODE}/validate");
    let table = [
        (
            200,
            json!({"boot": {"result": false, "reason": "no ramdisk"}, "deploy": {"result": false, "reason": "no image"}}),
            "failed: host validation error: no ramdisk; no image",
        ),
        (409, error("Node x is locked by host c, please retry"), "3"),
        (
            500,
            error("broken"),
            "error: failed to validate host during registration",
        ),
    ];
    for (code, body, expected) in table {
        let ironic = ironic(json!({"provision_state": "available"})).await;
        ironic.on(&validate, code, body);
        let answer = ironic.pass().await.provision(request(), &NoHostConfig).await;
        outcome::check(&code.to_string(), &outcome::of(answer), expected);
        assert!(ironic.targets().is_empty());
    }
}

#[tokio::test]
async fn secrets_of_the_host_do_not_come_back_in_errors() {
    let ironic = ironic(json!({"provision_state": "available"})).await;
    ironic.on(
        &format!("PATCH /v1/nodes/{NODE}"),
        400,
        error("cannot use password hunter2"),
    );
    let answer = outcome::of(ironic.pass().await.provision(request(), &NoHostConfig).await);
    outcome::check("patch", &answer, "error: cannot use password <hidden>");
    let ironic =
        self::ironic(json!({"provision_state": "error", "last_error": "login admin:hunter2 failed"})).await;
    let answer = outcome::of(ironic.pass().await.provision(request(), &NoHostConfig).await);
    assert!(!answer.contains("hunter2"), "{answer}");
}

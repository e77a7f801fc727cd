use bmo_api::InspectionMode;
use bmo_provisioner::{InspectRequest, Progress};
use serde_json::json;

use crate::outcome;
use crate::support::{IPMI, Ironic, NODE, REDFISH, error, host};

#[tokio::test]
async fn inspection_by_state() {
    let plain = InspectRequest::default();
    let refresh = InspectRequest {
        refresh: true,
        ..InspectRequest::default()
    };
    let restart = InspectRequest {
        restart_on_failure: true,
        ..InspectRequest::default()
    };
    let reboot = InspectRequest {
        force_reboot: true,
        ..InspectRequest::default()
    };
    let fast = InspectRequest {
        inspection_mode: Some(InspectionMode::Fast),
        ..InspectRequest::default()
    };
    // State, last error, inventory's code, request; started, outcome, event, target.
    let table = [
        ("available", "", 0, &plain, false, "3", "", "manage"),
        (
            "manageable",
            "",
            404,
            &plain,
            true,
            "3",
            "InspectionStarted",
            "inspect",
        ),
        (
            "manageable",
            "",
            0,
            &refresh,
            true,
            "3",
            "InspectionStarted",
            "inspect",
        ),
        (
            "manageable",
            "",
            400,
            &plain,
            false,
            "error: failed to retrieve hardware introspection data",
            "",
            "",
        ),
        (
            "manageable",
            "",
            200,
            &plain,
            false,
            "done",
            "InspectionComplete",
            "",
        ),
        ("inspect wait", "", 0, &plain, false, "10", "", ""),
        ("inspecting", "", 0, &plain, false, "10", "", ""),
        ("inspecting", "", 0, &fast, false, "3", "", ""),
        (
            "inspect failed",
            "Timeout",
            0,
            &plain,
            false,
            "failed: Timeout",
            "",
            "",
        ),
        (
            "inspect failed",
            "Inspection was aborted by request.",
            0,
            &plain,
            true,
            "3",
            "InspectionStarted",
            "inspect",
        ),
        (
            "inspect failed",
            "",
            0,
            &plain,
            false,
            "failed: Inspection failed",
            "",
            "",
        ),
        (
            "inspect failed",
            "Timeout",
            0,
            &restart,
            true,
            "3",
            "InspectionStarted",
            "inspect",
        ),
        ("inspect wait", "", 0, &reboot, true, "3", "", "abort"),
        (
            "deploying",
            "",
            0,
            &plain,
            false,
            "error: unexpected provision state",
            "",
            "",
        ),
    ];
    for (state, last_error, inventory, request, started, expected, event, target) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"provision_state": state, "last_error": last_error}));
        ironic.on_provision(202);
        let body = if inventory == 200 {
            json!({"inventory": {"hostname": "node-0"}, "plugin_data": {}})
        } else {
            error("An error")
        };
        if inventory != 0 {
            ironic.on(&format!("GET /v1/nodes/{NODE}/inventory"), inventory, body);
        }
        let answer = ironic.pass().await.inspect_hardware(request.clone()).await;
        let (was_started, progress) = match answer {
            Ok(inspection) => (inspection.started, Ok(inspection.progress)),
            Err(error) => (false, Err(error)),
        };
        if let Ok(Progress::Complete { value }) = &progress {
            assert_eq!(value.hostname, "node-0");
        }
        let case = format!("{state} {last_error} {request:?}");
        outcome::check(&case, &outcome::of(progress), expected);
        assert_eq!(was_started, started, "{case}");
        assert_eq!(ironic.event_reasons().join(" "), event, "{case}");
        assert_eq!(ironic.targets().join(" "), target, "{case}");
    }
}

#[tokio::test]
async fn fast_inspection_uses_the_drivers_interface() {
    let request = InspectRequest {
        inspection_mode: Some(InspectionMode::Fast),
        ..InspectRequest::default()
    };
    let ironic = Ironic::newest().await;
    ironic.node(json!({}));
    ironic.patched(json!({"inspect_interface": "redfish"}));
    ironic.on_provision(202);
    ironic.on(&format!("GET /v1/nodes/{NODE}/inventory"), 404, error("none"));
    let pass = ironic.provisioner(host(REDFISH)).await.unwrap();
    assert!(pass.inspect_hardware(request.clone()).await.unwrap().started);
    assert_eq!(
        ironic.bodies("PATCH"),
        [json!([{"op": "add", "path": "/inspect_interface", "value": "redfish"}])]
    );

    let pass = ironic.provisioner(host(IPMI)).await.unwrap();
    let answer = pass.inspect_hardware(request).await.unwrap();
    assert!(!answer.started);
    outcome::check(
        "ipmi",
        &outcome::of(Ok(answer.progress)),
        "failed: does not support fast (out-of-band) inspection",
    );
}

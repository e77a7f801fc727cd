use std::collections::BTreeMap;

use bmo_api::IntOrString;
use bmo_provisioner::ServiceRequest;
use serde_json::json;

use crate::outcome;
use crate::support::{Ironic, NODE};

#[tokio::test]
async fn servicing_by_state() {
    // State, maintenance, unprepared and restart, without any wish; started, outcome, target.
    let table = [
        ("active", false, true, true, true, "done", ""),
        ("active", false, true, false, true, "3", "service"),
        (
            "service failed",
            false,
            false,
            false,
            false,
            "failed: no disk",
            "",
        ),
        ("service failed", false, false, true, true, "3", "abort"),
        ("service failed", false, true, false, true, "3", "service"),
        ("service failed", true, true, false, false, "0", ""),
        ("servicing", false, false, false, false, "10", ""),
        ("service wait", false, false, false, false, "10", ""),
        ("service wait", false, false, true, true, "3", "abort"),
        ("active", false, false, false, false, "done", ""),
        (
            "cleaning",
            false,
            false,
            false,
            false,
            "error: unexpected provision state",
            "",
        ),
    ];
    for (state, maintenance, unprepared, skip, started, expected, target) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"provision_state": state, "maintenance": maintenance, "last_error": "no disk"}));
        ironic.on_provision(202);
        ironic.on(&format!("DELETE /v1/nodes/{NODE}/maintenance"), 202, json!(null));
        let wish = BTreeMap::from([("Answer".to_owned(), IntOrString::Int(42))]);
        let request = ServiceRequest {
            target_firmware_settings: if skip { BTreeMap::new() } else { wish },
            actual_firmware_settings: Some(BTreeMap::from([("Answer".to_owned(), "unknown".to_owned())])),
            has_firmware_spec: !skip,
            unprepared,
            restart_on_failure: unprepared,
            ..ServiceRequest::default()
        };
        let (was_started, progress) = match ironic.pass().await.service(request).await {
            Ok(answer) => (answer.started, Ok(answer.progress)),
            Err(error) => (false, Err(error)),
        };
        let case = format!("{state} unprepared {unprepared} skip {skip}");
        outcome::check(&case, &outcome::of(progress), expected);
        assert_eq!(was_started, started, "{case}");
        assert_eq!(ironic.targets().join(" "), target, "{case}");
    }
}

#[tokio::test]
async fn a_failed_service_with_nothing_left_to_do_is_ended() {
    let ironic = Ironic::newest().await;
    ironic.node(json!({"provision_state": "service failed"}));
    ironic.on_provision(202);
    let request = ServiceRequest {
        has_firmware_spec: true,
        restart_on_failure: true,
        unprepared: true,
        ..ServiceRequest::default()
    };
    let answer = ironic.pass().await.service(request).await.unwrap();
    assert!(answer.started);
    assert_eq!(ironic.targets(), ["abort"]);
}

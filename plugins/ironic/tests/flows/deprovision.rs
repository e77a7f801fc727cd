use bmo_api::AutomatedCleaningMode;
use bmo_provisioner::DeprovisionRequest;
use serde_json::json;

use crate::outcome;
use crate::support::{Ironic, NODE, error};

#[tokio::test]
async fn deprovisioning_by_state() {
    let table = [
        (
            "active",
            json!({}),
            false,
            "3",
            "deleted",
            "DeprovisioningStarted",
        ),
        (
            "deploy failed",
            json!({}),
            false,
            "3",
            "deleted",
            "DeprovisioningStarted",
        ),
        (
            "wait call-back",
            json!({}),
            false,
            "3",
            "deleted",
            "DeprovisioningStarted",
        ),
        ("error", json!({}), false, "failed: Deprovisioning failed", "", ""),
        (
            "error",
            json!({"last_error": "no"}),
            true,
            "3",
            "deleted",
            "DeprovisioningStarted",
        ),
        (
            "clean failed",
            json!({"last_error": "no"}),
            false,
            "failed: Cleaning failed: no",
            "",
            "",
        ),
        (
            "clean failed",
            json!({}),
            false,
            "failed: Cleaning failed: Ironic gives no reason",
            "",
            "",
        ),
        ("clean failed", json!({}), true, "3", "manage", ""),
        (
            "clean failed",
            json!({"maintenance": true, "fault": "clean failure"}),
            true,
            "0",
            "",
            "",
        ),
        (
            "available",
            json!({}),
            false,
            "done",
            "",
            "DeprovisioningComplete",
        ),
        ("deleting", json!({}), false, "10", "", ""),
        ("cleaning", json!({}), false, "10", "", ""),
        ("clean wait", json!({}), false, "10", "", ""),
        ("deploying", json!({}), false, "10", "", ""),
        ("servicing", json!({}), false, "10", "", ""),
        ("service wait", json!({}), false, "3", "abort", ""),
        (
            "service failed",
            json!({"maintenance": true, "fault": "service failure"}),
            false,
            "3",
            "abort",
            "",
        ),
        ("manageable", json!({}), false, "3", "provide", ""),
        (
            "enroll",
            json!({}),
            false,
            "error: unexpected provision state",
            "",
            "",
        ),
    ];
    for (state, mut members, restart_on_failure, expected, target, event) in table {
        let ironic = Ironic::newest().await;
        members["provision_state"] = json!(state);
        ironic.node(members);
        ironic.on_provision(202);
        ironic.on(&format!("DELETE /v1/nodes/{NODE}/maintenance"), 202, json!(null));
        let request = DeprovisionRequest {
            restart_on_failure,
            ..DeprovisionRequest::default()
        };
        outcome::check(
            state,
            &outcome::of(ironic.pass().await.deprovision(request).await),
            expected,
        );
        assert_eq!(ironic.targets().join(" "), target, "{state}");
        assert_eq!(ironic.event_reasons().join(" "), event, "{state}");
    }
}

#[tokio::test]
async fn cleaning_mode_is_set_before_anything_is_torn_down() {
    let (metadata, disabled) = (AutomatedCleaningMode::Metadata, AutomatedCleaningMode::Disabled);
    let table = [
        (metadata, json!(null), 200, "0", true),
        (disabled, json!(true), 200, "0", true),
        (metadata, json!(false), 200, "0", true),
        (metadata, json!(false), 409, "3", true),
        (disabled, json!(false), 0, "3", false),
        (metadata, json!(true), 0, "3", false),
    ];
    for (automated_cleaning_mode, current, code, expected, patched) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"provision_state": "active", "automated_clean": current}));
        ironic.on_provision(202);
        let body = if code == 200 {
            crate::support::node(json!({}))
        } else {
            error("Node x is locked by host c, please retry")
        };
        ironic.on(&format!("PATCH /v1/nodes/{NODE}"), code.max(200), body);
        let request = DeprovisionRequest {
            automated_cleaning_mode,
            ..DeprovisionRequest::default()
        };
        let case = format!("{automated_cleaning_mode} over {current}");
        outcome::check(
            &case,
            &outcome::of(ironic.pass().await.deprovision(request).await),
            expected,
        );
        assert_eq!(
            ironic.operations().join(" "),
            if patched { "add /automated_clean" } else { "" },
            "{case}"
        );
        assert_eq!(
            ironic.targets().join(" "),
            if patched { "" } else { "deleted" },
            "{case}"
        );
    }
}

use bmo_api::ProvisioningState;
use bmo_provisioner::AdoptRequest;
use serde_json::json;

use crate::outcome;
use crate::support::{Ironic, NODE, error};

#[tokio::test]
async fn adoption_by_state() {
    let adopt: &[&str] = &["adopt"];
    let none: &[&str] = &[];
    let table = [
        ("enroll", json!({}), false, "error: enroll", none),
        ("verifying", json!({}), false, "error: verifying", none),
        ("manageable", json!({}), false, "3", adopt),
        ("adopting", json!({}), false, "3", none),
        (
            "adopt failed",
            json!({"last_error": "no disk"}),
            false,
            "failed: Host adoption failed: no disk",
            none,
        ),
        ("adopt failed", json!({}), false, "failed", none),
        ("adopt failed", json!({}), true, "3", adopt),
        ("active", json!({}), false, "done", none),
        (
            "active",
            json!({"maintenance": true}),
            false,
            "error: maintenance",
            none,
        ),
        (
            "active",
            json!({"maintenance": true, "fault": "power failure"}),
            false,
            "done",
            none,
        ),
    ];
    for (state, more, restart_on_failure, expected, targets) in table {
        let ironic = Ironic::newest().await;
        let mut members = more;
        members["provision_state"] = json!(state);
        ironic.node(members);
        ironic.on_provision(202);
        ironic.on(&format!("DELETE /v1/nodes/{NODE}/maintenance"), 500, error("no"));
        let answer = ironic
            .pass()
            .await
            .adopt(AdoptRequest {
                restart_on_failure,
                ..AdoptRequest::default()
            })
            .await;
        outcome::check(state, &outcome::of(answer), expected);
        assert_eq!(ironic.targets(), targets, "{state}");
    }
}

#[tokio::test]
async fn a_host_that_is_deprovisioned_is_not_adopted() {
    let ironic = Ironic::newest().await;
    ironic.node(json!({}));
    let request = AdoptRequest {
        state: ProvisioningState::Deprovisioning,
        ..AdoptRequest::default()
    };
    assert_eq!(outcome::of(ironic.pass().await.adopt(request).await), "done");
}

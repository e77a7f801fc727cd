use bmo_provisioner::DetachRequest;
use serde_json::json;

use crate::outcome;
use crate::support::{Ironic, NODE, REDFISH, error, host, node};

#[tokio::test]
async fn deletion_and_plain_detachment() {
    // Node, code of the node's GET, of DELETE, of maintenance; outcome; requests beside the GET.
    let active = json!({"provision_state": "active", "maintenance": true});
    let working = json!({"provision_state": "active"});
    let table = [
        (
            "active in maintenance",
            active.clone(),
            200,
            500,
            0,
            "error: failed to remove host",
            "DELETE",
        ),
        ("locked", active.clone(), 200, 409, 0, "3", "DELETE"),
        ("gone meanwhile", active.clone(), 200, 404, 0, "done", "DELETE"),
        ("removed", active.clone(), 200, 204, 0, "done", "DELETE"),
        (
            "no answer",
            active.clone(),
            504,
            0,
            0,
            "error: failed to find node by ID",
            "",
        ),
        ("gone before", active, 404, 0, 0, "done", ""),
        (
            "available",
            json!({"provision_state": "available"}),
            200,
            204,
            0,
            "done",
            "DELETE",
        ),
        (
            "available, in use",
            json!({"provision_state": "available", "instance_uuid": "i"}),
            200,
            204,
            0,
            "done",
            "PATCH DELETE",
        ),
        (
            "maintenance fails",
            working.clone(),
            200,
            0,
            500,
            "error: failed to set host maintenance flag",
            "PUT",
        ),
        ("maintenance locked", working.clone(), 200, 0, 409, "3", "PUT"),
        ("maintenance first", working, 200, 0, 202, "0", "PUT"),
        (
            "verifying",
            json!({"provision_state": "verifying"}),
            200,
            0,
            0,
            "3",
            "",
        ),
        (
            "enroll",
            json!({"provision_state": "enroll"}),
            200,
            204,
            0,
            "done",
            "DELETE",
        ),
        (
            "cleaning",
            json!({"provision_state": "clean wait"}),
            200,
            0,
            0,
            "10",
            "",
        ),
    ];
    for detach in [false, true] {
        for (case, members, get, delete, maintenance, expected, requests) in table.clone() {
            let ironic = Ironic::newest().await;
            let path = format!("/v1/nodes/{NODE}");
            ironic.on(
                &format!("GET {path}"),
                get,
                if get == 200 {
                    node(members)
                } else {
                    error("An error")
                },
            );
            ironic.patched(json!({"provision_state": "available"}));
            if delete != 0 {
                ironic.on(&format!("DELETE {path}"), delete, json!(null));
            }
            if maintenance != 0 {
                ironic.on(&format!("PUT {path}/maintenance"), maintenance, json!(null));
            }
            let pass = ironic.provisioner(host(REDFISH)).await.unwrap();
            let answer = if detach {
                pass.detach(DetachRequest::default()).await
            } else {
                pass.delete().await
            };
            outcome::check(case, &outcome::of(answer), expected);
            let methods: Vec<_> = ironic.lines()[1..]
                .iter()
                .map(|line| line.split(' ').next().unwrap().to_owned())
                .collect();
            assert_eq!(methods.join(" "), requests, "{case}");
            if requests.starts_with("PATCH") {
                assert_eq!(ironic.operations(), ["remove /instance_uuid"]);
            }
        }
    }
}

#[tokio::test]
async fn forced_detachment_aborts() {
    let table = [
        ("wait call-back", 110, "3", "abort"),
        ("wait call-back", 95, "3", "deleted"),
        ("inspect wait", 110, "3", "abort"),
        ("clean wait", 110, "3", "abort"),
        ("service wait", 110, "3", "abort"),
        ("deploying", 110, "10", ""),
        ("cleaning", 110, "10", ""),
        ("inspecting", 110, "10", ""),
    ];
    for (state, max, expected, target) in table {
        let ironic = Ironic::start(max).await;
        ironic.node(json!({ "provision_state": state }));
        ironic.on_provision(202);
        let answer = ironic.pass().await.detach(DetachRequest { force: true }).await;
        outcome::check(state, &outcome::of(answer), expected);
        assert_eq!(ironic.targets().join(" "), target, "{state} with 1.{max}");
    }
}

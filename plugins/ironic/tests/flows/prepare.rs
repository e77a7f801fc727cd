use bmo_provisioner::PrepareRequest;
use serde_json::json;

use crate::outcome;
use crate::support::{IPMI, Ironic, NODE, REDFISH, host};

fn request(unprepared: bool, raid: bool) -> PrepareRequest {
    let volumes =
        json!({"hardwareRAIDVolumes": [{"level": "1", "name": "root"}, {"level": "1", "name": "v1"}]});
    PrepareRequest {
        target_raid_config: raid.then(|| serde_json::from_value(volumes).unwrap()),
        unprepared,
        restart_on_failure: unprepared,
        ..PrepareRequest::default()
    }
}

#[tokio::test]
async fn preparation_by_state() {
    let table = [
        ("manageable", true, false, true, "done", ""),
        ("manageable", true, true, true, "3", "clean"),
        ("available", true, false, true, "done", ""),
        ("available", true, true, false, "3", "manage"),
        ("clean failed", false, false, false, "failed: Cleaning failed", ""),
        ("clean failed", true, true, false, "3", "manage"),
        ("cleaning", false, true, false, "10", ""),
        ("clean wait", false, true, false, "10", ""),
        ("manageable", false, true, false, "done", ""),
        ("available", false, true, false, "done", ""),
        (
            "active",
            true,
            true,
            false,
            "error: unexpected provision state",
            "",
        ),
    ];
    for (state, unprepared, raid, started, expected, target) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({ "provision_state": state }));
        ironic.on_provision(202);
        ironic.on(&format!("PUT /v1/nodes/{NODE}/states/raid"), 204, json!(null));
        let answer = ironic.pass().await.prepare(request(unprepared, raid)).await;
        let (was_started, progress) = match answer {
            Ok(answer) => (answer.started, Ok(answer.progress)),
            Err(error) => (false, Err(error)),
        };
        let case = format!("{state} unprepared {unprepared} raid {raid}");
        outcome::check(&case, &outcome::of(progress), expected);
        assert_eq!(was_started, started, "{case}");
        assert_eq!(ironic.targets().join(" "), target, "{case}");
    }
}

#[tokio::test]
async fn what_ironic_is_told_about_volumes() {
    let ironic = Ironic::newest().await;
    ironic.node(json!({"raid_interface": "agent"}));
    ironic.patched(json!({"raid_interface": "redfish"}));
    ironic.on_provision(202);
    ironic.on(&format!("PUT /v1/nodes/{NODE}/states/raid"), 204, json!(null));
    ironic.pass().await.prepare(request(true, true)).await.unwrap();
    assert_eq!(ironic.operations(), ["add /raid_interface"]);
    assert_eq!(
        ironic.bodies(&format!("PUT /v1/nodes/{NODE}/states/raid")),
        [json!({"logical_disks": [
            {"size_gb": "MAX", "raid_level": "1", "volume_name": "root", "is_root_volume": true},
            {"size_gb": "MAX", "raid_level": "1", "volume_name": "v1"},
        ]})]
    );
    assert_eq!(
        ironic.bodies(&format!("PUT /v1/nodes/{NODE}/states/provision")),
        [json!({"target": "clean", "clean_steps": [
            {"interface": "raid", "step": "delete_configuration"}, {"interface": "raid", "step": "create_configuration"},
        ]})]
    );
}

#[tokio::test]
async fn volumes_a_driver_cannot_make_begin_nothing() {
    for state in ["available", "manageable"] {
        let ironic = Ironic::newest().await;
        ironic.node(json!({ "provision_state": state }));
        let pass = ironic.provisioner(host(IPMI)).await.unwrap();
        let answer = pass.prepare(request(true, true)).await.unwrap();
        outcome::check(
            state,
            &outcome::of(Ok(answer.progress)),
            "failed: does not support RAID",
        );
        assert_eq!(ironic.lines().len(), 1, "{:?}", ironic.lines());
    }
    let _ = REDFISH;
}

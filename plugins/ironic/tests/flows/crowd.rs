//! Many hosts that wait at once.

use std::sync::Arc;

use bmo_provisioner::{DeprovisionRequest, HostData, NoEvents, ProvisionerFactory};
use serde_json::json;

use crate::capacity::LIST;
use crate::outcome;
use crate::support::{Ironic, REDFISH, host, node};

#[tokio::test]
async fn waiting_hosts_share_a_list() {
    const HOSTS: usize = 12;
    let ironic = Ironic::newest().await;
    let factory = ironic.factory();
    let listed = |state: &dyn Fn(usize) -> &'static str| {
        let nodes: Vec<_> = (0..HOSTS)
            .map(|n| json!({"uuid": format!("u{n}"), "provision_state": state(n)}))
            .collect();
        json!({ "nodes": nodes })
    };
    let pass = async |number: usize| {
        let host = HostData {
            provisioner_id: format!("u{number}"),
            ..host(REDFISH)
        };
        let pass = factory.new_provisioner(host, Arc::new(NoEvents)).await.unwrap();
        outcome::of(pass.deprovision(DeprovisionRequest::default()).await)
    };
    for number in 0..HOSTS {
        ironic.on(
            &format!("GET /v1/nodes/u{number}"),
            200,
            node(json!({"uuid": format!("u{number}"), "provision_state": "cleaning"})),
        );
        assert_eq!(pass(number).await, "10");
    }
    assert_eq!(ironic.lines().len(), HOSTS);
    ironic.on(LIST, 200, listed(&|_| "cleaning"));
    for _ in 0..5 {
        for number in 0..HOSTS {
            assert_eq!(pass(number).await, "10");
        }
    }
    assert_eq!(ironic.lines().len(), HOSTS + 1, "one list for sixty looks");

    // The node that got somewhere is read itself; the list is only good for "nothing new".
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    ironic.on(
        LIST,
        200,
        listed(&|number| if number == 3 { "available" } else { "cleaning" }),
    );
    ironic.on(
        "GET /v1/nodes/u3",
        200,
        node(json!({"uuid": "u3", "provision_state": "available"})),
    );
    assert_eq!(pass(3).await, "done");
    assert_eq!(pass(4).await, "10");
    assert_eq!(ironic.lines()[HOSTS + 1..], [LIST, "GET /v1/nodes/u3"]);
}

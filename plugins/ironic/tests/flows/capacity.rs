use bmo_provisioner::{NoEvents, ProvisionerFactory};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{IPMI, Ironic, REDFISH, host};

pub const LIST: &str = "GET /v1/nodes?fields=uuid%2Cname%2Cprovision_state%2Ctarget_provision_state%2Cmaintenance%2Cfault%2Clast_error%2Cboot_interface";
const BUSY: [&str; 7] = [
    "cleaning",
    "clean wait",
    "inspecting",
    "inspect wait",
    "deploying",
    "wait call-back",
    "deleting",
];

fn nodes(states: &[&str], boot: &str) -> Value {
    let node = |(number, state): (usize, &&str)| json!({"uuid": format!("u{number}"), "name": format!("myns~node-{number}"), "provision_state": state, "boot_interface": boot});
    json!({"nodes": states.iter().enumerate().map(node).collect::<Vec<_>>()})
}

#[tokio::test]
async fn busy_hosts_against_the_limit() {
    let resting = ["active", "adopt failed", "adopting", "available", "clean failed"];
    let table = [
        ("7", "myhost", nodes(&BUSY, "ipxe"), false),
        ("8", "myhost", nodes(&BUSY, "ipxe"), true),
        ("7", "node-1", nodes(&BUSY, "ipxe"), true),
        ("1", "myhost", nodes(&resting, "ipxe"), true),
        ("1", "myhost", nodes(&BUSY, "redfish-virtual-media"), true),
        ("1", "myhost", nodes(&BUSY, "idrac-redfish-virtual-media"), true),
        ("0", "myhost", nodes(&[], "ipxe"), false),
    ];
    for (limit, name, list, expected) in table {
        let ironic = Ironic::newest().await.set("PROVISIONING_LIMIT", limit);
        ironic.on(LIST, 200, list);
        let mut host = host(IPMI);
        host.name = name.to_owned();
        assert_eq!(
            ironic
                .provisioner(host)
                .await
                .unwrap()
                .has_capacity()
                .await
                .unwrap(),
            expected,
            "{limit} {name}"
        );
    }
    let ironic = Ironic::newest().await.set("PROVISIONING_LIMIT", "0");
    assert!(
        ironic
            .provisioner(host(REDFISH))
            .await
            .unwrap()
            .has_capacity()
            .await
            .unwrap()
    );
    assert!(ironic.lines().is_empty(), "virtual media needs no counting");
}

#[tokio::test]
async fn one_list_serves_a_crowd_and_lets_in_no_more_than_fit() {
    let ironic = Ironic::newest().await.set("PROVISIONING_LIMIT", "3");
    ironic.on(LIST, 200, nodes(&["cleaning"], "ipxe"));
    let factory = ironic.factory();
    let mut admitted = 0;
    for number in 0..50 {
        let mut host = host(IPMI);
        host.name = format!("crowd-{number}");
        let pass = factory
            .new_provisioner(host.clone(), Arc::new(NoEvents))
            .await
            .unwrap();
        let first = pass.has_capacity().await.unwrap();
        admitted += usize::from(first);
        assert_eq!(
            pass.has_capacity().await.unwrap(),
            first,
            "asking again changes nothing"
        );
    }
    assert_eq!(admitted, 2);
    assert_eq!(ironic.lines(), [LIST]);
}

#[tokio::test]
async fn pages_of_a_list_are_followed_on_the_same_server() {
    let ironic = Ironic::newest().await.set("PROVISIONING_LIMIT", "2");
    let mut first = nodes(&["cleaning"], "ipxe");
    first["next"] = json!("http://elsewhere.test/v1/nodes?marker=u0&limit=1");
    ironic.on(LIST, 200, first);
    ironic.on(
        "GET /v1/nodes?marker=u0&limit=1",
        200,
        json!({"nodes": [{"uuid": "x", "provision_state": "cleaning", "boot_interface": "ipxe"}]}),
    );
    assert!(
        !ironic
            .provisioner(host(IPMI))
            .await
            .unwrap()
            .has_capacity()
            .await
            .unwrap()
    );
}

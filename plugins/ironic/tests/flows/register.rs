use bmo_api::{
    AutomatedCleaningMode, BootMode, HardwareData, Image, ImageFormat, InspectionMode, ProvisioningState,
};
use bmo_provisioner::{ErrorKind, HostData, RegisterRequest};
use serde_json::{Value, json};

use crate::outcome;
use crate::support::{IPMI, ISO, Ironic, NODE, REDFISH, error, host, new_host, node};

const MAC: &str = "aa:bb:cc:dd:ee:ff";

fn not_found(ironic: &Ironic, lines: &[&str]) {
    for line in lines {
        ironic.on(line, 404, error("not found"));
    }
}

/// An Ironic that does not know the host.
async fn empty() -> Ironic {
    let ironic = Ironic::newest().await;
    not_found(&ironic, &["GET /v1/nodes/myns~myhost", "GET /v1/nodes/myhost"]);
    ironic.on("POST /v1/nodes", 201, node(json!({"provision_state": "enroll"})));
    ironic.on_provision(202);
    ironic
}

fn by_mac(mac: &str) -> String {
    format!(
        "GET /v1/ports?address={}&fields=node_uuid%2Cuuid%2Caddress",
        mac.replace(':', "%3A")
    )
}

fn of_node() -> String {
    format!("GET /v1/ports?fields=node_uuid%2Cuuid%2Caddress&node_uuid={NODE}")
}

fn nics(list: &[(&str, bool)]) -> Option<Box<HardwareData>> {
    let nics: Vec<_> = list
        .iter()
        .map(|(mac, pxe)| json!({"mac": mac, "pxe": pxe}))
        .collect();
    let mut data = HardwareData::default();
    data.spec.hardware = Some(serde_json::from_value(json!({ "nics": nics })).unwrap());
    Some(Box::new(data))
}

async fn register(ironic: &Ironic, host: HostData, request: RegisterRequest) -> (Option<String>, String) {
    match ironic.provisioner(host).await.unwrap().register(request).await {
        Ok(answer) => (answer.provisioner_id, outcome::of(Ok(answer.progress))),
        Err(error) => (None, format!("error: {error}")),
    }
}

#[tokio::test]
async fn a_new_node() {
    let ironic = empty().await;
    let (id, answer) = register(&ironic, new_host(REDFISH), RegisterRequest::default()).await;
    assert_eq!((id.as_deref(), answer.as_str()), (Some(NODE), "3"));
    assert_eq!(
        ironic.bodies("POST"),
        [json!({
            "name": "myns~myhost", "driver": "redfish",
            "driver_info": {"redfish_username": "admin", "redfish_password": "hunter2",
                "redfish_address": "https://192.0.2.10", "redfish_system_id": "/redfish/v1/Systems/1", "deploy_iso": ISO},
            "inspect_interface": "agent", "automated_clean": true, "properties": {"capabilities": "boot_mode:uefi"},
            "boot_interface": "redfish-virtual-media", "firmware_interface": "redfish", "raid_interface": "redfish",
            "disable_power_off": false,
        })]
    );
    assert_eq!(ironic.targets(), ["manage"]);
    assert_eq!(ironic.events(), ["Registered: Registered new host"]);
}

#[tokio::test]
async fn what_a_new_node_is_told_beside() {
    let live = Image {
        url: "http://iso".to_owned(),
        format: Some(ImageFormat::LiveIso),
        ..Image::default()
    };
    let fast = RegisterRequest {
        inspection_mode: Some(InspectionMode::Fast),
        ..RegisterRequest::default()
    };
    let table = [
        (fast, "inspect_interface", json!("redfish")),
        (
            RegisterRequest {
                has_custom_deploy: true,
                ..Default::default()
            },
            "deploy_interface",
            json!("custom-agent"),
        ),
        (
            RegisterRequest {
                current_image: Some(live),
                ..Default::default()
            },
            "deploy_interface",
            json!("ramdisk"),
        ),
        (RegisterRequest::default(), "deploy_interface", json!(null)),
        (
            RegisterRequest {
                disable_power_off: true,
                ..Default::default()
            },
            "disable_power_off",
            json!(true),
        ),
        (
            RegisterRequest {
                cpu_architecture: "aarch64".to_owned(),
                boot_mode: BootMode::Legacy,
                ..Default::default()
            },
            "properties",
            json!({"capabilities": "boot_mode:bios", "cpu_arch": "aarch64"}),
        ),
        (
            RegisterRequest {
                preprovisioning_network_data: "links: []".into(),
                ..Default::default()
            },
            "network_data",
            json!({"links": []}),
        ),
    ];
    for (request, member, value) in table {
        let ironic = empty().await;
        register(&ironic, new_host(REDFISH), request).await;
        assert_eq!(ironic.bodies("POST")[0][member], value, "{member}");
    }
    let old = Ironic::start(93).await;
    not_found(&old, &["GET /v1/nodes/myns~myhost", "GET /v1/nodes/myhost"]);
    old.on("POST /v1/nodes", 201, node(json!({"provision_state": "enroll"})));
    old.on_provision(202);
    assert_eq!(
        register(&old, new_host(REDFISH), RegisterRequest::default())
            .await
            .1,
        "3"
    );
    assert_eq!(
        old.bodies("POST")[0].get("disable_power_off"),
        None,
        "an old Ironic refuses members it does not know"
    );
}

#[tokio::test]
async fn what_a_host_cannot_be() {
    let secure = RegisterRequest {
        boot_mode: BootMode::UefiSecureBoot,
        ..RegisterRequest::default()
    };
    let fast = RegisterRequest {
        inspection_mode: Some(InspectionMode::Fast),
        ..RegisterRequest::default()
    };
    let never_off = RegisterRequest {
        disable_power_off: true,
        ..RegisterRequest::default()
    };
    let no_inspection = RegisterRequest {
        disable_inspection: true,
        ..RegisterRequest::default()
    };
    let plain = RegisterRequest::default;
    let table = [
        ("", 115, plain(), "failed: missing BMC address"),
        (
            "<ipmi://192.168.122.1:6233>",
            115,
            plain(),
            "failed: failed to parse BMC address information",
        ),
        ("ilo4://192.0.2.10", 115, plain(), "failed: ilo4"),
        (
            IPMI,
            115,
            fast,
            "failed: BMC driver ipmi does not support fast (out-of-band) inspection",
        ),
        (
            IPMI,
            115,
            secure,
            "failed: BMC driver ipmi does not support secure boot",
        ),
        (REDFISH, 94, never_off, "failed: refusing to manage"),
        (
            "libvirt://192.0.2.10",
            115,
            plain(),
            "failed: BMC driver libvirt requires a BootMACAddress value",
        ),
        (
            REDFISH,
            115,
            no_inspection,
            "failed: requires a BootMACAddress value",
        ),
    ];
    for (address, max, request, expected) in table {
        let ironic = Ironic::start(max).await;
        not_found(&ironic, &["GET /v1/nodes/myns~myhost", "GET /v1/nodes/myhost"]);
        let (id, answer) = register(&ironic, new_host(address), request).await;
        outcome::check(address, &answer, expected);
        assert_eq!(id, None, "{address}");
    }
    let ironic = Ironic::newest()
        .await
        .set("PROVISIONING_NETWORK_DISABLED", "true");
    let (_, answer) = register(&ironic, new_host(IPMI), RegisterRequest::default()).await;
    outcome::check(
        "no network",
        &answer,
        "failed: BMC driver ipmi requires a provisioning network",
    );
}

#[tokio::test]
async fn a_node_is_found_by_id_name_old_name_and_mac() {
    let by_id = format!("GET /v1/nodes/{NODE}");
    for found in ["id", "name", "old name"] {
        let ironic = Ironic::newest().await;
        ironic.patched(json!({}));
        not_found(
            &ironic,
            &[&by_id, "GET /v1/nodes/myns~myhost", "GET /v1/nodes/myhost"],
        );
        match found {
            "id" => ironic.on(&by_id, 200, node(json!({"name": "another-name"}))),
            "name" => ironic.on("GET /v1/nodes/myns~myhost", 200, node(json!({}))),
            _ => ironic.on("GET /v1/nodes/myhost", 200, node(json!({"name": "myhost"}))),
        }
        let (id, answer) = register(&ironic, host(REDFISH), RegisterRequest::default()).await;
        assert_eq!((id.as_deref(), answer.as_str()), (Some(NODE), "done"), "{found}");
        let renamed = if found == "name" { "" } else { "add /name" };
        assert_eq!(ironic.operations().join(" "), renamed, "{found}");
    }

    let mac_host = HostData {
        boot_mac_address: "11:11:11:11:11:11".to_owned(),
        ..new_host(REDFISH)
    };
    let port = json!({"ports": [{"uuid": "p", "address": "11:11:11:11:11:11", "node_uuid": NODE}]});
    let table = [
        (200, node(json!({"name": null})), "done"),
        (
            200,
            node(json!({"name": "wrong-name"})),
            "failed: MAC address 11:11:11:11:11:11 conflicts with existing node wrong-name",
        ),
        (
            404,
            error("gone"),
            "error: failed to find existing host: port 11:11:11:11:11:11 exists but linked node",
        ),
        (500, error("broken"), "error: failed to find existing host"),
    ];
    for (code, body, expected) in table {
        let ironic = Ironic::newest().await;
        not_found(&ironic, &["GET /v1/nodes/myns~myhost", "GET /v1/nodes/myhost"]);
        ironic.on(&by_mac("11:11:11:11:11:11"), 200, port.clone());
        ironic.on(&of_node(), 200, port.clone());
        ironic.on(&by_id, code, body);
        ironic.patched(json!({}));
        let (_, answer) = register(&ironic, mac_host.clone(), RegisterRequest::default()).await;
        outcome::check("by MAC", &answer, expected);
        assert!(ironic.bodies("POST").is_empty());
    }
}

#[tokio::test]
async fn a_host_at_rest_costs_one_read() {
    let states = [
        "manageable",
        "available",
        "active",
        "wait call-back",
        "deploying",
        "deploy failed",
        "deploy hold",
        "deleting",
        "cleaning",
        "clean wait",
        "clean failed",
        "clean hold",
        "error",
        "rebuild",
        "inspecting",
        "inspect failed",
        "inspect wait",
        "adopting",
        "adopt failed",
        "rescue",
        "rescue failed",
        "rescuing",
        "rescue wait",
        "unrescuing",
        "unrescue failed",
        "servicing",
        "service wait",
        "service failed",
    ];
    for state in states {
        let ironic = Ironic::newest().await;
        ironic.node(json!({ "provision_state": state }));
        let (id, answer) = register(&ironic, host(REDFISH), RegisterRequest::default()).await;
        assert_eq!((id.as_deref(), answer.as_str()), (Some(NODE), "done"), "{state}");
        assert_eq!(ironic.lines(), [format!("GET /v1/nodes/{NODE}")], "{state}");
    }
}

#[tokio::test]
async fn an_image_changes_nothing_at_registration() {
    let image = |format: Option<ImageFormat>| {
        Some(Image {
            url: "http://i".to_owned(),
            format,
            ..Image::default()
        })
    };
    let table = [
        (
            "manageable",
            RegisterRequest {
                current_image: image(None),
                ..Default::default()
            },
        ),
        (
            "manageable",
            RegisterRequest {
                current_image: image(Some(ImageFormat::LiveIso)),
                ..Default::default()
            },
        ),
        (
            "manageable",
            RegisterRequest {
                has_custom_deploy: true,
                ..Default::default()
            },
        ),
        (
            "active",
            RegisterRequest {
                current_image: image(Some(ImageFormat::LiveIso)),
                ..Default::default()
            },
        ),
    ];
    for (state, request) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"provision_state": state, "instance_info": {"image_source": "http://old"}}));
        assert_eq!(register(&ironic, host(REDFISH), request).await.1, "done");
        assert!(ironic.operations().is_empty());
    }
}

#[tokio::test]
async fn waiting_and_failing_before_the_bmc_is_known_to_work() {
    let restart = RegisterRequest {
        restart_on_failure: true,
        ..RegisterRequest::default()
    };
    let changed = RegisterRequest {
        credentials_changed: true,
        ..RegisterRequest::default()
    };
    let enroll = |error: &str| json!({"provision_state": "enroll", "last_error": error});
    let table = [
        (enroll(""), RegisterRequest::default(), "3", "manage", ""),
        (
            enroll("code 401"),
            RegisterRequest::default(),
            "failed: code 401",
            "",
            "",
        ),
        (enroll("code 401"), restart, "3", "manage", ""),
        (
            enroll("code 401"),
            changed.clone(),
            "3",
            "manage",
            "add /driver_info",
        ),
        (
            json!({"provision_state": "verifying"}),
            RegisterRequest::default(),
            "3",
            "",
            "",
        ),
        (
            json!({"provision_state": "verifying"}),
            changed,
            "3",
            "",
            "add /driver_info",
        ),
        (
            json!({"provision_state": "enroll", "target_provision_state": "manageable", "reservation": "c"}),
            RegisterRequest::default(),
            "3",
            "",
            "",
        ),
    ];
    for (members, request, expected, target, operations) in table {
        let ironic = Ironic::newest().await;
        ironic.node(members.clone());
        ironic.patched(members.clone());
        ironic.on_provision(202);
        let (id, answer) = register(&ironic, host(REDFISH), request).await;
        outcome::check(&members.to_string(), &answer, expected);
        assert_eq!(id.as_deref(), Some(NODE));
        assert_eq!(ironic.targets().join(" "), target, "{members}");
        assert_eq!(ironic.operations().join(" "), operations, "{members}");
    }
}

#[tokio::test]
async fn a_changed_address_is_written_and_tried_at_once() {
    let ironic = Ironic::newest().await;
    let members = json!({"provision_state": "enroll", "last_error": "TLS"});
    ironic.node(members.clone());
    ironic.patched(members);
    ironic.on_provision(202);
    let other = "redfish-virtualmedia+http://192.0.2.10:8000/redfish/v1/Systems/1";
    assert_eq!(
        register(&ironic, host(other), RegisterRequest::default()).await.1,
        "3"
    );
    let patch = &ironic.bodies("PATCH")[0][0];
    assert_eq!(patch["path"], "/driver_info");
    assert_eq!(patch["value"]["redfish_address"], "http://192.0.2.10:8000");
    assert_eq!(patch["value"]["redfish_password"], "hunter2");
    assert_eq!(patch["value"]["deploy_iso"], ISO, "what others set is kept");
    assert_eq!(ironic.targets(), ["manage"]);
}

#[tokio::test]
async fn another_protocol_is_another_driver() {
    let ironic = Ironic::newest().await;
    let members = json!({"provision_state": "enroll", "driver": "ipmi", "boot_interface": "ipxe",
        "driver_info": {"ipmi_address": "192.0.2.10", "ipmi_port": "623", "ipmi_username": "admin"}});
    ironic.node(members.clone());
    ironic.on(
        &format!("PATCH /v1/nodes/{NODE}?reset_interfaces=true"),
        200,
        node(members),
    );
    ironic.on_provision(202);
    assert_eq!(
        register(&ironic, host(REDFISH), RegisterRequest::default())
            .await
            .1,
        "3"
    );
    let operations = ironic.operations().join(" ");
    assert_eq!(
        operations,
        "add /driver_info add /driver add /boot_interface add /firmware_interface add /raid_interface"
    );
}

#[tokio::test]
async fn members_that_are_kept_up_to_date() {
    let disabled = AutomatedCleaningMode::Disabled;
    let table = [
        (
            json!({"automated_clean": null}),
            RegisterRequest::default(),
            "add /automated_clean",
        ),
        (
            json!({}),
            RegisterRequest {
                automated_cleaning_mode: disabled,
                ..Default::default()
            },
            "add /automated_clean",
        ),
        (
            json!({}),
            RegisterRequest {
                disable_power_off: true,
                ..Default::default()
            },
            "add /disable_power_off",
        ),
        (
            json!({}),
            RegisterRequest {
                boot_mode: BootMode::UefiSecureBoot,
                ..Default::default()
            },
            "add /properties/capabilities",
        ),
        (
            json!({}),
            RegisterRequest {
                cpu_architecture: "x86_64".into(),
                ..Default::default()
            },
            "add /properties/cpu_arch",
        ),
        (
            json!({}),
            RegisterRequest {
                preprovisioning_network_data: "a: 1".into(),
                ..Default::default()
            },
            "add /network_data",
        ),
    ];
    for (members, request, operations) in table {
        let ironic = Ironic::newest().await;
        ironic.node(members.clone());
        ironic.patched(members);
        assert_eq!(register(&ironic, host(REDFISH), request).await.1, "done");
        assert_eq!(ironic.operations().join(" "), operations);
    }
    let ironic = Ironic::newest().await;
    ironic.node(json!({"automated_clean": null}));
    ironic.on(
        &format!("PATCH /v1/nodes/{NODE}"),
        409,
        error("Node x is locked by host c, please retry"),
    );
    assert_eq!(
        register(&ironic, host(REDFISH), RegisterRequest::default())
            .await
            .1,
        "3"
    );
    let bad = RegisterRequest {
        preprovisioning_network_data: "- hunter3".into(),
        ..Default::default()
    };
    let (_, answer) = register(&ironic, host(REDFISH), bad).await;
    outcome::check(
        "network data",
        &answer,
        "error: invalid preprovisioningNetworkData",
    );
    assert!(!answer.contains("hunter3"));
}

#[tokio::test]
async fn ports_of_an_existing_node() {
    let list = [
        (MAC, true),
        ("11:22:33:44:55:66", false),
        ("77:88:99:AA:BB:CC", false),
        ("11:22:33:44:55:66", false),
        ("", false),
    ];
    let ironic = Ironic::newest().await;
    ironic.node(json!({"provision_state": "available"}));
    ironic.on(&of_node(), 200, json!({"ports": []}));
    ironic.on("POST /v1/ports", 201, json!({"uuid": "p"}));
    let host = HostData {
        boot_mac_address: MAC.to_ascii_uppercase(),
        ..host(REDFISH)
    };
    let request = RegisterRequest {
        hardware_data: nics(&list),
        ..RegisterRequest::default()
    };
    assert_eq!(register(&ironic, host, request).await.1, "done");
    let port = |mac: &str, pxe: bool| json!({"node_uuid": NODE, "address": mac, "pxe_enabled": pxe});
    assert_eq!(
        ironic.bodies("POST /v1/ports"),
        [
            port("11:22:33:44:55:66", false),
            port("77:88:99:aa:bb:cc", false),
            port(MAC, true)
        ]
    );
}

#[tokio::test]
async fn ports_that_exist_and_ports_of_others() {
    let existing = |node: &str| json!({"ports": [{"uuid": "p", "address": MAC, "node_uuid": node}]});
    let taken = error("A port with MAC address aa already exists.");
    // What the node has, code of POST, who has the address; outcome.
    let table = [
        (existing(NODE), 0, json!(null), "done"),
        (json!({"ports": []}), 409, existing(NODE), "done"),
        (
            json!({"ports": []}),
            409,
            existing("other-node"),
            "failed: belongs to another node, other-node",
        ),
        (
            json!({"ports": []}),
            500,
            json!(null),
            "error: failed to create port",
        ),
    ];
    for (own, code, owner, expected) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"provision_state": "available"}));
        ironic.on(&of_node(), 200, own);
        if code != 0 {
            ironic.on("POST /v1/ports", code, taken.clone());
        }
        if code == 409 {
            ironic.on(&by_mac(MAC), 200, owner);
        }
        let host = HostData {
            boot_mac_address: MAC.to_owned(),
            ..host(REDFISH)
        };
        let (_, answer) = register(&ironic, host, RegisterRequest::default()).await;
        outcome::check(&code.to_string(), &answer, expected);
    }
}

#[tokio::test]
async fn ports_are_looked_at_once_and_only_where_they_may_be_changed() {
    let ironic = Ironic::newest().await;
    ironic.node(json!({"provision_state": "active"}));
    ironic.on(
        &of_node(),
        200,
        json!({"ports": [{"address": MAC, "node_uuid": NODE}]}),
    );
    let factory = ironic.factory();
    for _ in 0..3 {
        use bmo_provisioner::ProvisionerFactory;
        let host = HostData {
            boot_mac_address: MAC.to_owned(),
            ..host(REDFISH)
        };
        let pass = factory
            .new_provisioner(host, std::sync::Arc::new(bmo_provisioner::NoEvents))
            .await
            .unwrap();
        pass.register(RegisterRequest::default()).await.unwrap();
    }
    assert_eq!(
        ironic
            .lines()
            .iter()
            .filter(|line| line.contains("/ports"))
            .count(),
        1
    );

    let busy = Ironic::newest().await;
    busy.node(json!({"provision_state": "inspecting"}));
    let request = RegisterRequest {
        hardware_data: nics(&[(MAC, true)]),
        ..RegisterRequest::default()
    };
    assert_eq!(register(&busy, host(REDFISH), request).await.1, "done");
    let none = Ironic::newest().await;
    none.node(json!({}));
    let request = RegisterRequest {
        hardware_data: nics(&[]),
        ..RegisterRequest::default()
    };
    assert_eq!(register(&none, host(REDFISH), request).await.1, "done");
}

#[tokio::test]
async fn ports_of_a_node_that_is_made_anew() {
    for boot in ["", MAC] {
        let ironic = empty().await;
        not_found(&ironic, &[&format!("GET /v1/nodes/{NODE}")]);
        ironic.on(&by_mac(MAC), 200, json!({"ports": []}));
        ironic.on("POST /v1/ports", 201, json!({"uuid": "p"}));
        let host = HostData {
            boot_mac_address: boot.to_owned(),
            ..host(REDFISH)
        };
        let request = RegisterRequest {
            hardware_data: nics(&[("11:22:33:44:55:66", true), ("77:88:99:aa:bb:cc", false)]),
            ..RegisterRequest::default()
        };
        let (id, answer) = register(&ironic, host, request).await;
        assert_eq!((id.as_deref(), answer.as_str()), (Some(NODE), "3"));
        let ports: Vec<_> = ironic
            .bodies("POST /v1/ports")
            .iter()
            .map(|body| body["pxe_enabled"] == true)
            .collect();
        assert_eq!(
            ports,
            if boot.is_empty() {
                vec![true, false]
            } else {
                vec![true, false, true]
            }
        );
    }
}

#[tokio::test]
async fn a_needed_image_that_is_not_there() {
    let deprovisioning = |mode| RegisterRequest {
        state: ProvisioningState::Deprovisioning,
        automated_cleaning_mode: mode,
        ..RegisterRequest::default()
    };
    for (mode, needed) in [
        (AutomatedCleaningMode::Metadata, true),
        (AutomatedCleaningMode::Disabled, false),
    ] {
        let ironic = Ironic::newest().await.with_image_builder();
        ironic.node(json!({"automated_clean": mode == AutomatedCleaningMode::Metadata}));
        let answer = ironic.pass().await.register(deprovisioning(mode)).await;
        match answer {
            Ok(_) => assert!(!needed),
            Err(error) => assert_eq!((error.kind, needed), (ErrorKind::NeedsPreprovisioningImage, true)),
        }
    }
}

#[tokio::test]
async fn formats_of_images() {
    use bmo_provisioner::PreprovisioningImageFormat::{Initrd, Iso};
    let off = Ironic::newest().await;
    assert_eq!(
        off.provisioner(host(IPMI))
            .await
            .unwrap()
            .preprovisioning_image_formats()
            .await
            .unwrap(),
        None
    );
    let on = Ironic::newest().await.with_image_builder();
    let formats = |address: &'static str| {
        let on = &on;
        async move {
            on.provisioner(host(address))
                .await
                .unwrap()
                .preprovisioning_image_formats()
                .await
        }
    };
    assert_eq!(formats(IPMI).await.unwrap(), Some(vec![Initrd]));
    assert_eq!(formats(REDFISH).await.unwrap(), Some(vec![Iso, Initrd]));
    assert!(formats("").await.is_err());
}

#[tokio::test]
async fn the_external_address_is_for_ipv6_bmcs() {
    let table = [
        (
            "ipmi://[fe80::fc33:62ff:fe83:8a76]:6233",
            json!("http://[2001:db8::1]"),
        ),
        ("ipmi://192.0.2.1:1111", Value::Null),
    ];
    for (address, expected) in table {
        let ironic = empty()
            .await
            .set("IRONIC_EXTERNAL_URL_V6", "http://[2001:db8::1]");
        register(&ironic, new_host(address), RegisterRequest::default()).await;
        assert_eq!(
            ironic.bodies("POST")[0]["driver_info"]["external_http_url"],
            expected,
            "{address}"
        );
    }
}

#[tokio::test]
async fn a_running_machine_whose_node_was_lost() {
    let image = Image {
        url: "http://iso".to_owned(),
        format: Some(ImageFormat::LiveIso),
        ..Image::default()
    };
    let ironic = empty().await;
    let request = RegisterRequest {
        state: ProvisioningState::Provisioned,
        current_image: Some(image),
        ..RegisterRequest::default()
    };
    register(&ironic, new_host(REDFISH), request).await;
    let body = &ironic.bodies("POST")[0];
    assert_eq!(body["instance_info"], json!({"boot_iso": "http://iso"}));
    assert_eq!(body["instance_uuid"], crate::support::UID);
    assert_eq!(body["deploy_interface"], "ramdisk");
}

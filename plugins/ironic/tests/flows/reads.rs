use bmo_api::{AttributeType, SettingSchema};
use bmo_provisioner::{
    AttachDataImageRequest, ErrorKind, EventSubscription, EventSubscriptionRequest, FirmwareSettingsRequest,
    Health, NoEvents, PowerOnRequest, ProvisionerFactory,
};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{Ironic, NODE, REDFISH, error, host, new_host};

const SCHEMA: FirmwareSettingsRequest = FirmwareSettingsRequest { include_schema: true };

fn bios() -> Value {
    json!({"bios": [
        {"name": "L2Cache", "value": "10x256 KB", "attribute_type": "String", "min_length": 0, "max_length": 16, "read_only": true,
         "allowable_values": [], "lower_bound": null, "reset_required": true},
        {"name": "NumCores", "value": "10", "attribute_type": "Integer", "lower_bound": 0, "upper_bound": 20, "read_only": true},
        {"name": "ProcVirtualization", "value": "Enabled", "attribute_type": "Enumeration", "read_only": false,
         "allowable_values": ["Enabled", "Disabled"]},
    ]})
}

#[tokio::test]
async fn bios_settings_with_and_without_schema() {
    let ironic = Ironic::newest().await;
    ironic.on(&format!("GET /v1/nodes/{NODE}/bios?detail=true"), 200, bios());
    let pass = ironic.pass().await;
    let plain = pass
        .get_firmware_settings(FirmwareSettingsRequest::default())
        .await
        .unwrap();
    assert_eq!(
        json!(plain.settings),
        json!({"L2Cache": "10x256 KB", "NumCores": "10", "ProcVirtualization": "Enabled"})
    );
    assert!(plain.schema.is_empty());
    let full = pass.get_firmware_settings(SCHEMA).await.unwrap();
    assert_eq!(
        full.schema["NumCores"],
        SettingSchema {
            attribute_type: Some(AttributeType::Integer),
            lower_bound: Some(0),
            upper_bound: Some(20),
            read_only: Some(true),
            ..SettingSchema::default()
        }
    );
    assert_eq!(
        full.schema["ProcVirtualization"].allowable_values,
        ["Enabled", "Disabled"]
    );
    assert_eq!(full.schema["L2Cache"].max_length, Some(16));

    ironic.on(
        &format!("GET /v1/nodes/{NODE}/bios?detail=true"),
        404,
        error("no"),
    );
    let fresh = ironic.pass().await;
    let text = fresh.get_firmware_settings(SCHEMA).await.unwrap_err().to_string();
    assert!(
        text.contains(&format!("could not get BIOS settings for node {NODE}")),
        "{text}"
    );
    assert!(text.contains("got 404 instead"), "{text}");
    let nameless = ironic.provisioner(new_host(REDFISH)).await.unwrap();
    let missing = nameless.get_firmware_settings(SCHEMA).await.unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NeedsRegistration);
    assert!(
        missing
            .to_string()
            .contains("could not get BIOS settings: host not registered")
    );
}

#[tokio::test]
async fn firmware_components_that_are_known() {
    let ironic = Ironic::newest().await;
    let component = |name: &str, at: Value| json!({"component": name, "initial_version": "1", "current_version": "2", "updated_at": at});
    let list = [
        component("bios", json!("2026-11-30T17:31:36.274165+00:00")),
        component("bmc", json!(null)),
        component("nic:NIC.1", json!("soon")),
        component("psu", json!(null)),
    ];
    ironic.on(
        &format!("GET /v1/nodes/{NODE}/firmware"),
        200,
        json!({ "firmware": list }),
    );
    let found = ironic.pass().await.get_firmware_components().await.unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|component| component.component.as_str())
        .collect();
    assert_eq!(names, ["bios", "bmc", "nic:NIC.1"]);
    assert_eq!(
        serde_json::to_value(&found[0]).unwrap()["updatedAt"],
        "2026-11-30T17:31:36Z"
    );
    assert!(found[1].updated_at.is_none() && found[2].updated_at.is_none());
}

#[tokio::test]
async fn firmware_of_a_resting_node_is_read_once() {
    let ironic = Ironic::newest().await;
    ironic.on(&format!("GET /v1/nodes/{NODE}/bios?detail=true"), 200, bios());
    ironic.node(
        json!({"provision_state": "active", "provision_updated_at": "then", "power_state": "power on"}),
    );
    let factory = ironic.factory();
    for _ in 0..5 {
        let pass = factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .unwrap();
        pass.power_on(PowerOnRequest::default()).await.unwrap();
        let pass = factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .unwrap();
        pass.get_firmware_settings(SCHEMA).await.unwrap();
    }
    assert_eq!(ironic.bodies(&format!("GET /v1/nodes/{NODE}/bios")).len(), 1);
    ironic
        .node(json!({"provision_state": "active", "provision_updated_at": "now", "power_state": "power on"}));
    let pass = factory
        .new_provisioner(host(REDFISH), Arc::new(NoEvents))
        .await
        .unwrap();
    pass.power_on(PowerOnRequest::default()).await.unwrap();
    pass.get_firmware_settings(SCHEMA).await.unwrap();
    assert_eq!(
        ironic.bodies(&format!("GET /v1/nodes/{NODE}/bios")).len(),
        2,
        "the node was serviced meanwhile"
    );
}

#[tokio::test]
async fn health_and_power_failure() {
    let table = [
        (json!("OK"), Some(Health::Ok)),
        (json!("Warning"), Some(Health::Warning)),
        (json!("Critical"), Some(Health::Critical)),
        (json!("Odd"), Some(Health::Other("Odd".to_owned()))),
        (json!(""), None),
        (json!(null), None),
    ];
    for (health, expected) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"health": health, "fault": "power failure"}));
        let pass = ironic.pass().await;
        assert_eq!(pass.get_health().await, expected, "{health}");
        assert!(pass.has_power_failure().await);
        assert_eq!(ironic.lines().len(), 1, "one read serves both");
    }
    let old = Ironic::start(100).await;
    assert_eq!(old.pass().await.get_health().await, None);
    assert!(old.lines().is_empty());
    let gone = Ironic::newest().await;
    gone.on(&format!("GET /v1/nodes/{NODE}"), 404, error("gone"));
    let pass = gone.pass().await;
    assert_eq!(pass.get_health().await, None);
    assert!(!pass.has_power_failure().await);
}

#[tokio::test]
async fn data_images() {
    let ironic = Ironic::newest().await;
    let media = format!("/v1/nodes/{NODE}/vmedia");
    ironic.node(json!({"provision_state": "active"}));
    ironic.on(
        &format!("GET {media}"),
        200,
        json!([{"media_types": ["CD"], "inserted": false, "image": ""}]),
    );
    ironic.on(&format!("POST {media}"), 204, json!(null));
    ironic.on(&format!("DELETE {media}?device_types=cdrom"), 204, json!(null));
    let factory = ironic.factory();
    let pass = || async {
        factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .unwrap()
    };
    assert!(!pass().await.get_data_image_status().await.unwrap());
    pass()
        .await
        .attach_data_image(AttachDataImageRequest {
            url: "http://iso".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(
        ironic.bodies("POST"),
        [json!({"device_type": "cdrom", "image_url": "http://iso"})]
    );

    // What Ironic says only afterwards is reported once, so that the order is tried again then.
    ironic.node(json!({"provision_state": "active", "last_error": "Could not attach device cdrom: 404"}));
    let late = pass()
        .await
        .get_data_image_status()
        .await
        .unwrap_err()
        .to_string();
    assert!(late.contains("Could not attach device cdrom: 404"), "{late}");
    assert!(!pass().await.get_data_image_status().await.unwrap());

    ironic.on(
        &format!("GET {media}"),
        200,
        json!([{"inserted": false}, {"inserted": true}]),
    );
    assert!(pass().await.get_data_image_status().await.unwrap());
    pass().await.detach_data_image().await.unwrap();

    ironic.node(json!({"reservation": "conductor"}));
    assert_eq!(
        pass().await.get_data_image_status().await.unwrap_err().kind,
        ErrorKind::Busy
    );
    let old = Ironic::start(92).await;
    let text = old
        .pass()
        .await
        .get_data_image_status()
        .await
        .unwrap_err()
        .to_string();
    assert!(text.contains("1.89"), "{text}");
}

#[tokio::test]
async fn subscriptions() {
    let ironic = Ironic::newest().await;
    let path = format!("/v1/nodes/{NODE}/vendor_passthru?method=");
    ironic.on(
        &format!("POST {path}create_subscription"),
        200,
        json!({"Id": "7", "Destination": "d"}),
    );
    ironic.on(&format!("DELETE {path}delete_subscription"), 204, json!(null));
    let pass = ironic.pass().await;
    let request = EventSubscriptionRequest {
        destination: "https://e/w".to_owned(),
        context: "c".to_owned(),
        headers: vec![("Authorization".to_owned(), "Bearer hunter3".into())],
    };
    let made = pass.add_bmc_event_subscription(request.clone()).await.unwrap();
    assert_eq!(made.subscription_id, "7");
    let body = json!({"Destination": "https://e/w", "Context": "c", "HttpHeaders": [{"Authorization": "Bearer hunter3"}]});
    assert_eq!(ironic.bodies("POST"), [body]);
    pass.remove_bmc_event_subscription(made).await.unwrap();
    assert_eq!(ironic.bodies("DELETE"), [json!({"id": "7"})]);
    pass.remove_bmc_event_subscription(EventSubscription::default())
        .await
        .unwrap();

    ironic.on(
        &format!("POST {path}create_subscription"),
        500,
        error("BMC refused header Bearer hunter3"),
    );
    let text = pass
        .add_bmc_event_subscription(request)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("BMC refused") && !text.contains("hunter3"),
        "{text}"
    );
    ironic.on(&format!("DELETE {path}delete_subscription"), 404, error("gone"));
    pass.remove_bmc_event_subscription(EventSubscription {
        subscription_id: "7".to_owned(),
    })
    .await
    .unwrap();
}

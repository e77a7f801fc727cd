use bmo_provisioner::{ErrorKind, HostData, NoEvents, PowerOnRequest, ProvisionerFactory};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Ironic, NODE, REDFISH, error, host};

fn checks(ironic: &Ironic) -> Vec<String> {
    ironic
        .seen()
        .into_iter()
        .map(|seen| seen.line.replace("GET ", ""))
        .collect()
}

#[tokio::test]
async fn readiness() {
    let none: &[&str] = &["/v1/", "/v1/drivers"];
    // Code of the root, drivers' code and body; expected calls; part of the message.
    let table = [
        (200, 200, json!({"drivers": [{"name": "x"}]}), none, ""),
        (200, 200, json!({"drivers": []}), none, "no drivers"),
        (200, 500, error("starting"), none, "starting"),
        (200, 200, json!({"nonsense": 1}), none, "cannot be understood"),
        (500, 200, json!(null), &none[..1], "500"),
        (502, 200, json!(null), &none[..1], "502"),
        (302, 200, json!(null), &none[..1], "302"),
    ];
    for (root, code, body, calls, part) in table {
        let ironic = Ironic::newest().await;
        ironic.on("GET /v1/drivers", code, body);
        if root != 200 {
            ironic.on("GET /v1/", root, error("down"));
        }
        let answer = ironic.provisioner(HostData::default()).await.map(drop);
        assert_eq!(checks(&ironic), calls);
        match answer {
            Ok(()) => assert_eq!(part, ""),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::NotReady);
                assert!(!part.is_empty() && error.to_string().contains(part), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn an_old_or_absent_server_is_not_ready_and_says_why() {
    let old = Ironic::start(88).await;
    let error = old.provisioner(host(REDFISH)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotReady);
    assert!(
        error.to_string().contains("1.88") && error.to_string().contains("1.89"),
        "{error}"
    );
    let absent = Ironic::newest()
        .await
        .set("IRONIC_ENDPOINT", "http://127.0.0.1:1/v1/");
    let error = absent.provisioner(host(REDFISH)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotReady);
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    let tls = Ironic::newest().await;
    let https = tls.url.replace("http://", "https://");
    let tls = tls.set("IRONIC_ENDPOINT", &https);
    let error = tls.provisioner(host(REDFISH)).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotReady);
}

#[tokio::test]
async fn a_ready_server_is_not_asked_again() {
    let ironic = Ironic::newest().await.set("IRONIC_CLIENT_CACHE_TTL", "1ms");
    ironic.node(json!({"power_state": "power on"}));
    let factory = ironic.factory();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(3)).await;
        let pass = factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .unwrap();
        pass.power_on(PowerOnRequest::default()).await.unwrap();
    }
    assert_eq!(checks(&ironic)[..2], ["/v1/", "/v1/drivers"]);
    assert_eq!(checks(&ironic).len(), 7, "one read of the node for each pass");
    // Once something is odd, readiness is looked at anew.
    ironic.on(&format!("GET /v1/nodes/{NODE}"), 503, error("overloaded"));
    let pass = factory
        .new_provisioner(host(REDFISH), Arc::new(NoEvents))
        .await
        .unwrap();
    assert_eq!(
        pass.power_on(PowerOnRequest::default()).await.unwrap_err().kind,
        ErrorKind::Transient
    );
    tokio::time::sleep(Duration::from_millis(3)).await;
    factory
        .new_provisioner(host(REDFISH), Arc::new(NoEvents))
        .await
        .unwrap();
    assert_eq!(checks(&ironic)[8..], ["/v1/", "/v1/drivers"]);
}

#[tokio::test]
async fn negative_answers_are_not_kept_and_no_ttl_keeps_nothing() {
    let ironic = Ironic::newest().await;
    ironic.on("GET /v1/drivers", 200, json!({"drivers": []}));
    ironic.then("GET /v1/drivers", 200, json!({"drivers": [1]}));
    let factory = ironic.factory();
    assert!(
        factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .is_err()
    );
    assert!(
        factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .is_ok()
    );

    let always = Ironic::newest().await.set("IRONIC_CLIENT_CACHE_TTL", "0");
    let factory = always.factory();
    for _ in 0..3 {
        factory
            .new_provisioner(host(REDFISH), Arc::new(NoEvents))
            .await
            .unwrap();
    }
    assert_eq!(checks(&always).len(), 6);
}

#[tokio::test]
async fn a_crowd_waits_for_one_check() {
    let ironic = Ironic::newest().await;
    ironic.on("GET /v1/", 503, error("down"));
    let factory = Arc::new(ironic.factory());
    let passes = (0..100).map(|_| {
        let factory = Arc::clone(&factory);
        tokio::spawn(async move {
            factory
                .new_provisioner(host(REDFISH), Arc::new(NoEvents))
                .await
                .is_err()
        })
    });
    for pass in passes.collect::<Vec<_>>() {
        assert!(pass.await.unwrap());
    }
    assert!(checks(&ironic).len() < 10, "{} checks", checks(&ironic).len());
}

#[tokio::test]
async fn headers_and_rotated_credentials() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("ironic");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("username"), "u").unwrap();
    std::fs::write(folder.join("password"), "p").unwrap();
    let ironic = Ironic::newest().await;
    let ironic = ironic
        .set("METAL3_AUTH_ROOT_DIR", root.path().to_str().unwrap())
        .set("IRONIC_CLIENT_CACHE_TTL", "1ms");
    ironic.node(json!({"power_state": "power on"}));
    let factory = ironic.factory();
    factory
        .new_provisioner(host(REDFISH), Arc::new(NoEvents))
        .await
        .unwrap();
    std::fs::write(folder.join("password"), "q").unwrap();
    tokio::time::sleep(Duration::from_millis(3)).await;
    let pass = factory
        .new_provisioner(host(REDFISH), Arc::new(NoEvents))
        .await
        .unwrap();
    pass.power_on(PowerOnRequest::default()).await.unwrap();
    let seen = ironic.seen();
    let header = |at: usize, name: &str| {
        seen[at]
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(header(0, "authorization"), None);
    assert_eq!(header(0, "x-openstack-ironic-api-version"), None);
    assert_eq!(header(1, "authorization").as_deref(), Some("Basic dTpw"));
    assert_eq!(
        header(1, "x-openstack-ironic-api-version").as_deref(),
        Some("1.110")
    );
    assert_eq!(
        header(1, "openstack-api-version").as_deref(),
        Some("baremetal 1.110")
    );
    assert_eq!(header(1, "accept").as_deref(), Some("application/json"));
    assert_eq!(
        header(seen.len() - 1, "authorization").as_deref(),
        Some("Basic dTpx")
    );
}

use bmo_api::{AutomatedCleaningMode, RebootMode};
use bmo_provisioner::{PowerOffRequest, PowerOnRequest};
use serde_json::{Value, json};

use crate::outcome;
use crate::support::{Ironic, NODE, REDFISH, error, host};

fn power_bodies(ironic: &Ironic) -> Vec<Value> {
    ironic.bodies(&format!("PUT /v1/nodes/{NODE}/states/power"))
}

#[tokio::test]
async fn power_on() {
    let off = |more: Value| {
        let mut members = json!({"power_state": "power off"});
        members
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        members
    };
    // Node, force, code of the power request, expected, event.
    let table = [
        (
            "about to be off",
            json!({"power_state": "power on", "target_power_state": "power off"}),
            false,
            0,
            "3",
            None,
        ),
        (
            "already on",
            json!({"power_state": "power on"}),
            false,
            0,
            "done",
            None,
        ),
        (
            "waiting",
            off(json!({"target_power_state": "power on"})),
            false,
            0,
            "3",
            None,
        ),
        (
            "normal",
            off(json!({})),
            false,
            202,
            "3",
            Some("PowerOn: Host powered on"),
        ),
        (
            "in transition",
            off(json!({"target_provision_state": "deleted"})),
            false,
            0,
            "3",
            None,
        ),
        ("locked", off(json!({})), false, 409, "3", None),
        (
            "last error",
            off(json!({"last_error": "broken"})),
            false,
            0,
            "failed: PowerOn operation failed: broken",
            None,
        ),
        (
            "last error, forced",
            off(json!({"last_error": "broken"})),
            true,
            500,
            "error: failed to power on node",
            None,
        ),
    ];
    for (case, members, force, code, expected, event) in table {
        let ironic = Ironic::newest().await;
        ironic.node(members);
        if code != 0 {
            ironic.on_power(code);
        }
        let answer = ironic.pass().await.power_on(PowerOnRequest { force }).await;
        outcome::check(case, &outcome::of(answer), expected);
        assert_eq!(ironic.events(), event.into_iter().collect::<Vec<_>>(), "{case}");
    }
}

#[tokio::test]
async fn power_off() {
    let on = |more: Value| {
        let mut members = json!({"power_state": "power on"});
        members
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        members
    };
    const SOFT: RebootMode = RebootMode::Soft;
    const HARD: RebootMode = RebootMode::Hard;
    // Node, mode, force, code, expected, power target.
    let table = [
        (
            "about to be on",
            json!({"power_state": "power off", "target_power_state": "power on"}),
            HARD,
            false,
            0,
            "3",
            "",
        ),
        (
            "already off",
            json!({"power_state": "power off"}),
            SOFT,
            false,
            0,
            "done",
            "",
        ),
        (
            "waiting",
            on(json!({"target_power_state": "power off"})),
            HARD,
            false,
            0,
            "3",
            "",
        ),
        (
            "waiting for soft",
            on(json!({"target_power_state": "soft power off"})),
            HARD,
            false,
            0,
            "3",
            "",
        ),
        ("soft", on(json!({})), SOFT, false, 202, "3", "soft power off"),
        ("hard", on(json!({})), HARD, false, 202, "3", "power off"),
        (
            "in transition",
            on(json!({"target_provision_state": "deleted"})),
            HARD,
            false,
            0,
            "3",
            "",
        ),
        ("locked", on(json!({})), HARD, false, 409, "3", "power off"),
        ("soft, forced", on(json!({})), SOFT, true, 202, "3", "power off"),
        (
            "hard, last error",
            on(json!({"last_error": "hard power off failed"})),
            HARD,
            false,
            0,
            "failed: hard power off failed",
            "",
        ),
        (
            "hard, last error, forced",
            on(json!({"last_error": "x"})),
            HARD,
            true,
            202,
            "3",
            "power off",
        ),
        (
            "aborted inspection",
            on(
                json!({"provision_state": "inspect failed", "last_error": "Inspection was aborted by request."}),
            ),
            HARD,
            false,
            202,
            "3",
            "power off",
        ),
        (
            "never off, soft",
            on(json!({"disable_power_off": true})),
            SOFT,
            false,
            202,
            "3",
            "soft rebooting",
        ),
        (
            "never off, hard",
            on(json!({"disable_power_off": true})),
            HARD,
            false,
            202,
            "3",
            "rebooting",
        ),
    ];
    for (case, members, mode, force, code, expected, target) in table {
        let ironic = Ironic::newest().await;
        ironic.node(members);
        if code != 0 {
            ironic.on_power(code);
        }
        let request = PowerOffRequest {
            mode,
            force,
            ..PowerOffRequest::default()
        };
        outcome::check(
            case,
            &outcome::of(ironic.pass().await.power_off(request).await),
            expected,
        );
        let targets: Vec<_> = power_bodies(&ironic)
            .iter()
            .map(|body| body["target"].clone())
            .collect();
        assert_eq!(
            json!(targets),
            if target.is_empty() {
                json!([])
            } else {
                json!([target])
            },
            "{case}"
        );
        let timeout = power_bodies(&ironic)
            .first()
            .map(|body| body["timeout"].clone())
            .unwrap_or_default();
        assert_eq!(
            timeout,
            if target.starts_with("soft") {
                json!(180)
            } else {
                json!(null)
            },
            "{case}"
        );
        assert!(
            ironic.events().iter().all(|event| !event.starts_with(':')),
            "{case}: an event without a reason"
        );
    }
}

#[tokio::test]
async fn work_that_is_in_the_way() {
    let automatic = AutomatedCleaningMode::Metadata;
    let table = [
        ("inspect wait", "manageable", automatic, "3", "abort"),
        ("inspecting", "manageable", automatic, "10", ""),
        ("clean wait", "clean", automatic, "3", "abort"),
        ("clean wait", "manageable", automatic, "3", "abort"),
        (
            "clean wait",
            "available",
            AutomatedCleaningMode::Disabled,
            "3",
            "abort",
        ),
        ("clean wait", "available", automatic, "10", ""),
        ("cleaning", "manageable", automatic, "10", ""),
        ("cleaning", "available", automatic, "10", ""),
        ("cleaning", "available", AutomatedCleaningMode::Disabled, "10", ""),
        ("inspect failed", "manageable", automatic, "3", "manage"),
    ];
    for (state, target, automated_cleaning_mode, expected, asked) in table {
        let ironic = Ironic::newest().await;
        ironic.node(
            json!({"power_state": "power on", "provision_state": state, "target_provision_state": target}),
        );
        ironic.on_provision(202);
        let request = PowerOffRequest {
            automated_cleaning_mode,
            ..PowerOffRequest::default()
        };
        outcome::check(
            state,
            &outcome::of(ironic.pass().await.power_off(request).await),
            expected,
        );
        let asked: Vec<_> = Some(asked)
            .filter(|asked| !asked.is_empty())
            .into_iter()
            .collect();
        assert_eq!(ironic.targets(), asked, "{state} towards {target}");
    }
}

#[tokio::test]
async fn soft_falls_back_to_hard_where_the_bmc_has_no_soft() {
    for (never_off, soft, hard) in [
        (false, "soft power off", "power off"),
        (true, "soft rebooting", "rebooting"),
    ] {
        let ironic = Ironic::newest().await;
        ironic.node(json!({"power_state": "power on", "disable_power_off": never_off}));
        ironic.on_power(400);
        ironic.then(&format!("PUT /v1/nodes/{NODE}/states/power"), 202, json!(null));
        let answer = ironic.pass().await.power_off(PowerOffRequest::default()).await;
        assert_eq!(outcome::of(answer), "3");
        let targets: Vec<_> = power_bodies(&ironic)
            .iter()
            .map(|body| body["target"].clone())
            .collect();
        assert_eq!(json!(targets), json!([soft, hard]));
    }
    let ironic = Ironic::newest().await;
    ironic.node(json!({"power_state": "power on"}));
    ironic.on_power(400);
    let answer = outcome::of(ironic.pass().await.power_off(PowerOffRequest::default()).await);
    outcome::check("always 400", &answer, "error: failed to power off node");
}

#[tokio::test]
async fn hardware_state_and_failures_to_read_it() {
    let table = [
        (json!(null), None),
        (json!("power on"), Some(true)),
        (json!("power off"), Some(false)),
        (json!("None"), None),
    ];
    for (state, expected) in table {
        let ironic = Ironic::newest().await;
        ironic.node(json!({ "power_state": state }));
        assert_eq!(
            ironic
                .pass()
                .await
                .update_hardware_state()
                .await
                .unwrap()
                .powered_on,
            expected,
            "{state}"
        );
    }
    let ironic = Ironic::newest().await;
    ironic.on(&format!("GET /v1/nodes/{NODE}"), 504, error("late"));
    let error_text = ironic
        .pass()
        .await
        .update_hardware_state()
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error_text.contains(&format!("failed to find node by ID {NODE}")),
        "{error_text}"
    );
    ironic.on(&format!("GET /v1/nodes/{NODE}"), 404, error("gone"));
    let missing = ironic
        .provisioner(host(REDFISH))
        .await
        .unwrap()
        .update_hardware_state()
        .await
        .unwrap_err();
    assert_eq!(missing.kind, bmo_provisioner::ErrorKind::NeedsRegistration);
    assert!(missing.to_string().contains("host not registered"));
}

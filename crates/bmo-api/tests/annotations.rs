//! Annotations and what they mean, as tables.
#![allow(clippy::unwrap_used, reason = "a test")]

use bmo_api::annotations::{AnnotationProblem, DETACHED, REBOOT};
use bmo_api::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn annotations<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn reboot_values_are_read_member_by_member() {
    use RebootMode::{Hard, Soft};
    // value, mode, force, is anything reported, is anything unreadable
    let rows = [
        ("", Soft, false, false, false),
        ("{}", Soft, false, false, false),
        ("null", Soft, false, false, false),
        (r#"{"mode":"hard"}"#, Hard, false, false, false),
        (r#"{"mode":"soft","force":true}"#, Soft, true, false, false),
        (r#"{"Mode":"hard","FORCE":true}"#, Hard, true, false, false),
        (r#"{"mode":"hard","reason":"x"}"#, Hard, false, false, false),
        (r#"{"mode":""}"#, Soft, false, false, false),
        (r#"{"mode":"medium"}"#, Soft, false, true, false),
        (r#"{"mode":"hard","force":"yes"}"#, Hard, false, true, true),
        (r#"{"mode":1,"force":true}"#, Soft, true, true, true),
        ("true", Soft, false, true, true),
        ("[]", Soft, false, true, true),
        ("hard", Soft, false, true, true),
        (r#"{"mode":"hard""#, Soft, false, true, true),
    ];
    for (text, mode, force, reported, unreadable) in rows {
        let parsed = RebootAnnotation::parse(REBOOT, text);
        assert_eq!(parsed.value, RebootAnnotation { mode, force }, "{text}");
        assert_eq!(parsed.problem.is_some(), reported, "{text}: {:?}", parsed.problem);
        assert_eq!(
            parsed
                .problem
                .as_ref()
                .is_some_and(AnnotationProblem::is_unreadable),
            unreadable,
            "{text}"
        );
    }
}

#[test]
fn a_reboot_is_wanted_by_any_key_and_hard_by_any_of_those_that_count() {
    let wanted = |pairs: &BTreeMap<String, String>, force| RebootAnnotation::wanted(Some(pairs), force);
    assert_eq!(RebootAnnotation::wanted(None, false), None);
    assert_eq!(
        wanted(
            &annotations([("reboot.metal3.iox", ""), ("inspect.metal3.io", "")]),
            false
        ),
        None
    );
    assert_eq!(
        wanted(&annotations([("reboot.metal3.io", "")]), false),
        Some(RebootMode::Soft)
    );
    assert_eq!(
        wanted(&annotations([("reboot.metal3.io/a", "")]), false),
        Some(RebootMode::Soft)
    );
    let mixed = annotations([
        ("reboot.metal3.io", r#"{"mode":"hard"}"#),
        ("reboot.metal3.io/a", ""),
        ("reboot.metal3.io/b", r#"{"force":true}"#),
    ]);
    assert_eq!(wanted(&mixed, false), Some(RebootMode::Hard));
    assert_eq!(
        wanted(&mixed, true),
        Some(RebootMode::Soft),
        "the hard one does not force, so it does not count"
    );
    assert_eq!(wanted(&annotations([("reboot.metal3.io", "")]), true), None);
}

#[test]
fn detached_is_asked_by_presence_and_its_value_says_how() {
    use DeleteAction::{Delay, Delete};
    let rows = [
        ("", Delete, false),
        ("{}", Delete, false),
        (r#"{"deleteAction":""}"#, Delete, false),
        (r#"{"deleteAction":"delete"}"#, Delete, false),
        (r#"{"deleteAction":"delay"}"#, Delay, false),
        (r#"{"deleteAction":"delay","force":true}"#, Delay, true),
        (r#"{"force":true}"#, Delete, true),
        (r#"{"force":"true"}"#, Delete, false),
        ("true", Delete, false),
        ("yes", Delete, false),
    ];
    assert_eq!(DetachedAnnotation::of(Some(&annotations([]))), None);
    for (text, delete_action, force) in rows {
        let parsed = DetachedAnnotation::of(Some(&annotations([(DETACHED, text)]))).unwrap();
        assert_eq!(
            parsed.value,
            DetachedAnnotation { delete_action, force },
            "{text}"
        );
    }
}

#[test]
fn inspection_is_asked_again_by_any_value_but_disabled() {
    let of = |value: &str| InspectAnnotation::of(Some(&annotations([("inspect.metal3.io", value)])));
    assert_eq!(InspectAnnotation::of(None), InspectAnnotation::Absent);
    assert_eq!(of("disabled"), InspectAnnotation::Disabled);
    assert_eq!(of(""), InspectAnnotation::Requested);
    assert_eq!(of("enabled"), InspectAnnotation::Requested);
}

#[test]
fn problems_say_what_was_found_and_what_would_do() {
    let problem = |text: &str| {
        RebootAnnotation::parse("reboot.metal3.io/x", text)
            .problem
            .unwrap()
            .to_string()
    };
    assert!(problem(r#"{"mode":"medium"}"#).contains("\"medium\", expected one of hard, soft"));
    assert!(problem("true").contains("found a boolean, expected a JSON object"));
    assert!(problem("{").starts_with("annotation reboot.metal3.io/x: not valid JSON"));
}

#[test]
fn strict_reading_notices_misspelt_members() {
    type Status = BareMetalHostStatus;
    assert!(strict::from_str::<Status>(r#"{"operationalStatus":"OK"}"#).is_ok());
    for wrong in [
        r#"{"operationalStatusX":"OK"}"#,
        r#"{"operationalStatus":"OK""#,
        r#"{"provisioning":{"id":""}}"#,
        "7",
    ] {
        assert!(strict::from_str::<Status>(wrong).is_err(), "{wrong}");
    }
    assert!(
        strict::from_str::<HardwareDetails>(r#"{"nics":[{"lldp":{"switchID":"x"}}],"cpu":{"flags":["a"]}}"#)
            .is_ok()
    );
    assert!(strict::from_str::<HardwareDetails>(r#"{"nics":[{"lldp":{"switch":"x"}}]}"#).is_err());
}

proptest! {
    #[test]
    fn any_value_is_read_without_panic(text in any::<String>()) {
        let _ = RebootAnnotation::parse(REBOOT, &text);
        let _ = DetachedAnnotation::parse(&text);
        let _ = strict::from_str::<HardwareDetails>(&text);
    }
}

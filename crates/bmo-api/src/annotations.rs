//! Annotations, labels and finalizers: their keys, their values, and what the values mean.
//!
//! Annotations are the way other programs ask something of a host without owning its spec. Their values come from
//! people and scripts, so reading one never fails: it gives the meaning to act on, and the problem to report.

use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// On a host, with any value: leave the host alone altogether.
pub const PAUSED: &str = "baremetalhost.metal3.io/paused";
/// Value of [`PAUSED`] that Cluster API's provider uses; it removes only its own.
pub const PAUSED_BY_CAPM3: &str = "metal3.io/capm3";
/// Value of [`PAUSED`] that is reserved for HostClaim.
pub const PAUSED_BY_HOST_CLAIM: &str = "metal3.io/hostclaim";
/// On a host: give the machine up without touching it. See [`DetachedAnnotation`].
pub const DETACHED: &str = "baremetalhost.metal3.io/detached";
/// On a host without status: the status to start with, as JSON.
pub const STATUS: &str = "baremetalhost.metal3.io/status";
/// On a host: reboot it. See [`RebootAnnotation`].
pub const REBOOT: &str = "reboot.metal3.io";
/// Start of the keys by which several clients ask for reboots independently; they remove them themselves.
pub const REBOOT_PREFIX: &str = "reboot.metal3.io/";
/// On a host: inspect it again, or never. See [`InspectAnnotation`].
pub const INSPECT: &str = "inspect.metal3.io";
/// Value of [`INSPECT`] that switches inspection off.
pub const INSPECT_DISABLED: &str = "disabled";
/// On a host: hardware details from elsewhere, as JSON of `status.hardware`.
pub const HARDWARE_DETAILS: &str = "inspect.metal3.io/hardwaredetails";

/// Label of Secrets that BMO works with; its caches hold only those.
pub const SECRET_LABEL: &str = "environment.metal3.io";
/// Value of [`SECRET_LABEL`].
pub const SECRET_LABEL_VALUE: &str = "baremetal";
/// Label of hosts that names their failure domain; a preference when a HostClaim chooses.
pub const FAILURE_DOMAIN_LABEL: &str = "infrastructure.cluster.x-k8s.io/failure-domain";

/// Finalizer of hosts.
pub const HOST_FINALIZER: &str = "baremetalhost.metal3.io";
/// Finalizer of Secrets in use.
pub const SECRET_FINALIZER: &str = "baremetalhost.metal3.io/secret";
/// Finalizer of HardwareData.
pub const HARDWARE_DATA_FINALIZER: &str = "baremetalhost.metal3.io/hardwareData";
/// Finalizer of the host on its PreprovisioningImage.
pub const HOST_PREPROVISIONING_IMAGE_FINALIZER: &str = "baremetalhost.metal3.io/preprovisioningImage";
/// Finalizer of the image controller on a PreprovisioningImage.
pub const PREPROVISIONING_IMAGE_FINALIZER: &str = "preprovisioningimage.metal3.io";
/// Finalizer of DataImages.
pub const DATA_IMAGE_FINALIZER: &str = "dataimage.metal3.io";
/// Finalizer of BMCEventSubscriptions.
pub const BMC_EVENT_SUBSCRIPTION_FINALIZER: &str = "bmceventsubscription.metal3.io";
/// Finalizer of HostClaims.
pub const HOST_CLAIM_FINALIZER: &str = "metal3.io/hostclaim";

text_enum! {
    /// How a machine is switched off for a reboot.
    #[derive(Default)]
    pub enum RebootMode {
        /// At once, without asking the operating system.
        Hard = "hard",
        /// By asking the operating system.
        #[default]
        Soft = "soft",
    }
}

text_enum! {
    /// What happens when a detached host is deleted.
    #[derive(Default)]
    pub enum DeleteAction {
        /// It is deleted, untouched.
        #[default]
        Delete = "delete",
        /// Deletion waits until the host is attached again.
        Delay = "delay",
    }
}

/// What is wrong with an annotation's value. It tells people; the value's meaning is safe to act on all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationProblem {
    /// Not JSON at all.
    #[error("annotation {key}: {reason}; expected nothing or a JSON object such as {example}")]
    NotJson {
        /// Key of the annotation.
        key: String,
        /// What the JSON parser says.
        reason: String,
        /// A value that would do.
        example: &'static str,
    },
    /// JSON, but not an object.
    #[error("annotation {key}: found {found}, expected a JSON object such as {example}")]
    NotAnObject {
        /// Key of the annotation.
        key: String,
        /// What kind of JSON it is.
        found: &'static str,
        /// A value that would do.
        example: &'static str,
    },
    /// A member of the wrong type; the others count.
    #[error("annotation {key}: member {member} is {found}, expected {expected}")]
    WrongType {
        /// Key of the annotation.
        key: String,
        /// Name of the member.
        member: &'static str,
        /// What kind of JSON it is.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A text that is none of the known ones; the default counts.
    #[error("annotation {key}: member {member} is {found:?}, expected one of {allowed}")]
    UnknownText {
        /// Key of the annotation.
        key: String,
        /// Name of the member.
        member: &'static str,
        /// The text.
        found: String,
        /// The texts that are known.
        allowed: String,
    },
}

impl AnnotationProblem {
    /// True when the value, or a member of it, could not be read; false for a text that is merely not known.
    pub fn is_unreadable(&self) -> bool {
        !matches!(self, Self::UnknownText { .. })
    }
}

/// The meaning of an annotation's value, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed<T> {
    /// What to act on.
    pub value: T,
    /// What to report; the first problem found.
    pub problem: Option<AnnotationProblem>,
}

/// Reads members of a JSON object one by one and remembers the first problem.
struct Members<'a> {
    key: &'a str,
    object: Map<String, Value>,
    problem: Option<AnnotationProblem>,
}

impl<'a> Members<'a> {
    fn read(key: &'a str, text: &str, example: &'static str) -> Self {
        let mut members = Self {
            key,
            object: Map::new(),
            problem: None,
        };
        if text.is_empty() {
            return members;
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => members.object = object,
            Ok(Value::Null) => {}
            Ok(other) => {
                members.problem = Some(AnnotationProblem::NotAnObject {
                    key: key.to_owned(),
                    found: kind_of(&other),
                    example,
                });
            }
            Err(error) => {
                members.problem = Some(AnnotationProblem::NotJson {
                    key: key.to_owned(),
                    reason: format!(
                        "not valid JSON (line {}, column {})",
                        error.line(),
                        error.column()
                    ),
                    example,
                });
            }
        }
        members
    }

    /// The member of that name, in any case; the last one wins.
    fn member(&self, name: &str) -> Option<&Value> {
        self.object
            .iter()
            .rev()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    fn wrong_type(&mut self, member: &'static str, found: &'static str, expected: &'static str) {
        let key = self.key.to_owned();
        self.problem.get_or_insert(AnnotationProblem::WrongType {
            key,
            member,
            found,
            expected,
        });
    }

    fn flag(&mut self, member: &'static str) -> bool {
        match self.member(member) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let found = kind_of(other);
                self.wrong_type(member, found, "true or false");
                false
            }
        }
    }

    fn choice<T: Default + std::str::FromStr>(&mut self, member: &'static str, allowed: &[&str]) -> T {
        let text = match self.member(member) {
            None | Some(Value::Null) => return T::default(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                let found = kind_of(other);
                self.wrong_type(member, found, "a text");
                return T::default();
            }
        };
        if text.is_empty() {
            return T::default();
        }
        text.parse().unwrap_or_else(|_| {
            let (key, allowed) = (self.key.to_owned(), allowed.join(", "));
            self.problem.get_or_insert(AnnotationProblem::UnknownText {
                key,
                member,
                found: text,
                allowed,
            });
            T::default()
        })
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Meaning of [`REBOOT`] and of keys that start with [`REBOOT_PREFIX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RebootAnnotation {
    /// How the machine is switched off.
    pub mode: RebootMode,
    /// Whether it happens in states, and during operations, where it otherwise would not.
    pub force: bool,
}

impl RebootAnnotation {
    /// True for keys that ask for a reboot.
    pub fn is_key(key: &str) -> bool {
        key == REBOOT || key.starts_with(REBOOT_PREFIX)
    }

    /// Reads a value: nothing, or JSON such as `{"mode":"hard","force":true}`. An unreadable member counts as absent.
    pub fn parse(key: &str, value: &str) -> Parsed<Self> {
        let mut members = Members::read(key, value, r#"{"mode":"hard"}"#);
        let mode = members.choice("mode", RebootMode::TEXTS);
        let force = members.flag("force");
        Parsed {
            value: Self { mode, force },
            problem: members.problem,
        }
    }

    /// Every request for a reboot among the annotations, with its key, in the order of the keys.
    pub fn all(annotations: Option<&BTreeMap<String, String>>) -> Vec<(String, Parsed<Self>)> {
        annotations
            .into_iter()
            .flatten()
            .filter(|(key, _)| Self::is_key(key))
            .map(|(key, value)| (key.clone(), Self::parse(key, value)))
            .collect()
    }

    /// How to reboot, when it is asked for: hard if any counted key says so. With `force_required` only keys that
    /// force count.
    pub fn wanted(
        annotations: Option<&BTreeMap<String, String>>,
        force_required: bool,
    ) -> Option<RebootMode> {
        let requests = Self::all(annotations);
        let mut counted = requests
            .iter()
            .map(|(_, parsed)| parsed.value)
            .filter(|it| it.force || !force_required);
        let first = counted.next()?;
        let hard = first.mode == RebootMode::Hard || counted.any(|request| request.mode == RebootMode::Hard);
        Some(if hard { RebootMode::Hard } else { RebootMode::Soft })
    }
}

/// Meaning of [`DETACHED`]. Its presence alone asks for detaching, whatever the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DetachedAnnotation {
    /// What happens when the host is deleted while detached.
    pub delete_action: DeleteAction,
    /// Whether the machine is given up even in the middle of an operation.
    pub force: bool,
}

impl DetachedAnnotation {
    /// Reads a value: nothing, or JSON such as `{"deleteAction":"delay","force":true}`. An unreadable value has the
    /// default meaning in all its members.
    pub fn parse(value: &str) -> Parsed<Self> {
        let mut members = Members::read(DETACHED, value, r#"{"deleteAction":"delay"}"#);
        let delete_action = members.choice("deleteAction", DeleteAction::TEXTS);
        let force = members.flag("force");
        let unreadable = members
            .problem
            .as_ref()
            .is_some_and(AnnotationProblem::is_unreadable);
        let value = if unreadable {
            Self::default()
        } else {
            Self { delete_action, force }
        };
        Parsed {
            value,
            problem: members.problem,
        }
    }

    /// The annotation's meaning; `None` when it is absent.
    pub fn of(annotations: Option<&BTreeMap<String, String>>) -> Option<Parsed<Self>> {
        annotations?.get(DETACHED).map(|value| Self::parse(value))
    }
}

/// Meaning of [`INSPECT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectAnnotation {
    /// Nothing is asked.
    Absent,
    /// The machine is not to be inspected.
    Disabled,
    /// The machine is to be inspected again.
    Requested,
}

impl InspectAnnotation {
    /// The annotation's meaning.
    pub fn of(annotations: Option<&BTreeMap<String, String>>) -> Self {
        match annotations.and_then(|all| all.get(INSPECT)).map(String::as_str) {
            None => Self::Absent,
            Some(INSPECT_DISABLED) => Self::Disabled,
            Some(_) => Self::Requested,
        }
    }
}

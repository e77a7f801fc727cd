//! What a call answers.

use std::time::Duration;

use bmo_api::HardwareDetails;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a polled operation is. `T` is what it yields when it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "progress", rename_all = "camelCase")]
#[schemars(bound = "T: JsonSchema + Default + Serialize")]
pub enum Progress<T = ()> {
    /// Done; the operator moves on.
    Complete {
        /// What the operation yields.
        #[serde(default, skip_serializing_if = "is_nothing")]
        value: T,
    },
    /// Not done: call the same method again after a while.
    Pending {
        /// How long to wait, in milliseconds on the wire; zero means at once, and must make progress.
        #[serde(rename = "afterMilliseconds", with = "milliseconds")]
        #[schemars(with = "u64")]
        after: Duration,
        /// What is waited for, for the user: "cleaning", "the agent to call back". May be empty.
        #[serde(default, rename = "waitingFor", skip_serializing_if = "String::is_empty")]
        waiting_for: String,
    },
    /// Failed until the user changes something or a call says to start over.
    Failed {
        /// Why, for the user.
        message: String,
    },
}

impl Progress<()> {
    /// Done, with nothing to yield.
    pub const DONE: Self = Self::Complete { value: () };
}

impl<T> Progress<T> {
    /// Done, yielding `value`.
    pub fn complete(value: T) -> Self {
        Self::Complete { value }
    }

    /// Look again after `after`; `waiting_for` tells the user what for.
    pub fn pending(after: Duration, waiting_for: impl Into<String>) -> Self {
        Self::Pending {
            after,
            waiting_for: waiting_for.into(),
        }
    }

    /// Failed with a text for the user.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
        }
    }

    /// Changes what is yielded, keeping pending and failed as they are.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Progress<U> {
        match self {
            Self::Complete { value } => Progress::Complete { value: f(value) },
            Self::Pending { after, waiting_for } => Progress::Pending { after, waiting_for },
            Self::Failed { message } => Progress::Failed { message },
        }
    }
}

/// Answer of `register`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The back end's id of the host, as soon as a record exists. Stored before any other method is called.
    #[serde(default, rename = "provisionerID", skip_serializing_if = "Option::is_none")]
    pub provisioner_id: Option<String>,
    /// How far registration is.
    #[serde(flatten)]
    pub progress: Progress,
}

/// Answer of `inspect_hardware`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// An inspection was begun or aborted by this call: the request for it counts as taken.
    pub started: bool,
    /// How far it is; the details when it is done.
    #[serde(flatten)]
    pub progress: Progress<Box<HardwareDetails>>,
}

/// Answer of `prepare`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preparation {
    /// The steps were submitted, or there was nothing to do: the wanted settings count as applied.
    pub started: bool,
    /// How far it is.
    #[serde(flatten)]
    pub progress: Progress,
}

/// Answer of `service`; as [`Preparation`].
pub type Servicing = Preparation;

/// Health as the BMC reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Health {
    /// Nothing is wrong.
    #[serde(rename = "OK")]
    Ok,
    /// Something needs attention.
    Warning,
    /// Something has failed.
    Critical,
    /// A text this contract does not know.
    #[serde(untagged)]
    Other(String),
}

/// Whether a value has nothing to say, as `()` has.
fn is_nothing<T>(_value: &T) -> bool {
    size_of::<T>() == 0
}

/// Durations as whole milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Preparation, Progress};

    #[test]
    fn wire_form_of_progress() {
        let table = [
            (Progress::DONE, r#"{"progress":"complete"}"#),
            (
                Progress::pending(Duration::from_secs(5), "cleaning"),
                r#"{"progress":"pending","afterMilliseconds":5000,"waitingFor":"cleaning"}"#,
            ),
            (
                Progress::failed("no such disk"),
                r#"{"progress":"failed","message":"no such disk"}"#,
            ),
        ];
        for (progress, text) in table {
            assert_eq!(serde_json::to_string(&progress).unwrap(), text);
            assert_eq!(serde_json::from_str::<Progress>(text).unwrap(), progress);
        }
    }

    #[test]
    fn progress_is_flat_beside_other_members() {
        let answer = Preparation {
            started: true,
            progress: Progress::DONE,
        };
        assert_eq!(
            serde_json::to_string(&answer).unwrap(),
            r#"{"started":true,"progress":"complete"}"#
        );
    }
}

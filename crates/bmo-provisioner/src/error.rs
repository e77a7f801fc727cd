//! What can go wrong in a call, by the reaction it needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a call to a provisioner.
pub type Result<T> = std::result::Result<T, ProvisionerError>;

/// Which reaction an error needs. The kind survives every boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ErrorKind {
    /// The back end cannot be used yet. The host is tried again in 30 s and nothing is stored.
    NotReady,
    /// The back end has no record of this host. The next registration makes one; a host without credentials
    /// that is being deleted goes on without the back end.
    NeedsRegistration,
    /// Registration needs a preprovisioning image and was given none, or one it cannot use.
    NeedsPreprovisioningImage,
    /// The machine is busy with something else; tried again without counting as a failure.
    Busy,
    /// The provisioner does not implement the method.
    Unsupported,
    /// Anything else that may pass: tried again with growing delays; the host's status is not touched.
    Transient,
}

/// An error of one call: its kind and a text for the user. The text must not hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct ProvisionerError {
    /// The reaction it needs.
    pub kind: ErrorKind,
    /// What was found, what was expected, what to do.
    pub message: String,
}

impl ProvisionerError {
    /// An error of `kind`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// See [`ErrorKind::NotReady`].
    pub fn not_ready(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotReady, message)
    }

    /// See [`ErrorKind::NeedsRegistration`].
    pub fn needs_registration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NeedsRegistration, message)
    }

    /// See [`ErrorKind::NeedsPreprovisioningImage`].
    pub fn needs_preprovisioning_image(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NeedsPreprovisioningImage, message)
    }

    /// See [`ErrorKind::Busy`].
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Busy, message)
    }

    /// See [`ErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// See [`ErrorKind::Transient`].
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, message)
    }

    /// The same error with `context: ` before its text; the kind stays.
    #[must_use]
    pub fn context(self, context: impl std::fmt::Display) -> Self {
        Self {
            kind: self.kind,
            message: format!("{context}: {}", self.message),
        }
    }
}

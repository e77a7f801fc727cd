//! User name and password of a BMC, kept out of logs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// User name and password of a BMC. Neither is shown by `Debug`; there is no `Display`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// User name.
    #[serde(default)]
    pub username: String,
    /// Password.
    #[serde(default)]
    pub password: String,
}

/// What is missing for credentials to be usable. The user name is looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// No user name.
    #[error(
        "validation error with BMC credentials: key 'username' is missing or empty; set it in the Secret"
    )]
    MissingUsername,
    /// No password.
    #[error(
        "validation error with BMC credentials: key 'password' is missing or empty; set it in the Secret"
    )]
    MissingPassword,
}

impl Credentials {
    /// Credentials as they are given.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            username: username.into(),
            password: password.into(),
        }
    }

    /// Both must be there.
    pub fn validate(&self) -> Result<(), CredentialsError> {
        if self.username.is_empty() {
            Err(CredentialsError::MissingUsername)
        } else if self.password.is_empty() {
            Err(CredentialsError::MissingPassword)
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| if text.is_empty() { "(empty)" } else { "(hidden)" };
        f.debug_struct("Credentials")
            .field("username", &shown(&self.username))
            .field("password", &shown(&self.password))
            .finish()
    }
}

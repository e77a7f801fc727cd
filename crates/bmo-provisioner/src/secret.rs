//! Text that must not be shown: passwords, tokens, pull secrets.
//!
//! It travels over the wire as a plain string, and prints as a fixed mark everywhere else.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A string whose `Debug` output hides it. There is no `Display`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretString(String);

impl SecretString {
    /// The text itself. Do not put it in a message.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for SecretString {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SecretString {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "\"\"" } else { "<hidden>" })
    }
}

#[cfg(test)]
mod tests {
    use super::SecretString;

    #[test]
    fn debug_output_hides_the_text() {
        let secret = SecretString::from("hunter2");
        assert!(!format!("{secret:?}").contains("hunter2"));
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"hunter2\"");
    }
}

//! What can go wrong in one request to Ironic, and what Ironic says about it.
//!
//! Ironic writes errors in three shapes (a JSON document inside a string, the same with other members for routing
//! errors, and a plain object from its basic authentication); [`said`] finds the sentence in each. One code needs
//! more than its number: 409 means four different things, which only the text tells apart ([`Conflict`]).

use std::time::Duration;

use serde_json::Value;

/// Longest part of an answer that is quoted in a message.
const QUOTED_BYTES: usize = 1000;

/// A request that did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {reason}")]
pub struct ApiError {
    /// Method and URL.
    pub call: String,
    /// What happened.
    pub reason: Reason,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No connection: refused, no such host, TLS not agreed on.
    #[error("Ironic cannot be reached: {0}")]
    Unreachable(String),
    /// A connection that broke before the answer was complete.
    #[error("the connection to Ironic broke: {0}")]
    Broken(String),
    /// No answer in time.
    #[error("Ironic did not answer within {}", seconds(*.0))]
    TimedOut(Duration),
    /// An answer with another code than expected.
    #[error("expected {}, got {code} instead{}", codes(.expected), quoted(.message))]
    Status {
        /// Its code.
        code: u16,
        /// The codes that would have been right.
        expected: &'static [u16],
        /// What Ironic said.
        message: String,
    },
    /// An answer that points elsewhere. It is not followed, since it would take the credentials along.
    #[error("Ironic redirects to {0:?}, which is not followed; set the endpoint to the final address")]
    Redirect(String),
    /// An answer that is not what the API promises.
    #[error("Ironic's answer cannot be understood: {0}")]
    Malformed(String),
}

/// What a 409 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Another request holds the node's lock; Ironic itself already waited for it.
    Locked,
    /// The node is on its way to another state and cannot be changed meanwhile.
    InTransition,
    /// A name, address or instance id belongs to another record.
    Taken,
    /// Not allowed in the node's present state, or something this version does not know.
    Other,
}

impl ApiError {
    /// The code of an unexpected answer.
    pub fn status(&self) -> Option<u16> {
        match self.reason {
            Reason::Status { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Whether the answer has that code.
    pub fn is(&self, code: u16) -> bool {
        self.status() == Some(code)
    }

    /// What Ironic said; empty where it said nothing.
    pub fn message(&self) -> &str {
        match &self.reason {
            Reason::Status { message, .. } => message,
            _ => "",
        }
    }

    /// The meaning of a 409; `None` for anything else.
    pub fn conflict(&self) -> Option<Conflict> {
        if !self.is(409) {
            return None;
        }
        let text = self.message();
        Some(
            if text.contains("is locked by") || text.contains("please retry") {
                Conflict::Locked
            } else if text.contains("state transition is in progress") {
                Conflict::InTransition
            } else if text.contains("already exists")
                || text.contains("already associated")
                || text.contains("Duplicate")
            {
                Conflict::Taken
            } else {
                Conflict::Other
            },
        )
    }

    /// Whether the request cannot have been looked at by Ironic's own code.
    pub fn never_arrived(&self) -> bool {
        matches!(self.reason, Reason::Unreachable(_) | Reason::Redirect(_))
    }
}

/// The sentence in an error's body; the body itself, cut, where there is none.
pub fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let found = serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|document| sentence(&document));
    let text = found.unwrap_or_else(|| text.trim().to_owned());
    match text.char_indices().find(|(at, _)| *at >= QUOTED_BYTES) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Looks for the sentence in a parsed body, one level of JSON inside a string included.
fn sentence(document: &Value) -> Option<String> {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    if let Some(inner) = document.get("error_message") {
        return match inner {
            Value::String(inner_text) => match serde_json::from_str::<Value>(inner_text) {
                Ok(inner) if inner.is_object() => {
                    sentence(&inner).or_else(|| text(document.get("error_message")?))
                }
                _ => text(document.get("error_message")?),
            },
            other => sentence(other),
        };
    }
    if let Some(error) = document.get("error") {
        return error.get("message").and_then(text).or_else(|| text(error));
    }
    ["faultstring", "description", "title", "message"]
        .into_iter()
        .find_map(|member| document.get(member).and_then(text))
}

fn codes(expected: &[u16]) -> String {
    expected
        .iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(" or ")
}

fn quoted(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{ApiError, Conflict, Reason, said};
    use proptest::prelude::*;

    #[test]
    fn the_sentence_is_found_in_each_shape_of_error() {
        let table = [
            (
                r#"{"error_message": "{\"faultcode\": \"Client\", \"faultstring\": \"Node nope could not be found.\", \"debuginfo\": null}"}"#,
                "Node nope could not be found.",
            ),
            (
                r#"{"error_message": "{\"code\": 404, \"title\": \"Not Found\", \"description\": \"\"}"}"#,
                "Not Found",
            ),
            (
                r#"{"error_message": {"faultstring": "as an object"}}"#,
                "as an object",
            ),
            (r#"{"error_message": "just a text"}"#, "just a text"),
            (
                r#"{"error":{"message":"Incorrect username or password","code":401}}"#,
                "Incorrect username or password",
            ),
            ("  <html>bad gateway</html>\n", "<html>bad gateway</html>"),
            ("", ""),
        ];
        for (body, sentence) in table {
            assert_eq!(said(body.as_bytes()), sentence, "{body}");
        }
        assert!(said("x".repeat(5000).as_bytes()).len() < 1100);
    }

    #[test]
    fn four_meanings_of_409() {
        let table = [
            (
                "Node u is locked by host c, please retry after the current operation is completed.",
                Conflict::Locked,
            ),
            (
                "Node u can not be updated while a state transition is in progress.",
                Conflict::InTransition,
            ),
            ("A node with name m3~h1 already exists.", Conflict::Taken),
            (
                "Instance i is already associated with a node, it cannot be associated with this other node u",
                Conflict::Taken,
            ),
            ("Node u is associated with instance i.", Conflict::Other),
        ];
        for (text, meaning) in table {
            let error = ApiError {
                call: String::new(),
                reason: Reason::Status {
                    code: 409,
                    expected: &[200],
                    message: text.to_owned(),
                },
            };
            assert_eq!(error.conflict(), Some(meaning), "{text}");
        }
    }

    #[test]
    fn message_says_call_expectation_and_answer() {
        let error = ApiError {
            call: "GET http://i/v1/nodes/u".to_owned(),
            reason: Reason::Status {
                code: 404,
                expected: &[200, 204],
                message: "gone".to_owned(),
            },
        };
        assert_eq!(
            error.to_string(),
            "GET http://i/v1/nodes/u: expected 200 or 204, got 404 instead: gone"
        );
    }

    proptest! {
        #[test]
        fn any_body_can_be_quoted(body in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let _ = said(&body);
        }
    }
}

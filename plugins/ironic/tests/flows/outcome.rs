//! What a method answered, short enough for a table: `done`, `3` (pending, seconds), `failed: text`, `error: text`.

use bmo_provisioner::{Progress, Result};

pub fn of<T>(answer: Result<Progress<T>>) -> String {
    match answer {
        Ok(Progress::Complete { .. }) => "done".to_owned(),
        Ok(Progress::Pending { after, .. }) => after.as_secs().to_string(),
        Ok(Progress::Failed { message }) => format!("failed: {message}"),
        Err(error) => format!("error: {error}"),
    }
}

/// The expected outcome may be cut short after `failed:` or `error:`.
pub fn check(case: &str, found: &str, expected: &str) {
    let matches = match expected.split_once(": ") {
        Some((kind, part)) => found.starts_with(kind) && found.contains(part),
        None => found == expected || (matches!(expected, "failed" | "error") && found.starts_with(expected)),
    };
    assert!(matches, "{case}: expected {expected:?}, found {found:?}");
}

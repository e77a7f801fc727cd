//! Calls to the Kubernetes API: each with a deadline, and errors sorted by what they mean for a pass.

use std::time::Duration;

use kube::Error;

/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// A call to the Kubernetes API that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// The object was changed by someone else meanwhile.
    #[error("{what}: changed by someone else meanwhile")]
    Conflict {
        /// What was tried.
        what: &'static str,
    },
    /// There is no such object.
    #[error("{what}: not found")]
    NotFound {
        /// What was tried.
        what: &'static str,
    },
    /// The object exists already.
    #[error("{what}: exists already")]
    Exists {
        /// What was tried.
        what: &'static str,
    },
    /// The server did not answer in time.
    #[error("{what}: no answer from the Kubernetes API in {} s", DEADLINE.as_secs())]
    Late {
        /// What was tried.
        what: &'static str,
    },
    /// The server refused.
    #[error("{what}: {message}")]
    Refused {
        /// What was tried.
        what: &'static str,
        /// The server's words.
        message: String,
    },
    /// The call could not be made.
    #[error("{what}: the Kubernetes API cannot be reached: {error}")]
    Unreachable {
        /// What was tried.
        what: &'static str,
        /// Why; part of the text because it is all there is to know.
        error: Box<Error>,
    },
}

/// Waits for a call to the API, but not for ever. `what` says in a message what was tried.
pub(crate) async fn call<T>(
    what: &'static str,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, ApiError> {
    match tokio::time::timeout(DEADLINE, request).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(sort(what, error)),
        Err(_) => Err(ApiError::Late { what }),
    }
}

fn sort(what: &'static str, error: Error) -> ApiError {
    let Error::Api(status) = error else {
        return ApiError::Unreachable {
            what,
            error: Box::new(error),
        };
    };
    match (status.code, status.reason.as_str()) {
        (404, _) => ApiError::NotFound { what },
        (409, "AlreadyExists") => ApiError::Exists { what },
        (409, _) => ApiError::Conflict { what },
        _ => ApiError::Refused {
            what,
            message: status.message.clone(),
        },
    }
}

/// `None` for an object that is not there.
pub(crate) fn found<T>(result: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(ApiError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

//! The health endpoint: `/healthz` and `/readyz` in the form Kubernetes' own components have, over plain HTTP.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// Something that is well, or not for a reason.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Named checks of one kind.
#[derive(Clone)]
struct Checks {
    /// `healthz` or `readyz`.
    kind: &'static str,
    list: Arc<Vec<(&'static str, Check)>>,
}

/// The endpoint; `ready` are the checks of `/readyz` beside `ping`, by name.
pub fn router(ready: Vec<(&'static str, Check)>) -> Router {
    let ping: (&'static str, Check) = ("ping", Arc::new(|| Ok(())));
    let mut all = vec![ping.clone()];
    all.extend(ready);
    Router::new()
        .merge(checks("healthz", "/healthz", vec![ping]))
        .merge(checks("readyz", "/readyz", all))
}

fn checks(kind: &'static str, path: &'static str, list: Vec<(&'static str, Check)>) -> Router {
    Router::new()
        .route(path, get(all))
        .route(&format!("{path}/"), get(all))
        .route(&format!("{path}/{{name}}"), get(one))
        .with_state(Checks {
            kind,
            list: Arc::new(list),
        })
}

async fn all(State(checks): State<Checks>, RawQuery(query): RawQuery) -> Response {
    let mut report = String::new();
    let mut healthy = true;
    for (name, check) in checks.list.iter() {
        // Writing into a String cannot fail.
        let _ = match check() {
            Ok(()) => writeln!(report, "[+]{name} ok"),
            Err(reason) => {
                healthy = false;
                writeln!(report, "[-]{name} failed: {reason}")
            }
        };
    }
    let kind = checks.kind;
    if !healthy {
        let _ = writeln!(report, "{kind} check failed");
        return (StatusCode::INTERNAL_SERVER_ERROR, report).into_response();
    }
    let verbose = query
        .iter()
        .flat_map(|query| query.split('&'))
        .any(|part| part.split('=').next() == Some("verbose"));
    if verbose {
        format!("{report}{kind} check passed\n")
    } else {
        "ok".to_owned()
    }
    .into_response()
}

async fn one(State(checks): State<Checks>, Path(wanted): Path<String>) -> Response {
    let Some((name, check)) = checks.list.iter().find(|(name, _)| *name == wanted) else {
        return (StatusCode::NOT_FOUND, format!("there is no check {wanted}\n")).into_response();
    };
    match check() {
        Ok(()) => "ok".into_response(),
        Err(reason) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("[-]{name} failed: {reason}\n"),
        )
            .into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::router;

    #[tokio::test]
    async fn answers_as_kubernetes_components_do() {
        let well = Arc::new(AtomicBool::new(true));
        let check = well.clone();
        let app = router(vec![(
            "provisioner",
            Arc::new(move || {
                check
                    .load(Ordering::Relaxed)
                    .then_some(())
                    .ok_or_else(|| "it hangs".to_owned())
            }),
        )]);
        let ask = |path: &'static str| {
            let app = app.clone();
            async move {
                let answer = app
                    .oneshot(Request::get(path).body(Body::empty()).unwrap())
                    .await
                    .unwrap();
                let status = answer.status();
                let body = answer.into_body().collect().await.unwrap().to_bytes();
                (status, String::from_utf8(body.to_vec()).unwrap())
            }
        };
        for path in [
            "/healthz",
            "/readyz",
            "/healthz/ping",
            "/readyz/ping",
            "/readyz/provisioner",
        ] {
            assert_eq!(ask(path).await, (StatusCode::OK, "ok".to_owned()), "{path}");
        }
        assert_eq!(
            ask("/readyz?verbose").await.1,
            "[+]ping ok\n[+]provisioner ok\nreadyz check passed\n"
        );
        assert_eq!(ask("/readyz/webhook").await.0, StatusCode::NOT_FOUND);

        well.store(false, Ordering::Relaxed);
        let (status, text) = ask("/readyz").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(
            text,
            "[+]ping ok\n[-]provisioner failed: it hangs\nreadyz check failed\n"
        );
        assert_eq!(
            ask("/healthz").await.0,
            StatusCode::OK,
            "a plugin that hangs is no reason to be restarted"
        );
    }
}

//! Ironic as an object of the cluster, against a scripted API server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{Method, StatusCode, Uri};
use axum::response::IntoResponse;
use bmo_provisioner::{ErrorKind, Result};
use ironic_provisioner::client::Endpoint;
use ironic_provisioner::config::Config;
use ironic_provisioner::factory::EndpointSource;
use ironic_provisioner::ironic_object::{IronicObject, requirements};
use serde_json::{Value, json};

type Objects = HashMap<String, Value>;

const IRONIC: &str = "/apis/ironic.metal3.io/v1alpha1/namespaces/m3/ironics/i";
const SECRETS: &str = "/api/v1/namespaces/m3/secrets/";

/// An API server with these objects; what is patched is noted.
fn api(objects: Objects, patches: &Arc<Mutex<Vec<String>>>) -> kube::Client {
    let patches = Arc::clone(patches);
    let router = Router::new().fallback(move |method: Method, uri: Uri, body: Bytes| {
        let found = objects.get(uri.path()).cloned();
        if method == Method::PATCH {
            patches.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
        }
        async move {
            match found {
                Some(object) => axum::Json(object).into_response(),
                None => {
                    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                                        "message": "not found", "reason": "NotFound", "code": 404});
                    (StatusCode::NOT_FOUND, axum::Json(status)).into_response()
                }
            }
        }
    });
    kube::Client::new(router, "m3")
}

fn ironic(spec: Value, condition: Value) -> (String, Value) {
    let object = json!({"apiVersion": "ironic.metal3.io/v1alpha1", "kind": "Ironic",
        "metadata": {"name": "i", "namespace": "m3", "generation": 3}, "spec": spec, "status": {"conditions": [condition]}});
    (IRONIC.to_owned(), object)
}

fn ready() -> Value {
    json!({"type": "Ready", "status": "True", "observedGeneration": 3})
}

/// A Secret; the values are "u", "p" and "CA" in base64.
fn secret(name: &str, data: Value) -> (String, Value) {
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "m3"}, "data": data});
    (format!("{SECRETS}{name}"), object)
}

async fn endpoint(
    cached: Vec<(String, Value)>,
    direct: Vec<(String, Value)>,
) -> (Result<Endpoint>, Vec<String>) {
    let patches = Arc::default();
    let clients = (
        api(cached.into_iter().collect(), &patches),
        api(direct.into_iter().collect(), &patches),
    );
    let source = IronicObject::new(clients.0, clients.1, "m3", "i");
    let config = Config::load(&|_| None, false).unwrap();
    let endpoint = source.endpoint(&config).await;
    let patches = patches.lock().unwrap().clone();
    (endpoint, patches)
}

#[tokio::test]
async fn endpoint_credentials_and_authority() {
    let auth = secret("auth", json!({"username": "dQ==", "password": "cA=="}));
    let spec = json!({"apiCredentialsName": "auth", "tls": {"certificateName": "cert"}});
    let certificate = secret("cert", json!({"tls.crt": "Q0E="}));
    let (plain, _) = endpoint(
        vec![
            ironic(json!({"apiCredentialsName": "auth"}), ready()),
            auth.clone(),
        ],
        vec![],
    )
    .await;
    let plain = plain.unwrap();
    assert_eq!(plain.url.as_str(), "http://i.m3.svc/v1/");
    let login = plain.auth.unwrap();
    assert_eq!((login.username.as_str(), login.password.expose()), ("u", "p"));
    assert!(plain.tls.authorities.is_none());

    let (tls, patches) = endpoint(vec![ironic(spec, ready()), auth], vec![certificate]).await;
    let tls = tls.unwrap();
    assert_eq!(tls.url.as_str(), "https://i.m3.svc/v1/");
    assert_eq!(tls.tls.authorities.unwrap().pem(), b"CA");
    assert_eq!(patches.len(), 1, "the Secret that is not cached gets its label");
    assert!(
        patches[0].contains(r#""environment.metal3.io":"baremetal""#),
        "{patches:?}"
    );
}

#[tokio::test]
async fn what_is_not_ready() {
    let spec = || json!({"apiCredentialsName": "auth"});
    let table = [
        (vec![], "there is no such object"),
        (
            vec![ironic(spec(), json!({"type": "Other", "status": "True"}))],
            "reconciliation has not started yet",
        ),
        (
            vec![ironic(
                spec(),
                json!({"type": "Ready", "status": "True", "observedGeneration": 2}),
            )],
            "reconciliation has not started yet",
        ),
        (
            vec![ironic(
                spec(),
                json!({"type": "Ready", "status": "False", "observedGeneration": 3, "message": "deploying"}),
            )],
            "not ready: deploying",
        ),
        (vec![ironic(json!({}), ready())], "spec.apiCredentialsName"),
        (vec![ironic(spec(), ready())], "Secret \"auth\" does not exist"),
        (
            vec![
                ironic(spec(), ready()),
                secret("auth", json!({"username": "dQ=="})),
            ],
            "no usable key \"password\"",
        ),
    ];
    for (objects, part) in table {
        let error = endpoint(objects, vec![]).await.0.unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotReady, "{error}");
        let text = error.to_string();
        assert!(
            text.starts_with("failed to load configuration from Ironic resource m3/i: "),
            "{text}"
        );
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_the_host_is_asked_for() {
    for (name, namespace, scoped) in [("i", "m3", true), ("", "m3", false), ("i", "", false)] {
        let needs = requirements(name, namespace);
        assert_eq!(needs.extra_types[0].plural, "ironics");
        let scopes: Vec<_> = needs
            .cache_by_type
            .iter()
            .map(|scope| scope.namespaces.join(","))
            .collect();
        assert_eq!(scopes, if scoped { vec!["m3"] } else { vec![] });
    }
}

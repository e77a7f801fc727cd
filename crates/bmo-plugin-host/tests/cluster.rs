//! The cluster through the boundary: a plugin's `kube::Client` against an API server, with the caches it asked for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::default_trait_access,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bmo_plugin_host::{
    CacheScope, ClusterKube, HostConfigureInput, HostRequirements, KubeBackend, KubeReader, KubeRequest,
    PluginConfig, TypeRef, load_path,
};
use bmo_provisioner::{FirmwareSettingsRequest, HostData, NoEvents, ProvisionerFactory};
use common::{no_cluster, rust_plugin, until};
use serde_json::{Value, json};

/// An API server that holds two Ironics in `metal` and one in `other`, and notes what it is asked.
#[derive(Clone, Default)]
struct Server {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn client(&self) -> kube::Client {
        let router = Router::new().fallback(answer).with_state(self.clone());
        kube::Client::new(router, "default")
    }

    /// Requests so far, without what only tells revisions and time limits.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn count(&self, request: &str) -> usize {
        self.asked().iter().filter(|line| *line == request).count()
    }
}

fn object(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "ironic.metal3.io/v1alpha1", "kind": "Ironic",
        "metadata": { "namespace": namespace, "name": name, "uid": name, "resourceVersion": "5" },
        "spec": { "of": name },
    })
}

async fn answer(State(server): State<Server>, request: Request<Body>) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let query = uri.query().unwrap_or_default();
    let watch = query.contains("watch=true");
    let labels = if query.contains("labelSelector") {
        " with labels"
    } else {
        ""
    };
    let verb = if watch {
        "WATCH".to_owned()
    } else {
        method.to_string()
    };
    server
        .asked
        .lock()
        .unwrap()
        .push(format!("{verb} {}{labels}", uri.path()));
    if watch {
        // A watch in which nothing happens.
        return Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>())
            .into_response();
    }
    let all = [("metal", "one"), ("metal", "two"), ("other", "three")];
    let path: Vec<&str> = uri
        .path()
        .trim_start_matches("/apis/ironic.metal3.io/v1alpha1")
        .split('/')
        .collect();
    match (method, path.as_slice()) {
        (Method::POST, _) => axum::Json(object("metal", "four")).into_response(),
        (Method::DELETE, _) => {
            axum::Json(json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" })).into_response()
        }
        (_, ["", "namespaces", namespace, "ironics", name]) => {
            if all.contains(&(*namespace, *name)) {
                axum::Json(object(namespace, name)).into_response()
            } else {
                missing(name)
            }
        }
        (_, rest) => {
            let wanted = match rest {
                ["", "namespaces", namespace, "ironics"] => Some(*namespace),
                _ => None,
            };
            let items: Vec<Value> = all
                .into_iter()
                .filter(|(namespace, _)| wanted.is_none_or(|wanted| wanted == *namespace))
                .map(|(namespace, name)| object(namespace, name))
                .collect();
            axum::Json(json!({
                "apiVersion": "ironic.metal3.io/v1alpha1", "kind": "IronicList",
                "metadata": { "resourceVersion": "9" }, "items": items,
            }))
            .into_response()
        }
    }
}

fn missing(name: &str) -> Response {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404,
        "message": format!("ironics {name:?} not found"),
    });
    (StatusCode::NOT_FOUND, axum::Json(status)).into_response()
}

const METAL: &str = "/apis/ironic.metal3.io/v1alpha1/namespaces/metal/ironics";
const OTHER: &str = "/apis/ironic.metal3.io/v1alpha1/namespaces/other/ironics";

/// What the plugin finds: its host's name says how it looks, the id what for.
async fn find(factory: &dyn ProvisionerFactory, how: &str, namespace: &str, what: &str) -> String {
    let host = HostData {
        namespace: namespace.into(),
        name: how.into(),
        provisioner_id: what.into(),
        ..HostData::default()
    };
    let p = factory.new_provisioner(host, Arc::new(NoEvents)).await.unwrap();
    p.get_firmware_settings(FirmwareSettingsRequest::default())
        .await
        .unwrap()
        .settings["found"]
        .clone()
}

#[tokio::test]
async fn a_plugin_reads_and_writes_through_the_host_with_the_cache_it_asked_for() {
    let server = Server::default();
    let plugin = load_path(&rust_plugin("panicking_provisioner"), None, Default::default())
        .await
        .unwrap();
    let input = HostConfigureInput {
        provisioner_namespace: "metal".into(),
        ..Default::default()
    };
    let requirements = plugin.host_configure(input).await.unwrap();
    assert!(
        server.asked().is_empty(),
        "the cluster was touched before the manager was connected"
    );

    let kube = Arc::new(ClusterKube::new(server.client(), &requirements));
    let config = PluginConfig {
        kube,
        provisioner_namespace: "metal".into(),
        ..no_cluster()
    };
    let factory = plugin.factory(config).await.unwrap();
    // The host starts the one cache that was asked for, scoped as asked.
    let watch = format!("WATCH {METAL}");
    until("the cache", || server.count(&watch) == 1).await;
    assert_eq!(server.asked(), [format!("GET {METAL}"), watch.clone()]);

    assert_eq!(
        find(&*factory, "get-cached", "metal", "one").await,
        r#"{"of":"one"}"#
    );
    assert_eq!(find(&*factory, "get-cached", "metal", "nobody").await, "none");
    assert_eq!(find(&*factory, "list-cached", "metal", "").await, "one,two");
    assert_eq!(
        server.asked().len(),
        2,
        "a cached read went to the API server: {:?}",
        server.asked()
    );

    // Outside of the scope, with selectors, by the direct reader, and for writes the API server is asked.
    assert_eq!(
        find(&*factory, "get-cached", "other", "three").await,
        r#"{"of":"three"}"#
    );
    assert_eq!(server.count(&format!("GET {OTHER}/three")), 1);
    assert_eq!(find(&*factory, "list-labelled", "metal", "").await, "one,two");
    assert_eq!(server.count(&format!("GET {METAL} with labels")), 1);
    assert_eq!(
        find(&*factory, "get-direct", "metal", "two").await,
        r#"{"of":"two"}"#
    );
    assert_eq!(find(&*factory, "get-direct", "metal", "nobody").await, "none");
    assert_eq!(find(&*factory, "create", "metal", "four").await, "four");
    assert_eq!(find(&*factory, "delete", "metal", "four").await, "deleted");
    assert_eq!(server.count(&format!("POST {METAL}")), 1);
    assert_eq!(server.count(&format!("DELETE {METAL}/four")), 1);

    // A watch is refused in words.
    let refused = find(&*factory, "watch", "metal", "").await;
    assert!(
        refused.contains("is not possible through the operator"),
        "{refused}"
    );
    assert_eq!(server.count(&watch), 1);
}

fn ironic() -> TypeRef {
    TypeRef {
        group: "ironic.metal3.io".into(),
        version: "v1alpha1".into(),
        kind: "Ironic".into(),
        plural: "ironics".into(),
        namespaced: true,
    }
}

fn read(path: &str) -> KubeRequest {
    KubeRequest {
        reader: KubeReader::Cached,
        method: "GET".into(),
        path: path.into(),
        ..KubeRequest::default()
    }
}

#[tokio::test]
async fn a_known_type_without_a_scope_is_cached_from_its_first_read_on() {
    let server = Server::default();
    let requirements = HostRequirements {
        extra_types: vec![ironic()],
        cache_by_type: Vec::new(),
    };
    let kube = ClusterKube::new(server.client(), &requirements);
    tokio::task::yield_now().await;
    assert!(server.asked().is_empty());
    for _ in 0..3 {
        let answer = kube
            .execute(read("/apis/ironic.metal3.io/v1alpha1/ironics"))
            .await
            .unwrap();
        let list: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            (list["kind"].as_str(), list["items"].as_array().map(Vec::len)),
            (Some("IronicList"), Some(3))
        );
    }
    assert_eq!(server.count("GET /apis/ironic.metal3.io/v1alpha1/ironics"), 1);
    let missing = kube.execute(read(&format!("{METAL}/nobody"))).await.unwrap();
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains("NotFound"), "{}", missing.body);
}

#[tokio::test]
async fn each_namespace_of_a_scope_has_its_cache_and_no_other() {
    let server = Server::default();
    let scope = CacheScope {
        resource: ironic(),
        namespaces: vec!["metal".into(), "other".into()],
        label_selector: Some("a=b".into()),
        field_selector: None,
    };
    let requirements = HostRequirements {
        extra_types: Vec::new(),
        cache_by_type: vec![scope],
    };
    let kube = ClusterKube::new(server.client(), &requirements);
    let watches = |path: &str| server.count(&format!("WATCH {path} with labels"));
    until("both caches", || watches(METAL) == 1 && watches(OTHER) == 1).await;
    assert_eq!(server.asked().len(), 4);
    // A list of all namespaces is more than the caches hold.
    kube.execute(read("/apis/ironic.metal3.io/v1alpha1/ironics"))
        .await
        .unwrap();
    assert_eq!(server.count("GET /apis/ironic.metal3.io/v1alpha1/ironics"), 1);
    kube.execute(read(OTHER)).await.unwrap();
    assert_eq!(server.asked().len(), 5);
    // Other types have no cache.
    kube.execute(read("/api/v1/namespaces/metal/secrets/s"))
        .await
        .unwrap();
    assert_eq!(server.count("GET /api/v1/namespaces/metal/secrets/s"), 1);
}

/// A type that is not installed: the first read waits a little, the others do not, and all get the server's answer.
#[tokio::test(start_paused = true)]
async fn a_cache_that_cannot_be_filled_slows_one_read() {
    let server = Router::new().fallback(async || missing("ironics"));
    let scope = CacheScope {
        resource: ironic(),
        namespaces: vec!["metal".into()],
        label_selector: None,
        field_selector: None,
    };
    let requirements = HostRequirements {
        extra_types: Vec::new(),
        cache_by_type: vec![scope],
    };
    let kube = ClusterKube::new(kube::Client::new(server, "default"), &requirements);
    let begun = tokio::time::Instant::now();
    assert_eq!(kube.execute(read(METAL)).await.unwrap().status, 404);
    assert_eq!(begun.elapsed().as_secs(), 5);
    for _ in 0..10 {
        assert_eq!(kube.execute(read(METAL)).await.unwrap().status, 404);
    }
    assert_eq!(begun.elapsed().as_secs(), 5);
}

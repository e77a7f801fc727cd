//! A small client for the part of Ironic's bare-metal API that is used.
//!
//! One method per call; each answers with data or an [`ApiError`] that names the call and what Ironic said. What an
//! error means for a host is decided by the callers.

pub mod error;
pub mod http;
pub mod node;
pub mod states;
pub mod version;

use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use error::{ApiError, Conflict, Reason};
pub use http::{BasicAuth, Endpoint, Gate, Http};
pub use node::{
    BiosSetting, FirmwareComponent, ListedNode, MASK, Node, Port, Validation, Validity, VirtualMedium,
};
pub use states::{PowerState, ProvisionState, Target};
pub use version::{Discovery, Version};

use http::Call;

/// An Ironic whose version is known.
#[derive(Debug)]
pub struct Ironic {
    http: Http,
    version: Version,
}

impl Ironic {
    /// Negotiates the version and sees that there are drivers: the conductor is up.
    pub async fn connect(http: Http) -> Result<Self, ApiError> {
        let root = Call::new(Method::GET, "", &[200, 300]);
        let name = format!("GET {}", http.endpoint().url);
        let malformed = |text| ApiError {
            call: name,
            reason: Reason::Malformed(text),
        };
        let body = http.send_plain(root).await?;
        let version = serde_json::from_slice::<Discovery>(&body)
            .map_err(|error| error.to_string())
            .and_then(Discovery::choose)
            .map_err(malformed)?;
        let ironic = Self { http, version };
        ironic.see_drivers().await?;
        Ok(ironic)
    }

    /// What is spoken with it.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The connection pool.
    pub fn http(&self) -> &Http {
        &self.http
    }

    async fn see_drivers(&self) -> Result<(), ApiError> {
        #[derive(Deserialize)]
        struct Drivers {
            drivers: Vec<Value>,
        }
        let Drivers { drivers } = self.read("drivers").await?;
        if drivers.is_empty() {
            let text = "it has no drivers: its conductor is not up yet, or none are enabled".to_owned();
            return Err(self.malformed("GET", "drivers", text));
        }
        Ok(())
    }

    /// A node by id or name; `None` where there is none.
    pub async fn node(&self, id_or_name: &str) -> Result<Option<Node>, ApiError> {
        let Some(segment) = segment(id_or_name) else {
            return Ok(None);
        };
        let path = format!("nodes/{segment}");
        match self.read::<Node>(&path).await {
            Ok(node) if node.uuid.is_empty() => {
                Err(self.malformed("GET", &path, "it describes a node without uuid".to_owned()))
            }
            Ok(node) => Ok(Some(node)),
            Err(error) if error.is(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All nodes, with a few members of each.
    pub async fn nodes(&self) -> Result<Vec<ListedNode>, ApiError> {
        const FIELDS: &str =
            "uuid,name,provision_state,target_provision_state,maintenance,fault,last_error,boot_interface";
        self.list(&format!("nodes?fields={}", FIELDS.replace(',', "%2C")), "nodes")
            .await
    }

    /// Creates a node.
    pub async fn create_node(&self, body: &Value) -> Result<Node, ApiError> {
        self.write(Method::POST, "nodes", body, &[201, 202]).await
    }

    /// Changes a node by a JSON patch, and answers with the node as it is then.
    /// `reset_interfaces` has to be said when the driver changes: what is not set then gets its default.
    pub async fn patch_node(
        &self,
        uuid: &str,
        operations: &Value,
        reset_interfaces: bool,
    ) -> Result<Node, ApiError> {
        let query = if reset_interfaces {
            "?reset_interfaces=true"
        } else {
            ""
        };
        self.write(Method::PATCH, &format!("nodes/{uuid}{query}"), operations, &[200])
            .await
    }

    /// Removes a node.
    pub async fn delete_node(&self, uuid: &str) -> Result<(), ApiError> {
        self.order(Method::DELETE, &format!("nodes/{uuid}"), None, &[202, 204])
            .await
    }

    /// Whether a node could be deployed.
    pub async fn validate(&self, uuid: &str) -> Result<Validation, ApiError> {
        self.read(&format!("nodes/{uuid}/validate")).await
    }

    /// Asks for a change of the provision state; `body` has the target and what it needs.
    pub async fn set_provision_state(&self, uuid: &str, body: &Value) -> Result<(), ApiError> {
        self.order(
            Method::PUT,
            &format!("nodes/{uuid}/states/provision"),
            Some(body),
            &[202],
        )
        .await
    }

    /// Asks for a change of the power state.
    pub async fn set_power_state(&self, uuid: &str, body: &Value) -> Result<(), ApiError> {
        self.order(
            Method::PUT,
            &format!("nodes/{uuid}/states/power"),
            Some(body),
            &[202],
        )
        .await
    }

    /// Says what the next RAID configuration makes.
    pub async fn set_raid_target(&self, uuid: &str, body: &Value) -> Result<(), ApiError> {
        self.order(
            Method::PUT,
            &format!("nodes/{uuid}/states/raid"),
            Some(body),
            &[204],
        )
        .await
    }

    /// Makes Ironic leave a node alone.
    pub async fn set_maintenance(&self, uuid: &str, reason: &str) -> Result<(), ApiError> {
        let body = json!({ "reason": reason });
        self.order(
            Method::PUT,
            &format!("nodes/{uuid}/maintenance"),
            Some(&body),
            &[202],
        )
        .await
    }

    /// Ends that.
    pub async fn unset_maintenance(&self, uuid: &str) -> Result<(), ApiError> {
        self.order(Method::DELETE, &format!("nodes/{uuid}/maintenance"), None, &[202])
            .await
    }

    /// What inspection found; `None` where there was none.
    pub async fn inventory(&self, uuid: &str) -> Result<Option<Value>, ApiError> {
        match self.read(&format!("nodes/{uuid}/inventory")).await {
            Ok(inventory) => Ok(Some(inventory)),
            Err(error) if error.is(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// BIOS settings, with what each may be when `detail` is asked for.
    pub async fn bios_settings(&self, uuid: &str, detail: bool) -> Result<Vec<BiosSetting>, ApiError> {
        let query = if detail { "?detail=true" } else { "" };
        self.list(
            &format!("nodes/{}/bios{query}", segment(uuid).unwrap_or_default()),
            "bios",
        )
        .await
    }

    /// Firmware versions.
    pub async fn firmware_components(&self, uuid: &str) -> Result<Vec<FirmwareComponent>, ApiError> {
        self.list(
            &format!("nodes/{}/firmware", segment(uuid).unwrap_or_default()),
            "firmware",
        )
        .await
    }

    /// Calls a vendor's method and answers with what it says, `null` where that is nothing.
    pub async fn passthru(
        &self,
        create: bool,
        uuid: &str,
        method: &str,
        body: &Value,
    ) -> Result<Value, ApiError> {
        let path = format!(
            "nodes/{}/vendor_passthru?method={method}",
            segment(uuid).unwrap_or_default()
        );
        let call = if create {
            Call::new(Method::POST, path.clone(), &[200])
        } else {
            Call::new(Method::DELETE, path.clone(), &[200, 202, 204])
        };
        let answer = self.http.send(self.version, call.json(body)).await?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| self.malformed("POST", &path, error.to_string()))
    }

    /// Virtual media, inserted or not.
    pub async fn virtual_media(&self, uuid: &str) -> Result<Vec<VirtualMedium>, ApiError> {
        self.read(&format!("nodes/{uuid}/vmedia")).await
    }

    /// Inserts a virtual CD. Accepted before it is tried: what goes wrong is in the node's `last_error` later.
    pub async fn attach_virtual_cd(&self, uuid: &str, url: &str) -> Result<(), ApiError> {
        let body = json!({ "device_type": "cdrom", "image_url": url });
        self.order(Method::POST, &format!("nodes/{uuid}/vmedia"), Some(&body), &[204])
            .await
    }

    /// Ejects it.
    pub async fn detach_virtual_cd(&self, uuid: &str) -> Result<(), ApiError> {
        self.order(
            Method::DELETE,
            &format!("nodes/{uuid}/vmedia?device_types=cdrom"),
            None,
            &[204],
        )
        .await
    }

    /// The ports of a node.
    pub async fn ports_of_node(&self, uuid: &str) -> Result<Vec<Port>, ApiError> {
        self.list(
            &format!("ports?fields=node_uuid%2Cuuid%2Caddress&node_uuid={uuid}"),
            "ports",
        )
        .await
    }

    /// The ports with a MAC address, on whatever node.
    pub async fn ports_with_address(&self, mac: &str) -> Result<Vec<Port>, ApiError> {
        let mac = url::form_urlencoded::byte_serialize(mac.as_bytes()).collect::<String>();
        self.list(
            &format!("ports?address={mac}&fields=node_uuid%2Cuuid%2Caddress"),
            "ports",
        )
        .await
    }

    /// Creates a port.
    pub async fn create_port(&self, node_uuid: &str, mac: &str, pxe_enabled: bool) -> Result<(), ApiError> {
        let body = json!({ "node_uuid": node_uuid, "address": mac, "pxe_enabled": pxe_enabled });
        self.order(Method::POST, "ports", Some(&body), &[201, 202]).await
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        let body = self.http.send(self.version, Call::get(path)).await?;
        serde_json::from_slice(&body).map_err(|error| self.malformed("GET", path, error.to_string()))
    }

    /// Reads a list, page by page.
    async fn list<T: DeserializeOwned>(&self, path: &str, member: &str) -> Result<Vec<T>, ApiError> {
        let mut all = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next {
            let mut page: serde_json::Map<String, Value> = self.read(&path).await?;
            let items = page.remove(member).unwrap_or(Value::Null);
            let items = serde_json::from_value::<Vec<T>>(items)
                .map_err(|error| self.malformed("GET", &path, format!("member {member:?}: {error}")))?;
            next = if items.is_empty() {
                None
            } else {
                self.next_page(&page, member)
            };
            all.extend(items);
        }
        Ok(all)
    }

    /// Where the next page is, relative to the endpoint. Ironic makes the address from its own idea of its public
    /// name; only the query is taken from it, so that no other server is asked with our credentials.
    fn next_page(&self, page: &serde_json::Map<String, Value>, member: &str) -> Option<String> {
        let links = page.get(&format!("{member}_links")).and_then(Value::as_array);
        let listed = links
            .into_iter()
            .flatten()
            .find(|link| link["rel"] == "next")
            .and_then(|link| link["href"].as_str())
            .or_else(|| page.get("next").and_then(Value::as_str))?;
        let address = self.http.endpoint().url.join(listed).ok()?;
        address.query().map(|query| format!("{member}?{query}"))
    }

    async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        expected: &'static [u16],
    ) -> Result<T, ApiError> {
        let name = method.clone();
        let answer = self
            .http
            .send(self.version, Call::new(method, path, expected).json(body))
            .await?;
        serde_json::from_slice(&answer)
            .map_err(|error| self.malformed(name.as_str(), path, error.to_string()))
    }

    async fn order(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        expected: &'static [u16],
    ) -> Result<(), ApiError> {
        let mut call = Call::new(method, path, expected);
        if let Some(body) = body {
            call = call.json(body);
        }
        self.http.send(self.version, call).await.map(drop)
    }

    fn malformed(&self, method: &str, path: &str, text: String) -> ApiError {
        ApiError {
            call: format!("{method} {}{path}", self.http.endpoint().url),
            reason: Reason::Malformed(text),
        }
    }
}

/// An id or a name as one segment of a path; `None` for what cannot be one, and so names no node.
fn segment(id_or_name: &str) -> Option<String> {
    if id_or_name.is_empty() || id_or_name.contains('/') || id_or_name.chars().all(|letter| letter == '.') {
        return None;
    }
    Some(
        url::form_urlencoded::byte_serialize(id_or_name.as_bytes())
            .collect::<String>()
            .replace("%7E", "~"),
    )
}

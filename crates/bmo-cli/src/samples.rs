//! The hosts of `bmo demo`: machines that exist only in the demo plugin.

use anyhow::Context as _;
use bmo_api::BareMetalHost;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;

/// Namespace of the samples.
pub const NAMESPACE: &str = "default";
/// Their names.
pub const NAMES: [&str; 4] = ["rack-1-node-1", "rack-1-node-2", "rack-2-node-1", "rack-2-node-2"];
/// Whom the changes are recorded for.
const MANAGER: &str = "bmo-demo";

/// Applies Secrets and hosts, with the image they shall run.
pub async fn apply(client: &Client) -> anyhow::Result<()> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let hosts: Api<BareMetalHost> = Api::namespaced(client.clone(), NAMESPACE);
    let params = PatchParams::apply(MANAGER).force();
    for (index, name) in NAMES.iter().enumerate() {
        let secret_name = format!("{name}-bmc-secret");
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": secret_name },
            "stringData": { "username": "admin", "password": "password" },
        });
        secrets
            .patch(&secret_name, &params, &Patch::Apply(secret))
            .await
            .context("cannot apply a sample Secret")?;
        hosts
            .patch(name, &params, &Patch::Apply(host(index, name, &secret_name)))
            .await
            .context("cannot apply a sample host")?;
    }
    Ok(())
}

fn host(index: usize, name: &str, secret: &str) -> serde_json::Value {
    json!({
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": { "name": name },
        "spec": {
            "online": true,
            "bootMACAddress": format!("52:54:00:00:00:{:02x}", index + 1),
            "bmc": {
                "address": format!("redfish-virtualmedia+https://192.0.2.{}/redfish/v1/Systems/1", index + 10),
                "credentialsName": secret,
            },
            "image": {
                "url": "https://images.example.org/linux.qcow2",
                "checksum": "https://images.example.org/linux.qcow2.sha256",
                "checksumType": "sha256",
                "format": "qcow2",
            },
        },
    })
}

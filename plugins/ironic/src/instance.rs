//! What a node is told about the image it is to run, and whether that is what it was told before.

use bmo_api::RootDeviceHints;
use bmo_provisioner::{CustomDeployMethod, ProvisionRequest};
use serde_json::{Map, Value};

use crate::capabilities;
use crate::client::Node;
use crate::config::Config;
use crate::driver_info::FORCE_PERSISTENT_BOOT;
use crate::hints;
use crate::patch::{Patch, Section};

/// How an image comes onto a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Written to a disk by the agent.
    Direct,
    /// Booted from virtual media.
    LiveIso,
    /// By a step of the agent's own.
    Custom,
}

fn way(request: &ProvisionRequest) -> Way {
    if request
        .custom_deploy
        .as_ref()
        .is_some_and(|custom| !custom.method.is_empty())
    {
        Way::Custom
    } else if request.image.as_ref().is_some_and(bmo_api::Image::is_live_iso) {
        Way::LiveIso
    } else {
        Way::Direct
    }
}

/// Whether nothing of the user's is put on the machine at first boot.
pub fn is_live_iso(request: &ProvisionRequest) -> bool {
    way(request) == Way::LiveIso
}

/// The members of `instance_info` that describe the image, `null` where they have to be absent.
pub fn image_members(request: &ProvisionRequest) -> Map<String, Value> {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let image = request.image.as_ref().filter(|image| !image.is_empty());
    let written = image.filter(|_| !is_live_iso(request));
    let booted = image.filter(|_| is_live_iso(request));
    let checksum = written.and_then(|image| image.checksum().ok());
    let (plain, typed) = match &checksum {
        Some(checksum) if checksum.algorithm.is_none() => (text(&checksum.value), None),
        Some(checksum) => (Value::Null, checksum.algorithm.as_ref()),
        None => (Value::Null, None),
    };
    set("boot_iso", booted.map_or(Value::Null, |image| text(&image.url)));
    set(
        "image_source",
        written.map_or(Value::Null, |image| text(&image.url)),
    );
    set("image_checksum", plain);
    set(
        "image_os_hash_algo",
        typed.map_or(Value::Null, |algorithm| algorithm.as_str().into()),
    );
    set(
        "image_os_hash_value",
        typed
            .and(checksum.as_ref())
            .map_or(Value::Null, |checksum| text(&checksum.value)),
    );
    let format = written
        .and_then(|image| image.format.as_ref())
        .map_or(Value::Null, |format| format.as_str().into());
    set("image_disk_format", format);
    let secret = written.map_or("", |_| request.image_pull_secret.expose());
    set("image_pull_secret", text(secret));
    members
}

/// What a node is told that is made anew for a machine that runs this image already. Ironic adopts a machine only if
/// it could have deployed it.
pub fn of_running(image: &bmo_api::Image, custom: bool) -> Map<String, Value> {
    let custom_deploy = custom.then(|| CustomDeployMethod {
        method: "unknown".to_owned(),
    });
    let request = ProvisionRequest {
        image: Some(image.clone()),
        custom_deploy,
        ..ProvisionRequest::default()
    };
    image_members(&request)
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
}

/// Whether the node was last told to deploy the same.
pub fn is_same(request: &ProvisionRequest, node: &Node, uid: &str) -> bool {
    let info = &node.instance_info;
    if request.image.as_ref().is_none_or(bmo_api::Image::is_empty) {
        // Without an image there is only the instance itself to go by.
        return way(request) == Way::Custom
            && !info.contains_key("image_source")
            && node.instance_uuid == uid;
    }
    let wanted = image_members(request);
    let names: &[&str] = match way(request) {
        Way::LiveIso => &["boot_iso"],
        _ => &[
            "image_source",
            "image_checksum",
            "image_os_hash_algo",
            "image_os_hash_value",
        ],
    };
    names.iter().all(|name| match (&wanted[*name], info.get(*name)) {
        (Value::Null, current) => current.is_none_or(Value::is_null),
        (wanted, current) => current == Some(wanted),
    })
}

/// The patch that sets a deployment up.
pub fn patch(config: &Config, request: &ProvisionRequest, node: &Node, uid: &str) -> Patch {
    let mut patch = Patch::default();
    patch.set("instance_uuid", uid, node.instance_uuid.as_str());
    let info = &node.instance_info;
    patch.set_in(
        Section::InstanceInfo,
        "capabilities",
        capabilities::of_instance(request.boot_mode),
        info,
    );
    patch.set_in(
        Section::InstanceInfo,
        "root_device",
        root_device(request.root_device_hints.as_ref()),
        info,
    );
    for (name, value) in image_members(request) {
        patch.set_in(Section::InstanceInfo, &name, value, info);
    }
    let force_boot = match way(request) {
        Way::Custom => {
            patch.set("deploy_interface", "custom-agent", node.deploy_interface.as_str());
            return patch;
        }
        Way::LiveIso => {
            patch.set("deploy_interface", "ramdisk", node.deploy_interface.as_str());
            config.live_iso_boot
        }
        Way::Direct => {
            if matches!(node.deploy_interface.as_str(), "ramdisk" | "custom-agent") {
                patch.remove("deploy_interface");
            }
            config.direct_deploy_boot
        }
    };
    patch.set_in(
        Section::DriverInfo,
        FORCE_PERSISTENT_BOOT,
        force_boot.as_str(),
        &node.driver_info,
    );
    patch
}

fn root_device(hints: Option<&RootDeviceHints>) -> Value {
    Value::Object(hints.map(hints::map).unwrap_or_default())
}

#[cfg(test)]
mod tests;

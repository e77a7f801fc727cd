//! What a node's driver is told: how to reach the BMC, and beside it the ramdisk and a flag of the deployment.
//!
//! Ironic hides the password, so only the other members tell whether something changed; then all of them are
//! written. Members that others of our methods set are kept over such a replacement.

use bmo_bmc::{AccessDetails, Credentials};
use serde_json::{Map, Value};

use crate::client::{MASK, Node};
use crate::pass::Pass;
use crate::patch::{Patch, Section, is_secret, same};
use crate::ramdisk::{self, Ramdisk};

/// Where the BMC fetches images from.
const EXTERNAL_URL: &str = "external_http_url";
/// Set by deployments.
pub const FORCE_PERSISTENT_BOOT: &str = "force_persistent_boot_device";

/// What the BMC's part of `driver_info` should be.
#[derive(Clone, PartialEq)]
pub struct Wanted {
    members: Map<String, Value>,
    /// Whether it is known if there should be an external URL.
    external_url_known: bool,
}

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted")
            .field("external_url_known", &self.external_url_known)
            .finish_non_exhaustive()
    }
}

impl Wanted {
    /// All of it, for a new node.
    pub fn for_new_node(&self, ramdisk: Option<&Ramdisk>) -> Map<String, Value> {
        let mut all = self.members.clone();
        let ramdisk = ramdisk.map(Ramdisk::members).unwrap_or_default();
        all.extend(ramdisk.into_iter().filter(|(_, value)| !value.is_null()));
        all
    }

    /// Whether the node's differs in anything that can be compared.
    fn differs(&self, node: &Node) -> bool {
        let current = &node.driver_info;
        let changed = self.members.iter().any(|(name, wanted)| {
            !is_secret(name) && !current.get(name).is_some_and(|current| same(wanted, current))
        });
        let surplus = current
            .keys()
            .any(|name| self.owns(name) && !self.members.contains_key(name));
        changed || surplus
    }

    /// Whether a member tells how to reach the BMC.
    fn owns(&self, name: &str) -> bool {
        if name == EXTERNAL_URL {
            return self.external_url_known;
        }
        name == "redfish_verify_ca" || name == "redfish_system_id" || name == "ipmi_verify_ca"
    }

    /// Adds what is needed to a patch, and says whether the BMC's part is replaced.
    pub fn add_to(
        &self,
        patch: &mut Patch,
        node: &Node,
        must_replace: bool,
        ramdisk: Option<&Ramdisk>,
    ) -> bool {
        let ramdisk = ramdisk.map(Ramdisk::members);
        if !must_replace && !self.differs(node) {
            for (name, value) in ramdisk.into_iter().flatten() {
                patch.set_in(Section::DriverInfo, &name, value, &node.driver_info);
            }
            return false;
        }
        let mut all = self.members.clone();
        let kept = ramdisk::KEYS.iter().chain([&FORCE_PERSISTENT_BOOT]);
        let kept = kept.chain(if self.external_url_known {
            None
        } else {
            Some(&EXTERNAL_URL)
        });
        for name in kept {
            if let Some(value) = node.driver_info.get(*name).filter(|value| *value != MASK) {
                all.insert((*name).to_owned(), value.clone());
            }
        }
        for (name, value) in ramdisk.into_iter().flatten() {
            if value.is_null() {
                all.shift_remove(&name);
            } else {
                all.insert(name, value);
            }
        }
        patch.set("driver_info", all, Value::Null);
        true
    }
}

impl Pass {
    /// What the BMC's part of `driver_info` should be.
    pub async fn wanted_driver_info(&self, access: &AccessDetails) -> Wanted {
        let credentials = self.host.bmc.as_ref().map(|bmc| &bmc.credentials);
        let credentials = credentials.map_or_else(Credentials::default, |found| {
            Credentials::new(found.username.expose(), found.password.expose())
        });
        let mut members = access.driver_info(&credentials);
        let url = &self.shared.config.external_url_v6;
        let mut external_url_known = true;
        if !url.is_empty() {
            match self.shared.address_of(access.hostname()).await {
                Some(address) if address.to_canonical().is_ipv6() => {
                    members.insert(EXTERNAL_URL.to_owned(), url.as_str().into());
                }
                Some(_) => {}
                None => external_url_known = false,
            }
        }
        Wanted {
            members,
            external_url_known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;
    use crate::client::Node;
    use crate::patch::Patch;
    use crate::ramdisk::Ramdisk;
    use bmo_bmc::{AccessDetails, Credentials};
    use serde_json::{Map, Value, json};

    fn wanted(address: &str, user: &str) -> Wanted {
        let access = AccessDetails::parse(address, true).unwrap();
        Wanted {
            members: access.driver_info(&Credentials::new(user, "hunter2")),
            external_url_known: true,
        }
    }

    fn node(info: &Value) -> Node {
        Node {
            driver_info: info.as_object().unwrap().clone(),
            ..Node::default()
        }
    }

    fn as_stored(wanted: &Wanted, more: &[(&str, Value)]) -> Node {
        let mut info: Map<_, _> = wanted.members.clone();
        info.insert("redfish_password".to_owned(), json!("******"));
        info.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        Node {
            driver_info: info,
            ..Node::default()
        }
    }

    #[test]
    fn every_visible_difference_replaces_the_whole() {
        let base = wanted("redfish://192.0.2.1/redfish/v1/Systems/1", "admin");
        let stored = as_stored(&base, &[("deploy_iso", json!("http://i"))]);
        let replaced = |wanted: &Wanted| wanted.add_to(&mut Patch::default(), &stored, false, None);
        assert!(!replaced(&base));
        for changed in [
            wanted("redfish://192.0.2.2/redfish/v1/Systems/1", "admin"),
            wanted("redfish+http://192.0.2.1/redfish/v1/Systems/1", "admin"),
            wanted("redfish://192.0.2.1/redfish/v1/Systems/2", "admin"),
            wanted("redfish://192.0.2.1/redfish/v1", "admin"),
            wanted("redfish://192.0.2.1/redfish/v1/Systems/1", "root"),
        ] {
            assert!(replaced(&changed));
        }
    }

    #[test]
    fn a_replacement_keeps_what_others_set() {
        let base = wanted("redfish://192.0.2.1/redfish/v1/Systems/1", "admin");
        let stored = as_stored(
            &base,
            &[
                ("deploy_iso", json!("http://i")),
                ("force_persistent_boot_device", json!("Never")),
            ],
        );
        let mut patch = Patch::default();
        assert!(base.add_to(&mut patch, &stored, true, None));
        let body = patch.into_body();
        assert_eq!(body[0]["path"], "/driver_info");
        assert_eq!(body[0]["value"]["redfish_password"], "hunter2");
        assert_eq!(body[0]["value"]["deploy_iso"], "http://i");
        assert_eq!(body[0]["value"]["force_persistent_boot_device"], "Never");

        let initrd = Ramdisk::Initrd {
            kernel: "k".into(),
            ramdisk: "r".into(),
            extra_kernel_params: String::new(),
        };
        let mut patch = Patch::default();
        base.add_to(&mut patch, &stored, true, Some(&initrd));
        let body = patch.into_body();
        assert_eq!(body[0]["value"]["deploy_kernel"], "k");
        assert_eq!(body[0]["value"].get("deploy_iso"), None);
    }

    #[test]
    fn an_unknown_external_url_stays() {
        let mut base = wanted("ipmi://192.0.2.1", "admin");
        let current = node(&json!({"external_http_url": "http://[2001:db8::1]"}));
        base.external_url_known = false;
        let mut patch = Patch::default();
        base.add_to(&mut patch, &current, true, None);
        assert_eq!(
            patch.into_body()[0]["value"]["external_http_url"],
            "http://[2001:db8::1]"
        );
        base.external_url_known = true;
        let mut patch = Patch::default();
        base.add_to(&mut patch, &current, false, None);
        assert_eq!(patch.into_body()[0]["value"].get("external_http_url"), None);
    }
}

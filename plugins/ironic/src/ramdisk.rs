//! Which ramdisk a node boots for inspection, cleaning and deployment.

use bmo_provisioner::{PreprovisioningImage, PreprovisioningImageFormat, ProvisionerError, Result};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::pass::Pass;

/// The members of `driver_info` that say so.
pub const KEYS: [&str; 4] = [
    "deploy_kernel",
    "deploy_ramdisk",
    "deploy_iso",
    "kernel_append_params",
];

/// A ramdisk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ramdisk {
    /// An ISO image with everything in it.
    Iso(String),
    /// A kernel and a ramdisk.
    Initrd {
        /// The kernel.
        kernel: String,
        /// The ramdisk.
        ramdisk: String,
        /// Kernel parameters to add; may be empty.
        extra_kernel_params: String,
    },
}

impl Ramdisk {
    /// The value of each of [`KEYS`], `null` where it has to be absent.
    pub fn members(&self) -> Map<String, Value> {
        let mut members: Map<_, _> = KEYS.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
        match self {
            Self::Iso(url) => {
                members.insert("deploy_iso".to_owned(), url.as_str().into());
            }
            Self::Initrd {
                kernel,
                ramdisk,
                extra_kernel_params,
            } => {
                members.insert("deploy_kernel".to_owned(), kernel.as_str().into());
                members.insert("deploy_ramdisk".to_owned(), ramdisk.as_str().into());
                if !extra_kernel_params.is_empty() {
                    let params = format!("%default% {extra_kernel_params}");
                    members.insert("kernel_append_params".to_owned(), params.into());
                }
            }
        }
        members
    }
}

/// Chooses the ramdisk; `None`: what the node has stays.
pub fn select(config: &Config, iso_allowed: bool, image: Option<&PreprovisioningImage>) -> Option<Ramdisk> {
    match image {
        Some(image) if image.format == PreprovisioningImageFormat::Initrd => {
            let kernel = [&image.kernel_url, &config.deploy_kernel_url]
                .into_iter()
                .find(|url| !url.is_empty())?;
            Some(Ramdisk::Initrd {
                kernel: kernel.clone(),
                ramdisk: image.image_url.clone(),
                extra_kernel_params: image.extra_kernel_params.clone(),
            })
        }
        Some(image) if iso_allowed => Some(Ramdisk::Iso(image.image_url.clone())),
        _ if config.image_builder => None,
        _ => configured(config, iso_allowed),
    }
}

fn configured(config: &Config, iso_allowed: bool) -> Option<Ramdisk> {
    if iso_allowed && !config.deploy_iso_url.is_empty() {
        return Some(Ramdisk::Iso(config.deploy_iso_url.clone()));
    }
    if config.deploy_kernel_url.is_empty() || config.deploy_ramdisk_url.is_empty() {
        return None;
    }
    Some(Ramdisk::Initrd {
        kernel: config.deploy_kernel_url.clone(),
        ramdisk: config.deploy_ramdisk_url.clone(),
        extra_kernel_params: String::new(),
    })
}

impl Pass {
    /// Formats of preprovisioning image the host can boot, best first.
    pub fn image_formats(&self) -> Result<Option<Vec<PreprovisioningImageFormat>>> {
        if !self.shared.config.image_builder {
            return Ok(None);
        }
        let access = self.access().map_err(ProvisionerError::transient)?;
        let iso = access
            .supports_iso_preprovisioning_image()
            .then_some(PreprovisioningImageFormat::Iso);
        Ok(Some(
            iso.into_iter()
                .chain([PreprovisioningImageFormat::Initrd])
                .collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Ramdisk, select};
    use crate::config::Config;
    use bmo_provisioner::{PreprovisioningImage, PreprovisioningImageFormat};

    #[test]
    fn ramdisk_for_builder_configuration_driver_and_image() {
        let iso = |url: &str| Some(Ramdisk::Iso(url.to_owned()));
        let initrd = |kernel: &str, ramdisk: &str, params: &str| {
            Some(Ramdisk::Initrd {
                kernel: kernel.to_owned(),
                ramdisk: ramdisk.to_owned(),
                extra_kernel_params: params.to_owned(),
            })
        };
        let build = |format, kernel: &str, params: &str| {
            Some(PreprovisioningImage {
                image_url: "build".to_owned(),
                kernel_url: kernel.to_owned(),
                extra_kernel_params: params.to_owned(),
                format,
            })
        };
        let build_iso = build(PreprovisioningImageFormat::Iso, "", "");
        let build_initrd = build(PreprovisioningImageFormat::Initrd, "", "");
        let build_all = build(PreprovisioningImageFormat::Initrd, "bk", "cat meow");
        // Builder · configured kernel, ramdisk, ISO · driver boots ISO images · image · selected.
        let table = [
            ("iso no builder", false, "kri", true, None, iso("i")),
            ("no builder no iso", false, "kr", true, None, initrd("k", "r", "")),
            ("pxe no builder", false, "kri", false, None, initrd("k", "r", "")),
            ("iso no build", true, "kri", true, None, None),
            ("iso build", true, "kri", true, build_iso.clone(), iso("build")),
            (
                "pxe build",
                true,
                "kri",
                false,
                build_initrd.clone(),
                initrd("k", "build", ""),
            ),
            (
                "pxe build kernel",
                true,
                "kri",
                false,
                build_all,
                initrd("bk", "build", "cat meow"),
            ),
            ("pxe iso build", true, "kri", false, build_iso.clone(), None),
            ("pxe build no kernel", true, "i", false, build_initrd, None),
            ("pxe iso build, none", true, "", false, build_iso.clone(), None),
            ("pxe iso build, kernel only", true, "k", false, build_iso, None),
            ("no build no initrd", true, "k", false, None, None),
            ("pxe only ISO configured", false, "i", false, None, None),
            ("iso driver, nothing configured", false, "", true, None, None),
        ];
        for (case, builder, configured, iso_allowed, image, expected) in table {
            let mut config = Config::load(&|_| None, builder).unwrap();
            let set = |part: &str| {
                if configured.contains(part) {
                    part.to_owned()
                } else {
                    String::new()
                }
            };
            (config.deploy_kernel_url, config.deploy_ramdisk_url) = (set("k"), set("r"));
            config.deploy_iso_url = set("i");
            assert_eq!(select(&config, iso_allowed, image.as_ref()), expected, "{case}");
        }
    }

    #[test]
    fn what_is_not_selected_is_removed() {
        let params = Ramdisk::Initrd {
            kernel: "k".to_owned(),
            ramdisk: "r".to_owned(),
            extra_kernel_params: "cat meow".to_owned(),
        };
        let members = params.members();
        assert_eq!(members["kernel_append_params"], "%default% cat meow");
        assert!(members["deploy_iso"].is_null());
        let members = Ramdisk::Iso("i".to_owned()).members();
        assert!(members["deploy_kernel"].is_null() && members["kernel_append_params"].is_null());
    }
}

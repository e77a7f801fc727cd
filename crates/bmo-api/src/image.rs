//! The image a machine is provisioned with, and the rules for its checksum.

use crate::serde_rules::empty_as_none;
use crate::text_enum::text_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// URL scheme of images that are kept in a container registry.
const OCI_SCHEME: &str = "oci://";

text_enum! {
    /// Algorithm of an image's checksum.
    pub open enum ChecksumType {
        /// MD5; weak, kept for old images.
        Md5 = "md5",
        /// SHA-256.
        Sha256 = "sha256",
        /// SHA-512.
        Sha512 = "sha512",
        /// Found out from the length of the checksum.
        Auto = "auto",
    }
}

text_enum! {
    /// Format of an image's data.
    pub open enum ImageFormat {
        /// Written to the disk byte by byte.
        Raw = "raw",
        /// QEMU's format.
        Qcow2 = "qcow2",
        /// VirtualBox' format.
        Vdi = "vdi",
        /// VMware's format.
        Vmdk = "vmdk",
        /// Booted from virtual media and never written to a disk.
        LiveIso = "live-iso",
    }
}

/// An image and how to check that it arrived whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    /// Where the image is. Empty in a status: no image.
    #[schemars(extend("x-bmo-required" = true))]
    pub url: String,
    /// The checksum, or the URL of a file with checksums. Not for OCI images; may be left out for live ISOs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
    /// Algorithm of the checksum. Without it the algorithm is found out from the checksum.
    #[serde(deserialize_with = "empty_as_none", skip_serializing_if = "Option::is_none")]
    pub checksum_type: Option<ChecksumType>,
    /// Format of the image. Needed for `raw` (streamed straight to the disk) and `live-iso`.
    #[serde(
        rename = "format",
        deserialize_with = "empty_as_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub format: Option<ImageFormat>,
    /// Name of the Secret, in the host's namespace, with the credentials of the registry an OCI image comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oci_auth_secret_name: Option<String>,
}

/// A checksum that may be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageChecksum {
    /// The checksum, or the URL of a file with it; empty for images that need none.
    pub value: String,
    /// The algorithm; `None` when it has to be found out, or when there is no checksum.
    pub algorithm: Option<ChecksumType>,
}

/// Why an image's checksum cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChecksumError {
    /// An OCI image names its content by digest already.
    #[error("OCI image {url} has a checksum; OCI images must not have one, remove image.checksum")]
    NotAllowedForOci {
        /// The image.
        url: String,
    },
    /// Only OCI images and live ISOs go without.
    #[error(
        "image {url} has no checksum; set image.checksum to the checksum or to the URL of a checksum file"
    )]
    Missing {
        /// The image.
        url: String,
    },
    /// The algorithm is none of ours.
    #[error("image {url} has the unknown checksum type {found:?}; supported are auto, md5, sha256, sha512")]
    UnknownType {
        /// The image.
        url: String,
        /// The text found.
        found: String,
    },
}

impl Image {
    /// True when there is no image: an empty URL.
    pub fn is_empty(&self) -> bool {
        self.url.is_empty()
    }

    /// True when the image comes from a container registry (scheme `oci`, in any case).
    pub fn is_oci(&self) -> bool {
        self.url
            .get(..OCI_SCHEME.len())
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case(OCI_SCHEME))
    }

    /// True when the image is booted instead of being written to a disk.
    pub fn is_live_iso(&self) -> bool {
        self.format == Some(ImageFormat::LiveIso)
    }

    /// The checksum to verify the image with, or why there is no usable one.
    pub fn checksum(&self) -> Result<ImageChecksum, ChecksumError> {
        let url = || self.url.clone();
        if self.is_oci() {
            if !self.checksum.is_empty() {
                return Err(ChecksumError::NotAllowedForOci { url: url() });
            }
            return Ok(ImageChecksum {
                value: String::new(),
                algorithm: None,
            });
        }
        if self.is_live_iso() {
            return Ok(ImageChecksum {
                value: String::new(),
                algorithm: None,
            });
        }
        if self.checksum.is_empty() {
            return Err(ChecksumError::Missing { url: url() });
        }
        let algorithm = match &self.checksum_type {
            None | Some(ChecksumType::Auto) => None,
            Some(ChecksumType::Unknown(found)) => {
                return Err(ChecksumError::UnknownType {
                    url: url(),
                    found: found.clone(),
                });
            }
            Some(known) => Some(known.clone()),
        };
        Ok(ImageChecksum {
            value: self.checksum.clone(),
            algorithm,
        })
    }
}

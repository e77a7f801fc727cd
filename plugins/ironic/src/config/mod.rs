//! What the plugin is told by its environment and by files.
//!
//! Everything is checked when the plugin is loaded: a wrong value names the variable, the value and what would be
//! right. Files that rotate (credentials, certificates) are read again while the plugin runs.

mod auth;
mod duration;
mod tls;

use std::fmt;
use std::time::Duration;

use url::Url;

pub use auth::{AuthError, load as load_auth};
pub use duration::parse as parse_duration;
pub use tls::{Pem, TlsError, TlsFiles, TlsMaterial};

use crate::client::{BasicAuth, Endpoint};

/// How long a client is used before Ironic's readiness is checked again.
const DEFAULT_CACHE_TTL: Duration = Duration::from_secs(5);
/// Longest time for one request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// How many hosts may boot over the network at once.
const DEFAULT_PROVISIONING_LIMIT: i64 = 20;

/// Reads a variable; in tests from a table.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whether a machine is told to boot from its disk once and for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForcePersistentBoot {
    /// As Ironic thinks best for the machine.
    #[default]
    Default,
    /// For ever.
    Always,
    /// Only for the next boot.
    Never,
}

impl ForcePersistentBoot {
    /// The text for Ironic.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Always => "Always",
            Self::Never => "Never",
        }
    }
}

/// Settings that do not depend on how Ironic is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How long a client is used before Ironic's readiness is checked again; zero: checked on every pass.
    pub cache_ttl: Duration,
    /// Longest time for one request.
    pub timeout: Duration,
    /// Kernel of the ramdisk; empty where none is configured.
    pub deploy_kernel_url: String,
    /// The ramdisk.
    pub deploy_ramdisk_url: String,
    /// The ramdisk as an ISO image.
    pub deploy_iso_url: String,
    /// How many hosts may boot over the network at once.
    pub provisioning_limit: i64,
    /// For live ISO images.
    pub live_iso_boot: ForcePersistentBoot,
    /// For images that are written to a disk.
    pub direct_deploy_boot: ForcePersistentBoot,
    /// Where BMCs with an IPv6 address fetch images from; empty where there is no such address.
    pub external_url_v6: String,
    /// Whether there is no network to boot from.
    pub provisioning_network_disabled: bool,
    /// Whether the operator has images built for hosts.
    pub image_builder: bool,
    /// Where certificates are.
    pub tls: TlsFiles,
    /// The Ironic object that says where Ironic is, where one is named.
    pub ironic_name: String,
    /// Its namespace; empty where the operator's own is meant.
    pub ironic_namespace: String,
}

/// Where Ironic is when the environment says so.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentEndpoint {
    url: Url,
    url_auth: Option<BasicAuth>,
    auth_root: String,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A variable with a wrong value.
    #[error("invalid value for variable {name}: found {found:?}, expected {expected}")]
    Value {
        /// The variable.
        name: &'static str,
        /// Its value.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A variable that has to be set.
    #[error("no {name} variable set: set it to {expected}")]
    Missing {
        /// The variable.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// One of the ramdisk's two parts.
    #[error("DEPLOY_KERNEL_URL and DEPLOY_RAMDISK_URL can only be set together: set both or none")]
    HalfRamdisk,
    /// A ramdisk that no kernel can boot.
    #[error("DEPLOY_RAMDISK_URL requires DEPLOY_KERNEL_URL to be set too")]
    RamdiskWithoutKernel,
    /// Credentials for Ironic.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// Certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Config {
    /// Reads and checks all settings.
    pub fn load(lookup: Lookup<'_>, image_builder: bool) -> Result<Self, ConfigError> {
        let text = |name: &str| lookup(name).unwrap_or_default();
        let cache_ttl = duration(
            lookup,
            "IRONIC_CLIENT_CACHE_TTL",
            "a duration such as 5s, not negative",
            |d| d >= 0.0,
        )?;
        let timeout = duration(
            lookup,
            "IRONIC_CLIENT_TIMEOUT",
            "a duration such as 30s that must be > 0",
            |d| d > 0.0,
        )?;
        let (kernel, ramdisk) = (text("DEPLOY_KERNEL_URL"), text("DEPLOY_RAMDISK_URL"));
        if !image_builder && kernel.is_empty() != ramdisk.is_empty() {
            return Err(ConfigError::HalfRamdisk);
        }
        if kernel.is_empty() && !ramdisk.is_empty() {
            return Err(ConfigError::RamdiskWithoutKernel);
        }
        Ok(Self {
            cache_ttl: cache_ttl.unwrap_or(DEFAULT_CACHE_TTL),
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            deploy_kernel_url: kernel,
            deploy_ramdisk_url: ramdisk,
            deploy_iso_url: text("DEPLOY_ISO_URL"),
            provisioning_limit: integer(lookup, "PROVISIONING_LIMIT")?.unwrap_or(DEFAULT_PROVISIONING_LIMIT),
            live_iso_boot: force_boot(lookup, "LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE")?,
            direct_deploy_boot: force_boot(lookup, "DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE")?,
            external_url_v6: external_url(lookup)?,
            provisioning_network_disabled: truth(lookup, "PROVISIONING_NETWORK_DISABLED"),
            image_builder,
            tls: TlsFiles::load(lookup),
            ironic_name: text("IRONIC_NAME"),
            ironic_namespace: text("IRONIC_NAMESPACE"),
        })
    }
}

impl EnvironmentEndpoint {
    /// Reads and checks where Ironic is and how to log in. Credentials first, as they are checked first.
    pub fn load(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        const NAME: &str = "IRONIC_ENDPOINT";
        const EXPECTED: &str = "the URL of Ironic's API, such as https://ironic.example.org:6385/v1/";
        let auth_root = lookup("METAL3_AUTH_ROOT_DIR").filter(|root| !root.is_empty());
        let auth_root = auth_root.unwrap_or_else(|| "/opt/metal3/auth".to_owned());
        load_auth(&auth_root)?;
        let found = lookup(NAME).filter(|text| !text.is_empty());
        let found = found.ok_or(ConfigError::Missing {
            name: NAME,
            expected: EXPECTED,
        })?;
        let wrong = || ConfigError::Value {
            name: NAME,
            found: without_userinfo(&found),
            expected: EXPECTED,
        };
        let mut url = Url::parse(&found).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong());
        }
        let url_auth = take_userinfo(&mut url);
        Ok(Self {
            url: as_base(url),
            url_auth,
            auth_root,
        })
    }

    /// Reads the files of the moment.
    pub fn resolve(&self, config: &Config) -> Result<Endpoint, ConfigError> {
        let auth = load_auth(&self.auth_root)?.or_else(|| self.url_auth.clone());
        Ok(Endpoint {
            url: self.url.clone(),
            auth,
            tls: config.tls.read()?,
            timeout: config.timeout,
        })
    }
}

/// The URL in the form that relative paths are joined to: without query, ending in `/`.
pub fn as_base(mut url: Url) -> Url {
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    url
}

/// Takes `user:password@` out of a URL.
fn take_userinfo(url: &mut Url) -> Option<BasicAuth> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| {
        url::form_urlencoded::parse(format!("x={}", text.replace('+', "%2B")).as_bytes())
            .next()
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    };
    let auth = BasicAuth {
        username: decoded(url.username()),
        password: decoded(url.password().unwrap_or_default()).into(),
    };
    // Both calls fail only for URLs without a host, which were refused.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(auth)
}

/// A URL's text for a message.
fn without_userinfo(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

fn duration(
    lookup: Lookup<'_>,
    name: &'static str,
    expected: &'static str,
    allowed: fn(f64) -> bool,
) -> Result<Option<Duration>, ConfigError> {
    let Some(found) = lookup(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match parse_duration(&found)
        .filter(|seconds| allowed(*seconds))
        .map(Duration::try_from_secs_f64)
    {
        Some(Ok(duration)) => Ok(Some(duration)),
        _ => Err(ConfigError::Value {
            name,
            found,
            expected,
        }),
    }
}

fn integer(lookup: Lookup<'_>, name: &'static str) -> Result<Option<i64>, ConfigError> {
    let Some(found) = lookup(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let parsed = found.parse().ok();
    parsed.map(Some).ok_or(ConfigError::Value {
        name,
        found,
        expected: "a whole number, such as 20",
    })
}

fn force_boot(lookup: Lookup<'_>, name: &'static str) -> Result<ForcePersistentBoot, ConfigError> {
    match lookup(name).as_deref().unwrap_or_default() {
        "" | "Default" => Ok(ForcePersistentBoot::Default),
        "Always" => Ok(ForcePersistentBoot::Always),
        "Never" => Ok(ForcePersistentBoot::Never),
        found => Err(ConfigError::Value {
            name,
            found: found.to_owned(),
            expected: "one of Default, Always, Never",
        }),
    }
}

fn external_url(lookup: Lookup<'_>) -> Result<String, ConfigError> {
    const NAME: &str = "IRONIC_EXTERNAL_URL_V6";
    let found = lookup(NAME).unwrap_or_default();
    if found.is_empty() || Url::parse(&found).is_ok() {
        return Ok(found);
    }
    Err(ConfigError::Value {
        name: NAME,
        found,
        expected: "a URL, such as http://[2001:db8::1]:6180",
    })
}

/// True for `true` in any case.
fn truth(lookup: Lookup<'_>, name: &str) -> bool {
    lookup(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

impl fmt::Display for ForcePersistentBoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;

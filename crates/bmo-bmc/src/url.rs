//! From the text of an address to a URL that surely has a scheme and a sound host name.

use crate::go_url;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Scheme of addresses that name none.
const DEFAULT_SCHEME: &str = "ipmi";

/// Why an address cannot be used. The texts are those that users of the API know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no address.
    #[error("missing BMC address")]
    Missing,
    /// The address is no URL, nor a host with a port.
    #[error("failed to parse BMC address information: {reason}")]
    Malformed {
        /// What is wrong, with the address.
        reason: String,
    },
    /// The host is neither an IP address nor a host name.
    #[error("failed to parse BMC address information: BMC address hostname/IP : [{hostname}] is invalid")]
    InvalidHostname {
        /// The host.
        hostname: String,
    },
    /// No driver serves the scheme.
    #[error("Unknown BMC type '{scheme}' for address {address}")]
    UnknownType {
        /// The scheme, in lower case.
        scheme: String,
        /// The address, as it was written.
        address: String,
    },
}

/// A BMC address, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcUrl {
    /// Scheme in lower case; empty for `//host`.
    pub scheme: String,
    /// Host and port as written; IPv6 addresses in brackets.
    pub host: String,
    /// Path with its leading slash, escapes resolved; may be empty.
    pub path: String,
    /// Query without question mark, as written.
    pub query: String,
}

impl BmcUrl {
    /// Takes an address apart. Missing schemes become `ipmi`; the scheme need not be a known one.
    pub fn parse(address: &str) -> Result<Self, AddressError> {
        let url = Self::take_apart(address)?;
        if is_hostname(url.hostname()) {
            Ok(url)
        } else {
            Err(AddressError::InvalidHostname {
                hostname: url.hostname().to_owned(),
            })
        }
    }

    fn take_apart(address: &str) -> Result<Self, AddressError> {
        let malformed = |reason| AddressError::Malformed { reason };
        let url = match go_url::parse(address) {
            Ok(url) if !url.opaque.is_empty() => {
                go_url::parse(&address.replacen(':', "://", 1)).map_err(malformed)?
            }
            Ok(url) if url.scheme.is_empty() && url.host.is_empty() => {
                go_url::parse(&format!("{DEFAULT_SCHEME}://{address}")).map_err(malformed)?
            }
            Ok(url) => url,
            Err(reason) if address.contains(':') && !go_url::is_host_and_port(address) => {
                return Err(malformed(reason));
            }
            Err(_) => go_url::GoUrl {
                scheme: DEFAULT_SCHEME.to_owned(),
                host: address.to_owned(),
                ..go_url::GoUrl::default()
            },
        };
        Ok(Self {
            scheme: url.scheme,
            host: url.host,
            path: url.path,
            query: url.query,
        })
    }

    /// Host without port and brackets.
    pub fn hostname(&self) -> &str {
        go_url::split_host(&self.host).0
    }

    /// Port; empty when none is given.
    pub fn port(&self) -> &str {
        go_url::split_host(&self.host).1
    }

    /// First value of a parameter of the query; `None` also when the query is malformed.
    pub fn query_value(&self, name: &str) -> Option<String> {
        go_url::query_value(&self.query, name)
    }
}

/// Nothing, an IP address without zone, or labels of letters, digits and inner hyphens, separated by dots.
fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.is_empty()
        || text.parse::<Ipv4Addr>().is_ok()
        || text.parse::<Ipv6Addr>().is_ok()
        || text.split('.').all(is_label)
}

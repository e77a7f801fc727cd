//! TLS of the manager's own servers, from the names Go programs use for versions, suites and groups.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::{CipherSuite, SupportedCipherSuite, SupportedProtocolVersion};

/// Suites known by name that this build does not offer: they are old or weak, or need other cryptography.
const NOT_OFFERED: [&str; 18] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_AES_128_CCM_SHA256",
    "TLS_AES_128_CCM_8_SHA256",
];

/// Suites that can be offered, by the names of Go and IANA.
const SUITES: [(&str, CipherSuite); 11] = [
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    (
        "TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// Key exchange groups by name; `None` for those this build does not offer.
const GROUPS: [(&str, Option<&'static dyn SupportedKxGroup>); 7] = [
    ("X25519", Some(ring::kx_group::X25519)),
    ("CurveP256", Some(ring::kx_group::SECP256R1)),
    ("CurveP384", Some(ring::kx_group::SECP384R1)),
    ("CurveP521", None),
    ("X25519MLKEM768", None),
    ("SecP256r1MLKEM768", None),
    ("SecP384r1MLKEM1024", None),
];

/// TLS options that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A version that is neither of the two.
    #[error("-{flag}={value:?} is no TLS version: expected TLS12 or TLS13")]
    Version {
        /// The flag.
        flag: &'static str,
        /// What was written.
        value: String,
    },
    /// The lowest version is above the highest.
    #[error("-tls-min-version is above -tls-max-version: no TLS version is left")]
    Order,
    /// A suite nobody knows.
    #[error(
        "-tls-cipher-suites names {0:?}, which is no cipher suite; expected names such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    )]
    Suite(String),
    /// None of the suites named can be offered.
    #[error(
        "-tls-cipher-suites names no suite that this build offers; leave it empty or add TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    )]
    NoSuite,
    /// A group nobody knows.
    #[error("-tls-curve-preferences names {0:?}, which is no group; expected X25519, CurveP256, CurveP384 …")]
    Group(String),
    /// None of the groups named can be offered.
    #[error("-tls-curve-preferences names no group that this build offers: X25519, CurveP256, CurveP384")]
    NoGroup,
}

/// What the servers offer.
#[derive(Clone, Debug)]
pub struct TlsPolicy {
    /// Protocol versions.
    pub versions: Vec<&'static SupportedProtocolVersion>,
    /// Suites and groups.
    pub provider: Arc<CryptoProvider>,
    /// What was asked for and left out, for the log.
    pub notes: Vec<String>,
}

impl TlsPolicy {
    /// From the texts of the flags.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn new(min: &str, max: &str, suites: &str, groups: &str) -> Result<Self, TlsError> {
        let (low, high) = (version("tls-min-version", min)?, version("tls-max-version", max)?);
        if low > high {
            return Err(TlsError::Order);
        }
        let mut provider = ring::default_provider();
        let mut notes = Vec::new();
        let versions: Vec<&'static SupportedProtocolVersion> =
            [&rustls::version::TLS13, &rustls::version::TLS12]
                .into_iter()
                .filter(|v| (low..=high).contains(&number(v)))
                .collect();
        if !suites.is_empty() && low == 13 {
            notes.push("-tls-cipher-suites was ignored: the suites of TLS 1.3 cannot be chosen".to_owned());
        } else if !suites.is_empty() {
            provider.cipher_suites = choose_suites(&provider.cipher_suites, suites, &mut notes)?;
        }
        if !groups.is_empty() {
            provider.kx_groups = choose_groups(groups, &mut notes)?;
        }
        Ok(Self {
            versions,
            provider: Arc::new(provider),
            notes,
        })
    }
}

fn version(flag: &'static str, text: &str) -> Result<u8, TlsError> {
    match text {
        "TLS12" => Ok(12),
        "TLS13" => Ok(13),
        _ => Err(TlsError::Version {
            flag,
            value: text.to_owned(),
        }),
    }
}

fn number(version: &SupportedProtocolVersion) -> u8 {
    if version.version == rustls::ProtocolVersion::TLSv1_3 {
        13
    } else {
        12
    }
}

/// The suites named; those of TLS 1.3 always stay, as in Go.
fn choose_suites(
    offered: &[SupportedCipherSuite],
    names: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<SupportedCipherSuite>, TlsError> {
    let mut wanted = Vec::new();
    for name in names.split(',') {
        if let Some((_, suite)) = SUITES.iter().find(|(known, _)| *known == name) {
            wanted.push(*suite);
        } else if NOT_OFFERED.contains(&name) {
            notes.push(format!(
                "the cipher suite {name} was left out: it is insecure or not offered by this build"
            ));
        } else {
            return Err(TlsError::Suite(name.to_owned()));
        }
    }
    if wanted.is_empty() {
        return Err(TlsError::NoSuite);
    }
    let is_13 = |suite: &SupportedCipherSuite| matches!(suite, SupportedCipherSuite::Tls13(_));
    Ok(offered
        .iter()
        .copied()
        .filter(|s| is_13(s) || wanted.contains(&s.suite()))
        .collect())
}

fn choose_groups(
    names: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<&'static dyn SupportedKxGroup>, TlsError> {
    let mut chosen = Vec::new();
    for name in names.split(',').map(str::trim) {
        match GROUPS.iter().find(|(known, _)| *known == name) {
            Some((_, Some(group))) => chosen.push(*group),
            Some((_, None)) => notes.push(format!(
                "the group {name} was left out: this build does not offer it"
            )),
            None => return Err(TlsError::Group(name.to_owned())),
        }
    }
    if chosen.is_empty() {
        Err(TlsError::NoGroup)
    } else {
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::{TlsError, TlsPolicy};

    #[test]
    fn versions() {
        let count = |min, max| TlsPolicy::new(min, max, "", "").map(|policy| policy.versions.len());
        assert_eq!(count("TLS12", "TLS13"), Ok(2));
        assert_eq!(count("TLS13", "TLS13"), Ok(1));
        assert_eq!(count("TLS13", "TLS12"), Err(TlsError::Order));
        assert!(matches!(
            count("TLS10", "TLS13"),
            Err(TlsError::Version {
                flag: "tls-min-version",
                ..
            })
        ));
    }

    #[test]
    fn suites() {
        let new = |min, suites| TlsPolicy::new(min, "TLS13", suites, "");
        let one = new("TLS12", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256").unwrap();
        assert_eq!(
            one.provider.cipher_suites.len(),
            4,
            "the one named and the three of TLS 1.3"
        );
        let weak = new(
            "TLS12",
            "TLS_RSA_WITH_RC4_128_SHA,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        )
        .unwrap();
        assert_eq!(weak.notes.len(), 1);
        assert_eq!(new("TLS13", "TLS_RSA_WITH_RC4_128_SHA").unwrap().notes.len(), 1);
        assert!(matches!(new("TLS12", "TLS_FOO"), Err(TlsError::Suite(_))));
        assert!(matches!(
            new("TLS12", "TLS_RSA_WITH_RC4_128_SHA"),
            Err(TlsError::NoSuite)
        ));
    }

    #[test]
    fn groups() {
        let new = |groups| TlsPolicy::new("TLS12", "TLS13", "", groups);
        assert_eq!(new("CurveP256, X25519").unwrap().provider.kx_groups.len(), 2);
        assert_eq!(new("X25519MLKEM768,X25519").unwrap().notes.len(), 1);
        assert!(matches!(new("CurveP521"), Err(TlsError::NoGroup)));
        assert!(matches!(new("Curve9"), Err(TlsError::Group(_))));
    }
}

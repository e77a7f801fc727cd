//! Trusted authorities and the client's own certificate, in files that may be absent and may rotate.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Lookup, truth};

/// Where certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Trusted authorities; where the file exists they replace the system's.
    pub authorities: PathBuf,
    /// The client's certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Whether the server's certificate is taken unseen.
    pub insecure: bool,
}

/// PEM text and where it came from. The text may hold a key, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    pem: Vec<u8>,
    source: String,
}

/// What TLS needs, read at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsMaterial {
    /// Trusted authorities; absent: those of the system.
    pub authorities: Option<Pem>,
    /// The client's certificate and key.
    pub identity: Option<Pem>,
    /// Whether the server's certificate is taken unseen.
    pub insecure: bool,
}

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file that is there but cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A certificate without its key, or the other way round.
    #[error("{} exists but {} does not: a client certificate needs both", found.display(), missing.display())]
    HalfIdentity {
        /// The file that exists.
        found: PathBuf,
        /// The file that does not.
        missing: PathBuf,
    },
}

impl Pem {
    /// PEM text from `source`, which is named in messages.
    pub fn new(pem: Vec<u8>, source: impl Into<String>) -> Self {
        Self {
            pem,
            source: source.into(),
        }
    }

    /// The text.
    pub fn pem(&self) -> &[u8] {
        &self.pem
    }

    /// Where it came from.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem({})", self.source)
    }
}

impl TlsFiles {
    pub(super) fn load(lookup: Lookup<'_>) -> Self {
        let path = |name: &str, default: &str| {
            PathBuf::from(
                lookup(name)
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| default.to_owned()),
            )
        };
        if truth(lookup, "IRONIC_SKIP_CLIENT_SAN_VERIFY") {
            tracing::debug!("IRONIC_SKIP_CLIENT_SAN_VERIFY has no effect on connections to Ironic");
        }
        Self {
            authorities: path("IRONIC_CACERT_FILE", "/opt/metal3/certs/ca/tls.crt"),
            certificate: path("IRONIC_CLIENT_CERT_FILE", "/opt/metal3/certs/client/tls.crt"),
            key: path(
                "IRONIC_CLIENT_PRIVATE_KEY_FILE",
                "/opt/metal3/certs/client/tls.key",
            ),
            insecure: truth(lookup, "IRONIC_INSECURE"),
        }
    }

    /// Reads the files of the moment.
    pub fn read(&self) -> Result<TlsMaterial, TlsError> {
        let authorities =
            read(&self.authorities)?.map(|pem| Pem::new(pem, self.authorities.display().to_string()));
        let identity = match (read(&self.certificate)?, read(&self.key)?) {
            (Some(mut certificate), Some(key)) => {
                certificate.push(b'\n');
                certificate.extend_from_slice(&key);
                let source = format!("{} with {}", self.certificate.display(), self.key.display());
                Some(Pem::new(certificate, source))
            }
            (None, None) => None,
            (Some(_), None) => return Err(half(&self.certificate, &self.key)),
            (None, Some(_)) => return Err(half(&self.key, &self.certificate)),
        };
        Ok(TlsMaterial {
            authorities,
            identity,
            insecure: self.insecure,
        })
    }
}

fn half(found: &Path, missing: &Path) -> TlsError {
    TlsError::HalfIdentity {
        found: found.to_owned(),
        missing: missing.to_owned(),
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, TlsError> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TlsError::Unreadable {
            path: path.to_owned(),
            error,
        }),
    }
}

//! Keys and certificates: an own authority, a certificate for the server and one for its administrator, and the
//! kubeconfig that holds the latter. Made at first start, used again later, made anew when they are about to expire.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

use crate::private;

const CA_LIFE: Duration = Duration::days(3650);
const LEAF_LIFE: Duration = Duration::days(365);
/// What is left of a certificate's life when it is made anew.
const RENEW: Duration = Duration::days(30);

/// Why keys could not be made or read. Never holds key material.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot use {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("cannot make the certificate of {what}: {source}")]
    Make {
        what: &'static str,
        source: rcgen::Error,
    },
    #[error("the certificate authority in {0} cannot be read: remove that directory to have a new one made")]
    BrokenAuthority(PathBuf),
    #[error("the TLS settings are not usable: {0}")]
    Config(String),
}

/// A certificate and its key, as PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// Everything a listener needs.
pub struct Identity {
    pub ca: String,
    pub server: Pair,
    pub admin: Pair,
}

fn read(path: &Path) -> Result<Option<String>, TlsError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TlsError::File {
            path: path.into(),
            source,
        }),
    }
}

fn write(path: &Path, text: &str) -> Result<(), TlsError> {
    private::write_file(path, text.as_bytes()).map_err(|source| TlsError::File {
        path: path.into(),
        source,
    })
}

/// Reads the pair `<name>.crt`, `<name>.key`, if it is there and still good at `now`.
fn existing(directory: &Path, name: &str, now: OffsetDateTime) -> Result<Option<Pair>, TlsError> {
    let (certificate, key) = (
        read(&directory.join(format!("{name}.crt")))?,
        read(&directory.join(format!("{name}.key")))?,
    );
    let (Some(certificate), Some(key)) = (certificate, key) else {
        return Ok(None);
    };
    let good = expiry(&certificate).is_some_and(|end| end - now > RENEW);
    Ok(good.then_some(Pair { certificate, key }))
}

fn expiry(pem: &str) -> Option<OffsetDateTime> {
    let (_, pem) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).ok()?;
    let end = pem.parse_x509().ok()?.validity().not_after.timestamp();
    OffsetDateTime::from_unix_timestamp(end).ok()
}

/// Whether a certificate is for this address.
fn is_for(pem: &str, address: IpAddr) -> bool {
    let Ok((_, pem)) = x509_parser::pem::parse_x509_pem(pem.as_bytes()) else {
        return false;
    };
    let Ok(certificate) = pem.parse_x509() else {
        return false;
    };
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let names = certificate.subject_alternative_name().ok().flatten();
    names.is_some_and(|names| {
        names.value.general_names.iter().any(
            |name| matches!(name, x509_parser::extensions::GeneralName::IPAddress(found) if *found == octets),
        )
    })
}

fn params(name: &str, now: OffsetDateTime, life: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = now - Duration::hours(1);
    params.not_after = now + life;
    params
}

/// The identity in a directory; what is missing or about to expire is made. `address` is where the server listens.
pub fn identity(directory: &Path, address: IpAddr, now: OffsetDateTime) -> Result<Identity, TlsError> {
    private::create_dir(directory).map_err(|source| TlsError::File {
        path: directory.into(),
        source,
    })?;
    let (ca, fresh) = match existing(directory, "ca", now)? {
        Some(ca) => (ca, false),
        None => (new_authority(directory, now)?, true),
    };
    let key = KeyPair::from_pem(&ca.key).map_err(|_| TlsError::BrokenAuthority(directory.into()))?;
    let issuer = Issuer::from_ca_cert_pem(&ca.certificate, key)
        .map_err(|_| TlsError::BrokenAuthority(directory.into()))?;
    let reuse = |name: &str| {
        if fresh {
            Ok(None)
        } else {
            existing(directory, name, now)
        }
    };
    let server = match reuse("server")?.filter(|pair| is_for(&pair.certificate, address)) {
        Some(pair) => pair,
        None => leaf(directory, "server", &issuer, server_params(address, now)?)?,
    };
    let admin = match reuse("admin")? {
        Some(pair) => pair,
        None => leaf(directory, "admin", &issuer, admin_params(now))?,
    };
    Ok(Identity {
        ca: ca.certificate,
        server,
        admin,
    })
}

fn new_authority(directory: &Path, now: OffsetDateTime) -> Result<Pair, TlsError> {
    let failed = |source| TlsError::Make {
        what: "the authority",
        source,
    };
    let mut params = params("bmo-apiserver-ca", now, CA_LIFE);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    store(
        directory,
        "ca",
        Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        },
    )
}

fn server_params(address: IpAddr, now: OffsetDateTime) -> Result<CertificateParams, TlsError> {
    let names = [
        "localhost".to_owned(),
        "127.0.0.1".into(),
        "::1".into(),
        address.to_string(),
    ];
    let failed = |source| TlsError::Make {
        what: "the server",
        source,
    };
    let mut params = params("bmo-apiserver", now, LEAF_LIFE);
    params.subject_alt_names = CertificateParams::new(names).map_err(failed)?.subject_alt_names;
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyEncipherment,
    ];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}

fn admin_params(now: OffsetDateTime) -> CertificateParams {
    let mut params = params("admin", now, LEAF_LIFE);
    params
        .distinguished_name
        .push(DnType::OrganizationName, "system:masters");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn leaf(
    directory: &Path,
    name: &'static str,
    issuer: &Issuer<'_, KeyPair>,
    mut params: CertificateParams,
) -> Result<Pair, TlsError> {
    let failed = |source| TlsError::Make { what: name, source };
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.signed_by(&key, issuer).map_err(failed)?;
    store(
        directory,
        name,
        Pair {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        },
    )
}

fn store(directory: &Path, name: &str, pair: Pair) -> Result<Pair, TlsError> {
    write(&directory.join(format!("{name}.key")), &pair.key)?;
    write(&directory.join(format!("{name}.crt")), &pair.certificate)?;
    Ok(pair)
}

/// Writes the administrator's kubeconfig unless it is there just so.
pub fn write_kubeconfig(path: &Path, server: &str, identity: &Identity) -> Result<(), TlsError> {
    let encode = |pem: &str| STANDARD.encode(pem);
    let text = format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: bmo\n  cluster:\n    server: {server}\n    certificate-authority-data: {}\nusers:\n- name: admin\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\ncontexts:\n- name: bmo\n  context:\n    cluster: bmo\n    user: admin\ncurrent-context: bmo\n",
        encode(&identity.ca),
        encode(&identity.admin.certificate),
        encode(&identity.admin.key)
    );
    if read(path)?.is_some_and(|found| found == text) {
        Ok(())
    } else {
        write(path, &text)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn certificates_are_kept_until_they_are_about_to_expire() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pki");
        let now = OffsetDateTime::now_utc();
        let first = identity(&path, LOOPBACK, now).unwrap();
        let again = identity(&path, LOOPBACK, now + Duration::days(300)).unwrap();
        assert_eq!(again.server.certificate, first.server.certificate);
        let late = identity(&path, LOOPBACK, now + Duration::days(340)).unwrap();
        assert_ne!(late.server.certificate, first.server.certificate);
        assert_ne!(late.admin.certificate, first.admin.certificate);
        assert_eq!(late.ca, first.ca, "the authority lives longer");
        let other = identity(&path, "10.1.2.3".parse().unwrap(), now).unwrap();
        assert!(is_for(&other.server.certificate, "10.1.2.3".parse().unwrap()));
    }

    #[test]
    fn only_the_owner_may_read_keys() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pki");
        let made = identity(&path, LOOPBACK, OffsetDateTime::now_utc()).unwrap();
        let kubeconfig = directory.path().join("kubeconfig");
        write_kubeconfig(&kubeconfig, "https://127.0.0.1:1", &made).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        for file in [
            path.join("ca.key"),
            path.join("server.key"),
            path.join("admin.key"),
            kubeconfig,
        ] {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}

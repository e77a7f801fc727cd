//! What a request path is about.

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Health,
    Version,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/<group>`
    Group(String),
    /// `/api/v1` or `/apis/<group>/<version>`
    GroupVersion {
        group: String,
        version: String,
    },
    /// `/openapi/v3`
    OpenApi,
    /// `/openapi/v3/<path>`
    OpenApiOf {
        group: String,
        version: String,
    },
    Resource(ResourcePath),
    Unknown,
}

/// A path below a group and version.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourcePath {
    pub group: String,
    pub version: String,
    /// Empty for all namespaces and for cluster-scoped resources.
    pub namespace: String,
    pub plural: String,
    pub name: Option<String>,
    pub subresource: Option<String>,
}

impl Target {
    pub fn parse(path: &str) -> Self {
        let decoded: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(percent_decode)
            .collect();
        let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["version"] => Self::Version,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).into()),
            ["openapi", "v3"] => Self::OpenApi,
            ["openapi", "v3", "api", version] => Self::OpenApiOf {
                group: String::new(),
                version: (*version).into(),
            },
            ["openapi", "v3", "apis", group, version] => Self::OpenApiOf {
                group: (*group).into(),
                version: (*version).into(),
            },
            ["api", version, rest @ ..] => Self::below("", version, rest),
            ["apis", group, version, rest @ ..] => Self::below(group, version, rest),
            _ => Self::Unknown,
        }
    }

    fn below(group: &str, version: &str, rest: &[&str]) -> Self {
        let (namespace, rest) = match rest {
            // A namespace itself and its subresources.
            ["namespaces"] | ["namespaces", _] | ["namespaces", _, "status" | "finalize"]
                if group.is_empty() =>
            {
                ("", rest)
            }
            ["namespaces", namespace, inner @ ..] if !inner.is_empty() => (*namespace, inner),
            _ => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [] => {
                return Self::GroupVersion {
                    group: group.into(),
                    version: version.into(),
                };
            }
            [plural] => (*plural, None, None),
            [plural, name] => (*plural, Some((*name).to_owned()), None),
            [plural, name, sub] => (*plural, Some((*name).to_owned()), Some((*sub).to_owned())),
            _ => return Self::Unknown,
        };
        Self::Resource(ResourcePath {
            group: group.into(),
            version: version.into(),
            namespace: namespace.into(),
            plural: plural.into(),
            name,
            subresource,
        })
    }
}

/// Decodes `%xx`; what is no valid escape stays as it is.
pub fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |index: usize| bytes.get(index).and_then(|byte| char::from(*byte).to_digit(16));
        if bytes[at] == b'%'
            && let (Some(high), Some(low)) = (hex(at + 1), hex(at + 2))
        {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn resource(path: &str) -> ResourcePath {
        match Target::parse(path) {
            Target::Resource(resource) => resource,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn paths_of_resources() {
        let rows = [
            ("/api/v1/secrets", "", "", "secrets", None, None),
            ("/api/v1/namespaces", "", "", "namespaces", None, None),
            ("/api/v1/namespaces/x", "", "", "namespaces", Some("x"), None),
            (
                "/api/v1/namespaces/x/status",
                "",
                "",
                "namespaces",
                Some("x"),
                Some("status"),
            ),
            ("/api/v1/namespaces/x/secrets", "", "x", "secrets", None, None),
            (
                "/api/v1/namespaces/x/secrets/s",
                "",
                "x",
                "secrets",
                Some("s"),
                None,
            ),
            (
                "/apis/g.io/v1/namespaces/x/hosts/h/status",
                "g.io",
                "x",
                "hosts",
                Some("h"),
                Some("status"),
            ),
            ("/apis/g.io/v1/hosts", "g.io", "", "hosts", None, None),
        ];
        for (path, group, namespace, plural, name, sub) in rows {
            let found = resource(path);
            assert_eq!(
                (
                    found.group.as_str(),
                    found.namespace.as_str(),
                    found.plural.as_str()
                ),
                (group, namespace, plural),
                "{path}"
            );
            assert_eq!(
                (found.name.as_deref(), found.subresource.as_deref()),
                (name, sub),
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(path in "[/a-z0-9.%]{0,60}") {
            let _ = Target::parse(&path);
        }
    }
}

//! What a path of the Kubernetes API names, and which requests are refused.

use bmo_provisioner::wire::KubeRequest;

/// A resource path, split. Borrowed from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResourcePath<'a> {
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) plural: &'a str,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) subresource: bool,
    pub(super) query: &'a str,
}

impl<'a> ResourcePath<'a> {
    /// `None` for paths that name no resource, such as `/version`.
    pub(super) fn parse(path: &'a str) -> Option<Self> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut parts = path
            .trim_start_matches('/')
            .split('/')
            .filter(|part| !part.is_empty());
        let group = match parts.next()? {
            "api" => "",
            "apis" => parts.next()?,
            _ => return None,
        };
        let version = parts.next()?;
        let rest: Vec<&str> = parts.collect();
        let (namespace, rest) = match rest.as_slice() {
            // `/namespaces/<name>` alone is the namespace itself, and `/namespaces/<name>/status` part of it.
            ["namespaces", _, "status" | "finalize"] | ["namespaces", _] => (None, rest.as_slice()),
            ["namespaces", namespace, rest @ ..] => (Some(*namespace), rest),
            rest => (None, rest),
        };
        let (plural, name) = (*rest.first()?, rest.get(1).copied());
        Some(Self {
            group,
            version,
            plural,
            namespace,
            name,
            subresource: rest.len() > 2,
            query,
        })
    }
}

/// Why a request is not sent, if it is not.
pub(super) fn refusal(request: &KubeRequest) -> Option<String> {
    if !matches!(
        request.method.as_str(),
        "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
    ) {
        return Some(format!(
            "the method {:?} is none of GET, POST, PUT, PATCH, DELETE",
            request.method
        ));
    }
    let path = request.path.as_str();
    let known = ["/api", "/apis", "/version", "/openapi"];
    let below = |root: &str| path == root || [root, "/"].concat() == path[..path.len().min(root.len() + 1)];
    let below = |root: &str| below(root) || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('?'));
    if !known.into_iter().any(below) {
        return Some(format!("the path {path:?} is not below {}", known.join(", ")));
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut parameters = query.split('&').filter_map(|pair| pair.split_once('='));
    let follows =
        parameters.any(|(key, value)| matches!(key, "watch" | "follow") && value != "false" && value != "0");
    if follows || path.split('/').any(|part| part == "watch") {
        return Some(
            "a request that goes on for ever (watch, follow) is not possible through the operator; read again \
             when a method is called, from the cache where one was asked for in HostConfigure, and wake the host \
             when the back end reports something"
                .to_owned(),
        );
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    if matches!(last, "exec" | "attach" | "portforward" | "proxy") {
        return Some(format!(
            "{last} needs a connection of its own, which the operator does not lend"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use bmo_provisioner::wire::KubeRequest;

    use super::{ResourcePath, refusal};

    #[test]
    fn paths_are_split() {
        let of =
            |path| ResourcePath::parse(path).map(|p| (p.group, p.version, p.plural, p.namespace, p.name));
        assert_eq!(of("/api/v1/secrets"), Some(("", "v1", "secrets", None, None)));
        assert_eq!(
            of("/api/v1/namespaces/a"),
            Some(("", "v1", "namespaces", None, Some("a")))
        );
        assert_eq!(
            of("/api/v1/namespaces/a/secrets/b?x=y"),
            Some(("", "v1", "secrets", Some("a"), Some("b")))
        );
        assert_eq!(
            of("/apis/ironic.metal3.io/v1alpha1/namespaces/n/ironics/i/status"),
            Some(("ironic.metal3.io", "v1alpha1", "ironics", Some("n"), Some("i")))
        );
        assert_eq!(of("/version"), None);
        assert_eq!(of("/apis/g"), None);
        assert!(
            ResourcePath::parse("/api/v1/namespaces/a/pods/b/log")
                .unwrap()
                .subresource
        );
    }

    #[test]
    fn what_cannot_be_carried_is_refused_with_a_reason() {
        let request = |method: &str, path: &str| KubeRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            ..KubeRequest::default()
        };
        for (method, path) in [
            ("GET", "/api/v1/secrets"),
            ("GET", "/version"),
            ("GET", "/apis"),
            ("PATCH", "/apis/a/b/c"),
        ] {
            assert_eq!(refusal(&request(method, path)), None, "{path}");
        }
        for (method, path, reason) in [
            ("GET", "/api/v1/secrets?watch=true", "watch"),
            ("GET", "/api/v1/secrets?limit=5&watch=1", "watch"),
            ("GET", "/api/v1/watch/secrets", "watch"),
            ("GET", "/api/v1/namespaces/n/pods/p/log?follow=true", "follow"),
            ("POST", "/api/v1/namespaces/n/pods/p/exec", "exec"),
            ("CONNECT", "/api/v1", "CONNECT"),
            ("GET", "http://elsewhere/api", "not below"),
            ("GET", "/metrics", "not below"),
            ("GET", "/apiserver", "not below"),
        ] {
            let text = refusal(&request(method, path)).unwrap_or_default();
            assert!(text.contains(reason), "{path}: {text}");
        }
    }
}

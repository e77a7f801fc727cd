//! Discovery: which groups, versions and resources there are, plain and aggregated.

use serde_json::{Value, json};

use crate::error::{ApiError, Result};
use crate::resource::{Resource, Resources};

const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The Kubernetes version whose behaviour this server follows.
pub fn version() -> Value {
    json!({"major": "1", "minor": "36", "gitVersion": concat!("v1.36.0-bmo.", env!("CARGO_PKG_VERSION")),
        "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
        "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH)})
}

pub fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// Groups in order of their first resource, each with its versions.
pub fn group_versions(resources: &Resources) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in resources.iter() {
        let index = groups
            .iter()
            .position(|(group, _)| *group == one.group)
            .unwrap_or_else(|| {
                groups.push((&one.group, Vec::new()));
                groups.len() - 1
            });
        if !groups[index].1.contains(&one.version.as_str()) {
            groups[index].1.push(&one.version);
        }
    }
    for (_, versions) in &mut groups {
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
    }
    groups
}

/// Orders versions as Kubernetes does: stable before beta before alpha, higher numbers first.
fn priority(version: &str) -> (u8, u64, u64) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let major = digits.parse().unwrap_or(0);
    let tail = &rest[digits.len()..];
    let stage = |name: &str, rank: u8| {
        tail.strip_prefix(name)
            .map(|number| (rank, major, number.parse().unwrap_or(0)))
    };
    if tail.is_empty() {
        (3, major, 0)
    } else {
        stage("beta", 2)
            .or_else(|| stage("alpha", 1))
            .unwrap_or((0, 0, 0))
    }
}

fn group_json(group: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
        .collect();
    json!({"name": group, "versions": versions, "preferredVersion": versions[0]})
}

/// The group of access reviews, which are answered without being a stored resource.
const REVIEWS: &str = crate::http::REVIEW_GROUP;

pub fn groups(resources: &Resources) -> Value {
    let mut groups: Vec<Value> = group_versions(resources)
        .iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| group_json(group, versions))
        .collect();
    groups.push(group_json(REVIEWS, &["v1"]));
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

pub fn group(resources: &Resources, group: &str) -> Result<Value> {
    let groups = group_versions(resources);
    let (_, versions) = groups
        .iter()
        .find(|(name, _)| *name == group)
        .ok_or_else(ApiError::unknown_path)?;
    let mut json = json!({"kind": "APIGroup", "apiVersion": "v1"});
    if let (Some(map), Value::Object(more)) = (json.as_object_mut(), group_json(group, versions)) {
        map.extend(more);
    }
    Ok(json)
}

pub fn group_version(resources: &Resources, group: &str, version: &str) -> Result<Value> {
    let mut list = Vec::new();
    if (group, version) == (REVIEWS, "v1") {
        list.push(
            json!({"name": "selfsubjectaccessreviews", "singularName": "selfsubjectaccessreview",
            "namespaced": false, "kind": "SelfSubjectAccessReview", "verbs": ["create"]}),
        );
    }
    for one in resources
        .iter()
        .filter(|one| one.group == group && one.version == version)
    {
        let mut json = json!({"name": one.plural, "singularName": one.singular, "namespaced": one.namespaced,
            "kind": one.kind, "verbs": VERBS});
        if !one.short_names.is_empty() {
            json["shortNames"] = json!(one.short_names);
        }
        if !one.categories.is_empty() {
            json["categories"] = json!(one.categories);
        }
        list.push(json);
        for (subresource, verbs) in subresources(one) {
            list.push(
                json!({"name": format!("{}/{subresource}", one.plural), "singularName": "",
                "namespaced": one.namespaced, "kind": one.kind, "verbs": verbs}),
            );
        }
    }
    if list.is_empty() {
        return Err(ApiError::unknown_path());
    }
    let group_version = crate::object::api_version(group, version);
    Ok(
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": list}),
    )
}

fn subresources(resource: &Resource) -> Vec<(&'static str, &'static [&'static str])> {
    let mut list: Vec<(&str, &[&str])> = Vec::new();
    if resource.has_status {
        list.push(("status", &STATUS_VERBS));
    }
    if resource.plural == "namespaces" && resource.group.is_empty() {
        list.push(("finalize", &["update"]));
    }
    list
}

/// `APIGroupDiscoveryList` of the core group or of all others.
pub fn aggregated(resources: &Resources, core: bool) -> Value {
    let mut items: Vec<Value> = group_versions(resources)
        .into_iter()
        .filter(|(group, _)| group.is_empty() == core)
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let list: Vec<Value> = resources
                        .iter()
                        .filter(|one| one.group == group && one.version == *version)
                        .map(|one| aggregated_resource(one))
                        .collect();
                    json!({"version": version, "resources": list, "freshness": "Current"})
                })
                .collect();
            let meta = if group.is_empty() {
                json!({"creationTimestamp": null})
            } else {
                json!({"name": group, "creationTimestamp": null})
            };
            json!({"metadata": meta, "versions": versions})
        })
        .collect();
    if !core {
        let kind = json!({"group": REVIEWS, "version": "v1", "kind": "SelfSubjectAccessReview"});
        items.push(json!({"metadata": {"name": REVIEWS, "creationTimestamp": null}, "versions": [{"version": "v1",
            "freshness": "Current", "resources": [{"resource": "selfsubjectaccessreviews", "responseKind": kind,
                "scope": "Cluster", "singularResource": "selfsubjectaccessreview", "verbs": ["create"]}]}]}));
    }
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_resource(one: &Resource) -> Value {
    let kind = json!({"group": one.group, "version": one.version, "kind": one.kind});
    let scope = if one.namespaced { "Namespaced" } else { "Cluster" };
    let mut json = json!({"resource": one.plural, "responseKind": kind, "scope": scope,
        "singularResource": one.singular, "verbs": VERBS});
    if !one.short_names.is_empty() {
        json["shortNames"] = json!(one.short_names);
    }
    if !one.categories.is_empty() {
        json["categories"] = json!(one.categories);
    }
    let subs: Vec<Value> = subresources(one)
        .into_iter()
        .map(|(name, verbs)| json!({"subresource": name, "responseKind": kind, "verbs": verbs}))
        .collect();
    if !subs.is_empty() {
        json["subresources"] = json!(subs);
    }
    json
}

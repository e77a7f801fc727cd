//! What is said once: the hand-shake, what the plugin needs of the host, the plugin's configuration.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::feature::HostFeatures;
use crate::wire::LogLevel;
use crate::{Capabilities, HostFeature};

/// The protocol versions a side speaks, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolRange {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

impl ProtocolRange {
    /// The newest version both speak.
    pub fn common(self, other: Self) -> Option<u32> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }
}

impl fmt::Display for ProtocolRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{} to {}", self.min, self.max)
        }
    }
}

/// Parameters of `initialize`, the first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeRequest {
    /// Protocol versions the host speaks.
    pub protocol: ProtocolRange,
    /// Version of the host.
    pub host_version: String,
    /// Features of the host that are on.
    #[serde(default)]
    pub features: HostFeatures,
    /// The most detailed level the host's log takes.
    #[serde(default)]
    pub log_level: LogLevel,
}

/// Answer of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// Protocol versions the plugin speaks.
    pub protocol: ProtocolRange,
    /// The plugin's name, as `PluginName()` gives it.
    pub name: String,
    /// The plugin's own version.
    #[serde(default)]
    pub version: String,
    /// How it was built.
    #[serde(default)]
    pub build: BuildInfo,
    /// What it implements beyond the minimum.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// How a plugin was built, for humans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BuildInfo {
    /// Name and version of the compiler.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub compiler: String,
    /// Name and version of the SDK; empty where none was used.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sdk: String,
    /// Which source it was built from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
}

impl fmt::Display for BuildInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.compiler, &self.sdk, &self.revision];
        let known: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|part| !part.is_empty())
            .collect();
        f.write_str(if known.is_empty() { "unknown" } else { "" })?;
        f.write_str(&known.join(", "))
    }
}

/// Parameters of `hostConfigure`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostConfigureInput {
    /// Features of the host that are on.
    pub features: HostFeatures,
    /// The namespace the operator runs in or watches; empty where it has none.
    pub provisioner_namespace: String,
}

impl HostConfigureInput {
    /// Whether the feature is on.
    pub fn has_feature(&self, feature: HostFeature) -> bool {
        self.features.has(feature)
    }
}

/// Answer of `hostConfigure`: what the plugin needs of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostRequirements {
    /// Resource types beyond the operator's own that the plugin reads. The first cached read of one starts a
    /// cache over the whole cluster, unless `cacheByType` scopes it.
    pub extra_types: Vec<TypeRef>,
    /// Caches that the host starts at once, and their scopes.
    pub cache_by_type: Vec<CacheScope>,
}

/// A resource type of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TypeRef {
    /// API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Plural name, as in URLs.
    pub plural: String,
    /// Whether its objects live in namespaces.
    #[serde(default = "yes")]
    pub namespaced: bool,
}

fn yes() -> bool {
    true
}

/// A cache and its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheScope {
    /// What is cached.
    #[serde(rename = "type")]
    pub resource: TypeRef,
    /// Only objects of these namespaces; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Only objects with these labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// Only objects with these fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<String>,
}

/// Parameters of `configure`. From here on the plugin may use `kube/request`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigureRequest {
    /// Features of the host that are on.
    pub features: HostFeatures,
    /// The namespace the operator runs in or watches; empty where it has none.
    pub provisioner_namespace: String,
}

/// Answer of `configure`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigureResult {
    /// What the plugin implements with this configuration, where that is less than the hand-shake said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

#[cfg(test)]
mod tests {
    use super::ProtocolRange;

    #[test]
    fn the_newest_common_version_wins() {
        let range = |min, max| ProtocolRange { min, max };
        assert_eq!(range(1, 3).common(range(2, 5)), Some(3));
        assert_eq!(range(1, 1).common(range(1, 1)), Some(1));
        assert_eq!(range(1, 1).common(range(2, 2)), None);
        assert_eq!(range(4, 5).common(range(1, 3)), None);
    }
}

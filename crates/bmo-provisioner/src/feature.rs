//! What the operator has been told to do beyond the ordinary, as far as a plugin may care.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A feature of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum HostFeature {
    /// Preprovisioning images are built on request (`-build-preprov-image`).
    PreprovisioningImage,
}

impl HostFeature {
    /// Every feature.
    pub const ALL: [Self; 1] = [Self::PreprovisioningImage];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreprovisioningImage => "PreprovisioningImage",
        }
    }
}

/// A set of [`HostFeature`]. On the wire a list of names; unknown names are dropped, so that an older plugin
/// can be loaded by a newer operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct HostFeatures(BTreeSet<HostFeature>);

impl HostFeatures {
    /// Whether the feature is on.
    pub fn has(&self, feature: HostFeature) -> bool {
        self.0.contains(&feature)
    }

    /// The features that are on.
    pub fn iter(&self) -> impl Iterator<Item = HostFeature> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<HostFeature> for HostFeatures {
    fn from_iter<I: IntoIterator<Item = HostFeature>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl<const N: usize> From<[HostFeature; N]> for HostFeatures {
    fn from(list: [HostFeature; N]) -> Self {
        list.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for HostFeatures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(HostFeature::ALL
            .into_iter()
            .filter(|known| names.iter().any(|name| name == known.name()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{HostFeature, HostFeatures};

    #[test]
    fn unknown_features_are_dropped_and_known_ones_keep_their_name() {
        let set: HostFeatures = serde_json::from_str(r#"["Later","PreprovisioningImage"]"#).unwrap();
        assert!(set.has(HostFeature::PreprovisioningImage));
        assert_eq!(
            serde_json::to_string(&set).unwrap(),
            r#"["PreprovisioningImage"]"#
        );
        for feature in HostFeature::ALL {
            assert_eq!(serde_json::to_value(feature).unwrap(), feature.name());
        }
    }
}

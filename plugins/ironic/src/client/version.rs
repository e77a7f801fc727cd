//! The API version spoken with Ironic, and what it allows.
//!
//! The highest of a few known versions is chosen that the server supports; a feature is used only from the version
//! on that has it.

use serde::Deserialize;

/// Versions that are ever asked for, newest first. Each is there for what it brings.
const SPOKEN: [u16; 5] = [110, 109, 95, 93, OLDEST];
/// Below this minor version Ironic is refused.
pub const OLDEST: u16 = 89;

/// The version spoken, always of major version 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    minor: u16,
}

impl Version {
    /// Chooses a version within what a server offers.
    ///
    /// # Errors
    /// A sentence for the user where there is none.
    pub fn choose(min_minor: u16, max_minor: u16) -> Result<Self, String> {
        SPOKEN.into_iter().find(|minor| (min_minor..=max_minor).contains(minor)).map(|minor| Self { minor }).ok_or_else(
            || {
                format!(
                    "Ironic speaks API versions 1.{min_minor} to 1.{max_minor}, but 1.{OLDEST} is the oldest that can be used \
                     and 1.{} the newest; use another release of Ironic",
                    SPOKEN[0]
                )
            },
        )
    }

    /// The text in the header, such as `1.95`.
    pub fn header(self) -> String {
        format!("1.{}", self.minor)
    }

    /// Whether inserted virtual media can be listed (1.93).
    pub fn has_virtual_media_list(self) -> bool {
        self.minor >= 93
    }

    /// Whether a node can be told never to be powered off (1.95).
    pub fn has_disable_power_off(self) -> bool {
        self.minor >= 95
    }

    /// Whether a node tells its health (1.109).
    pub fn has_health(self) -> bool {
        self.minor >= 109
    }

    /// Whether a deployment that waits for its agent can be aborted (1.110).
    pub fn has_deployment_abort(self) -> bool {
        self.minor >= 110
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

/// What the root of the API answers: one version, or a list of one.
#[derive(Debug, Deserialize)]
pub struct Discovery {
    version: Option<Offer>,
    versions: Option<Vec<Offer>>,
}

#[derive(Debug, Deserialize)]
struct Offer {
    #[serde(default)]
    id: String,
    #[serde(default)]
    min_version: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    max_version: String,
}

impl Discovery {
    /// Chooses the version to speak.
    ///
    /// # Errors
    /// A sentence for the user where the answer holds none that can be used.
    pub fn choose(self) -> Result<Version, String> {
        let offers = self
            .version
            .into_iter()
            .chain(self.versions.into_iter().flatten())
            .collect::<Vec<_>>();
        let [offer] = offers.as_slice() else {
            return Err(format!(
                "Ironic's root lists {} API versions where one is expected; is the endpoint really an Ironic?",
                offers.len()
            ));
        };
        let max = if offer.version.is_empty() {
            &offer.max_version
        } else {
            &offer.version
        };
        let max_minor = minor_of_1(max).ok_or_else(|| {
            format!(
                "Ironic's newest API version is {max:?} (id {:?}), but a version 1.N is expected",
                offer.id
            )
        })?;
        Version::choose(minor_of_1(&offer.min_version).unwrap_or(1), max_minor)
    }
}

/// The minor part of a version of major version 1.
fn minor_of_1(text: &str) -> Option<u16> {
    text.strip_prefix("1.")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Discovery, Version};
    use serde_json::json;

    #[test]
    fn version_spoken_for_what_the_server_has() {
        let table = [
            (50, None),
            (88, None),
            (89, Some("1.89")),
            (92, Some("1.89")),
            (93, Some("1.93")),
            (94, Some("1.93")),
            (95, Some("1.95")),
            (100, Some("1.95")),
            (108, Some("1.95")),
            (109, Some("1.109")),
            (110, Some("1.110")),
            (115, Some("1.110")),
        ];
        for (max, spoken) in table {
            assert_eq!(
                Version::choose(1, max).ok().map(Version::header).as_deref(),
                spoken,
                "max 1.{max}"
            );
        }
        assert!(Version::choose(111, 120).is_err());
    }

    #[test]
    fn features_begin_with_their_version() {
        let features = |minor| {
            let version = Version::choose(1, minor).unwrap();
            [
                version.has_virtual_media_list(),
                version.has_disable_power_off(),
                version.has_health(),
                version.has_deployment_abort(),
            ]
        };
        assert_eq!(features(89), [false; 4]);
        assert_eq!(features(93), [true, false, false, false]);
        assert_eq!(features(95), [true, true, false, false]);
        assert_eq!(features(109), [true, true, true, false]);
        assert_eq!(features(115), [true; 4]);
    }

    #[test]
    fn both_shapes_of_the_root() {
        let choose = |document| serde_json::from_value::<Discovery>(document).unwrap().choose();
        let offer = json!({"id": "v1", "min_version": "1.1", "version": "1.95", "status": "CURRENT"});
        assert_eq!(choose(json!({"version": offer})).unwrap().header(), "1.95");
        assert_eq!(
            choose(json!({"name": "x", "versions": [offer]}))
                .unwrap()
                .header(),
            "1.95"
        );
        let max_version = json!({"version": {"id": "v1", "min_version": "1.1", "max_version": "1.109"}});
        assert_eq!(choose(max_version).unwrap().header(), "1.109");
        assert!(
            choose(json!({"versions": [offer, offer]}))
                .unwrap_err()
                .contains("2 API versions")
        );
        assert!(choose(json!({})).unwrap_err().contains("0 API versions"));
        assert!(
            choose(json!({"version": {"version": "2.3"}}))
                .unwrap_err()
                .contains("\"2.3\"")
        );
    }
}

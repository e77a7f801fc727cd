//! Enums that are texts in the API: one macro gives each its text, parsing, serde and schema.
//!
//! A *closed* enum refuses other texts (the CRD does not let them in). An *open* one keeps them in `Unknown`, so that
//! an object written by another version of the operator is still read, and written back unchanged.

/// Declares a text enum; see the module head. `open enum` adds `Unknown(String)`.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $Name { $( $(#[$vmeta])* #[doc = concat!("\n\nText: `", $text, "`.")] $Variant ),+ }

        impl $Name {
            /// Every text of this choice, in the order of the schema.
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            /// The text in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$Variant => $text ),+ }
            }
        }

        impl std::str::FromStr for $Name {
            type Err = $crate::text_enum::UnknownText;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $text => Ok(Self::$Variant), )+
                    other => Err($crate::text_enum::UnknownText::new(other, Self::TEXTS)),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        text_enum!(@common $Name);
        text_enum!(@schema $Name);
    };
    ($(#[$meta:meta])* pub open enum $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),+ $(,)? }) => {
        text_enum!(@open $(#[$meta])* $Name { $( $(#[$vmeta])* $Variant = $text ),+ });
        text_enum!(@schema $Name);
    };
    ($(#[$meta:meta])* pub free enum $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),+ $(,)? }) => {
        text_enum!(@open $(#[$meta])* $Name { $( $(#[$vmeta])* $Variant = $text ),+ });

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($Name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
    (@open $(#[$meta:meta])* $Name:ident { $( $(#[$vmeta:meta])* $Variant:ident = $text:literal ),+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $Name {
            $( $(#[$vmeta])* #[doc = concat!("\n\nText: `", $text, "`.")] $Variant, )+
            /// A text this version does not know, kept as it is.
            Unknown(String),
        }

        impl $Name {
            /// Every text of this choice, in the order of the schema.
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            /// The text in the API.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$Variant => $text, )+
                    Self::Unknown(text) => text,
                }
            }

            /// False for a text this version does not know.
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Unknown(_))
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$Variant, )+
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl std::str::FromStr for $Name {
            type Err = std::convert::Infallible;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self::from(&*text))
            }
        }

        text_enum!(@common $Name);
    };
    (@common $Name:ident) => {
        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
    (@schema $Name:ident) => {
        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($Name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::TEXTS })
            }
        }
    };
}

pub(crate) use text_enum;

/// A text that is none of the allowed ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not one of {}", allowed.join(", "))]
pub struct UnknownText {
    found: String,
    allowed: &'static [&'static str],
}

impl UnknownText {
    pub(crate) fn new(found: &str, allowed: &'static [&'static str]) -> Self {
        Self {
            found: found.to_owned(),
            allowed,
        }
    }
}

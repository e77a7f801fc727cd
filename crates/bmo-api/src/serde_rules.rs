//! How fields are read and left out: the few rules that differ from serde's defaults.

use serde::de::value::StringDeserializer;
use serde::{Deserialize, Deserializer, Serializer};

/// Reads a choice whose empty text means "not set".
pub fn empty_as_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    match Option::<String>::deserialize(deserializer)? {
        Some(text) if !text.is_empty() => T::deserialize(StringDeserializer::<D::Error>::new(text)).map(Some),
        _ => Ok(None),
    }
}

/// Reads `null` like an absent member.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// True for the value that is left out when written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes a number without a fraction as an integer, as JSON writers of other languages do.
#[allow(
    clippy::cast_possible_truncation,
    reason = "guarded: whole and within the range that f64 holds exactly"
)]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub fn whole_as_integer<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

//! Points in time as the API keeps them: whole seconds, in UTC.
//!
//! The stored text has no fractions. A [`Time`] made with one would differ from itself after one round trip, and that
//! difference would cause a write in every pass; so every time that goes into an object is made here.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// Now, in whole seconds.
pub fn now() -> Time {
    whole_seconds(Timestamp::now())
}

/// The given moment without its fraction of a second.
pub fn whole_seconds(moment: Timestamp) -> Time {
    Time(Timestamp::from_second(moment.as_second()).unwrap_or(moment))
}

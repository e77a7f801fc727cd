//! Messages: the same JSON documents over every carrier.

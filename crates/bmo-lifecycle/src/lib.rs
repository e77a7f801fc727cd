//! The life of a host: one file per state, decisions without a cluster.

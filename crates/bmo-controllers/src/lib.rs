//! One controller per kind: load, decide, commit.

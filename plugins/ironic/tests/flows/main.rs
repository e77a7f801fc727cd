//! Every method against a scripted Ironic, state by state.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::type_complexity,
    clippy::unnecessary_wraps,
    clippy::manual_assert,
    clippy::single_match_else,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tables of cases; a test may panic"
)]

mod adopt;
mod capacity;
mod crowd;
mod deprovision;
mod factory;
mod inspect;
mod ironic_object;
mod outcome;
mod power;
mod prepare;
mod provision;
mod reads;
mod register;
mod remove;
mod service;
mod support;
mod tls;

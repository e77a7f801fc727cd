//! Every method against a scripted Ironic, state by state.

mod adopt;
mod capacity;
mod deprovision;
mod factory;
mod inspect;
mod outcome;
mod power;
mod prepare;
mod provision;
mod reads;
mod register;
mod remove;
mod service;
mod support;

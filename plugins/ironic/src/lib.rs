//! The Ironic provisioner: drives machines through OpenStack Ironic's bare-metal API.
//!
//! A [`factory::IronicFactory`] makes one [`pass::Pass`] for each host and reconcile pass. A pass reads its node at
//! most once; each of the contract's methods is in a file of its own and says, by Ironic's provision state, what is
//! done next. What all passes share (how long things take, which ports exist) is in [`shared`].

mod adopt;
mod capabilities;
mod capacity;
pub mod client;
pub mod config;
mod configdrive;
mod data_image;
mod deprovision;
mod driver_info;
pub mod factory;
mod find;
mod firmware;
mod fleet;
mod hardware;
mod health;
mod hints;
mod inspect;
mod instance;
pub mod ironic_object;
pub mod pace;
pub mod pass;
pub mod patch;
pub mod plugin;
mod ports;
mod power;
mod prepare;
mod provision;
mod provisioner;
mod raid;
mod ramdisk;
mod register;
mod remove;
mod service;
pub mod shared;
mod steps;
mod subscription;

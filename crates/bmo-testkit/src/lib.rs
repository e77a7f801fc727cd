//! Scenario helpers, scripted provisioners and fault injection for tests.
//!
//! * [`scripted`]: a provisioner whose answers a test writes down.
//! * [`recorder`]: stands before any provisioner and notes each call together with what was stored at that moment.
//! * [`world`]: hosts without a cluster: passes, commits, crashes between any two writes, virtual time.
//! * [`hosts`]: hosts to start tests with.

pub mod hosts;
pub mod recorder;
pub mod scripted;
pub mod world;

pub use recorder::{Call, Recorder};
pub use scripted::{Answer, Method, ScriptedProvisioner};
pub use world::{PassReport, World, Write};

//! The life of a host: one file per state, decisions without a cluster.
//!
//! [`decide`] is given what was observed of a host ([`Observed`]) and a way to its provisioner, and returns what to
//! write and when to look again ([`Decision`]). [`pass`] has these types and the order in which a controller commits.
//!
//! A pass runs like this (`machine.rs`): guards look at the host as a whole (deletion, detaching, credentials,
//! capacity, registration: `guards/`), then the handler of its state acts (`states/`). A handler stays or goes on to
//! another state; then the same pass goes on with that state's handler, so that steps which take no time cost no
//! write. It stops where the next call to the back end is destructive and the stored status does not name that state
//! yet: that is what makes a crash at any moment harmless.
//!
//! What is not here yet: servicing and firmware (HostFirmwareSettings, HostFirmwareComponents, HostUpdatePolicy), data
//! images and building preprovisioning images. Their states and calls exist in the contract; the handlers that would
//! use them say so in their heads.

mod admission;
mod annotations;
mod backoff;
mod conditions;
mod context;
mod credentials;
mod decide;
mod failure;
mod guards;
mod history;
mod image_wish;
mod machine;
pub mod pass;
mod power;
mod profile;
mod raid_settings;
mod states;
mod step;

pub use credentials::credentials_wish;
pub use decide::decide;
pub use pass::{
    CredentialsProblem, CredentialsRead, CredentialsWish, Decision, EventKind, FinalizerChange,
    HardwareDataChange, HostEvent, Metric, NetworkDataRead, NoPullSecrets, Observed, Operation, Outcome,
    PassError, Policy, PullSecrets, SecretVersion, SecretsChange, Services, StopReason, TimedOperation,
    WaitReason,
};

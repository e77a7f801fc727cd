//! What goes into a decision about a host and what comes out of it.
//!
//! A controller runs a pass as *load → decide → commit*. It fills [`Observed`] from its caches, calls
//! [`decide`](crate::decide) and carries the [`Decision`] out. Nothing here knows a Kubernetes client or a clock:
//! what time it is and how much back-off is spread arrive in [`Observed`], so a decision can be repeated.
//!
//! # The order of a commit
//!
//! Each write is guarded by the resource version that was observed; the first one that fails ends the commit, and
//! the host is looked at again. A later step is never taken before an earlier one is stored:
//!
//! 1. [`Decision::finalizer`] = [`FinalizerChange::Add`]: before anything else. No decision that adds it has
//!    called the back end.
//! 2. [`HardwareDataChange::Write`]: before the status that says the host was inspected.
//! 3. [`Decision::status`]: before annotations, so that a request is dropped only when its effect is stored.
//! 4. [`Decision::annotations_to_remove`]: one write for all of them.
//! 5. [`SecretsChange::ReleaseFormer`].
//! 6. [`Outcome::Deleted`]: [`SecretsChange::ReleaseAll`], then [`HardwareDataChange::ReleaseFinalizer`], then
//!    [`FinalizerChange::Remove`]. The host may be gone afterwards: nothing more is written.
//! 7. Events and metrics. Those with [`Metric::only_when_saved`] are counted only if step 3 was needed and stored.
//!
//! A destructive call to the back end is made only in a pass whose *observed* status already names its state. A
//! controller must therefore not decide on a copy of the host that is older than its own last write.

use std::fmt;
use std::time::Duration;

use bmo_api::{
    BareMetalHost, BareMetalHostStatus, ErrorType, HardwareData, HardwareDetails, Image, ProvisioningState,
};
use bmo_provisioner::{BmcCredentials, HostConfigData, ProvisionerError, SecretString};
use jiff::Timestamp;

/// Everything a decision is made from.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The host as stored.
    pub host: BareMetalHost,
    /// The HardwareData of the same name, where there is one.
    pub hardware_data: Option<HardwareData>,
    /// The BMC's credentials; see [`credentials_wish`](crate::credentials_wish) for what to load.
    pub credentials: CredentialsRead,
    /// Network data for the preprovisioning image (`spec.preprovisioningNetworkDataName`).
    pub preprovisioning_network_data: NetworkDataRead,
    /// The time of the pass.
    pub now: Timestamp,
    /// Spread of back-off delays, uniform in `0.0..1.0`, drawn anew for each pass.
    pub jitter: f64,
}

/// What a controller must do about the BMC's credentials before it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsWish {
    /// Leave the Secret alone; observe [`CredentialsRead::NotNeeded`].
    NotNeeded,
    /// Read the Secret, change nothing on it.
    Read,
    /// Read the Secret and see that it has the label, the host as owner and the finalizer, in one write at most.
    /// The version observed is the one after that write.
    Claim,
}

/// What became of reading the BMC's credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialsRead {
    /// They were not asked for.
    NotNeeded,
    /// They were read and are complete.
    Found {
        /// Which Secret, at which version.
        secret: SecretVersion,
        /// User and password.
        credentials: BmcCredentials,
    },
    /// They cannot be used.
    Problem(CredentialsProblem),
}

/// A Secret at one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretVersion {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its `metadata.resourceVersion`.
    pub version: String,
}

/// Why credentials cannot be used. The texts are what a user reads in `status.errorMessage`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsProblem {
    /// `spec.bmc.credentialsName` is empty.
    #[error("The BMC secret reference is empty: set spec.bmc.credentialsName")]
    EmptyName,
    /// `spec.bmc.address` is empty.
    #[error("Missing BMC connection detail 'Address': set spec.bmc.address")]
    EmptyAddress,
    /// There is no such Secret. Looked for again every ten seconds and when one appears.
    #[error("The BMC secret {namespace}/{name} does not exist")]
    Missing {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
    },
    /// The Secret lacks the user or the password. Looked at again when the Secret or the host changes.
    #[error("Validation error with BMC credentials: {message}")]
    Invalid {
        /// What is missing; holds no secret.
        message: String,
    },
    /// The API server did not give the Secret or did not take the claim; a failed pass.
    #[error("cannot read the BMC secret: {message}")]
    Unreadable {
        /// The client's error.
        message: String,
    },
}

/// What became of reading `spec.preprovisioningNetworkDataName`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkDataRead {
    /// The host names none, or is in a state that does not need it.
    #[default]
    NotNeeded,
    /// The text; may be empty.
    Found(SecretString),
    /// It cannot be used; the text is shown to the user.
    Problem(String),
}

/// What an administrator sets for all hosts.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Attempts to provision one image before the host waits for a change; 0 is no limit.
    pub max_provisioning_retries: u32,
    /// CPU architecture of the operator itself, taken for hosts of which none is known (`x86_64`, `aarch64`).
    pub operator_architecture: String,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_provisioning_retries: 5,
            operator_architecture: std::env::consts::ARCH.to_owned(),
        }
    }
}

/// What a decision may read while it is made, each only when it is needed.
#[derive(Clone, Copy)]
pub struct Services<'a> {
    /// User, network and meta data, handed to the provisioner.
    pub config: &'a dyn HostConfigData,
    /// Credentials of image registries.
    pub pull_secrets: &'a dyn PullSecrets,
}

impl fmt::Debug for Services<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// Reads credentials of image registries.
#[async_trait::async_trait]
pub trait PullSecrets: Send + Sync {
    /// `user:password` for the registry of `image`; empty where the image needs none.
    ///
    /// # Errors
    /// A text for the user, recorded as a provisioning error.
    async fn pull_secret(&self, image: &Image) -> Result<SecretString, String>;
}

/// No image needs credentials.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPullSecrets;

#[async_trait::async_trait]
impl PullSecrets for NoPullSecrets {
    async fn pull_secret(&self, _image: &Image) -> Result<SecretString, String> {
        Ok(SecretString::default())
    }
}

/// What to write and when to look again. The order is given in the [module's head](self).
#[derive(Clone, Debug)]
#[must_use = "a decision does nothing until it is committed"]
pub struct Decision {
    /// The new status, only where it differs from the stored one in more than `lastUpdated`, which is set to now.
    pub status: Option<Box<BareMetalHostStatus>>,
    /// What to do about our finalizer on the host.
    pub finalizer: FinalizerChange,
    /// Keys to remove from the host's annotations.
    pub annotations_to_remove: Vec<String>,
    /// What to do about the HardwareData of the same name.
    pub hardware_data: HardwareDataChange,
    /// What to do about Secrets that carry our finalizer.
    pub secrets: SecretsChange,
    /// Events for the host, in order.
    pub events: Vec<HostEvent>,
    /// What to count.
    pub metrics: Vec<Metric>,
    /// When to look again.
    pub outcome: Outcome,
}

/// A change of the host's finalizer `baremetalhost.metal3.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalizerChange {
    /// Nothing.
    Keep,
    /// Add it.
    Add,
    /// Remove it, as the very last write.
    Remove,
}

/// A change of the HardwareData.
#[derive(Clone, Debug, PartialEq)]
pub enum HardwareDataChange {
    /// Nothing.
    Keep,
    /// Create it (our finalizer, the host as controlling owner) or update its `spec.hardware` in place.
    Write(Box<HardwareDetails>),
    /// Remove our finalizer from it, if it is there.
    ReleaseFinalizer,
}

/// A change of Secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretsChange {
    /// Nothing.
    Keep,
    /// Remove our finalizer from the Secret that was used before this one.
    ReleaseFormer {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// Remove our finalizer from every Secret of this host: the one named, and every one that has both our
    /// finalizer and the host as owner.
    ReleaseAll,
}

/// Whether an event tells of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Something happened.
    Normal,
    /// Something is wrong.
    Warning,
}

/// An event for the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEvent {
    /// Normal or warning.
    pub kind: EventKind,
    /// A CamelCase word.
    pub reason: String,
    /// A sentence for the user.
    pub message: String,
}

/// Something to count, by the metric of its meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// `metal3_host_error_total{error_type}`.
    HostError(ErrorType),
    /// `metal3_operation_power_change_total{on_off}`.
    PowerChange {
        /// Whether the host was switched on.
        on: bool,
    },
    /// `metal3_credentials_missing_total`.
    CredentialsMissing,
    /// `metal3_credentials_invalid_total`.
    CredentialsInvalid,
    /// `metal3_credentials_unhandled_error_total`.
    CredentialsUnhandledError,
    /// `metal3_credentials_updated_total`.
    CredentialsUpdated,
    /// `metal3_credentials_no_management_access_total`.
    NoManagementAccess,
    /// `metal3_delayed__provisioning_total`.
    DelayedProvisioning,
    /// `metal3_delayed__deprovisioning_total`.
    DelayedDeprovisioning,
    /// `metal3_provisioning_state_change_total{prev_state,new_state}`.
    StateChange {
        /// The state before.
        from: ProvisioningState,
        /// The state after.
        to: ProvisioningState,
    },
    /// `metal3_operation_<operation>_duration_seconds`.
    OperationDuration {
        /// Which operation ended.
        operation: TimedOperation,
        /// How long it took.
        duration: Duration,
    },
    /// `metal3_host_registration_required_total`.
    RegistrationRequired,
    /// `metal3_host_unmanaged_total`.
    HostUnmanaged,
    /// `metal3_provisioner_not_ready_total`.
    ProvisionerNotReady,
    /// `metal3_delete_delayed_for_detached_total`.
    DeleteDelayedForDetached,
    /// `metal3_delete_without_deprovisioning_total`.
    DeleteWithoutDeprovisioning,
    /// `metal3_delete_without_powering_off_total`.
    DeleteWithoutPoweringOff,
    /// `metal3_waiting_for_preprov_image_total`.
    WaitingForPreprovisioningImage,
}

impl Metric {
    /// Whether it counts something that is true only once the status of this pass is stored.
    pub fn only_when_saved(&self) -> bool {
        matches!(
            self,
            Self::HostError(_)
                | Self::CredentialsUpdated
                | Self::DelayedProvisioning
                | Self::DelayedDeprovisioning
                | Self::StateChange { .. }
                | Self::OperationDuration { .. }
                | Self::DeleteWithoutDeprovisioning
                | Self::DeleteWithoutPoweringOff
        )
    }
}

/// An operation whose duration is kept in `status.operationHistory` and in a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimedOperation {
    /// Registering.
    Register,
    /// Inspecting.
    Inspect,
    /// Provisioning.
    Provision,
    /// Deprovisioning.
    Deprovision,
}

impl TimedOperation {
    /// The word in the metric's name and in the history.
    pub fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Inspect => "inspect",
            Self::Provision => "provision",
            Self::Deprovision => "deprovision",
        }
    }
}

/// When a host is looked at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// After a while; earlier if something it depends on changes.
    Requeue {
        /// How long.
        after: Duration,
        /// What for.
        reason: WaitReason,
    },
    /// At once, through the rate limiter: the pass made progress and the next one makes more.
    Again,
    /// Only when something changes.
    Stop {
        /// Why.
        reason: StopReason,
    },
    /// Never: the host is let go.
    Deleted,
    /// With growing delays: something outside failed.
    Error(PassError),
}

/// What a host waits for. Its text is shown in the conditions `Ready` and `Progressing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Nothing: the host is as wanted and is looked at regularly.
    Steady,
    /// An operation of the back end.
    BackEnd {
        /// Which operation.
        operation: Operation,
        /// What the back end says it waits for; may be empty.
        waiting_for: String,
    },
    /// The back end to be usable.
    NotReady {
        /// Why it is not.
        message: String,
    },
    /// The machine to be done with something else.
    Busy {
        /// What with.
        message: String,
    },
    /// A slot in the back end.
    Capacity,
    /// The next attempt after a recorded failure.
    Failure {
        /// Which failure.
        error: ErrorType,
        /// What failed, as in `status.errorMessage`.
        message: String,
    },
    /// A Secret that does not exist.
    MissingSecret {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
    },
    /// The details of a BMC.
    BmcDetails,
    /// A preprovisioning image.
    PreprovisioningImage,
    /// The `detached` annotation to go.
    Detached,
    /// Permission to delete a detached host.
    DeletionHeld,
    /// A moment between switching off and on.
    RebootPause,
    /// The back end to settle: it said that it is done but did not take the wanted settings.
    Settling,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady => Ok(()),
            Self::BackEnd {
                operation,
                waiting_for,
            } if waiting_for.is_empty() => {
                write!(f, "waiting for {operation}")
            }
            Self::BackEnd {
                operation,
                waiting_for,
            } => write!(f, "waiting for {operation}: {waiting_for}"),
            Self::NotReady { message } => write!(f, "waiting for the provisioner: {message}"),
            Self::Busy { message } => write!(f, "waiting for the machine to be free: {message}"),
            Self::Capacity => f.write_str("waiting for a free slot in the provisioner"),
            Self::Failure { error, message } => write!(f, "{error}: {message}; tried again later"),
            Self::MissingSecret { namespace, name } => write!(f, "waiting for Secret {namespace}/{name}"),
            Self::BmcDetails => f.write_str("waiting for spec.bmc.address and spec.bmc.credentialsName"),
            Self::PreprovisioningImage => f.write_str("waiting for a preprovisioning image"),
            Self::Detached => f.write_str("detached; waiting for the annotation to be removed"),
            Self::DeletionHeld => {
                f.write_str("deletion is held back: the host is detached and its deleteAction is delay")
            }
            Self::Settling => f.write_str("waiting for the provisioner to take the wanted settings"),
            Self::RebootPause => f.write_str("a moment before the machine is switched on again"),
        }
    }
}

/// Why a host is not looked at again until something changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It is paused by its annotation.
    Paused,
    /// It is being deleted and does not carry our finalizer.
    NotOurs,
    /// Its credentials cannot be used as they are.
    Credentials(CredentialsProblem),
    /// Its status annotation cannot be read.
    StatusAnnotation,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("paused; waiting for the annotation to be removed"),
            Self::NotOurs => f.write_str("being deleted by others"),
            Self::Credentials(problem) => write!(f, "waiting for usable credentials: {problem}"),
            Self::StatusAnnotation => f.write_str(
                "waiting for the annotation baremetalhost.metal3.io/status to be corrected or removed",
            ),
        }
    }
}

/// An operation of the back end, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Making a provisioner for the pass.
    Connect,
    /// Registering.
    Register,
    /// Inspecting.
    Inspect,
    /// Preparing.
    Prepare,
    /// Provisioning.
    Provision,
    /// Deprovisioning.
    Deprovision,
    /// Adopting.
    Adopt,
    /// Reading the power state.
    ReadPower,
    /// Switching on.
    PowerOn,
    /// Switching off.
    PowerOff,
    /// Asking for a slot.
    Capacity,
    /// Detaching.
    Detach,
    /// Deleting.
    Delete,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connection",
            Self::Register => "registration",
            Self::Inspect => "inspection",
            Self::Prepare => "preparation",
            Self::Provision => "provisioning",
            Self::Deprovision => "deprovisioning",
            Self::Adopt => "adoption",
            Self::ReadPower => "the power state",
            Self::PowerOn => "power on",
            Self::PowerOff => "power off",
            Self::Capacity => "capacity",
            Self::Detach => "detachment",
            Self::Delete => "deletion",
        })
    }
}

/// A pass that failed for a reason outside the host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// A call to the back end failed.
    #[error("{operation} failed: {error}")]
    BackEnd {
        /// Which call.
        operation: Operation,
        /// Its error. Named so that it is part of the text: it is the part a user needs.
        error: ProvisionerError,
    },
    /// The credentials could not be read.
    #[error("{0}")]
    Credentials(CredentialsProblem),
    /// The stored state is none this version knows.
    #[error(
        "status.provisioning.state is {state:?}, which this version does not know; was the operator downgraded?"
    )]
    UnknownState {
        /// The state found.
        state: String,
    },
}

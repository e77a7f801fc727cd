//! What a host's name makes the demo do.

/// Where the demo leaves the ordinary path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Every step ends at once.
    Ordinary,
    /// Registration fails.
    RegistrationError,
    /// Registration never ends.
    Registering,
    /// Inspection never ends.
    Inspecting,
    /// Preparing and servicing fail.
    PreparingError,
    /// Preparing and servicing never end.
    Preparing,
    /// Provisioning fails.
    ValidationError,
    /// Provisioning never ends.
    Provisioning,
}

impl Behaviour {
    /// `demo-available` and `demo-provisioned` are names of examples that behave like any other.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "demo-registration-error" => Self::RegistrationError,
            "demo-registering" => Self::Registering,
            "demo-inspecting" => Self::Inspecting,
            "demo-preparing-error" => Self::PreparingError,
            "demo-preparing" => Self::Preparing,
            "demo-validation-error" => Self::ValidationError,
            "demo-provisioning" => Self::Provisioning,
            _ => Self::Ordinary,
        }
    }
}

//! The words Ironic uses for where a node is.

use std::fmt;

use serde::{Deserialize, Deserializer};

macro_rules! words {
    ($(#[$meta:meta])* $Name:ident { $( $Variant:ident = $text:literal ),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $Name {
            $( #[doc = concat!("`", $text, "`.")] $Variant, )+
            /// A word this version does not know; empty where Ironic says nothing.
            Other(String),
        }

        impl $Name {
            /// The word.
            pub fn as_str(&self) -> &str {
                match self { $( Self::$Variant => $text, )+ Self::Other(text) => text }
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text { $( $text => Self::$Variant, )+ other => Self::Other(other.to_owned()) }
            }
        }

        impl Default for $Name {
            fn default() -> Self { Self::Other(String::new()) }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Option::<String>::deserialize(deserializer)?.as_deref().unwrap_or_default().into())
            }
        }
    };
}

words! {
    /// Where a node is on its way. (`wait call-back` is what Ironic says for a deployment that waits for its agent.)
    ProvisionState {
        Enroll = "enroll",
        Verifying = "verifying",
        Manageable = "manageable",
        Available = "available",
        Active = "active",
        DeployWait = "wait call-back",
        Deploying = "deploying",
        DeployFailed = "deploy failed",
        DeployHold = "deploy hold",
        Deleting = "deleting",
        Cleaning = "cleaning",
        CleanWait = "clean wait",
        CleanFailed = "clean failed",
        CleanHold = "clean hold",
        Error = "error",
        Rebuild = "rebuild",
        Inspecting = "inspecting",
        InspectFailed = "inspect failed",
        InspectWait = "inspect wait",
        Adopting = "adopting",
        AdoptFailed = "adopt failed",
        Rescue = "rescue",
        RescueFailed = "rescue failed",
        Rescuing = "rescuing",
        RescueWait = "rescue wait",
        Unrescuing = "unrescuing",
        UnrescueFailed = "unrescue failed",
        Servicing = "servicing",
        ServiceWait = "service wait",
        ServiceFailed = "service failed",
        ServiceHold = "service hold",
    }
}

words! {
    /// Whether a machine is on, or is to be.
    PowerState {
        On = "power on",
        Off = "power off",
        Rebooting = "rebooting",
        SoftOff = "soft power off",
        SoftRebooting = "soft rebooting",
    }
}

/// What a node can be asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Check the BMC, or leave a failed state, towards `manageable`.
    Manage,
    /// Clean and become `available`.
    Provide,
    /// Find out about the hardware.
    Inspect,
    /// Run the given clean steps.
    Clean,
    /// Deploy.
    Active,
    /// Tear down and clean.
    Deleted,
    /// Give up what is waited for.
    Abort,
    /// Take a running machine as it is.
    Adopt,
    /// Run the given steps on a deployed machine.
    Service,
}

impl Target {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manage => "manage",
            Self::Provide => "provide",
            Self::Inspect => "inspect",
            Self::Clean => "clean",
            Self::Active => "active",
            Self::Deleted => "deleted",
            Self::Abort => "abort",
            Self::Adopt => "adopt",
            Self::Service => "service",
        }
    }
}

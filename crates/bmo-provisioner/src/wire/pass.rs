//! Parameters of the calls of one reconcile pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::HostData;

/// Names a provisioner between `provisioner/new` and `provisioner/drop`. Chosen by the host, never used twice.
pub type ProvisionerHandle = u64;

/// Parameters of `provisioner/new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProvisionerRequest {
    /// The handle under which the following calls name it.
    pub provisioner: ProvisionerHandle,
    /// The host it acts on.
    pub host: HostData,
}

/// Parameters of every other call of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnProvisioner<T: Default> {
    /// Which provisioner acts.
    pub provisioner: ProvisionerHandle,
    /// The method's own input; absent where it has none.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub request: T,
}

fn is_nothing<T>(_value: &T) -> bool {
    size_of::<T>() == 0
}

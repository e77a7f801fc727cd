//! The contract's own answers, for what a plugin lacks.
//!
//! They are the defaults of the trait, so that a plugin without a capability and a provisioner compiled in that does
//! not override a method behave alike.

use async_trait::async_trait;
use bmo_provisioner::{
    DeprovisionRequest, HostConfigData, PowerOffRequest, PowerOnRequest, Progress, ProvisionRequest,
    Provisioner, ProvisionerError, RegisterRequest, Registration, Result,
};

/// Overrides nothing. The six methods without a default are never asked of it.
pub(crate) struct Minimum;

#[async_trait]
impl Provisioner for Minimum {
    async fn register(&self, _request: RegisterRequest) -> Result<Registration> {
        Err(no_default())
    }

    async fn provision(&self, _request: ProvisionRequest, _config: &dyn HostConfigData) -> Result<Progress> {
        Err(no_default())
    }

    async fn deprovision(&self, _request: DeprovisionRequest) -> Result<Progress> {
        Err(no_default())
    }

    async fn delete(&self) -> Result<Progress> {
        Err(no_default())
    }

    async fn power_on(&self, _request: PowerOnRequest) -> Result<Progress> {
        Err(no_default())
    }

    async fn power_off(&self, _request: PowerOffRequest) -> Result<Progress> {
        Err(no_default())
    }
}

fn no_default() -> ProvisionerError {
    ProvisionerError::unsupported("the method has no default")
}

//! A host that is being deployed with the image, or by the custom method, it was sent here with.
//!
//! A failure is answered by deprovisioning, and a new attempt from `available`. So is a change of what the user asks
//! for: what is being written is not what is wanted any more.

use bmo_api::{ErrorType, Image, ProvisioningState, annotations};
use bmo_provisioner::{CustomDeployMethod, Progress, ProvisionRequest, SecretString};

use crate::context::{Called, Pass};
use crate::image_wish::same_deployment;
use crate::pass::Operation;
use crate::step::{Leave, Step, StepResult};

pub(super) async fn handle(pass: &mut Pass<'_>) -> StepResult {
    if pass.status.error_type.is_some() {
        return Ok(Step::Go {
            to: ProvisioningState::Deprovisioning,
            how: Leave::FailedProvisioning,
        });
    }
    if is_cancelled(pass) {
        return Ok(Step::diverted(ProvisioningState::Deprovisioning));
    }
    let wanted = pass.host.spec.image.clone().filter(|image| !image.is_empty());
    if wanted.is_some() && pass.status.last_attempted_image.is_none() {
        // Sent here by a version that did not store the image: store it before it is deployed.
        pass.status.last_attempted_image = wanted;
        return Ok(Step::again());
    }
    let pull_secret = match pull_secret(pass).await {
        Ok(secret) => secret,
        Err(message) => return Ok(pass.fail(ErrorType::ProvisioningError, message)),
    };
    let request = request(pass, pull_secret);
    let provisioner = pass.provisioner().await?;
    let answer = provisioner.provision(request, pass.services.config).await;
    let progress = answer.called(Operation::Provision)?;
    if !matches!(progress, Progress::Failed { .. }) {
        pass.remove_annotation(annotations::REBOOT);
    }
    if let Err(step) = pass.follow(Operation::Provision, &ErrorType::ProvisioningError, progress) {
        return Ok(step);
    }
    record_deployment(pass);
    Ok(Step::completed(ProvisioningState::Provisioned))
}

/// Whether the user asks for something else than what is being deployed.
fn is_cancelled(pass: &Pass<'_>) -> bool {
    let attempted = pass.status.last_attempted_image.as_ref();
    let other_image = attempted.is_some() && !same_deployment(attempted, pass.host.spec.image.as_ref());
    other_image || pass.running_workload().is_cancelled_by(&pass.wanted_workload())
}

/// The credentials of the image's registry, where the user names some.
async fn pull_secret(pass: &Pass<'_>) -> Result<SecretString, String> {
    let Some(image) = image(pass).filter(Image::is_oci) else {
        return Ok(SecretString::default());
    };
    if image.oci_auth_secret_name.as_ref().is_none_or(String::is_empty) {
        return Ok(SecretString::default());
    }
    pass.services.pull_secrets.pull_secret(&image).await
}

/// The image of this attempt, opened by the Secret that the user names now.
fn image(pass: &Pass<'_>) -> Option<Image> {
    let asked_for = pass.host.spec.image.as_ref();
    let oci_auth_secret_name = asked_for.and_then(|image| image.oci_auth_secret_name.clone());
    pass.status.last_attempted_image.clone().map(|image| Image {
        oci_auth_secret_name,
        ..image
    })
}

fn request(pass: &Pass<'_>, image_pull_secret: SecretString) -> ProvisionRequest {
    let method = pass
        .host
        .spec
        .custom_deploy
        .as_ref()
        .map(|deploy| deploy.method.clone());
    ProvisionRequest {
        image: image(pass),
        boot_mode: pass.status.provisioning.boot_mode.unwrap_or_default(),
        hardware_profile: pass.status.hardware_profile.clone(),
        root_device_hints: pass.status.provisioning.root_device_hints.clone(),
        custom_deploy: method
            .filter(|method| !method.is_empty())
            .map(|method| CustomDeployMethod { method }),
        image_pull_secret,
        force_reboot: pass.reboot_forced(),
    }
}

/// Records what runs now: the image that was deployed, which need not be the one asked for by now.
fn record_deployment(pass: &mut Pass<'_>) {
    pass.status.provisioning.image = image(pass).unwrap_or_default();
    pass.status
        .provisioning
        .custom_deploy
        .clone_from(&pass.host.spec.custom_deploy);
    pass.status.provisioning_fail_count = 0;
}

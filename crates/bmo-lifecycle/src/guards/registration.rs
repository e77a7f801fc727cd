//! A managed host is registered in every pass before its state acts: the back end's record is brought up to date, the
//! credentials are proven, the profile and hints are stored.
//!
//! Not here yet: building preprovisioning images (a back end that asks for one is waited for), and the objects that
//! firmware settings and components live in.

use std::time::Duration;

use bmo_api::{CredentialsStatus, CustomDeploy, ErrorType, Image, ProvisioningState};
use bmo_provisioner::{ErrorKind, RegisterRequest, Registration, SecretString};

use crate::context::{Called, Pass};
use crate::pass::{
    EventKind, Metric, NetworkDataRead, Operation, SecretVersion, SecretsChange, TimedOperation, WaitReason,
};
use crate::step::{GuardResult, Step};

/// How often a preprovisioning image is looked for.
const IMAGE_DELAY: Duration = Duration::from_mins(5);

pub(super) async fn run(pass: &mut Pass<'_>) -> GuardResult {
    let skipped = matches!(
        pass.state(),
        ProvisioningState::None
            | ProvisioningState::Unmanaged
            | ProvisioningState::MatchProfile
            | ProvisioningState::Deleting
    );
    let Some((secret, _)) = pass.credentials().filter(|_| !skipped && !pass.registered) else {
        return Ok(None);
    };
    let result = register(pass, secret).await;
    match result {
        Ok(None) => pass.registered = true,
        Ok(Some(_)) | Err(_) => pass.count(Metric::RegistrationRequired),
    }
    result
}

async fn register(pass: &mut Pass<'_>, secret: &SecretVersion) -> GuardResult {
    let recovering = pass.has_error(&ErrorType::RegistrationError);
    let proven = secret.matches(&pass.status.good_credentials);
    if *pass.state() != ProvisioningState::Registering && (recovering || !proven) {
        pass.start_operation(TimedOperation::Register);
    }
    let credentials_changed = note_credentials(pass, secret);
    let network_data = match &pass.observed.preprovisioning_network_data {
        NetworkDataRead::NotNeeded => SecretString::default(),
        // Whatever is missing must not hold a host that is being deleted.
        NetworkDataRead::Problem(_) if pass.host.is_being_deleted() => SecretString::default(),
        NetworkDataRead::Found(text) => text.clone(),
        NetworkDataRead::Problem(message) => {
            return Ok(Some(
                pass.fail_once(ErrorType::RegistrationError, message.clone()),
            ));
        }
    };
    let request = request(pass, network_data, credentials_changed, recovering);
    let provisioner = pass.provisioner().await?;
    let Registration {
        provisioner_id,
        progress,
    } = match provisioner.register(request).await {
        Ok(registration) => registration,
        Err(error) if error.kind == ErrorKind::NeedsPreprovisioningImage => {
            if pass.host.is_being_deleted() {
                // Counted, so that deletion does not wait for an image that nobody makes any more.
                return Ok(Some(pass.fail(ErrorType::RegistrationError, error.message)));
            }
            pass.count(Metric::WaitingForPreprovisioningImage);
            return Ok(Some(Step::wait(IMAGE_DELAY, WaitReason::PreprovisioningImage)));
        }
        Err(error) => {
            if !matches!(error.kind, ErrorKind::NotReady | ErrorKind::Busy) {
                pass.count(Metric::NoManagementAccess);
            }
            return Err(error).called(Operation::Register);
        }
    };
    let new_id = store_id(pass, provisioner_id);
    if let Err(step) = pass.follow(Operation::Register, &ErrorType::RegistrationError, progress) {
        return Ok(Some(step));
    }
    let profile = pass.sync_profile();
    if let Err(message) = profile.or_else(|message| {
        if pass.host.is_being_deleted() {
            Ok(())
        } else {
            Err(message)
        }
    }) {
        return Ok(Some(pass.fail_once(ErrorType::RegistrationError, message)));
    }
    accept_credentials(pass, secret);
    if *pass.state() != ProvisioningState::Registering && pass.end_operation(TimedOperation::Register) {
        pass.status.error_count = 0;
    }
    // The id is part of what every other call is made for: it has to be stored before the next one.
    Ok(new_id.then(Step::again))
}

/// Stores which credentials are tried, and says whether they are others than the last time.
fn note_credentials(pass: &mut Pass<'_>, secret: &SecretVersion) -> bool {
    if secret.matches(&pass.status.tried_credentials) {
        return false;
    }
    let former = std::mem::replace(&mut pass.status.tried_credentials, secret.to_status());
    pass.secrets = release_former(former, secret);
    pass.count(Metric::CredentialsUpdated);
    true
}

/// The Secret that was used before, where it is another one.
fn release_former(former: CredentialsStatus, secret: &SecretVersion) -> SecretsChange {
    match former.reference {
        Some(former) if former.name.as_deref().is_some_and(|name| name != secret.name) => {
            SecretsChange::ReleaseFormer {
                namespace: former.namespace.unwrap_or_else(|| secret.namespace.clone()),
                name: former.name.unwrap_or_default(),
            }
        }
        _ => SecretsChange::Keep,
    }
}

/// Stores the id of the host's record and says whether it is a new one.
fn store_id(pass: &mut Pass<'_>, id: Option<String>) -> bool {
    let Some(id) = id.filter(|id| !id.is_empty() && *id != pass.status.provisioning.id) else {
        return false;
    };
    pass.status.provisioning.id = id;
    if *pass.state() == ProvisioningState::Preparing {
        // A new record knows nothing of what was applied to the machine.
        pass.clear_settings();
    }
    true
}

/// Stores that the credentials work. That they are new takes an error back that the old ones may have caused, but not
/// a failed deployment: it is known to be broken and has to be removed.
fn accept_credentials(pass: &mut Pass<'_>, secret: &SecretVersion) {
    if secret.matches(&pass.status.good_credentials) {
        return;
    }
    pass.status.good_credentials = secret.to_status();
    pass.event(EventKind::Normal, "BMCAccessValidated", "Verified access to BMC");
    if *pass.state() != ProvisioningState::Provisioning {
        pass.clear_error();
    }
}

fn request(
    pass: &Pass<'_>,
    preprovisioning_network_data: SecretString,
    credentials_changed: bool,
    restart_on_failure: bool,
) -> RegisterRequest {
    let spec = &pass.host.spec;
    let status = &pass.status.provisioning;
    let starting = matches!(
        pass.state(),
        ProvisioningState::Provisioning | ProvisioningState::ExternallyProvisioned
    );
    let deploys =
        |deploy: &Option<CustomDeploy>| deploy.as_ref().is_some_and(|deploy| !deploy.method.is_empty());
    RegisterRequest {
        boot_mode: status.boot_mode.unwrap_or_default(),
        automated_cleaning_mode: pass.host.automated_cleaning_mode(),
        state: pass.state().clone(),
        operational_status: pass.status.operational_status.clone(),
        current_image: current_image(pass),
        preprovisioning_image: None,
        preprovisioning_network_data,
        has_custom_deploy: deploys(&status.custom_deploy) || (starting && deploys(&spec.custom_deploy)),
        disable_power_off: spec.disable_power_off,
        cpu_architecture: pass.cpu_architecture(),
        hardware_data: pass.observed.hardware_data.clone().map(Box::new),
        disable_inspection: pass.host.inspection_disabled(),
        inspection_mode: spec.inspection_mode,
        credentials_changed,
        restart_on_failure,
    }
}

/// The image the machine runs or is about to run.
fn current_image(pass: &Pass<'_>) -> Option<Image> {
    let running = &pass.status.provisioning.image;
    if !running.is_empty() {
        return Some(running.clone());
    }
    let asked_for = pass.host.spec.image.as_ref();
    let wanted = match pass.state() {
        ProvisioningState::Provisioning => pass.status.last_attempted_image.as_ref().or(asked_for),
        ProvisioningState::ExternallyProvisioned => asked_for,
        _ => None,
    };
    wanted.filter(|image| !image.is_empty()).cloned()
}

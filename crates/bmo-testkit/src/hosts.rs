//! Hosts to start tests with.

use bmo_api::{
    BareMetalHost, BareMetalHostSpec, BareMetalHostStatus, BmcDetails, BootMode, CredentialsStatus, Image,
    ObjectMeta, OperationalStatus, ProvisionStatus, ProvisioningState, RootDeviceHints, SecretReference,
    annotations,
};

/// Namespace of all hosts here.
pub const NAMESPACE: &str = "metal";
/// Name of the Secret with their credentials.
pub const SECRET: &str = "bmc-credentials";
/// Version of that Secret at which the credentials of [`managed_host`] were proven.
pub const SECRET_VERSION: &str = "100";

/// A host as a user creates it: online, with BMC details, never looked at.
pub fn new_host(name: &str) -> BareMetalHost {
    let spec = BareMetalHostSpec {
        online: true,
        bmc: BmcDetails {
            address: "redfish://192.0.2.1/redfish/v1/Systems/1".to_owned(),
            credentials_name: SECRET.to_owned(),
            ..BmcDetails::default()
        },
        boot_mac_address: "52:54:00:00:00:01".to_owned(),
        ..BareMetalHostSpec::default()
    };
    BareMetalHost {
        metadata: ObjectMeta {
            namespace: Some(NAMESPACE.to_owned()),
            name: Some(name.to_owned()),
            uid: Some(format!("uid-of-{name}")),
            generation: Some(1),
            ..ObjectMeta::default()
        },
        spec,
        status: None,
    }
}

/// An image of that URL.
pub fn image(url: &str) -> Image {
    Image {
        url: url.to_owned(),
        ..Image::default()
    }
}

/// A host that has come as far as `state` without trouble: our finalizer, credentials proven, switched on, hints of the
/// profile `unknown` stored, an image asked for.
pub fn managed_host(state: ProvisioningState) -> BareMetalHost {
    let mut host = new_host("host");
    host.metadata.finalizers = Some(vec![annotations::HOST_FINALIZER.to_owned()]);
    host.spec.image = Some(image("http://images/one"));
    host.spec.root_device_hints = Some(RootDeviceHints::default());
    let credentials = CredentialsStatus {
        reference: Some(SecretReference {
            name: Some(SECRET.to_owned()),
            namespace: Some(NAMESPACE.to_owned()),
        }),
        version: SECRET_VERSION.to_owned(),
    };
    let deployed = matches!(
        state,
        ProvisioningState::Provisioned | ProvisioningState::Deprovisioning
    );
    let attempted = deployed || state == ProvisioningState::Provisioning;
    host.status = Some(BareMetalHostStatus {
        operational_status: OperationalStatus::Ok,
        hardware_profile: "unknown".to_owned(),
        provisioning: ProvisionStatus {
            image: if deployed {
                image("http://images/one")
            } else {
                Image::default()
            },
            id: "scripted".to_owned(),
            root_device_hints: Some(RootDeviceHints::default()),
            boot_mode: Some(BootMode::Uefi),
            state,
            ..ProvisionStatus::default()
        },
        good_credentials: credentials.clone(),
        tried_credentials: credentials,
        last_attempted_image: attempted.then(|| image("http://images/one")),
        powered_on: true,
        last_updated: Some(bmo_api::time::whole_seconds(crate::world::START)),
        ..BareMetalHostStatus::default()
    });
    host
}

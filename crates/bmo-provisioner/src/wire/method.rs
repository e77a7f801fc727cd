//! The methods, each a type that ties a name to its parameters and its result.
//!
//! One list makes the types and the catalogue from which the schemas are generated, so that neither can be
//! forgotten.

use bmo_api::FirmwareComponentStatus;
use schemars::{Schema, SchemaGenerator};

use super::{
    CancelNotice, ConfigureRequest, ConfigureResult, EventNotice, HostConfigureInput, HostRequirements,
    InitializeRequest, InitializeResult, KubeRequest, KubeResponse, LogNotice, NewProvisionerRequest,
    OfProvisioner, OnProvisioner, WakeNotice,
};
use crate::{
    AdoptRequest, AttachDataImageRequest, DeprovisionRequest, DetachRequest, EventSubscription,
    EventSubscriptionRequest, FirmwareSettings, FirmwareSettingsRequest, HardwareState, Health,
    InspectRequest, Inspection, PowerOffRequest, PowerOnRequest, Preparation, PrepareRequest,
    PreprovisioningImageFormat, Progress, ProvisionRequest, RegisterRequest, Registration, SecretString,
    ServiceRequest, Servicing,
};

/// A method that is answered.
pub trait Method {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it is called with.
    type Params;
    /// What it yields.
    type Result;
}

/// A method that is not answered.
pub trait Notification {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it tells.
    type Params;
}

/// Who calls whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The host asks, the plugin answers.
    HostToPlugin,
    /// The plugin asks, the host answers.
    PluginToHost,
    /// The host tells the plugin.
    NoticeToPlugin,
    /// The plugin tells the host.
    NoticeToHost,
}

/// A method as the catalogue lists it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who calls whom.
    pub direction: Direction,
    /// What it does.
    pub about: &'static str,
    /// Schema of its parameters.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// Schema of its result; none for a notification.
    pub result: Option<fn(&mut SchemaGenerator) -> Schema>,
}

macro_rules! methods {
    ($($(#[doc = $about:literal])+ $direction:ident $ty:ident = $name:literal ($params:ty) $(-> $result:ty)?;)*) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Copy, Debug)]
            pub enum $ty {}
            methods!(@impl $ty, $name, $params $(, $result)?);
        )*
        /// Every method, in the order of the documentation.
        pub const ALL: &[Entry] = &[$(Entry {
            name: $name,
            direction: Direction::$direction,
            about: concat!($($about),+),
            params: SchemaGenerator::subschema_for::<$params>,
            result: methods!(@result $($result)?),
        }),*];
    };
    (@impl $ty:ident, $name:literal, $params:ty, $result:ty) => {
        impl Method for $ty {
            const NAME: &'static str = $name;
            type Params = $params;
            type Result = $result;
        }
    };
    (@impl $ty:ident, $name:literal, $params:ty) => {
        impl Notification for $ty {
            const NAME: &'static str = $name;
            type Params = $params;
        }
    };
    (@result $result:ty) => { Some(SchemaGenerator::subschema_for::<$result>) };
    (@result) => { None };
}

methods! {
    /// Hand-shake. The first message; nothing else is sent before its answer.
    HostToPlugin Initialize = "initialize" (InitializeRequest) -> InitializeResult;
    /// What the plugin needs of the host. Sent through the symbol HostConfigure, where there is one.
    HostToPlugin HostConfigure = "hostConfigure" (HostConfigureInput) -> HostRequirements;
    /// The plugin's configuration. From here on it may use the cluster.
    HostToPlugin Configure = "configure" (ConfigureRequest) -> ConfigureResult;
    /// Makes a provisioner for one host and one reconcile pass. Error 1 (not ready): try again later.
    HostToPlugin NewProvisioner = "provisioner/new" (NewProvisionerRequest) -> ();
    /// The pass is over; the handle is not used again.
    HostToPlugin DropProvisioner = "provisioner/drop" (OnProvisioner<()>) -> ();

    /// Minimum: creates or updates the host's record.
    HostToPlugin Register = "provisioner/register" (OnProvisioner<RegisterRequest>) -> Registration;
    /// Minimum: writes the image.
    HostToPlugin Provision = "provisioner/provision" (OnProvisioner<ProvisionRequest>) -> Progress;
    /// Minimum: removes what was provisioned.
    HostToPlugin Deprovision = "provisioner/deprovision" (OnProvisioner<DeprovisionRequest>) -> Progress;
    /// Minimum: removes the host's record.
    HostToPlugin Delete = "provisioner/delete" (OnProvisioner<()>) -> Progress;
    /// Minimum: sees that the machine is on.
    HostToPlugin PowerOn = "provisioner/powerOn" (OnProvisioner<PowerOnRequest>) -> Progress;
    /// Minimum: sees that the machine is off.
    HostToPlugin PowerOff = "provisioner/powerOff" (OnProvisioner<PowerOffRequest>) -> Progress;

    /// Capability preprovisioningImages: accepted formats, best first; null for no image at all.
    HostToPlugin PreprovisioningImageFormats = "provisioner/preprovisioningImageFormats" (OnProvisioner<()>)
        -> Option<Vec<PreprovisioningImageFormat>>;
    /// Capability inspection: finds out what the machine is made of.
    HostToPlugin InspectHardware = "provisioner/inspectHardware" (OnProvisioner<InspectRequest>) -> Inspection;
    /// Capability powerState: reads the power state.
    HostToPlugin UpdateHardwareState = "provisioner/updateHardwareState" (OnProvisioner<()>) -> HardwareState;
    /// Capability adoption: tells the back end that the machine already runs a workload.
    HostToPlugin Adopt = "provisioner/adopt" (OnProvisioner<AdoptRequest>) -> Progress;
    /// Capabilities raid, firmwareSettings, firmwareComponents: configures a machine that is not in use.
    HostToPlugin Prepare = "provisioner/prepare" (OnProvisioner<PrepareRequest>) -> Preparation;
    /// Capability servicing: configures a provisioned machine while it reboots.
    HostToPlugin Service = "provisioner/service" (OnProvisioner<ServiceRequest>) -> Servicing;
    /// Capability detachment: lets the machine go without disturbing it.
    HostToPlugin Detach = "provisioner/detach" (OnProvisioner<DetachRequest>) -> Progress;
    /// Capability capacity: whether there is room for one more host being worked on.
    HostToPlugin HasCapacity = "provisioner/hasCapacity" (OnProvisioner<()>) -> bool;
    /// Capability firmwareSettings: reads BIOS settings.
    HostToPlugin GetFirmwareSettings = "provisioner/getFirmwareSettings" (OnProvisioner<FirmwareSettingsRequest>)
        -> FirmwareSettings;
    /// Capability firmwareComponents: reads firmware versions.
    HostToPlugin GetFirmwareComponents = "provisioner/getFirmwareComponents" (OnProvisioner<()>)
        -> Vec<FirmwareComponentStatus>;
    /// Capability eventSubscriptions: asks the BMC to send events somewhere.
    HostToPlugin AddBmcEventSubscription = "provisioner/addBMCEventSubscription"
        (OnProvisioner<EventSubscriptionRequest>) -> EventSubscription;
    /// Capability eventSubscriptions: takes such a wish back.
    HostToPlugin RemoveBmcEventSubscription = "provisioner/removeBMCEventSubscription"
        (OnProvisioner<EventSubscription>) -> ();
    /// Capability dataImages: whether a virtual medium is inserted.
    HostToPlugin GetDataImageStatus = "provisioner/getDataImageStatus" (OnProvisioner<()>) -> bool;
    /// Capability dataImages: inserts a virtual medium.
    HostToPlugin AttachDataImage = "provisioner/attachDataImage" (OnProvisioner<AttachDataImageRequest>) -> ();
    /// Capability dataImages: ejects it.
    HostToPlugin DetachDataImage = "provisioner/detachDataImage" (OnProvisioner<()>) -> ();
    /// Capability powerFailure: whether the back end has lost power control.
    HostToPlugin HasPowerFailure = "provisioner/hasPowerFailure" (OnProvisioner<()>) -> bool;
    /// Capability health: health of the machine; null where unknown.
    HostToPlugin GetHealth = "provisioner/getHealth" (OnProvisioner<()>) -> Option<Health>;

    /// The user data of the host that is being provisioned; empty where there are none.
    PluginToHost UserData = "host/userData" (OfProvisioner) -> SecretString;
    /// Its network data.
    PluginToHost NetworkData = "host/networkData" (OfProvisioner) -> SecretString;
    /// Its meta data.
    PluginToHost MetaData = "host/metaData" (OfProvisioner) -> SecretString;
    /// One request to the Kubernetes API.
    PluginToHost KubeCall = "kube/request" (KubeRequest) -> KubeResponse;

    /// A Kubernetes event of the pass's host.
    NoticeToHost Event = "host/event" (EventNotice);
    /// Reconcile this host now.
    NoticeToHost Wake = "host/wake" (WakeNotice);
    /// A line of the log, with fields.
    NoticeToHost Log = "host/log" (LogNotice);
    /// A request is waited for no longer. Only in carriers that are a stream.
    NoticeToPlugin Cancel = "cancel" (CancelNotice);
}

//! Registration: the node exists, is as it should be, and its BMC answers.
//!
//! Called on every pass, so a host with nothing to change costs one read of its node, which the rest of the pass
//! uses too.

use std::sync::Arc;

use bmo_api::{AutomatedCleaningMode, BootMode, InspectionMode, OperationalStatus, ProvisioningState};
use bmo_bmc::AccessDetails;
use bmo_provisioner::{ProvisionerError, RegisterRequest, Registration, Result};
use serde_json::{Map, Value, json};

use crate::capabilities;
use crate::client::{Node, ProvisionState, Target};
use crate::driver_info::Wanted as WantedDriverInfo;
use crate::find::node_name;
use crate::inspect::inspect_interface;
use crate::instance;
use crate::pace::SHORT;
use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop, progress};
use crate::patch::{Patch, Section};
use crate::ports;
use crate::ramdisk::{self, Ramdisk};

/// What registration works with.
struct Registering<'a> {
    request: &'a RegisterRequest,
    access: AccessDetails,
    driver_info: WantedDriverInfo,
    ramdisk: Option<Ramdisk>,
    network_data: Option<Value>,
}

impl Pass {
    /// See [`bmo_provisioner::Provisioner::register`].
    pub async fn register_host(&self, request: RegisterRequest) -> Result<Registration> {
        let mut id = None;
        let flow = self.register_steps(&request, &mut id).await;
        Ok(Registration {
            provisioner_id: id,
            progress: progress(flow)?,
        })
    }

    async fn register_steps(&self, request: &RegisterRequest, id: &mut Option<String>) -> Flow {
        let access = self.access().map_err(Stop::Failed)?;
        self.check_support(request, &access)?;
        let existing = self.find_existing().await?;
        if self.host.boot_mac_address.is_empty() && (access.needs_mac() || request.disable_inspection) {
            return Err(Stop::failed(format!(
                "BMC driver {} requires a BootMACAddress value",
                access.kind()
            )));
        }
        let registering = Registering {
            request,
            driver_info: self.wanted_driver_info(&access).await,
            ramdisk: ramdisk::select(
                &self.shared.config,
                access.supports_iso_preprovisioning_image(),
                request.preprovisioning_image.as_ref(),
            ),
            network_data: self.wanted_network_data(request)?,
            access,
        };
        match existing {
            None => {
                let node = self.create_node(&registering).await?;
                *id = Some(node.uuid.clone());
                self.ensure_host_ports(&node, request, true).await?;
                Err(self.go(&node, Target::Manage).await)
            }
            Some(node) => {
                *id = Some(node.uuid.clone());
                self.update_node(&registering, node).await
            }
        }
    }

    /// What the driver or Ironic cannot do for this host.
    fn check_support(&self, request: &RegisterRequest, access: &AccessDetails) -> Flow {
        let kind = access.kind();
        let version = self.ironic.version();
        let fast = request.inspection_mode == Some(InspectionMode::Fast);
        let problem = if fast && access.inspect_interface().is_none() {
            format!("BMC driver {kind} does not support fast (out-of-band) inspection")
        } else if request.boot_mode == BootMode::UefiSecureBoot && !access.supports_secure_boot() {
            format!("BMC driver {kind} does not support secure boot")
        } else if access.requires_provisioning_network() && self.shared.config.provisioning_network_disabled {
            format!("BMC driver {kind} requires a provisioning network")
        } else if request.disable_power_off && !version.has_disable_power_off() {
            format!(
                "Ironic's API version {version} does not support disabling power off (1.95 does), refusing to manage \
                 the host: upgrade Ironic or unset spec.disablePowerOff"
            )
        } else {
            return Ok(());
        };
        Err(Stop::Failed(problem))
    }

    /// The ramdisk's network configuration, where Ironic has to pass it on. With built images it is in the image.
    fn wanted_network_data(&self, request: &RegisterRequest) -> Flow<Option<Value>> {
        let text = request.preprovisioning_network_data.expose();
        if self.shared.config.image_builder || text.trim().is_empty() {
            return Ok(None);
        }
        let parsed = crate::configdrive::mapping(text).map_err(|error| {
            ProvisionerError::transient(format!("invalid preprovisioningNetworkData: {error}"))
        })?;
        Ok(Some(parsed))
    }

    async fn create_node(&self, registering: &Registering<'_>) -> Flow<Arc<Node>> {
        let body = self.new_node(registering);
        match self.ironic.create_node(&body).await {
            Ok(node) => {
                self.publish("Registered", "Registered new host");
                Ok(self.keep(node))
            }
            Err(error) if error.is(409) => Err(self.refused(&error)),
            Err(error) => Err(self.error("failed to register host in ironic", &error)),
        }
    }

    fn new_node(&self, registering: &Registering<'_>) -> Value {
        let Registering {
            request,
            access,
            driver_info,
            ramdisk,
            network_data,
        } = registering;
        let mut properties = Map::new();
        properties.insert(
            "capabilities".to_owned(),
            capabilities::with_boot_mode(None, request.boot_mode).into(),
        );
        if !request.cpu_architecture.is_empty() {
            properties.insert("cpu_arch".to_owned(), request.cpu_architecture.clone().into());
        }
        let mut body = json!({
            "name": node_name(&self.host.namespace, &self.host.name),
            "driver": access.driver(),
            "driver_info": driver_info.for_new_node(ramdisk.as_ref()),
            "inspect_interface": inspect_interface(access, request.inspection_mode),
            "automated_clean": automated_clean(request.automated_cleaning_mode),
            "properties": properties,
        });
        for (name, interface) in interfaces(access) {
            body[name] = interface.into();
        }
        if request.has_custom_deploy {
            body["deploy_interface"] = "custom-agent".into();
        } else if request
            .current_image
            .as_ref()
            .is_some_and(bmo_api::Image::is_live_iso)
        {
            body["deploy_interface"] = "ramdisk".into();
        }
        // An Ironic that does not know the member refuses the whole request.
        if self.ironic.version().has_disable_power_off() {
            body["disable_power_off"] = request.disable_power_off.into();
        }
        if let Some(network_data) = network_data {
            body["network_data"] = network_data.clone();
        }
        let running = request.current_image.as_ref().filter(|image| !image.is_empty());
        if let Some(image) = running.filter(|_| request.state == ProvisioningState::Provisioned) {
            body["instance_info"] = instance::of_running(image, request.has_custom_deploy).into();
            body["instance_uuid"] = self.host.uid.as_str().into();
        }
        body
    }

    async fn update_node(&self, registering: &Registering<'_>, node: Arc<Node>) -> Flow {
        let request = registering.request;
        if takes_ports(&node.provision_state) {
            self.ensure_host_ports(&node, request, false).await?;
        }
        let configures = is_configured(&node.provision_state);
        let (patch, bmc_changed) = self.patch_for(registering, &node, configures);
        let node = self.update(node, patch).await?;
        let restart = request.credentials_changed || request.restart_on_failure || bmc_changed;
        match node.provision_state {
            ProvisionState::Enroll => Err(self.verify(&node, restart).await),
            ProvisionState::Verifying => Err(self.wait(&node, SHORT, "Ironic to check the BMC")),
            _ if configures => check_image(registering, &self.shared.config),
            _ => Ok(()),
        }
    }

    /// Has the BMC checked, unless that failed already and nothing changed since.
    async fn verify(&self, node: &Node, restart: bool) -> Stop {
        if !node.last_error.is_empty() && !restart {
            return self.failed(&node.last_error);
        }
        let under_way =
            node.target_provision_state == ProvisionState::Manageable && !node.reservation.is_empty();
        if under_way {
            return self.wait(node, SHORT, "Ironic to check the BMC");
        }
        self.go(node, Target::Manage).await
    }

    /// Everything that differs, and whether the way to the BMC does.
    fn patch_for(&self, registering: &Registering<'_>, node: &Node, configures: bool) -> (Patch, bool) {
        let Registering {
            request,
            access,
            driver_info,
            ramdisk,
            network_data,
        } = registering;
        let mut patch = Patch::default();
        let ramdisk = ramdisk.as_ref().filter(|_| configures);
        let bmc_changed = driver_info.add_to(&mut patch, node, request.credentials_changed, ramdisk);
        patch.set(
            "name",
            node_name(&self.host.namespace, &self.host.name),
            node.name.as_str(),
        );
        change_driver(&mut patch, node, access);
        if self.ironic.version().has_disable_power_off() {
            patch.set(
                "disable_power_off",
                request.disable_power_off,
                node.disable_power_off,
            );
        }
        if let Some(network_data) = network_data {
            patch.set("network_data", network_data.clone(), node.network_data.clone());
        }
        if !request.cpu_architecture.is_empty() {
            patch.set_in(
                Section::Properties,
                "cpu_arch",
                request.cpu_architecture.as_str(),
                &node.properties,
            );
        }
        if configures {
            let clean = automated_clean(request.automated_cleaning_mode);
            patch.set("automated_clean", clean, node.automated_clean);
            let capabilities =
                capabilities::with_boot_mode(node.properties.get("capabilities"), request.boot_mode);
            patch.set_in(
                Section::Properties,
                "capabilities",
                capabilities,
                &node.properties,
            );
        }
        (patch, bmc_changed)
    }

    async fn ensure_host_ports(&self, node: &Node, request: &RegisterRequest, new: bool) -> Flow {
        let wanted = ports::wanted(&self.host.boot_mac_address, request.hardware_data.as_deref());
        self.ensure_ports(node, wanted, new).await
    }
}

/// Whether Ironic cleans between deployments.
pub fn automated_clean(mode: AutomatedCleaningMode) -> bool {
    mode != AutomatedCleaningMode::Disabled
}

/// The interfaces that an address asks for; where it says nothing Ironic has a default.
fn interfaces(access: &AccessDetails) -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        ("bios_interface", access.bios_interface()),
        ("boot_interface", access.boot_interface()),
        ("firmware_interface", access.firmware_interface()),
        ("management_interface", access.management_interface()),
        ("power_interface", access.power_interface()),
        ("raid_interface", access.raid_interface()),
        ("vendor_interface", access.vendor_interface()),
    ]
    .into_iter()
    .filter_map(|(name, interface)| Some((name, interface?)))
}

/// A host whose address got another scheme needs another driver or another way to boot. Ironic allows that only
/// while the node is not in use.
fn change_driver(patch: &mut Patch, node: &Node, access: &AccessDetails) {
    use ProvisionState as S;
    if !matches!(node.provision_state, S::Enroll | S::Manageable | S::Available) || node.driver.is_empty() {
        return;
    }
    if node.driver != access.driver() {
        patch.set_driver(access.driver(), &node.driver);
        for (name, interface) in interfaces(access) {
            patch.set(name, interface, Value::Null);
        }
    } else if let Some(boot) = access
        .boot_interface()
        .filter(|_| !node.boot_interface.is_empty())
    {
        patch.set("boot_interface", boot, node.boot_interface.as_str());
    }
}

/// Whether ports may be added in this state.
fn takes_ports(state: &ProvisionState) -> bool {
    use ProvisionState as S;
    matches!(
        state,
        S::Enroll
            | S::Manageable
            | S::Available
            | S::Active
            | S::AdoptFailed
            | S::InspectFailed
            | S::CleanFailed
            | S::DeployFailed
            | S::ServiceFailed
            | S::Error
    )
}

/// Whether boot mode, ramdisk and cleaning are brought up to date in this state: not before the BMC was checked, and
/// not while they are in use.
fn is_configured(state: &ProvisionState) -> bool {
    use ProvisionState as S;
    !matches!(
        state,
        S::Enroll | S::Verifying | S::CleanWait | S::Cleaning | S::DeployWait | S::Deploying | S::Inspecting
    )
}

/// Whether the host can go on with the ramdisk it has.
fn check_image(registering: &Registering<'_>, config: &crate::config::Config) -> Flow {
    use ProvisioningState as S;
    let request = registering.request;
    let cleans = automated_clean(request.automated_cleaning_mode);
    let fast = request.inspection_mode == Some(InspectionMode::Fast);
    let boots_ramdisk = match &request.state {
        S::Deprovisioning => cleans,
        S::Inspecting => !fast,
        S::Preparing => true,
        S::Provisioned | S::ExternallyProvisioned => {
            request.operational_status == OperationalStatus::Servicing
        }
        _ => false,
    };
    if boots_ramdisk && registering.ramdisk.is_none() && config.image_builder {
        return Err(ProvisionerError::needs_preprovisioning_image(
            "a preprovisioning image is needed before the host can go on, in a format its BMC driver can boot",
        )
        .into());
    }
    Ok(())
}

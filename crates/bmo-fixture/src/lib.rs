//! The provisioner `fixture`: machines that exist only in memory.
//!
//! It is compiled into the manager (`-provisioner=fixture`), so that tests and first tries need neither a plugin nor
//! hardware. Every operation takes its time, is begun once and found again, as with a real back end.
//!
//! Each host has a machine of its own ([`MachineState`]), named by namespace, name and UID. Machines are forgotten
//! when the process ends, unless the environment variable [`STATE_VARIABLE`] names a file: then they are kept there
//! (JSON, replaced as a whole with every change), and a manager that is killed finds them as they were. The file, and
//! the log line `fixture deploys`, tell how often each machine was deployed.
//!
//! Tests change how a machine behaves with [`Fixture::configure`].

mod details;
mod provisioner;
mod state;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bmo_provisioner::{
    Capabilities, EventPublisher, FirmwareSettings, Health, HostData, Provisioner, ProvisionerError,
    ProvisionerFactory, Result,
};

pub use details::hardware_details;
use state::Machines;
pub use state::{MachineState, StateFileError};

/// The environment variable that names the file in which machines are kept.
pub const STATE_VARIABLE: &str = "BMO_FIXTURE_STATE";

/// The name of this provisioner.
pub const NAME: &str = "fixture";

/// How the machine of a host behaves.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// How many times a provisioner cannot be made before it can.
    pub not_ready: u32,
    /// Registration fails with this text.
    pub registration_error: Option<String>,
    /// A request to switch off reboots instead.
    pub disable_power_off: bool,
    /// The back end has lost control of the power.
    pub power_failure: bool,
    /// Health the BMC reports.
    pub health: Option<Health>,
    /// BIOS settings and their schema.
    pub firmware_settings: FirmwareSettings,
    /// Firmware versions.
    pub firmware_components: Vec<bmo_api::FirmwareComponentStatus>,
}

/// Makes provisioners for machines that exist only here.
#[derive(Clone, Debug, Default)]
pub struct Fixture {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    machines: Machines,
    behaviours: BTreeMap<(String, String), Behaviour>,
}

impl Fixture {
    /// Machines that are forgotten with the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Machines that are kept in a file, which need not exist yet.
    ///
    /// # Errors
    /// If the file exists and cannot be read, or holds something else.
    pub fn with_state_file(path: impl Into<PathBuf>) -> std::result::Result<Self, StateFileError> {
        let shared = Shared {
            machines: Machines::load(path.into())?,
            behaviours: BTreeMap::new(),
        };
        Ok(Self {
            shared: Arc::new(Mutex::new(shared)),
        })
    }

    /// As [`STATE_VARIABLE`] says.
    ///
    /// # Errors
    /// As [`Self::with_state_file`].
    pub fn from_env() -> std::result::Result<Self, StateFileError> {
        match std::env::var_os(STATE_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::with_state_file(path),
            None => Ok(Self::new()),
        }
    }

    /// Changes how the machine of a host behaves.
    pub fn configure(&self, namespace: &str, name: &str, change: impl FnOnce(&mut Behaviour)) {
        change(
            self.lock()
                .behaviours
                .entry((namespace.to_owned(), name.to_owned()))
                .or_default(),
        );
    }

    /// The machine of a host, if there is one; the UID tells hosts apart that had the same name one after the other.
    pub fn machine(&self, namespace: &str, name: &str, uid: &str) -> Option<MachineState> {
        self.lock().machines.get(&key(namespace, name, uid)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a machine.
fn key(namespace: &str, name: &str, uid: &str) -> String {
    format!("{namespace}/{name}/{uid}")
}

#[async_trait]
impl ProvisionerFactory for Fixture {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        let behaviour = {
            let mut shared = self.lock();
            let behaviour = shared
                .behaviours
                .entry((host.namespace.clone(), host.name.clone()))
                .or_default();
            if behaviour.not_ready > 0 {
                behaviour.not_ready -= 1;
                return Err(ProvisionerError::not_ready(
                    "the fixture is told not to be ready yet",
                ));
            }
            behaviour.clone()
        };
        let key = key(&host.namespace, &host.name, &host.uid);
        Ok(Box::new(provisioner::FixtureProvisioner {
            fixture: self.clone(),
            key,
            host,
            behaviour,
            events,
        }))
    }
}

//! What all passes of a plugin share: settings, pace, and a little memory of nodes, all of it dispensable.
//!
//! The memory saves requests (ports that are known to exist, firmware that cannot have changed). It is bounded, and
//! losing it costs a few requests and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::capacity::Admissions;
use crate::client::{BiosSetting, FirmwareComponent, Node, ProvisionState};
use crate::config::Config;
use crate::fleet::Fleet;
use crate::pace::{Pace, Phase};

/// Nodes that are remembered; beyond it those that were not used for longest are forgotten.
const REMEMBERED: usize = 20_000;
/// How long anything is remembered without being asked for again.
const FORGET_AFTER: Duration = Duration::from_hours(1);
/// How long a host name's address is remembered.
const ADDRESS_AGE: Duration = Duration::from_mins(1);

/// See the module.
#[derive(Debug)]
pub struct Shared {
    /// Settings.
    pub config: Config,
    /// How soon to look again.
    pub pace: Pace,
    /// The list of all nodes.
    pub fleet: Fleet,
    /// Who was let in lately.
    pub admissions: Admissions,
    memory: Mutex<HashMap<String, Remembered>>,
    addresses: Mutex<HashMap<String, (Instant, Option<IpAddr>)>>,
}

/// What is remembered of one node.
#[derive(Debug)]
pub struct Remembered {
    used: Instant,
    /// MAC addresses whose ports exist, and whether the node boots from them.
    pub ports: Option<BTreeMap<String, bool>>,
    /// A virtual medium was asked for and has not been seen yet.
    pub attaching: bool,
    /// The node, while it is on its way, and when it was seen.
    pub on_its_way: Option<(Instant, Arc<Node>)>,
    /// State and moment of the last change that was seen.
    transition: Option<(ProvisionState, String)>,
    /// BIOS settings read since then, with their limits.
    pub bios: Option<(Instant, Vec<BiosSetting>)>,
    /// Firmware versions read since then.
    pub firmware: Option<(Instant, Vec<FirmwareComponent>)>,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            used: Instant::now(),
            ports: None,
            attaching: false,
            on_its_way: None,
            transition: None,
            bios: None,
            firmware: None,
        }
    }
}

impl Remembered {
    /// Whether the node is known to rest since the moment that `bios` and `firmware` belong to.
    pub fn rests(&self) -> bool {
        self.transition.as_ref().is_some_and(|(state, _)| rests(state))
    }
}

/// Whether nothing happens to a node in this state, so that Ironic does not read firmware anew.
fn rests(state: &ProvisionState) -> bool {
    use ProvisionState as S;
    matches!(state, S::Manageable | S::Available | S::Active)
}

impl Shared {
    /// Nothing remembered yet.
    pub fn new(config: Config, pace: Pace) -> Self {
        Self {
            config,
            pace,
            fleet: Fleet::default(),
            admissions: Admissions::default(),
            memory: Mutex::default(),
            addresses: Mutex::default(),
        }
    }

    /// A node was looked at.
    pub fn note(&self, node: &Arc<Node>) {
        self.pace.note(node);
        self.of_node(&node.uuid, |known| {
            let on_its_way = Phase::of(&node.provision_state).is_some();
            known.on_its_way = on_its_way.then(|| (Instant::now(), Arc::clone(node)));
            let now = (node.provision_state.clone(), node.provision_updated_at.clone());
            if known.transition.as_ref() != Some(&now) {
                known.transition = Some(now);
                known.bios = None;
                known.firmware = None;
            }
        });
    }

    /// Looks at or changes what is remembered of a node.
    pub fn of_node<T>(&self, uuid: &str, action: impl FnOnce(&mut Remembered) -> T) -> T {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.len() >= REMEMBERED && !memory.contains_key(uuid) {
            memory.retain(|_, known| known.used.elapsed() < FORGET_AFTER);
            if memory.len() >= REMEMBERED {
                memory.clear();
            }
        }
        let known = memory.entry(uuid.to_owned()).or_default();
        if known.used.elapsed() >= FORGET_AFTER {
            *known = Remembered::default();
        }
        known.used = Instant::now();
        action(known)
    }

    /// Forgets a node that is gone.
    pub fn forget(&self, uuid: &str) {
        self.pace.forget(uuid);
        self.memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(uuid);
    }

    /// The first address of a host name; `None` where it has none, or where nobody can say now.
    pub async fn address_of(&self, host: &str) -> Option<IpAddr> {
        if let Ok(address) = host.parse() {
            return Some(address);
        }
        let known = |map: &HashMap<String, (Instant, Option<IpAddr>)>| {
            map.get(host)
                .filter(|(when, _)| when.elapsed() < ADDRESS_AGE)
                .map(|(_, address)| *address)
        };
        if let Some(address) = known(&self.addresses.lock().unwrap_or_else(PoisonError::into_inner)) {
            return address;
        }
        let lookup = tokio::time::timeout(Duration::from_secs(5), tokio::net::lookup_host((host, 0))).await;
        let address = lookup
            .ok()
            .and_then(Result::ok)
            .and_then(|mut found| found.next())
            .map(|found| found.ip());
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.retain(|_, (when, _)| when.elapsed() < ADDRESS_AGE);
        addresses.insert(host.to_owned(), (Instant::now(), address));
        address
    }
}

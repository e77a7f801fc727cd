//! How soon to look again.
//!
//! Each wait has a longest delay (3 s for what takes seconds, 10 s for what takes minutes). Within it the plugin
//! learns how long each phase of a node's life takes on this Ironic, sleeps through most of it, and looks often
//! near its end. So a host's life needs few requests, and yet little time is lost between two phases. What is looked
//! at by many hosts is spread by a random quarter of the delay.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::client::{Node, PowerState, ProvisionState};

/// Longest delay for what takes seconds.
pub const SHORT: Duration = Duration::from_secs(3);
/// Longest delay for what takes minutes.
pub const LONG: Duration = Duration::from_secs(10);
/// Phases under way that are remembered. Beyond it the oldest are forgotten, which costs a few requests.
const REMEMBERED: usize = 20_000;

/// What a node is busy with, as far as its duration is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The BMC is checked.
    Verification,
    /// The hardware is looked at.
    Inspection,
    /// Disks are cleaned, RAID and firmware are set up.
    Cleaning,
    /// An image is written.
    Deployment,
    /// What was deployed is removed.
    Deletion,
    /// Firmware is changed in a deployed machine.
    Service,
    /// A running machine is taken over.
    Adoption,
    /// The machine is switched on or off.
    Power,
}

impl Phase {
    /// The phase a node is in by its provision state.
    pub fn of(state: &ProvisionState) -> Option<Self> {
        use ProvisionState as S;
        Some(match state {
            S::Verifying => Self::Verification,
            S::Inspecting | S::InspectWait => Self::Inspection,
            S::Cleaning | S::CleanWait => Self::Cleaning,
            S::Deploying | S::DeployWait => Self::Deployment,
            S::Deleting => Self::Deletion,
            S::Servicing | S::ServiceWait => Self::Service,
            S::Adopting => Self::Adoption,
            _ => return None,
        })
    }

    /// Whether it runs beside the others.
    fn is_power(self) -> bool {
        self == Self::Power
    }
}

/// Learned durations and what is under way. One for all hosts of a plugin.
#[derive(Debug)]
pub struct Pace {
    adaptive: bool,
    learned: Mutex<Learned>,
}

#[derive(Debug, Default)]
struct Learned {
    usual: HashMap<Phase, Duration>,
    running: HashMap<(String, bool), (Phase, Instant)>,
}

impl Pace {
    /// Learns, and spreads.
    pub fn adaptive() -> Self {
        Self {
            adaptive: true,
            learned: Mutex::default(),
        }
    }

    /// Always the longest delay, so that tests can tell which one it was.
    pub fn fixed() -> Self {
        Self {
            adaptive: false,
            learned: Mutex::default(),
        }
    }

    /// A request that starts a phase was accepted.
    pub fn begin(&self, uuid: &str, phase: Phase) {
        self.with(|learned| learned.start(uuid, phase));
    }

    /// A node was looked at: begins and ends phases.
    pub fn note(&self, node: &Node) {
        let failed = node.provision_state.as_str().ends_with("failed");
        let power = (node.target_power_state != PowerState::default()).then_some(Phase::Power);
        self.with(|learned| {
            learned.see(&node.uuid, false, Phase::of(&node.provision_state), failed);
            learned.see(&node.uuid, true, power, !node.last_error.is_empty());
        });
    }

    /// A node is gone.
    pub fn forget(&self, uuid: &str) {
        self.with(|learned| {
            for power in [false, true] {
                learned.running.remove(&(uuid.to_owned(), power));
            }
        });
    }

    /// How many nodes are on their way.
    pub fn under_way(&self) -> usize {
        self.with(|learned| learned.running.keys().filter(|(_, power)| !power).count())
    }

    /// The delay before the next look at a node that is in `phase`, at most `longest` (and a quarter more).
    pub fn delay(&self, uuid: &str, phase: Phase, longest: Duration) -> Duration {
        if !self.adaptive || longest.is_zero() {
            return longest;
        }
        let delay = self.with(|learned| {
            let since = learned
                .running
                .get(&(uuid.to_owned(), phase.is_power()))
                .filter(|(running, _)| *running == phase);
            let elapsed = since.map(|(_, start)| start.elapsed()).unwrap_or_default();
            next_look(elapsed, learned.usual.get(&phase).copied()).min(longest)
        });
        spread(delay)
    }

    /// The delay before a look at something that is done already, or is so in a moment.
    pub fn at_once(&self, longest: Duration) -> Duration {
        if self.adaptive {
            spread(Duration::from_millis(400)).min(longest)
        } else {
            longest
        }
    }

    /// A delay that depends on nothing learned.
    pub fn plain(&self, delay: Duration) -> Duration {
        if self.adaptive { spread(delay) } else { delay }
    }

    fn with<T>(&self, action: impl FnOnce(&mut Learned) -> T) -> T {
        action(&mut self.learned.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Learned {
    fn start(&mut self, uuid: &str, phase: Phase) {
        if self.running.len() >= REMEMBERED {
            self.running
                .retain(|_, (_, start)| start.elapsed() < Duration::from_hours(1));
            if self.running.len() >= REMEMBERED {
                self.running.clear();
            }
        }
        self.running
            .insert((uuid.to_owned(), phase.is_power()), (phase, Instant::now()));
    }

    fn see(&mut self, uuid: &str, power: bool, now: Option<Phase>, failed: bool) {
        let key = (uuid.to_owned(), power);
        let before = self.running.get(&key).copied();
        if before.map(|(phase, _)| phase) == now {
            return;
        }
        if let Some((phase, start)) = before {
            self.running.remove(&key);
            if !failed {
                self.learn(phase, start.elapsed());
            }
        }
        if let Some(phase) = now {
            self.start(uuid, phase);
        }
    }

    fn learn(&mut self, phase: Phase, took: Duration) {
        let usual = self.usual.entry(phase).or_insert(took);
        *usual = (*usual * 7 + took * 3) / 10;
    }
}

/// The delay after `elapsed` of a phase that usually takes `usual`. What is seen as its duration includes the delay
/// of the look that saw its end, so the first look comes earlier than usual: otherwise the estimate would only grow.
fn next_look(elapsed: Duration, usual: Option<Duration>) -> Duration {
    match usual {
        Some(usual) if elapsed < usual.mul_f64(0.85) => usual
            .mul_f64(0.85)
            .saturating_sub(elapsed)
            .max(Duration::from_millis(400)),
        Some(_) => elapsed.mul_f64(0.08).max(Duration::from_millis(900)),
        None => elapsed.mul_f64(0.25).max(Duration::from_millis(1500)),
    }
}

/// Adds a random quarter.
fn spread(delay: Duration) -> Duration {
    delay.mul_f64(1.0 + 0.25 * rand::random::<f64>())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONG, Pace, Phase, SHORT};
    use crate::client::{Node, ProvisionState};

    fn node(state: ProvisionState) -> Node {
        Node {
            uuid: "u".to_owned(),
            provision_state: state,
            ..Node::default()
        }
    }

    /// Plays a phase of a given length and counts the looks and the time lost after its end.
    async fn play(pace: &Pace, length: Duration) -> (usize, Duration) {
        let start = tokio::time::Instant::now();
        pace.begin("u", Phase::Cleaning);
        let mut looks = 0;
        loop {
            tokio::time::advance(pace.delay("u", Phase::Cleaning, LONG)).await;
            looks += 1;
            let running = start.elapsed() < length;
            pace.note(&node(if running {
                ProvisionState::CleanWait
            } else {
                ProvisionState::Available
            }));
            if !running {
                return (looks, start.elapsed().saturating_sub(length));
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn learned_phases_are_slept_through() {
        let pace = Pace::adaptive();
        let (first, _) = play(&pace, Duration::from_secs(20)).await;
        assert!(first <= 12, "{first} looks at an unknown phase");
        for _ in 0..20 {
            play(&pace, Duration::from_secs(20)).await;
        }
        let (looks, lost) = play(&pace, Duration::from_secs(20)).await;
        assert!(looks <= 6, "{looks} looks at a known phase");
        assert!(lost < Duration::from_secs(4), "{lost:?} lost");
    }

    #[tokio::test(start_paused = true)]
    async fn delays_never_exceed_their_bound_and_a_quarter() {
        let pace = Pace::adaptive();
        pace.begin("u", Phase::Deployment);
        tokio::time::advance(Duration::from_hours(2)).await;
        for longest in [SHORT, LONG] {
            for _ in 0..100 {
                let delay = pace.delay("u", Phase::Deployment, longest);
                assert!(
                    delay >= Duration::from_millis(400) && delay <= longest.mul_f64(1.25),
                    "{delay:?}"
                );
            }
        }
        assert_eq!(pace.delay("u", Phase::Power, Duration::ZERO), Duration::ZERO);
        assert_eq!(Pace::fixed().delay("u", Phase::Power, LONG), LONG);
    }
}

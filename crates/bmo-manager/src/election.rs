//! Choosing one of several managers through a Lease, as client-go does, so that managers of both kinds can share
//! one during a migration.
//!
//! A lease is valid for its duration after its record was *seen* to change, by this machine's clock; clocks of
//! others are never compared with ours. Every write is guarded by the version that was read.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::time::{Instant, sleep, timeout};

use crate::options::LeaderElection;

/// Name of the Lease; upstream's.
pub const LEASE_NAME: &str = "baremetal-operator";

/// One candidate.
pub struct Elector {
    api: Api<Lease>,
    identity: String,
    settings: LeaderElection,
    observed: Option<Observed>,
}

/// A lease as it was seen to change last.
struct Observed {
    lease: Lease,
    at: Instant,
}

/// What a try came to.
enum Try {
    /// The lease is ours.
    Held,
    /// It is someone else's, or the API could not be asked.
    NotHeld,
}

impl std::fmt::Debug for Elector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elector")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl Elector {
    /// A candidate called `identity`, which must differ from all others'.
    pub fn new(client: Client, identity: String, settings: LeaderElection) -> Self {
        let api = Api::namespaced(client, &settings.namespace);
        Self {
            api,
            identity,
            settings,
            observed: None,
        }
    }

    /// Waits until the lease is ours.
    pub async fn acquire(&mut self) {
        while matches!(self.attempt().await, Try::NotHeld) {
            // Spread, so that candidates do not meet for ever.
            sleep(self.settings.retry_period.mul_f64(1.0 + 1.2 * fraction())).await;
        }
    }

    /// Keeps the lease; returns when it could not be renewed for so long that others may take it.
    pub async fn keep(&mut self) {
        loop {
            sleep(self.settings.retry_period).await;
            let renewed = timeout(self.settings.renew_deadline, async {
                while matches!(self.attempt().await, Try::NotHeld) {
                    if self.taken_by_another() {
                        return false;
                    }
                    sleep(self.settings.retry_period).await;
                }
                true
            });
            if !matches!(renewed.await, Ok(true)) {
                return;
            }
        }
    }

    /// Gives the lease up, so that another candidate need not wait for its end.
    pub async fn release(&mut self) {
        let Some(observed) = self.observed.take() else {
            return;
        };
        if holder(&observed.lease) != self.identity {
            return;
        }
        let mut lease = observed.lease;
        let spec = lease.spec.get_or_insert_default();
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.renew_time = Some(MicroTime(Timestamp::now()));
        let released = timeout(
            self.settings.renew_deadline,
            self.api.replace(LEASE_NAME, &PostParams::default(), &lease),
        )
        .await;
        if !matches!(released, Ok(Ok(_))) {
            tracing::warn!("the lease could not be given up; other managers wait for its end");
        }
    }

    /// One try to get or renew the lease.
    async fn attempt(&mut self) -> Try {
        match timeout(self.settings.renew_deadline, self.attempt_once()).await {
            Ok(Ok(result)) => result,
            Ok(Err(kube::Error::Api(status))) if status.code == 409 => Try::NotHeld,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the lease could not be read or written; tried again");
                Try::NotHeld
            }
            Err(_) => {
                tracing::warn!("the Kubernetes API did not answer about the lease; tried again");
                Try::NotHeld
            }
        }
    }

    async fn attempt_once(&mut self) -> kube::Result<Try> {
        let Some(current) = self.api.get_opt(LEASE_NAME).await? else {
            let mut lease = Lease::default();
            lease.metadata.name = Some(LEASE_NAME.to_owned());
            lease.spec = Some(self.record(None));
            let created = self.api.create(&PostParams::default(), &lease).await?;
            self.observe(created);
            return Ok(Try::Held);
        };
        self.observe(current.clone());
        if self.held_by_another() {
            return Ok(Try::NotHeld);
        }
        let mut lease = current;
        lease.spec = Some(self.record(lease.spec.as_ref()));
        let written = self
            .api
            .replace(LEASE_NAME, &PostParams::default(), &lease)
            .await?;
        self.observe(written);
        Ok(Try::Held)
    }

    /// Notes when the record was seen to change.
    fn observe(&mut self, lease: Lease) {
        let same = self
            .observed
            .as_ref()
            .is_some_and(|known| known.lease.spec == lease.spec);
        match &mut self.observed {
            Some(known) if same => known.lease = lease,
            other => {
                *other = Some(Observed {
                    lease,
                    at: Instant::now(),
                });
            }
        }
    }

    fn taken_by_another(&self) -> bool {
        self.observed.as_ref().is_some_and(|seen| {
            let holder = holder(&seen.lease);
            !holder.is_empty() && holder != self.identity
        })
    }

    /// Whether another candidate holds a lease that has not run out.
    fn held_by_another(&self) -> bool {
        let Some(seen) = &self.observed else { return false };
        let seconds = seen
            .lease
            .spec
            .as_ref()
            .and_then(|spec| spec.lease_duration_seconds)
            .unwrap_or(0);
        let duration = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        self.taken_by_another() && seen.at.elapsed() < duration
    }

    /// The record with us as the holder.
    fn record(&self, former: Option<&LeaseSpec>) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let ours = former.is_some_and(|spec| spec.holder_identity.as_deref() == Some(&self.identity));
        let transitions = former.map(|spec| spec.lease_transitions.unwrap_or(0) + i32::from(!ours));
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(
                i32::try_from(self.settings.lease_duration.as_secs()).unwrap_or(i32::MAX),
            ),
            acquire_time: former
                .filter(|_| ours)
                .and_then(|spec| spec.acquire_time.clone())
                .or(Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions.unwrap_or(0)),
            ..LeaseSpec::default()
        }
    }
}

fn holder(lease: &Lease) -> &str {
    lease
        .spec
        .as_ref()
        .and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

/// A name for this process that no other has.
pub fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() {
        "baremetal-operator"
    } else {
        host.trim()
    };
    format!("{host}_{:032x}", rand::random::<u128>())
}

/// A number in `0.0..1.0`.
fn fraction() -> f64 {
    rand::random()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bmo_apiserver::{ApiServer, OpenOptions};
    use k8s_openapi::api::core::v1::Namespace;
    use kube::api::PostParams;
    use kube::{Api, Client};
    use tokio::time::{Instant, timeout};

    use super::{Elector, LeaderElection};

    async fn cluster() -> Client {
        let client = ApiServer::open(OpenOptions::in_memory()).unwrap().client();
        let namespace = serde_json::from_value(serde_json::json!({"metadata": {"name": "p"}})).unwrap();
        Api::<Namespace>::all(client.clone())
            .create(&PostParams::default(), &namespace)
            .await
            .unwrap();
        client
    }

    fn candidate(client: &Client, name: &str) -> Elector {
        let settings = LeaderElection {
            namespace: "p".into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        };
        Elector::new(client.clone(), name.into(), settings)
    }

    #[tokio::test(start_paused = true)]
    async fn one_leads_while_it_renews_and_another_when_it_is_gone() {
        let client = cluster().await;
        let (mut a, mut b) = (candidate(&client, "a"), candidate(&client, "b"));
        a.acquire().await;
        tokio::select! {
            () = b.acquire() => panic!("two lead"),
            () = a.keep() => panic!("the lease was lost without reason"),
            () = tokio::time::sleep(Duration::from_mins(10)) => {}
        }
        // a is gone without a word.
        let gone = Instant::now();
        b.acquire().await;
        let waited = gone.elapsed();
        assert!(
            waited >= Duration::from_secs(12) && waited <= Duration::from_secs(21),
            "{waited:?}"
        );
        assert!(
            timeout(Duration::from_secs(15), a.keep()).await.is_ok(),
            "a goes on as if it led"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_given_up_is_taken_soon() {
        let client = cluster().await;
        let (mut a, mut b) = (candidate(&client, "a"), candidate(&client, "b"));
        a.acquire().await;
        assert!(timeout(Duration::from_secs(5), b.acquire()).await.is_err());
        a.release().await;
        assert!(timeout(Duration::from_secs(6), b.acquire()).await.is_ok());
    }
}

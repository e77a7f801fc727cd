//! One pass over one host: load → decide → commit.

use std::sync::Arc;

use bmo_api::{BareMetalHost, HardwareData};
use bmo_lifecycle::{Decision, NoPullSecrets, Observed, Outcome, Services, credentials_wish, decide};
use tracing::Instrument;

use crate::commit::commit;
use crate::config_data::{ConfigData, preprovisioning_network_data};
use crate::controller::Shared;
use crate::metrics::HostLabels;
use crate::queue::{HostKey, Next};

/// Looks at a host, acts, and says when to look again.
pub(crate) async fn run_pass(shared: &Shared, key: &HostKey) -> Next {
    let Some(host) = shared.hosts.get(key) else {
        return Next::OnWake;
    };
    shared
        .metrics
        .reconcile
        .get_or_create(&HostLabels::from(key))
        .inc();
    let span = tracing::info_span!(
        "pass",
        host.namespace = key.namespace,
        host.name = key.name,
        provisioningState = %host.state(),
        plugin = shared.provisioner,
    );
    Box::pin(pass(shared, key, host)).instrument(span).await
}

async fn pass(shared: &Shared, key: &HostKey, host: Arc<BareMetalHost>) -> Next {
    let observed = load(shared, key, &host).await;
    let config = ConfigData::new(host.clone(), shared.secrets.clone(), shared.metrics.clone());
    let services = Services {
        config: &config,
        pull_secrets: &NoPullSecrets,
    };
    let decision = Box::pin(decide(&observed, &shared.policy, &*shared.factory, services)).await;
    let committed = commit(shared, host.clone(), &decision).await;
    log(&host, &decision);
    match committed {
        Ok(()) => next(&decision.outcome),
        Err(error) => {
            tracing::warn!(%error, "the pass could not be stored; the host is tried again");
            Next::Retry
        }
    }
}

/// Everything a decision needs, from caches where there are any.
async fn load(shared: &Shared, key: &HostKey, host: &Arc<BareMetalHost>) -> Observed {
    let wish = credentials_wish(host);
    let (credentials, network_data) = tokio::join!(
        shared.secrets.credentials(host, wish),
        preprovisioning_network_data(host, &shared.secrets, &shared.metrics),
    );
    Observed {
        host: BareMetalHost::clone(host),
        hardware_data: shared
            .hardware_data
            .get(key)
            .map(|data| HardwareData::clone(&data)),
        credentials,
        preprovisioning_network_data: network_data,
        now: shared.clock.now(),
        jitter: rand::random::<f64>(),
    }
}

fn next(outcome: &Outcome) -> Next {
    match outcome {
        Outcome::Requeue { after, .. } => Next::After(*after),
        Outcome::Again => Next::Now,
        Outcome::Stop { .. } | Outcome::Deleted => Next::OnWake,
        Outcome::Error(_) => Next::Retry,
    }
}

/// What an operator wants to see of a pass: changes of state and failures; the rest is for debugging.
fn log(host: &BareMetalHost, decision: &Decision) {
    if let Some(status) = &decision.status {
        let (from, to) = (host.state(), &status.provisioning.state);
        if from != *to {
            tracing::info!(from = %from, to = %to, "the host goes on to another state");
        }
        let failed_before = host
            .status
            .as_ref()
            .map(|status| status.error_message.as_str())
            .unwrap_or_default();
        if !status.error_message.is_empty() && status.error_message != failed_before {
            let error_type = status
                .error_type
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            tracing::warn!(
                errorType = error_type,
                error = status.error_message,
                "the host failed"
            );
        }
    }
    match &decision.outcome {
        Outcome::Requeue { after, reason } => {
            let reason = reason.to_string();
            tracing::debug!(requeueAfter = after.as_secs_f64(), reason, "pass done");
        }
        Outcome::Again => tracing::debug!("pass done, more to do"),
        Outcome::Stop { reason } => {
            tracing::debug!(%reason, "pass done, nothing to do until something changes");
        }
        Outcome::Deleted => tracing::info!("the host is let go"),
        Outcome::Error(error) => {
            tracing::warn!(%error, "the pass failed; the host is tried again with growing delays");
        }
    }
}

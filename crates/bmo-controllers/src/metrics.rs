//! Metrics of the host controller, under the names upstream's dashboards and alerts use.
//!
//! Counters without labels show as zero from the start; labelled series appear with their first use and those
//! that name a host go with the host.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::queue::HostKey;

/// Buckets of the client library every dashboard expects for short times, in seconds.
const SHORT: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Buckets for what takes minutes, in seconds.
const LONG: [f64; 6] = [30.0, 90.0, 180.0, 360.0, 720.0, 1440.0];
/// Buckets of the time one pass takes, in seconds.
const PASS: [f64; 12] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];
/// Buckets of the queue's times, in seconds.
const QUEUE: [f64; 10] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0];
/// The controller's name in labels.
const CONTROLLER: &str = "baremetalhost";

/// Labels that name a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct HostLabels {
    namespace: String,
    host: String,
}

impl From<&HostKey> for HostLabels {
    fn from(key: &HostKey) -> Self {
        Self {
            namespace: key.namespace.clone(),
            host: key.name.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PowerLabels {
    namespace: String,
    host: String,
    on_off: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ErrorLabels {
    pub error_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct DataLabels {
    pub host_data_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StateLabels {
    pub prev_state: String,
    pub new_state: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ControllerLabels {
    controller: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    controller: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    name: &'static str,
    controller: &'static str,
}

type HostHistogram = Family<HostLabels, Histogram, fn() -> Histogram>;

/// How a pass ended, for `controller_runtime_reconcile_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassResult {
    /// Nothing scheduled.
    Success,
    /// Again at once.
    Requeue,
    /// Again after a while.
    RequeueAfter,
    /// Failed.
    Error,
}

impl PassResult {
    fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
            Self::Error => "error",
        }
    }
}

/// Every metric of the host controller, and the registry they are in.
pub struct Metrics {
    registry: std::sync::Mutex<Registry>,

    pub reconcile: Family<HostLabels, Counter>,
    pub reconcile_error: Counter,
    pub host_error: Family<ErrorLabels, Counter>,
    pub power_change: Family<PowerLabels, Counter>,
    pub credentials_missing: Counter,
    pub credentials_invalid: Counter,
    pub credentials_unhandled_error: Counter,
    pub credentials_updated: Counter,
    pub credentials_no_management_access: Counter,
    pub host_config_data_error: Family<DataLabels, Counter>,
    pub delayed_provisioning: Family<HostLabels, Counter>,
    pub delayed_deprovisioning: Family<HostLabels, Counter>,
    pub register_duration: HostHistogram,
    pub inspect_duration: HostHistogram,
    pub provision_duration: HostHistogram,
    pub deprovision_duration: HostHistogram,
    pub state_change: Family<StateLabels, Counter>,
    pub host_registration_required: Counter,
    pub host_unmanaged: Counter,
    pub delete_without_deprovisioning: Counter,
    pub delete_without_powering_off: Counter,
    pub provisioner_not_ready: Counter,
    pub delete_delayed_for_detached: Counter,
    pub waiting_for_preprov_image: Counter,

    pub(crate) queue_depth: Gauge,
    pub(crate) queue_adds: Counter,
    pub(crate) queue_retries: Counter,
    pub(crate) queue_duration: Histogram,
    pub(crate) work_duration: Histogram,

    passes: Family<ResultLabels, Counter>,
    pub(crate) pass_errors: Counter,
    pub(crate) pass_panics: Counter,
    pub(crate) pass_time: Histogram,
    pub(crate) active_workers: Gauge,
    pub(crate) max_workers: Gauge,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

fn short() -> Histogram {
    Histogram::new(SHORT)
}

fn long() -> Histogram {
    Histogram::new(LONG)
}

/// Registers a clone of a metric and hands it back.
trait Register {
    fn add<M>(&mut self, name: &'static str, help: &'static str, metric: M) -> M
    where
        M: prometheus_client::registry::Metric + Clone;

    fn add_counter(&mut self, name: &'static str, help: &'static str) -> Counter {
        self.add(name, help, Counter::<u64, AtomicU64>::default())
    }
}

impl Register for Registry {
    fn add<M>(&mut self, name: &'static str, help: &'static str, metric: M) -> M
    where
        M: prometheus_client::registry::Metric + Clone,
    {
        self.register(name, help, metric.clone());
        metric
    }
}

/// A family with one series for this controller, so that library metrics keep their labels.
fn of_controller<M: Clone + Default>(family: &Family<ControllerLabels, M>) -> M {
    family
        .get_or_create(&ControllerLabels {
            controller: CONTROLLER,
        })
        .clone()
}

/// The same for the work queue.
fn of_queue<M: Clone, C>(family: &Family<QueueLabels, M, C>) -> M
where
    C: prometheus_client::metrics::family::MetricConstructor<M>,
{
    family
        .get_or_create(&QueueLabels {
            name: CONTROLLER,
            controller: CONTROLLER,
        })
        .clone()
}

impl Metrics {
    /// Fresh metrics in a registry of their own.
    #[allow(clippy::too_many_lines, reason = "one line a metric")]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let r = &mut registry;

        let active_workers: Family<ControllerLabels, Gauge> = Family::default();
        let max_workers: Family<ControllerLabels, Gauge> = Family::default();
        let pass_errors: Family<ControllerLabels, Counter> = Family::default();
        let pass_panics: Family<ControllerLabels, Counter> = Family::default();
        let pass_time =
            Family::<ControllerLabels, Histogram, fn() -> Histogram>::new_with_constructor(|| {
                Histogram::new(PASS)
            });
        r.register(
            "controller_runtime_active_workers",
            "Passes being made",
            active_workers.clone(),
        );
        r.register(
            "controller_runtime_max_concurrent_reconciles",
            "Most passes made at once",
            max_workers.clone(),
        );
        r.register(
            "controller_runtime_reconcile_errors",
            "Passes that failed",
            pass_errors.clone(),
        );
        r.register(
            "controller_runtime_reconcile_panics",
            "Passes that panicked",
            pass_panics.clone(),
        );
        r.register_with_unit(
            "controller_runtime_reconcile_time",
            "Time of a pass",
            Unit::Seconds,
            pass_time.clone(),
        );
        let queue_depth: Family<QueueLabels, Gauge> = Family::default();
        let queue_adds: Family<QueueLabels, Counter> = Family::default();
        let queue_retries: Family<QueueLabels, Counter> = Family::default();
        let queue_duration =
            Family::<QueueLabels, Histogram, fn() -> Histogram>::new_with_constructor(|| {
                Histogram::new(QUEUE)
            });
        let work_duration = Family::<QueueLabels, Histogram, fn() -> Histogram>::new_with_constructor(|| {
            Histogram::new(QUEUE)
        });
        r.register(
            "workqueue_depth",
            "Hosts waiting for a worker",
            queue_depth.clone(),
        );
        r.register(
            "workqueue_adds",
            "Times a host was put in line",
            queue_adds.clone(),
        );
        r.register(
            "workqueue_retries",
            "Times a host was put in line after a failure",
            queue_retries.clone(),
        );
        r.register_with_unit(
            "workqueue_queue_duration",
            "Time in line",
            Unit::Seconds,
            queue_duration.clone(),
        );
        r.register_with_unit(
            "workqueue_work_duration",
            "Time of handling a host",
            Unit::Seconds,
            work_duration.clone(),
        );

        Self {
            reconcile: r.add(
                "metal3_reconcile",
                "Reconcile passes of a host",
                Family::default(),
            ),
            reconcile_error: r.add_counter("metal3_reconcile_error", "Reconcile passes that failed"),
            host_error: r.add(
                "metal3_host_error",
                "Times a host entered an error",
                Family::default(),
            ),
            power_change: r.add(
                "metal3_operation_power_change",
                "Power changes requested",
                Family::default(),
            ),
            credentials_missing: r.add_counter("metal3_credentials_missing", "BMC Secrets not found"),
            credentials_invalid: r.add_counter(
                "metal3_credentials_invalid",
                "BMC addresses or Secrets that cannot be used",
            ),
            credentials_unhandled_error: r.add_counter(
                "metal3_credentials_unhandled_error",
                "Other problems with a BMC Secret",
            ),
            credentials_updated: r.add_counter("metal3_credentials_updated", "New BMC credentials tried"),
            credentials_no_management_access: r.add_counter(
                "metal3_credentials_no_management_access",
                "Registrations that could not be made",
            ),
            host_config_data_error: r.add(
                "metal3_host_config_data_error",
                "Keys missing in Secrets of user, network or meta data",
                Family::default(),
            ),
            delayed_provisioning: r.add(
                "metal3_delayed__provisioning",
                "Times a host waited for capacity before provisioning",
                Family::default(),
            ),
            delayed_deprovisioning: r.add(
                "metal3_delayed__deprovisioning",
                "Times a host waited for capacity before deprovisioning",
                Family::default(),
            ),
            register_duration: r.add(
                "metal3_operation_register_duration_seconds",
                "Time of registering",
                HostHistogram::new_with_constructor(short),
            ),
            inspect_duration: r.add(
                "metal3_operation_inspect_duration_seconds",
                "Time of inspecting",
                HostHistogram::new_with_constructor(long),
            ),
            provision_duration: r.add(
                "metal3_operation_provision_duration_seconds",
                "Time of provisioning",
                HostHistogram::new_with_constructor(long),
            ),
            deprovision_duration: r.add(
                "metal3_operation_deprovision_duration_seconds",
                "Time of deprovisioning",
                HostHistogram::new_with_constructor(long),
            ),
            state_change: r.add(
                "metal3_provisioning_state_change",
                "Changes of the provisioning state",
                Family::default(),
            ),
            host_registration_required: r.add_counter(
                "metal3_host_registration_required",
                "Times a host had to be registered",
            ),
            host_unmanaged: r.add_counter("metal3_host_unmanaged", "Hosts without BMC details seen"),
            delete_without_deprovisioning: r.add_counter(
                "metal3_delete_without_deprovisioning",
                "Hosts deleted although deprovisioning failed",
            ),
            delete_without_powering_off: r.add_counter(
                "metal3_delete_without_powering_off",
                "Hosts deleted although powering off failed",
            ),
            provisioner_not_ready: r.add_counter(
                "metal3_provisioner_not_ready",
                "Passes that found the provisioner not ready",
            ),
            delete_delayed_for_detached: r.add_counter(
                "metal3_delete_delayed_for_detached",
                "Deletions held back by the detached annotation",
            ),
            waiting_for_preprov_image: r.add_counter(
                "metal3_waiting_for_preprov_image",
                "Passes that waited for a preprovisioning image",
            ),
            passes: r.add(
                "controller_runtime_reconcile",
                "Reconcile passes by how they ended",
                Family::default(),
            ),
            active_workers: of_controller(&active_workers),
            max_workers: of_controller(&max_workers),
            pass_errors: of_controller(&pass_errors),
            pass_panics: of_controller(&pass_panics),
            pass_time: pass_time
                .get_or_create(&ControllerLabels {
                    controller: CONTROLLER,
                })
                .clone(),
            queue_depth: of_queue(&queue_depth),
            queue_adds: of_queue(&queue_adds),
            queue_retries: of_queue(&queue_retries),
            queue_duration: of_queue(&queue_duration),
            work_duration: of_queue(&work_duration),
            registry: std::sync::Mutex::new(registry),
        }
    }

    /// Lets others (the plugin host, leader election) register their metrics in the same registry.
    pub fn with_registry<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        register(
            &mut self
                .registry
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        )
    }

    /// All metrics as text, in the OpenMetrics format.
    pub fn render(&self) -> String {
        let mut page = String::new();
        let registry = self
            .registry
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        // Writing into a String cannot fail.
        let _ = text::encode(&mut page, &registry);
        page
    }

    /// Counts a pass by how it ended.
    pub(crate) fn count_pass(&self, result: PassResult) {
        self.passes
            .get_or_create(&ResultLabels {
                controller: CONTROLLER,
                result: result.label(),
            })
            .inc();
    }

    /// Counts a power change that was asked for.
    pub(crate) fn count_power_change(&self, key: &HostKey, on: bool) {
        let labels = power_labels(key, on);
        self.power_change.get_or_create(&labels).inc();
    }

    /// Drops every series that names the host.
    pub(crate) fn forget_host(&self, key: &HostKey) {
        let labels = HostLabels::from(key);
        self.reconcile.remove(&labels);
        self.delayed_provisioning.remove(&labels);
        self.delayed_deprovisioning.remove(&labels);
        for histogram in [
            &self.register_duration,
            &self.inspect_duration,
            &self.provision_duration,
            &self.deprovision_duration,
        ] {
            histogram.remove(&labels);
        }
        for on in [true, false] {
            self.power_change.remove(&power_labels(key, on));
        }
    }
}

fn power_labels(key: &HostKey, on: bool) -> PowerLabels {
    PowerLabels {
        namespace: key.namespace.clone(),
        host: key.name.clone(),
        on_off: if on { "on" } else { "off" },
    }
}

#[cfg(test)]
mod tests {
    use super::{HostLabels, Metrics, PassResult};
    use crate::queue::HostKey;

    /// Every exported name of the facts, so that a dashboard made for upstream finds its series.
    const NAMES: [&str; 26] = [
        "metal3_reconcile_total",
        "metal3_reconcile_error_total",
        "metal3_host_error_total",
        "metal3_operation_power_change_total",
        "metal3_credentials_missing_total",
        "metal3_credentials_invalid_total",
        "metal3_credentials_unhandled_error_total",
        "metal3_credentials_updated_total",
        "metal3_credentials_no_management_access_total",
        "metal3_host_config_data_error_total",
        "metal3_delayed__provisioning_total",
        "metal3_delayed__deprovisioning_total",
        "metal3_operation_register_duration_seconds_bucket",
        "metal3_operation_inspect_duration_seconds_bucket",
        "metal3_operation_provision_duration_seconds_bucket",
        "metal3_operation_deprovision_duration_seconds_bucket",
        "metal3_provisioning_state_change_total",
        "metal3_host_registration_required_total",
        "metal3_host_unmanaged_total",
        "metal3_delete_without_deprovisioning_total",
        "metal3_provisioner_not_ready_total",
        "metal3_delete_delayed_for_detached_total",
        "controller_runtime_reconcile_total",
        "controller_runtime_reconcile_time_seconds_bucket",
        "workqueue_depth",
        "workqueue_queue_duration_seconds_bucket",
    ];

    fn used(key: &HostKey) -> Metrics {
        let metrics = Metrics::new();
        let labels = HostLabels::from(key);
        metrics.reconcile.get_or_create(&labels).inc();
        metrics
            .host_error
            .get_or_create(&super::ErrorLabels {
                error_type: "InspectionError".into(),
            })
            .inc();
        metrics
            .host_config_data_error
            .get_or_create(&super::DataLabels {
                host_data_type: "userData".into(),
            })
            .inc();
        metrics
            .state_change
            .get_or_create(&super::StateLabels {
                prev_state: "a".into(),
                new_state: "b".into(),
            })
            .inc();
        metrics.delayed_provisioning.get_or_create(&labels).inc();
        metrics.delayed_deprovisioning.get_or_create(&labels).inc();
        for histogram in [
            &metrics.register_duration,
            &metrics.inspect_duration,
            &metrics.provision_duration,
            &metrics.deprovision_duration,
        ] {
            histogram.get_or_create(&labels).observe(1.0);
        }
        metrics.count_power_change(key, true);
        metrics.count_pass(PassResult::Success);
        metrics
    }

    #[test]
    fn names_are_those_of_dashboards() {
        let page = used(&HostKey::new("ns", "h")).render();
        for name in NAMES {
            assert!(
                page.lines().any(|line| line.starts_with(name)),
                "{name} is missing:\n{page}"
            );
        }
        assert!(
            page.contains(r#"metal3_operation_power_change_total{namespace="ns",host="h",on_off="on"} 1"#),
            "{page}"
        );
        assert!(page.contains("metal3_credentials_missing_total 0"));
    }

    #[test]
    fn series_go_with_the_host() {
        let key = HostKey::new("ns", "leaver");
        let metrics = used(&key);
        assert!(metrics.render().contains("leaver"));
        metrics.forget_host(&key);
        assert!(!metrics.render().contains("leaver"));
    }
}

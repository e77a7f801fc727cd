//! What the host counts about its plugin, as metrics `bmo_plugin_*`.

use bmo_plugin_host::{HealthSnapshot, PluginHealth};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Reads the figures when metrics are asked for.
#[derive(Debug)]
pub struct PluginCollector {
    name: String,
    health: PluginHealth,
}

impl PluginCollector {
    /// Figures of the plugin `name`.
    pub fn new(name: &str, health: PluginHealth) -> Self {
        Self {
            name: name.to_owned(),
            health,
        }
    }
}

/// Name, help and figure of what only grows.
type Figure = (&'static str, &'static str, fn(&HealthSnapshot) -> u64);

const COUNTERS: [Figure; 6] = [
    ("bmo_plugin_calls", "Calls to the plugin", |s| s.calls),
    (
        "bmo_plugin_timeouts",
        "Calls that were not answered in time",
        |s| s.timeouts,
    ),
    (
        "bmo_plugin_late_answers",
        "Calls that were answered after their deadline",
        |s| s.late_answers,
    ),
    (
        "bmo_plugin_stray_answers",
        "Answers to calls that were answered already or never made",
        |s| s.stray_answers,
    ),
    (
        "bmo_plugin_malformed_messages",
        "Messages of the plugin that could not be read",
        |s| s.malformed,
    ),
    (
        "bmo_plugin_crashes",
        "Calls that ended with an internal error of the plugin",
        |s| s.crashes,
    ),
];

const GAUGES: [Figure; 2] = [
    ("bmo_plugin_in_flight_calls", "Calls that are waited for", |s| {
        s.in_flight
    }),
    (
        "bmo_plugin_abandoned_calls",
        "Calls that ignore their cancellation",
        |s| s.abandoned,
    ),
];

impl Collector for PluginCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let snapshot = self.health.snapshot();
        let labels = [("plugin", self.name.as_str())];
        for (name, help, figure) in COUNTERS {
            let metric = ConstCounter::new(figure(&snapshot));
            let mut family = encoder.encode_descriptor(name, help, None, metric.metric_type())?;
            metric.encode(family.encode_family(&labels)?)?;
        }
        let unhealthy = u64::from(self.health.problem().is_some());
        let gauges = GAUGES.map(|(name, help, figure)| (name, help, figure(&snapshot)));
        let healthy = (
            "bmo_plugin_healthy",
            "Whether the plugin can be called",
            1 - unhealthy,
        );
        for (name, help, value) in gauges.into_iter().chain([healthy]) {
            let metric = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let mut family = encoder.encode_descriptor(name, help, None, metric.metric_type())?;
            metric.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

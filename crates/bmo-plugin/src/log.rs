//! Carries what a plugin logs to the operator's log.
//!
//! A plugin has its own copy of `tracing` and of the panic hook, so nothing it writes reaches the operator's by
//! itself. Installed with the hand-shake, once; the host that was loaded last gets the lines, as detailed as any
//! host asked for.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, Once};

use bmo_provisioner::wire::method::Log;
use bmo_provisioner::wire::{LogLevel, LogNotice};
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::host::{HostHandle, lock};

static HOST: Mutex<Option<HostHandle>> = Mutex::new(None);
/// Number of the most detailed level that is sent.
static DETAIL: AtomicI32 = AtomicI32::new(0);

/// Sends log lines and panics to `host`.
pub(crate) fn install(host: HostHandle, level: LogLevel) {
    static ONCE: Once = Once::new();
    *lock(&HOST) = Some(host);
    DETAIL.fetch_max(level.number(), Ordering::Relaxed);
    ONCE.call_once(|| {
        let wanted = dynamic_filter_fn(|metadata, _context| {
            level_of(*metadata.level()).number() <= DETAIL.load(Ordering::Relaxed)
        });
        let subscriber = Registry::default().with(HostLayer.with_filter(wanted));
        // A plugin that has set a subscriber of its own keeps it.
        let _ = tracing::subscriber::set_global_default(subscriber);
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if let Some(host) = current() {
                host.log_line(1, &format!("panic at {place}: {}", panic_text(panic.payload())));
            }
        }));
    });
}

/// What a panic says.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}

fn current() -> Option<HostHandle> {
    *lock(&HOST)
}

struct HostLayer;

/// Fields of a span or an event; the message is kept apart.
#[derive(Clone, Debug, Default)]
struct Fields {
    message: String,
    others: BTreeMap<String, Value>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for HostLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(host) = current() else { return };
        let mut all = BTreeMap::new();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            if let Some(fields) = span.extensions().get::<Fields>() {
                all.extend(fields.others.clone());
            }
        }
        let mut own = Fields::default();
        event.record(&mut own);
        all.extend(own.others);
        host.notify::<Log>(&LogNotice {
            level: level_of(*event.metadata().level()),
            target: event.metadata().target().to_owned(),
            message: own.message,
            fields: all,
        });
    }
}

fn level_of(level: Level) -> LogLevel {
    match level {
        Level::ERROR => LogLevel::Error,
        Level::WARN => LogLevel::Warn,
        Level::INFO => LogLevel::Info,
        Level::DEBUG => LogLevel::Debug,
        Level::TRACE => LogLevel::Trace,
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.others
                .insert(field.name().to_owned(), Value::from(format!("{value:?}")));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.others.insert(field.name().to_owned(), Value::from(value));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.insert(field.name().to_owned(), Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.others.insert(field.name().to_owned(), Value::from(value));
    }
}

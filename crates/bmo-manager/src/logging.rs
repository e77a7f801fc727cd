//! The log: JSON objects as upstream writes them, or lines for people.
//!
//! A JSON line has `level`, `ts` (seconds since the epoch), `logger`, `msg`, then the members of the event and of
//! the spans around it. A dotted name is an object: `host.name` and `host.namespace` become
//! `"host": {"name": …, "namespace": …}`.

use std::fmt::{self, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

/// Libraries that say much at debug level.
const QUIET: &str =
    "hyper=info,hyper_util=info,h2=info,rustls=info,tower=info,kube_client=info,kube_runtime=info";

/// How the log is written.
#[derive(Debug)]
pub enum Style {
    /// JSON to standard error, from level info.
    Json,
    /// Lines for people to standard error, from level debug.
    Dev,
    /// Lines for people to standard error, from level info.
    Plain,
    /// Lines for people to a file, from level info.
    File(std::fs::File),
}

/// Sets the log of the process up; a second call changes nothing. The variable `RUST_LOG` says otherwise about
/// levels.
pub fn start(style: Style) {
    let level = if matches!(style, Style::Dev) {
        format!("debug,{QUIET}")
    } else {
        "info".to_owned()
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let registry = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer().compact();
    let colours = std::io::stderr().is_terminal();
    let started = match style {
        Style::Json => registry.with(JsonLines).try_init(),
        Style::Dev | Style::Plain => registry
            .with(lines.with_ansi(colours).with_writer(std::io::stderr))
            .try_init(),
        Style::File(file) => registry
            .with(lines.with_ansi(false).with_writer(std::sync::Mutex::new(file)))
            .try_init(),
    };
    // Fails only where a log was set up before.
    drop(started);
}

/// Writes each event as a line of JSON to standard error.
struct JsonLines;

/// Members that a span adds to the events inside it.
struct SpanMembers(Map<String, Value>);

impl<S> Layer<S> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut members = Members::default();
        attributes.record(&mut members);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanMembers(members.0));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut members = Members::default();
        values.record(&mut members);
        if let Some(span) = context.span(id)
            && let Some(SpanMembers(known)) = span.extensions_mut().get_mut::<SpanMembers>()
        {
            merge(known, members.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut own = Members::default();
        event.record(&mut own);
        let mut line = Map::new();
        line.insert("level".into(), level_name(*event.metadata().level()).into());
        line.insert("ts".into(), seconds_since_epoch().into());
        line.insert("logger".into(), event.metadata().target().into());
        line.insert("msg".into(), own.0.remove("message").unwrap_or_default());
        for span in context
            .event_scope(event)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            if let Some(SpanMembers(members)) = span.extensions().get::<SpanMembers>() {
                merge(&mut line, members.clone());
            }
        }
        merge(&mut line, own.0);
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // A log that cannot be written has nowhere to be complained about.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        _ => "debug",
    }
}

fn seconds_since_epoch() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

/// Members of an event or a span, dotted names unfolded.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn put(&mut self, field: &Field, value: Value) {
        let addition = match field.name().split_once('.') {
            Some((outer, inner)) => (outer, json!({ inner: value })),
            None => (field.name(), value),
        };
        merge(&mut self.0, Map::from_iter([(addition.0.to_owned(), addition.1)]));
    }
}

/// Puts members into others; objects of one name become one.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

impl Visit for Members {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // Formatting into a String cannot fail unless a Debug does so itself.
        let _ = write!(text, "{value:?}");
        self.put(field, text.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::merge;

    #[test]
    fn members_of_one_object_come_together() {
        let mut into = object(json!({"host": {"name": "a"}, "plugin": "demo"}));
        merge(
            &mut into,
            object(json!({"host": {"namespace": "ns"}, "plugin": "ironic"})),
        );
        assert_eq!(
            Value::Object(into),
            json!({"host": {"name": "a", "namespace": "ns"}, "plugin": "ironic"})
        );
    }

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else {
            panic!("no object")
        };
        map
    }
}

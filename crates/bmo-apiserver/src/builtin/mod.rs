//! The kinds that are always there: Namespace, Secret, ConfigMap, Event (two views), Lease and
//! CustomResourceDefinition, with what is special about each on the way in.

pub mod event;
mod prepare;
pub mod schemas;

use std::sync::{Arc, OnceLock};

use crate::resource::{Origin, Resource};
use crate::schema::Schema;

pub use prepare::{Stage, prepare, validate};

/// A built-in kind, as one API group serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    Namespace,
    Secret,
    ConfigMap,
    /// `v1` Event, also the form in which events are stored.
    Event,
    /// `events.k8s.io/v1` Event, a view of the same objects.
    EventV1,
    Lease,
    CustomResourceDefinition,
}

impl Builtin {
    /// Whether objects of the kind carry `metadata.generation`.
    pub fn has_generation(self) -> bool {
        self == Self::CustomResourceDefinition
    }

    pub fn has_status(self) -> bool {
        matches!(self, Self::Namespace | Self::CustomResourceDefinition)
    }

    /// Whether a PUT without resourceVersion is taken as "whatever is there now".
    pub fn allows_unconditional_update(self) -> bool {
        !matches!(self, Self::Lease | Self::CustomResourceDefinition)
    }

    /// Whether a PUT of a name that does not exist makes it.
    pub fn allows_create_on_update(self) -> bool {
        matches!(self, Self::Event | Self::EventV1 | Self::Lease)
    }
}

struct Row {
    builtin: Builtin,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    short: &'static [&'static str],
    namespaced: bool,
}

const ROWS: [Row; 7] = [
    row(
        Builtin::Namespace,
        "",
        "v1",
        "namespaces",
        "Namespace",
        &["ns"],
        false,
    ),
    row(Builtin::Secret, "", "v1", "secrets", "Secret", &[], true),
    row(
        Builtin::ConfigMap,
        "",
        "v1",
        "configmaps",
        "ConfigMap",
        &["cm"],
        true,
    ),
    row(Builtin::Event, "", "v1", "events", "Event", &["ev"], true),
    row(
        Builtin::EventV1,
        "events.k8s.io",
        "v1",
        "events",
        "Event",
        &["ev"],
        true,
    ),
    row(
        Builtin::Lease,
        "coordination.k8s.io",
        "v1",
        "leases",
        "Lease",
        &[],
        true,
    ),
    row(
        Builtin::CustomResourceDefinition,
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        &["crd", "crds"],
        false,
    ),
];

const fn row(
    builtin: Builtin,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    short: &'static [&'static str],
    namespaced: bool,
) -> Row {
    Row {
        builtin,
        group,
        version,
        plural,
        kind,
        short,
        namespaced,
    }
}

/// The built-in resources; made once per process.
pub fn resources() -> &'static [Arc<Resource>] {
    static RESOURCES: OnceLock<Vec<Arc<Resource>>> = OnceLock::new();
    RESOURCES.get_or_init(|| ROWS.iter().map(|row| Arc::new(resource(row))).collect())
}

/// One built-in resource.
pub fn of(builtin: Builtin) -> &'static Arc<Resource> {
    let all = resources();
    all.iter()
        .find(|one| one.builtin() == Some(builtin))
        .unwrap_or(&all[0])
}

fn resource(row: &Row) -> Resource {
    let openapi = schemas::openapi(row.builtin);
    let mut schema = Schema::compile(&openapi).unwrap_or_else(|error| {
        tracing::error!(kind = row.kind, %error, "the schema of a built-in kind does not compile");
        Schema::anything()
    });
    schema.mark_structs();
    let strings = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
    let singular = row.kind.to_lowercase();
    Resource {
        group: row.group.into(),
        version: row.version.into(),
        storage_version: row.version.into(),
        plural: row.plural.into(),
        singular,
        kind: row.kind.into(),
        list_kind: format!("{}List", row.kind),
        short_names: strings(row.short),
        categories: if row.builtin == Builtin::CustomResourceDefinition {
            strings(&["api-extensions"])
        } else {
            Vec::new()
        },
        namespaced: row.namespaced,
        has_status: row.builtin.has_status(),
        origin: Origin::Builtin(row.builtin),
        schema,
        openapi,
        columns: Vec::new(),
        selectable: Vec::new(),
        key_prefix: match row.builtin {
            Builtin::Event | Builtin::EventV1 => "/events/".into(),
            _ => format!("{}/{}/", row.group, row.plural),
        },
    }
}

//! What a client sent: identity, unknown fields, nulls, defaults, validation.

use serde_json::Value;

use super::{Mutation, Part};
use crate::builtin::{self, Builtin, Stage};
use crate::error::{ApiError, FieldError, Names, Problem, Result};
use crate::metacheck;
use crate::object;
use crate::schema;

/// What happens with fields the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FieldValidation {
    /// Dropped silently.
    Ignore,
    /// Dropped, and the client is warned.
    #[default]
    Warn,
    /// The request is refused.
    Strict,
}

impl Mutation<'_> {
    /// Whether the body is of this resource and namespace; fills in the namespace.
    pub(super) fn check_identity(&self, value: &mut Value) -> Result<()> {
        let resource = self.resource;
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if !value.is_object() || kind.is_empty() {
            return Err(ApiError::bad_request(format!(
                "Object 'Kind' is missing in '{}'",
                excerpt(value)
            )));
        }
        if version.is_empty() {
            return Err(ApiError::bad_request(format!(
                "Object 'apiVersion' is missing in '{}'",
                excerpt(value)
            )));
        }
        if version != resource.api_version() {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({version}) does not match the expected API version ({})",
                resource.api_version()
            )));
        }
        if kind != resource.kind && resource.builtin().is_none() {
            let error = FieldError::invalid("kind", kind, format!("must be {}", resource.kind));
            return Err(ApiError::invalid(
                resource.kind_names(),
                object::name(value),
                &[error],
            ));
        }
        if kind != resource.kind {
            return Err(ApiError::bad_request(format!(
                "{} in version {:?} cannot be handled as a {}: the data is of kind {kind}",
                kind, resource.version, resource.kind
            )));
        }
        if value
            .get("metadata")
            .is_some_and(|meta| !meta.is_object() && !meta.is_null())
        {
            return Err(self.cannot_handle("metadata must be an object"));
        }
        let namespace = object::namespace(value);
        if resource.namespaced {
            if namespace.is_empty() {
                object::set_meta(value, "namespace", Some(self.namespace.into()));
            } else if namespace != self.namespace {
                return Err(ApiError::bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request",
                ));
            }
        } else if !namespace.is_empty() {
            object::set_meta(value, "namespace", None);
        }
        Ok(())
    }

    pub(super) fn cannot_handle(&self, why: &str) -> ApiError {
        let (kind, version) = (&self.resource.kind, &self.resource.version);
        ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
        ))
    }

    /// Drops what the schema does not know, refuses what cannot be decoded, fills in defaults.
    pub(super) fn intake(&mut self, value: &mut Value) -> Result<()> {
        self.intake_config(value)?;
        if self.resource.builtin().is_none() {
            schema::drop_nulls(&self.resource.schema, value);
        }
        schema::apply_defaults(&self.resource.schema, value);
        Ok(())
    }

    /// As [`Mutation::intake`], without defaults: an applied configuration owns only what it says.
    pub(super) fn intake_config(&mut self, value: &mut Value) -> Result<()> {
        match self.resource.builtin() {
            Some(_) => strip_nulls(value),
            None => {
                if let Some(meta) = value.get_mut("metadata") {
                    strip_nulls(meta);
                }
            }
        }
        let mut unknown = schema::prune(&self.resource.schema, value, false);
        unknown.sort();
        let unknown: Vec<String> = unknown
            .into_iter()
            .map(|field| format!("unknown field {field:?}"))
            .collect();
        if !unknown.is_empty() {
            match self.validation {
                FieldValidation::Ignore => {}
                FieldValidation::Warn => self.warnings.extend(unknown),
                FieldValidation::Strict => {
                    return Err(self.cannot_handle(&format!("strict decoding error: {}", unknown.join(", "))));
                }
            }
        }
        self.check_decodes(value)
    }

    /// Types of fields that Go's decoder would refuse: everything of a built-in kind, the metadata of the others.
    fn check_decodes(&self, value: &Value) -> Result<()> {
        let builtin = self.resource.builtin().is_some();
        let wrong = schema::validate(&self.resource.schema, value)
            .into_iter()
            .find(|error| {
                matches!(error.problem, Problem::TypeInvalid(..))
                    && (builtin || error.field.starts_with("metadata."))
            });
        match wrong {
            Some(FieldError {
                field,
                problem: Problem::TypeInvalid(found, detail),
            }) => {
                let wanted = detail
                    .rsplit_once("must be of type ")
                    .map_or("", |(_, wanted)| wanted);
                let wanted = wanted.split(':').next().unwrap_or_default();
                let found = go_type(found.as_str().unwrap_or_default());
                let place = match field.strip_prefix("metadata.") {
                    Some(rest) => format!("ObjectMeta.{}", rest.split(['.', '[']).next().unwrap_or_default()),
                    None => format!("{}.{field}", self.resource.kind),
                };
                let text =
                    format!("json: cannot unmarshal {found} into Go struct field {place} of type {wanted}");
                Err(self.cannot_handle(&text))
            }
            _ => Ok(()),
        }
    }

    /// Nothing can be made in a namespace that is not there or that goes.
    pub(super) fn check_namespace_exists(&self, name: &str) -> Result<()> {
        if !self.resource.namespaced {
            return Ok(());
        }
        let namespaces = Names {
            group: "",
            what: "namespaces",
        };
        match self
            .server
            .store()
            .get(&format!("/namespaces//{}", self.namespace))
        {
            None => Err(ApiError::not_found(namespaces, self.namespace)),
            Some(found) if object::is_deleting(&found.value) => Err(ApiError::namespace_terminating(
                self.resource.names(),
                name,
                self.namespace,
            )),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn prepare(&self, stage: Stage, value: &mut Value, old: Option<&Value>, now: &str) {
        object::drop_empty_meta(value);
        if let Some(builtin) = self.resource.builtin()
            && self.part == Part::Whole
        {
            builtin::prepare(builtin, stage, value, old, now);
        }
    }

    /// Checks the whole new object, in its stored form.
    pub(super) fn validate(&self, value: &Value, old: Option<&Value>) -> Result<()> {
        let mut errors = metacheck::validate(self.resource, value);
        if let Some(builtin) = self.resource.builtin() {
            errors.extend(builtin::validate(builtin, value, old));
        }
        if self.resource.builtin() != Some(Builtin::EventV1) {
            errors.extend(match old {
                None => schema::validate(&self.resource.schema, value),
                Some(old) => schema::validate_update(&self.resource.schema, value, old),
            });
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(ApiError::invalid(
            self.resource.kind_names(),
            object::name(value),
            &errors,
        ))
    }
}

/// The names that Go's JSON decoder has for types.
fn go_type(name: &str) -> &str {
    match name {
        "boolean" => "bool",
        "integer" => "number",
        other => other,
    }
}

fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, field| !field.is_null());
            map.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

/// The start of a body, for messages about its shape. Secrets are never shown: such a body has no kind to tell.
fn excerpt(value: &Value) -> String {
    match value.as_object() {
        Some(map) => format!(
            "{{fields: {}}}",
            map.keys().cloned().collect::<Vec<_>>().join(", ")
        ),
        None => schema::type_name(value).to_owned(),
    }
}

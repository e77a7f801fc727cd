//! Writes: from what a client sent to what is stored. [`intake`] checks a body, [`rules`] keeps the system's fields
//! (uid, generation, deletion), [`delete`] ends objects. All of them end in one conditional write to the store.

mod delete;
mod intake;
mod rules;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::builtin::{Builtin, Stage};
use crate::error::{ApiError, Result};
use crate::object;
use crate::patch::{self, PatchKind};
use crate::resource::Resource;
use crate::schema;
use crate::server::ApiServer;
use crate::ssa::managed::{self, Manager};
use crate::store::{Expect, Object, Put, Write, WriteError};

pub use delete::{DeleteOptions, Deleted, FOREGROUND, ORPHAN, Propagation, is_finished};
pub use intake::FieldValidation;

/// How often a write that found a newer version starts again, unless the client named the version it meant.
const RETRIES: usize = 10;

/// The part of an object a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    Status,
    /// `spec.finalizers` of a namespace.
    Finalize,
}

impl Part {
    fn subresource(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
        }
    }
}

/// A write request against one resource.
#[derive(Debug)]
pub struct Mutation<'a> {
    pub server: &'a ApiServer,
    pub resource: &'a Resource,
    pub namespace: &'a str,
    /// Of the resource, for ownership entries.
    pub api_version: String,
    pub part: Part,
    /// Who owns the fields that are written.
    pub manager: &'a str,
    pub dry_run: bool,
    pub validation: FieldValidation,
    /// Texts for `Warning` headers.
    pub warnings: Vec<String>,
}

/// What a write left behind, in its stored form.
#[derive(Debug)]
pub enum Written {
    Created(Arc<Object>),
    Updated(Arc<Object>),
    /// Nothing is stored under the name: what would have been (dry run), or the last state of an object that this
    /// write ended by lifting its last finalizer.
    Unstored {
        value: Value,
        created: bool,
    },
}

impl Written {
    pub fn value(&self) -> &Value {
        match self {
            Self::Created(object) | Self::Updated(object) => &object.value,
            Self::Unstored { value, .. } => value,
        }
    }

    pub fn is_created(&self) -> bool {
        matches!(self, Self::Created(_) | Self::Unstored { created: true, .. })
    }
}

impl Mutation<'_> {
    fn key(&self, name: &str) -> String {
        self.resource.key(self.namespace, name)
    }

    fn current(&self, name: &str) -> Result<Arc<Object>> {
        self.server
            .store()
            .get(&self.key(name))
            .ok_or_else(|| ApiError::not_found(self.resource.names(), name))
    }

    fn storage_error(error: &WriteError) -> ApiError {
        ApiError::internal(error.to_string())
    }

    /// `POST` of a new object.
    pub async fn create(&mut self, value: Value) -> Result<Written> {
        let mut value = value;
        self.check_identity(&mut value)?;
        if !object::meta(&value, "resourceVersion").is_empty() {
            return Err(ApiError::version_on_create());
        }
        let generated = object::name(&value).is_empty() && !object::meta(&value, "generateName").is_empty();
        for _ in 0..RETRIES {
            let mut attempt = value.clone();
            if generated {
                let prefix: String = object::meta(&attempt, "generateName").chars().take(58).collect();
                object::set_meta(
                    &mut attempt,
                    "name",
                    Some(format!("{prefix}{}", rules::suffix()).into()),
                );
            }
            let name = object::name(&attempt).to_owned();
            match self.create_named(&name, attempt, None).await {
                Err(error) if generated && error.reason == "AlreadyExists" => {}
                result => return result,
            }
        }
        Err(ApiError::generate_name_conflict(
            self.resource.names(),
            object::meta(&value, "generateName"),
        ))
    }

    /// Stores a new object under a name. `applied` replaces the ownership of fields for server-side apply.
    async fn create_named(&mut self, name: &str, value: Value, applied: Option<Value>) -> Result<Written> {
        let now = self.server.clock().seconds();
        let mut value = value;
        self.intake(&mut value)?;
        if !name.is_empty() {
            self.check_namespace_exists(name)?;
        }
        rules::new_object(self.resource, &mut value, &now);
        self.prepare(Stage::BeforeOwnership, &mut value, None, &now);
        let mut value = self.resource.stored_form(value);
        match applied {
            Some(config) => self.own_applied(&mut value, &config, &now)?,
            None => self.own_written(&json!({"metadata": {}}), &mut value, &now),
        }
        self.prepare(Stage::AfterOwnership, &mut value, None, &now);
        self.validate(&value, None)?;
        if self.server.store().get(&self.key(name)).is_some() {
            return Err(ApiError::already_exists(self.resource.names(), name));
        }
        if self.dry_run {
            return Ok(Written::Unstored { value, created: true });
        }
        let write = Write {
            key: self.key(name),
            expect: Expect::Absent,
            put: Put::Set(value),
        };
        match self.server.store().write(write).await {
            Ok(object) => Ok(Written::Created(object)),
            Err(WriteError::Conflict) => Err(ApiError::already_exists(self.resource.names(), name)),
            Err(error) => Err(Self::storage_error(&error)),
        }
    }

    /// `PUT` of a whole object or of its status.
    pub async fn update(&mut self, name: &str, value: Value) -> Result<Written> {
        let mut value = value;
        self.check_identity(&mut value)?;
        let sent = object::name(&value);
        if sent != name {
            return Err(ApiError::bad_request(if sent.is_empty() {
                "the name of the object (based on URL) must be set in metadata.name".to_owned()
            } else {
                format!("the name of the object ({sent}) does not match the name on the URL ({name})")
            }));
        }
        let version = object::meta(&value, "resourceVersion").to_owned();
        let builtin = self.resource.builtin();
        if self.server.store().get(&self.key(name)).is_none()
            && version.is_empty()
            && self.part == Part::Whole
            && builtin.is_some_and(Builtin::allows_create_on_update)
        {
            return self.create_named(name, value, None).await;
        }
        if version.is_empty() && !builtin.is_some_and(Builtin::allows_unconditional_update) {
            self.current(name)?;
            let error = crate::error::FieldError::invalid(
                "metadata.resourceVersion",
                json!(0),
                "must be specified for an update",
            );
            return Err(ApiError::invalid(self.resource.names(), name, &[error]));
        }
        let unconditional = version.is_empty();
        self.change(name, unconditional, |current| {
            let mut new = value.clone();
            if unconditional {
                let rev = Value::String(object::meta(current, "resourceVersion").into());
                object::set_meta(&mut new, "resourceVersion", Some(rev));
            }
            Ok(Change {
                is_put: true,
                ..Change::plain(new)
            })
        })
        .await
    }

    /// `PATCH` of any kind.
    pub async fn patch(&mut self, name: &str, kind: PatchKind, body: Value, force: bool) -> Result<Written> {
        if kind == PatchKind::Apply {
            return self.apply(name, body, force).await;
        }
        self.change(name, true, |current| {
            let mut new = current.clone();
            match kind {
                PatchKind::Json => patch::json_patch(&mut new, &body)?,
                PatchKind::Merge => patch::merge_patch(&mut new, &body),
                PatchKind::Strategic | PatchKind::Apply => patch::strategic_merge(&mut new, &body),
            }
            let renamed = object::name(&new);
            if renamed != name {
                return Err(ApiError::bad_request(format!(
                    "the name of the object ({renamed}) does not match the name on the URL ({name})"
                )));
            }
            Ok(Change::plain(new))
        })
        .await
        .map_err(strict_in_patch)
    }

    /// Server-side apply; makes the object if it is not there.
    async fn apply(&mut self, name: &str, config: Value, force: bool) -> Result<Written> {
        let mut config = config;
        self.check_identity(&mut config)?;
        match object::name(&config) {
            "" => object::set_meta(&mut config, "name", Some(name.into())),
            sent if sent != name => {
                return Err(ApiError::bad_request(format!(
                    "the name of the object ({sent}) does not match the name on the URL ({name})"
                )));
            }
            _ => {}
        }
        self.intake_config(&mut config)?;
        for _ in 0..RETRIES {
            if self.server.store().get(&self.key(name)).is_some() {
                break;
            }
            if self.part != Part::Whole {
                return Err(ApiError::not_found(self.resource.names(), name));
            }
            if !object::meta(&config, "resourceVersion").is_empty() {
                return Err(ApiError::modified(self.resource.names(), name));
            }
            match self
                .create_named(name, config.clone(), Some(config.clone()))
                .await
            {
                Err(error) if error.reason == "AlreadyExists" => {}
                result => return result,
            }
        }
        self.change(name, true, |_| {
            Ok(Change {
                apply: Some(force),
                ..Change::plain(config.clone())
            })
        })
        .await
    }

    /// Reads, changes and writes; starts again when another write came between and `retry` allows it.
    async fn change(
        &mut self,
        name: &str,
        retry: bool,
        change: impl Fn(&Value) -> Result<Change>,
    ) -> Result<Written> {
        for _ in 0..RETRIES {
            let current = self.current(name)?;
            let view = self.resource.view(&current.value);
            let wanted = change(&view)?;
            self.warnings.clear();
            let Some(mut new) = self.changed(&current, &view, wanted)? else {
                return Ok(Written::Updated(current));
            };
            if self.dry_run {
                return Ok(Written::Unstored {
                    value: new,
                    created: false,
                });
            }
            let gone = is_finished(&new);
            // Watchers get the last state that was stored, the client the one it made.
            let put = if gone {
                Put::Delete(current.value.clone())
            } else {
                Put::Set(new.clone())
            };
            let write = Write {
                key: self.key(name),
                expect: Expect::Rev(current.rev),
                put,
            };
            match self.server.store().write(write).await {
                Ok(_) if gone => {
                    object::copy_meta(&current.value, &mut new, "resourceVersion");
                    return Ok(Written::Unstored {
                        value: new,
                        created: false,
                    });
                }
                Ok(object) => return Ok(Written::Updated(object)),
                Err(WriteError::Conflict) if retry => {}
                Err(WriteError::Conflict) => break,
                Err(error) => return Err(Self::storage_error(&error)),
            }
        }
        Err(ApiError::modified(self.resource.names(), name))
    }

    /// The new stored form, or `None` if nothing would change.
    fn changed(&mut self, current: &Object, view: &Value, wanted: Change) -> Result<Option<Value>> {
        let now = self.server.clock().seconds();
        let resource = self.resource;
        let (mut new, config) = match wanted.apply {
            None => (wanted.new, None),
            Some(force) => {
                let mut merged = managed::apply(
                    Some(&resource.schema),
                    view,
                    &wanted.new,
                    &self.as_manager(&now),
                    force,
                )?;
                schema::apply_defaults(&resource.schema, &mut merged);
                (merged, Some(wanted.new))
            }
        };
        if wanted.apply.is_none() {
            self.intake(&mut new)?;
        }
        let sent = config.as_ref().unwrap_or(&new);
        rules::check_preconditions(resource, view, sent, wanted.is_put)?;
        rules::keep_system_fields(resource, self.part, view, &mut new)?;
        self.prepare(Stage::BeforeOwnership, &mut new, Some(view), &now);
        let mut new = resource.stored_form(new);
        if wanted.apply.is_none() {
            self.own_written(&current.value, &mut new, &now);
        }
        self.prepare(Stage::AfterOwnership, &mut new, Some(&current.value), &now);
        rules::bump_generation(resource, &current.value, &mut new);
        self.validate(&new, Some(&current.value))?;
        Ok((!rules::is_same(&current.value, &new)).then_some(new))
    }

    fn as_manager<'b>(&'b self, now: &'b str) -> Manager<'b> {
        Manager {
            name: self.manager,
            api_version: &self.api_version,
            subresource: self.part.subresource(),
            now,
            has_status: self.resource.has_status,
        }
    }

    fn own_written(&self, old: &Value, new: &mut Value, now: &str) {
        let schema = self.resource.storage_schema();
        managed::on_update(Some(schema), old, new, &self.as_manager(now));
    }

    fn own_applied(&self, value: &mut Value, config: &Value, now: &str) -> Result<()> {
        let schema = self.resource.storage_schema();
        let config = self.resource.stored_form(config.clone());
        let empty = json!({"metadata": {}});
        let owned = managed::apply(Some(schema), &empty, &config, &self.as_manager(now), true)?;
        object::copy_meta(&owned, value, "managedFields");
        Ok(())
    }
}

/// A patch that brings unknown fields is refused as a patch, not as an object.
fn strict_in_patch(error: ApiError) -> ApiError {
    match error.message.split_once("strict decoding error: ") {
        Some((_, fields)) if error.code == 400 => {
            let detail = format!("strict decoding error: {fields}");
            ApiError::bad_patch(&crate::error::FieldError::invalid("patch", "", detail))
        }
        _ => error,
    }
}

/// What a request wants an object to become.
struct Change {
    new: Value,
    /// Set for server-side apply, then `new` is the configuration: whether to take fields from others.
    apply: Option<bool>,
    is_put: bool,
}

impl Change {
    fn plain(new: Value) -> Self {
        Self {
            new,
            apply: None,
            is_put: false,
        }
    }
}

//! Deleting: at once, or by a mark that finalizers have to lift.

use std::sync::Arc;

use serde_json::Value;

use super::{Mutation, RETRIES, rules};
use crate::builtin::Builtin;
use crate::crd;
use crate::error::{ApiError, FieldError, Problem, Result};
use crate::object;
use crate::store::{Expect, Object, Put, Write, WriteError};

pub const FOREGROUND: &str = "foregroundDeletion";
pub const ORPHAN: &str = "orphan";

/// What happens with the objects that are owned by a deleted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Propagation {
    /// They are deleted afterwards.
    #[default]
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay and lose their reference.
    Orphan,
}

#[derive(Debug, Clone, Default)]
pub struct DeleteOptions {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
    pub propagation: Propagation,
}

impl DeleteOptions {
    /// Reads the body and query parameters of a delete.
    pub fn parse(body: &Value, policy: &str) -> Result<Self> {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let policy = text("/propagationPolicy").unwrap_or_else(|| policy.to_owned());
        let orphan = body.get("orphanDependents").and_then(Value::as_bool);
        let propagation = match (policy.as_str(), orphan) {
            ("Foreground", _) => Propagation::Foreground,
            ("Orphan", _) | ("", Some(true)) => Propagation::Orphan,
            ("Background" | "", _) => Propagation::Background,
            (other, _) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"]
                    .map(str::to_owned)
                    .to_vec();
                let problem = Problem::Unsupported(other.into(), supported);
                return Err(ApiError::options(
                    "DeleteOptions",
                    &[FieldError::new("propagationPolicy", problem)],
                ));
            }
        };
        Ok(Self {
            uid: text("/preconditions/uid"),
            resource_version: text("/preconditions/resourceVersion"),
            propagation,
        })
    }
}

/// What a delete did.
#[derive(Debug)]
pub enum Deleted {
    /// The object is gone; its last state.
    Gone(Arc<Object>),
    /// It waits for its finalizers.
    Waiting(Arc<Object>),
    /// Not done (dry run).
    Dry(Value),
}

/// Whether nothing holds a deleted object any more.
pub fn is_finished(value: &Value) -> bool {
    object::is_deleting(value)
        && object::finalizers(value).is_empty()
        && (value.get("kind").and_then(Value::as_str) != Some("Namespace")
            || value
                .pointer("/spec/finalizers")
                .and_then(Value::as_array)
                .is_none_or(Vec::is_empty))
}

impl Mutation<'_> {
    pub async fn delete(&mut self, name: &str, options: &DeleteOptions) -> Result<Deleted> {
        for _ in 0..RETRIES {
            let current = self.current(name)?;
            self.check_delete(&current.value, options)?;
            let Some(marked) = self.marked(&current.value, options.propagation) else {
                return Ok(Deleted::Waiting(current));
            };
            if self.dry_run {
                return Ok(Deleted::Dry(marked));
            }
            let gone = is_finished(&marked);
            let put = if gone {
                Put::Delete(current.value.clone())
            } else {
                Put::Set(marked)
            };
            let write = Write {
                key: current.key.clone(),
                expect: Expect::Rev(current.rev),
                put,
            };
            match self.server.store().write(write).await {
                Ok(object) if gone => return Ok(Deleted::Gone(object)),
                Ok(object) => return Ok(Deleted::Waiting(object)),
                Err(WriteError::Conflict) => {}
                Err(error) => return Err(Self::storage_error(&error)),
            }
        }
        Err(ApiError::modified(self.resource.names(), name))
    }

    fn check_delete(&self, current: &Value, options: &DeleteOptions) -> Result<()> {
        let name = object::name(current);
        for (what, wanted, field, done) in [
            ("UID", &options.uid, "uid", "deleted and then recreated"),
            (
                "ResourceVersion",
                &options.resource_version,
                "resourceVersion",
                "modified",
            ),
        ] {
            let found = object::meta(current, field);
            if let Some(wanted) = wanted
                && wanted != found
            {
                let why = format!(
                    "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). The object might have been {done}"
                );
                return Err(ApiError::conflict(self.resource.kind_names(), name, &why));
            }
        }
        let fixed = matches!(name, "default" | "kube-system");
        if self.resource.builtin() == Some(Builtin::Namespace) && fixed {
            return Err(ApiError::forbidden(
                self.resource.names(),
                name,
                "this namespace may not be deleted",
            ));
        }
        Ok(())
    }

    /// The object with its mark of deletion; `None` if it has that already and nothing else changes.
    fn marked(&self, current: &Value, propagation: Propagation) -> Option<Value> {
        let mut marked = current.clone();
        let mut finalizers: Vec<Value> = object::finalizers(current).into_iter().map(Value::from).collect();
        let mut add = |finalizer: &str| {
            if !finalizers.iter().any(|one| one == finalizer) {
                finalizers.push(finalizer.into());
            }
        };
        let was_deleting = object::is_deleting(current);
        match propagation {
            Propagation::Foreground => add(FOREGROUND),
            Propagation::Orphan => add(ORPHAN),
            Propagation::Background => {}
        }
        if self.resource.builtin() == Some(Builtin::CustomResourceDefinition) && !was_deleting {
            add(crd::CLEANUP_FINALIZER);
        }
        if !finalizers.is_empty() {
            object::set_meta(&mut marked, "finalizers", Some(finalizers.into()));
        }
        if was_deleting {
            return (marked != *current).then_some(marked);
        }
        let now = self.server.clock().seconds();
        rules::mark_deleted(self.resource, &mut marked, &now);
        Some(marked)
    }
}

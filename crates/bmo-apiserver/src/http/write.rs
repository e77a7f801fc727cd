//! `create`, `update`, `patch`, `delete` and `deletecollection`.

use axum::body::Body;
use axum::response::Response;
use serde_json::{Value, json};

use super::{Call, body, list, reply};
use crate::error::{ApiError, Result};
use crate::mutate::{DeleteOptions, Deleted, Mutation, Written};
use crate::object;
use crate::patch::PatchKind;

impl Call {
    /// Who owns what is written: the `fieldManager`, or the name of the program.
    fn manager(&self) -> &str {
        let named = self.params.text("fieldManager");
        if !named.is_empty() {
            return named;
        }
        let program = self.user_agent.split('/').next().unwrap_or_default();
        if program.is_empty() { "unknown" } else { program }
    }

    /// The name of the options of this request.
    fn options(&self) -> &'static str {
        match self.verb() {
            "create" => "CreateOptions",
            "update" => "UpdateOptions",
            "patch" => "PatchOptions",
            _ => "DeleteOptions",
        }
    }

    fn mutation<'a>(&'a self, manager: &'a str) -> Result<Mutation<'a>> {
        if self.resource.namespaced && self.path.namespace.is_empty() {
            return Err(ApiError::unknown_path());
        }
        if self.params.text("fieldManager").len() > 128 {
            return Err(ApiError::bad_request(
                "fieldManager: Too long: may not be more than 128 bytes",
            ));
        }
        Ok(Mutation {
            server: &self.server,
            resource: &self.resource,
            namespace: &self.path.namespace,
            api_version: self.resource.api_version(),
            part: self.part,
            manager,
            dry_run: self.params.dry_run(self.options())?,
            validation: self.params.field_validation(self.options())?,
            warnings: Vec::new(),
        })
    }

    fn name(&self) -> &str {
        self.path.name.as_deref().unwrap_or_default()
    }

    fn written(&self, written: &Written, warnings: &[String]) -> Result<Response> {
        let code = if written.is_created() { 201 } else { 200 };
        let (form, now) = (self.form()?, self.server.clock().now());
        let mut response = match written {
            Written::Created(object) | Written::Updated(object) => {
                reply::bytes(code, form.render(&self.resource, object, now))
            }
            Written::Unstored { .. } => {
                reply::json(code, &form.render_value(&self.resource, written.value(), now))
            }
        };
        reply::warn(&mut response, warnings);
        Ok(response)
    }
}

pub(super) async fn create(call: &Call, body: Body) -> Result<Response> {
    let mut mutation = call.mutation(call.manager())?;
    call.form()?;
    let content_type = body::content_type(&call.headers);
    let value = body::object(&content_type, &body::read(body).await?)?;
    let written = mutation.create(value).await?;
    call.written(&written, &mutation.warnings)
}

pub(super) async fn update(call: &Call, body: Body) -> Result<Response> {
    let mut mutation = call.mutation(call.manager())?;
    call.form()?;
    let content_type = body::content_type(&call.headers);
    let value = body::object(&content_type, &body::read(body).await?)?;
    let written = mutation.update(call.name(), value).await?;
    call.written(&written, &mutation.warnings)
}

pub(super) async fn patch(call: &Call, body: Body) -> Result<Response> {
    let kind = PatchKind::of(&body::content_type(&call.headers), &call.resource)?;
    let mut mutation = call.mutation(call.manager())?;
    call.form()?;
    if kind == PatchKind::Apply && call.params.text("fieldManager").is_empty() {
        return Err(ApiError::field_manager_required());
    }
    let bytes = body::read(body).await?;
    let value = if kind == PatchKind::Apply {
        body::yaml(&bytes)?
    } else {
        body::json(&bytes)?
    };
    let written = mutation
        .patch(call.name(), kind, value, call.params.flag("force"))
        .await?;
    call.written(&written, &mutation.warnings)
}

async fn delete_options(call: &Call, body: Body) -> Result<(DeleteOptions, bool)> {
    let bytes = body::read(body).await?;
    let options = match body::content_type(&call.headers).as_str() {
        _ if bytes.is_empty() => Value::Null,
        "application/vnd.kubernetes.protobuf" => crate::protobuf::decode(&bytes)?,
        _ => body::yaml(&bytes)?,
    };
    let dry = call.params.dry_run("DeleteOptions")?
        || options
            .get("dryRun")
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty());
    Ok((
        DeleteOptions::parse(&options, call.params.text("propagationPolicy"))?,
        dry,
    ))
}

pub(super) async fn delete(call: &Call, body: Body) -> Result<Response> {
    let mut mutation = call.mutation(call.manager())?;
    let (options, dry_run) = delete_options(call, body).await?;
    mutation.dry_run = dry_run;
    let deleted = mutation.delete(call.name(), &options).await?;
    let (form, now) = (call.form()?, call.server.clock().now());
    Ok(match deleted {
        Deleted::Waiting(object) => reply::bytes(200, form.render(&call.resource, &object, now)),
        Deleted::Gone(object) => reply::json(200, &success(call, &object.value)),
        Deleted::Dry(value) => reply::json(200, &success(call, &value)),
    })
}

/// What a delete answers when the object is gone.
fn success(call: &Call, object: &Value) -> Value {
    let mut details = json!({"name": object::name(object)});
    if !call.resource.group.is_empty() {
        details["group"] = json!(call.resource.group);
    }
    details["kind"] = json!(call.resource.plural);
    details["uid"] = json!(object::meta(object, "uid"));
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

pub(super) async fn delete_collection(call: &Call, body: Body) -> Result<Response> {
    let mut mutation = call.mutation(call.manager())?;
    let selector = list::selector(call)?;
    let (options, dry_run) = delete_options(call, body).await?;
    mutation.dry_run = dry_run;
    let snapshot = call
        .server
        .store()
        .list(&call.resource.prefix(&call.path.namespace));
    let mut meta = json!({"resourceVersion": snapshot.rev.to_string()});
    let mut items = Vec::new();
    for object in snapshot
        .objects
        .iter()
        .filter(|object| selector.matches(&object.value))
    {
        match mutation.delete(object::name(&object.value), &options).await {
            Ok(_) => items.push(call.resource.view(&object.value).into_owned()),
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    meta["resourceVersion"] = json!(call.server.store().rev().to_string());
    let list = json!({"apiVersion": call.resource.api_version(), "kind": call.resource.list_kind, "metadata": meta, "items": items});
    Ok(reply::json(200, &list))
}

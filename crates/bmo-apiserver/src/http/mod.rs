//! The HTTP side: one handler for every path, since resources come and go with their definitions.

mod body;
pub mod form;
mod list;
mod params;
mod path;
mod reply;
mod review;
mod watch;
mod write;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::USER_AGENT;
use http::{HeaderMap, Method};

use crate::discovery;
use crate::error::{ApiError, Result};
use crate::faults::{Action, RequestInfo};
use crate::mutate::Part;
use crate::openapi;
use crate::resource::Resource;
use crate::server::ApiServer;
use form::{Form, IncludeObject};
use params::Params;
use path::{ResourcePath, Target};
use reply::{broken, failure, json, text};

pub use review::GROUP as REVIEW_GROUP;

/// Marks a request that came without a client certificate where one is needed.
#[derive(Debug, Clone, Copy)]
pub struct Anonymous;

/// A service for all paths of the API.
pub fn router(server: Arc<ApiServer>) -> Router {
    Router::new().fallback(move |request: Request| {
        let server = server.clone();
        async move { handle(server, request).await }
    })
}

/// A request about a resource.
struct Call {
    server: Arc<ApiServer>,
    resource: Arc<Resource>,
    path: ResourcePath,
    part: Part,
    method: Method,
    params: Params,
    headers: HeaderMap,
    user_agent: String,
}

impl Call {
    fn form(&self) -> Result<Form> {
        Form::of(
            &self.headers,
            IncludeObject::parse(self.params.text("includeObject")),
        )
    }

    /// Only collections are watched; with a name, `watch` means nothing.
    fn is_watch(&self) -> bool {
        self.params.flag("watch") && self.path.name.is_none()
    }

    fn verb(&self) -> &'static str {
        let named = self.path.name.is_some();
        match self.method.as_str() {
            "GET" | "HEAD" if self.is_watch() => "watch",
            "GET" | "HEAD" if named => "get",
            "GET" | "HEAD" => "list",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if named => "delete",
            "DELETE" => "deletecollection",
            _ => "other",
        }
    }

    fn info(&self) -> RequestInfo {
        RequestInfo {
            verb: self.verb(),
            group: self.path.group.clone(),
            resource: self.path.plural.clone(),
            subresource: self.path.subresource.clone().unwrap_or_default(),
            namespace: self.path.namespace.clone(),
            name: self.path.name.clone().unwrap_or_default(),
            user_agent: self.user_agent.clone(),
        }
    }
}

async fn handle(server: Arc<ApiServer>, request: Request) -> Response {
    server.ready().await;
    let (parts, body) = request.into_parts();
    let target = Target::parse(parts.uri.path());
    let anonymous = parts.extensions.get::<Anonymous>().is_some();
    if anonymous && !matches!(target, Target::Health | Target::Version) {
        return failure(&ApiError::unauthorized());
    }
    let params = Params::parse(parts.uri.query().unwrap_or_default());
    let headers = &parts.headers;
    let documents = |result: Result<serde_json::Value>| {
        result.map_or_else(|error| failure(&error), |doc| json(200, &doc))
    };
    match target {
        Target::Health => text(200, "ok"),
        Target::Version => json(200, &discovery::version()),
        Target::CoreVersions if form::wants_aggregated_discovery(headers) => {
            reply::aggregated(&discovery::aggregated(&server.resources(), true))
        }
        Target::Groups if form::wants_aggregated_discovery(headers) => {
            reply::aggregated(&discovery::aggregated(&server.resources(), false))
        }
        Target::CoreVersions => json(200, &discovery::core_versions()),
        Target::Groups => json(200, &discovery::groups(&server.resources())),
        Target::Group(group) => documents(discovery::group(&server.resources(), &group)),
        Target::GroupVersion { group, version } => {
            documents(discovery::group_version(&server.resources(), &group, &version))
        }
        Target::OpenApi => json(200, &openapi::root(&server.resources())),
        Target::OpenApiOf { group, version } => {
            documents(openapi::document(&server.resources(), &group, &version))
        }
        Target::Unknown => failure(&ApiError::unknown_path()),
        Target::Resource(path) if review::is_review(&path) => review::answer(&parts, body).await,
        Target::Resource(path) => {
            let call = match find(server, path, params, &parts) {
                Ok(call) => call,
                Err(error) => return failure(&error),
            };
            observed(call, body).await
        }
    }
}

/// Finds the resource and the part of it.
fn find(
    server: Arc<ApiServer>,
    path: ResourcePath,
    params: Params,
    parts: &http::request::Parts,
) -> Result<Call> {
    let resources = server.resources();
    let resource = resources
        .find(&path.group, &path.version, &path.plural)
        .ok_or_else(ApiError::unknown_path)?
        .clone();
    if !path.namespace.is_empty() && !resource.namespaced {
        return Err(ApiError::unknown_path());
    }
    // A namespaced object is only found below its namespace.
    if path.namespace.is_empty() && resource.namespaced && path.name.is_some() {
        return Err(ApiError::unknown_path());
    }
    let part = match path.subresource.as_deref() {
        None => Part::Whole,
        Some("status") if resource.has_status => Part::Status,
        Some("finalize") if resource.plural == "namespaces" && resource.group.is_empty() => Part::Finalize,
        Some(_) => return Err(ApiError::unknown_path()),
    };
    let agent = parts
        .headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    Ok(Call {
        server,
        resource,
        path,
        part,
        method: parts.method.clone(),
        params,
        headers: parts.headers.clone(),
        user_agent: agent.to_owned(),
    })
}

/// Runs a call through the injected faults and the counters.
async fn observed(call: Call, body: Body) -> Response {
    let server = call.server.clone();
    let info = call.info();
    let action = server.faults().meet(&info);
    let response = match action {
        None => dispatch(call, body).await,
        Some(Action::Delay(by)) => {
            tokio::time::sleep(by).await;
            dispatch(call, body).await
        }
        Some(Action::FailBefore(code)) => failure(&ApiError::injected(code)),
        Some(Action::BreakBefore) => broken(),
        Some(Action::FailAfter(code)) => {
            dispatch(call, body).await;
            failure(&ApiError::injected(code))
        }
        Some(Action::BreakAfter) => {
            dispatch(call, body).await;
            broken()
        }
    };
    tracing::debug!(
        verb = info.verb,
        resource = %info.resource,
        namespace = %info.namespace,
        name = %info.name,
        code = response.status().as_u16(),
        "request"
    );
    server.audit().record(info, response.status().as_u16());
    response
}

async fn dispatch(call: Call, body: Body) -> Response {
    let result = match call.verb() {
        "get" => list::get(&call),
        "list" => list::list(&call).await,
        "watch" => watch::watch(&call),
        "create" => write::create(&call, body).await,
        "update" if call.path.name.is_some() => write::update(&call, body).await,
        "patch" if call.path.name.is_some() => write::patch(&call, body).await,
        "update" => Err(ApiError::bad_request("name must be provided")),
        "delete" if call.part == Part::Whole => write::delete(&call, body).await,
        "deletecollection" => write::delete_collection(&call, body).await,
        _ => Err(ApiError::method_not_allowed()),
    };
    result.unwrap_or_else(|error| failure(&error))
}

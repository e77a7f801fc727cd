//! Errors as a Kubernetes client sees them: a `metav1.Status` with code, reason, message and details. The wording is
//! the API server's public contract (clients match on it), so it is kept to the letter.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// One refused request.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// HTTP status code.
    pub code: u16,
    /// Machine readable reason, e.g. `NotFound`.
    pub reason: &'static str,
    /// What a person reads.
    pub message: String,
    /// `metav1.StatusDetails`, where there is something to say.
    pub details: Option<Value>,
}

pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Group and plural (or kind) of a resource, for messages: `secrets` or `widgets.example.com`.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    pub group: &'a str,
    pub what: &'a str,
}

impl Names<'_> {
    fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.what.into()
        } else {
            format!("{}.{}", self.what, self.group)
        }
    }

    fn details(&self, name: &str) -> Value {
        let mut details = serde_json::Map::new();
        for (key, value) in [("name", name), ("group", self.group), ("kind", self.what)] {
            if !value.is_empty() {
                details.insert(key.into(), value.into());
            }
        }
        Value::Object(details)
    }
}

impl ApiError {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
        }
    }

    fn about(mut self, names: Names<'_>, name: &str) -> Self {
        self.details = Some(names.details(name));
        self
    }

    pub fn not_found(names: Names<'_>, name: &str) -> Self {
        Self::new(
            404,
            "NotFound",
            format!("{} {name:?} not found", names.qualified()),
        )
        .about(names, name)
    }

    /// The path names no resource that is served.
    pub fn unknown_path() -> Self {
        let mut error = Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
        error.details = Some(json!({}));
        error
    }

    pub fn already_exists(names: Names<'_>, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} {name:?} already exists", names.qualified()),
        )
        .about(names, name)
    }

    pub fn generate_name_conflict(names: Names<'_>, name: &str) -> Self {
        let text = format!(
            "{} {name:?} already exists, the server was not able to generate a unique name for the object",
            names.qualified()
        );
        let mut error = Self::new(409, "AlreadyExists", text).about(names, name);
        if let Some(details) = error.details.as_mut() {
            details["retryAfterSeconds"] = json!(1);
        }
        error
    }

    pub fn conflict(names: Names<'_>, name: &str, why: &str) -> Self {
        let text = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            names.qualified()
        );
        Self::new(409, "Conflict", text).about(names, name)
    }

    /// The write was based on an old version of the object.
    pub fn modified(names: Names<'_>, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(names, name, why)
    }

    /// Server-side apply met fields of other managers: `(manager description, field path)`.
    pub fn apply_conflict(conflicts: &[(String, String)]) -> Self {
        let causes: Vec<Value> = conflicts
            .iter()
            .map(|(who, field)| json!({"reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": field}))
            .collect();
        let mut message = if conflicts.len() == 1 {
            format!(
                "Apply failed with 1 conflict: conflict with {}: {}",
                conflicts[0].0, conflicts[0].1
            )
        } else {
            format!("Apply failed with {} conflicts: ", conflicts.len())
        };
        if conflicts.len() > 1 {
            let mut managers: Vec<&str> = conflicts.iter().map(|(who, _)| who.as_str()).collect();
            managers.sort_unstable();
            managers.dedup();
            let parts: Vec<String> = managers
                .into_iter()
                .map(|who| {
                    let fields = conflicts.iter().filter(|(by, _)| by == who);
                    fields.fold(format!("conflicts with {who}:"), |text, (_, field)| {
                        text + "\n- " + field
                    })
                })
                .collect();
            message += &parts.join("\n");
        }
        let mut error = Self::new(409, "Conflict", message);
        error.details = Some(json!({"causes": causes}));
        error
    }

    /// `names.what` is the kind here, not the plural.
    pub fn invalid(kind: Names<'_>, name: &str, errors: &[FieldError]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for text in errors
            .iter()
            .map(|error| format!("{}: {}", error.field, error.body()))
        {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let list = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let text = format!("{} {name:?} is invalid: {list}", kind.qualified());
        let mut error = Self::new(422, "Invalid", text).about(kind, name);
        let causes: Vec<Value> = errors
            .iter()
            .map(|error| json!({"reason": error.problem.reason(), "message": error.body(), "field": error.field}))
            .collect();
        if let Some(details) = error.details.as_mut() {
            details["causes"] = Value::Array(causes);
        }
        error
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// A new object that claims to have a version already. Kubernetes has no reason for it.
    pub fn version_on_create() -> Self {
        Self::new(
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        )
    }

    /// A patch that cannot be applied to the object.
    pub fn patch_failed() -> Self {
        let text = "the server rejected our request due to an error in our request";
        let mut error = Self::new(422, "Invalid", text);
        error.details = Some(json!({}));
        error
    }

    /// A patch whose result is refused before it is looked at as an object.
    pub fn bad_patch(field: &FieldError) -> Self {
        let mut error = Self::invalid(Names { group: "", what: "" }, "", std::slice::from_ref(field));
        error.message = format!(" \"\" is invalid: {}: {}", field.field, field.body());
        error
    }

    /// Query parameters or options that are refused: `what` is e.g. `ListOptions`.
    pub fn options(what: &str, errors: &[FieldError]) -> Self {
        Self::invalid(
            Names {
                group: "meta.k8s.io",
                what,
            },
            "",
            errors,
        )
    }

    /// Server-side apply without a name for who applies.
    pub fn field_manager_required() -> Self {
        Self::options(
            "PatchOptions",
            &[FieldError::required(
                "fieldManager",
                "is required for apply patch",
            )],
        )
    }

    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub fn forbidden(names: Names<'_>, name: &str, why: &str) -> Self {
        Self::new(
            403,
            "Forbidden",
            format!("{} {name:?} is forbidden: {why}", names.qualified()),
        )
        .about(names, name)
    }

    /// Nothing new may be made in a namespace that is being emptied.
    pub fn namespace_terminating(names: Names<'_>, name: &str, namespace: &str) -> Self {
        let why =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut error = Self::forbidden(names, name, &why);
        if let Some(details) = error.details.as_mut() {
            details["causes"] = json!([{"reason": "NamespaceTerminating",
                "message": format!("namespace {namespace} is being terminated"), "field": "metadata.namespace"}]);
        }
        error
    }

    pub fn method_not_allowed() -> Self {
        let mut error = Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        error.details = Some(json!({}));
        error
    }

    pub fn not_acceptable(offered: &[&str]) -> Self {
        let text = format!(
            "only the following media types are accepted: {}",
            offered.join(", ")
        );
        Self::new(406, "NotAcceptable", text)
    }

    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let text = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", text)
    }

    pub fn too_large(limit: usize) -> Self {
        let text = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", text)
    }

    /// The asked-for version is older than what is kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// A watch can no longer be continued from where it was; sent as the object of an ERROR event.
    pub fn too_old(asked: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {asked} ({oldest})"))
    }

    pub fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let text = format!("Too large resource version: {asked}, current: {current}");
        let mut error = Self::new(504, "Timeout", text);
        error.details = Some(json!({"causes": [{"reason": "ResourceVersionTooLarge",
            "message": "Too large resource version"}], "retryAfterSeconds": 1}));
        error
    }

    /// An injected fault: the code with the reason that belongs to it.
    pub fn injected(code: u16) -> Self {
        let reason = match code {
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            409 => "Conflict",
            410 => "Expired",
            429 => "TooManyRequests",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            _ => "InternalError",
        };
        Self::new(code, reason, "injected fault")
    }

    pub fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        let mut error = Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {message}"),
        );
        error.details = Some(json!({"causes": [{"message": message}]}));
        error
    }

    /// The error as the API's `Status` object.
    pub fn to_status(&self) -> Value {
        let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message});
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status["code"] = json!(self.code);
        status
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    Required(String),
    Invalid(Value, String),
    TypeInvalid(Value, String),
    Unsupported(Value, Vec<String>),
    Duplicate(Value),
    Forbidden(String),
    TooLong(usize),
    TooMany(usize, usize),
}

impl Problem {
    fn reason(&self) -> &'static str {
        match self {
            Self::Required(_) => "FieldValueRequired",
            Self::Invalid(..) => "FieldValueInvalid",
            Self::TypeInvalid(..) => "FieldValueTypeInvalid",
            Self::Unsupported(..) => "FieldValueNotSupported",
            Self::Duplicate(_) => "FieldValueDuplicate",
            Self::Forbidden(_) => "FieldValueForbidden",
            Self::TooLong(_) => "FieldValueTooLong",
            Self::TooMany(..) => "FieldValueTooMany",
        }
    }
}

/// One field that was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// Path as in `spec.list[0].name`.
    pub field: String,
    pub problem: Problem,
}

impl FieldError {
    pub fn new(field: impl Into<String>, problem: Problem) -> Self {
        Self {
            field: field.into(),
            problem,
        }
    }

    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Invalid(value.into(), detail.into()))
    }

    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Required(detail.into()))
    }

    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, Problem::Forbidden(detail.into()))
    }

    /// The message without the field's path.
    pub fn body(&self) -> String {
        let (text, detail) = match &self.problem {
            Problem::Required(detail) => ("Required value".to_owned(), detail.clone()),
            Problem::Forbidden(detail) => ("Forbidden".to_owned(), detail.clone()),
            Problem::Invalid(value, detail) | Problem::TypeInvalid(value, detail) => {
                (format!("Invalid value: {}", shown(value)), detail.clone())
            }
            Problem::Duplicate(value) => (format!("Duplicate value: {}", shown(value)), String::new()),
            Problem::Unsupported(value, supported) => {
                let mut detail = "supported values: ".to_owned();
                for (index, one) in supported.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    let _ = write!(detail, "{comma}{one:?}");
                }
                (format!("Unsupported value: {}", shown(value)), detail)
            }
            Problem::TooLong(max) => ("Too long".to_owned(), format!("may not be more than {max} bytes")),
            Problem::TooMany(found, max) => (
                format!("Too many: {found}"),
                format!("must have at most {max} items"),
            ),
        };
        if detail.is_empty() {
            text
        } else {
            format!("{text}: {detail}")
        }
    }
}

/// A value in a message: strings quoted, numbers and booleans plain, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

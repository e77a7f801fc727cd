//! What makes a struct one of our kinds: its names, its shape on the wire, and `kube`'s traits for it.
//!
//! Written by hand rather than with `kube`'s derive because an object may lack its `spec` here (the CRDs do not require
//! it), because a missing spec must not stop a watch, and because the schemas are made in `schema.rs` to be exactly
//! those of the field.

use schemars::JsonSchema;

/// API group of every kind.
pub const GROUP: &str = "metal3.io";
/// API version of every kind.
pub const VERSION: &str = "v1alpha1";
/// `apiVersion` of every object.
pub const API_VERSION: &str = "metal3.io/v1alpha1";

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrinterColumn {
    /// Heading.
    pub name: &'static str,
    /// Type of the value: `string`, `integer`, `date`.
    pub kind: &'static str,
    /// Where the value is, as a JSONPath that starts with a dot.
    pub json_path: &'static str,
    /// 0: always shown; above 0: only with `-o wide`.
    pub priority: i32,
}

/// Facts about one of our kinds that its CRD states.
pub trait Metal3Resource: kube::Resource<DynamicType = ()> {
    /// Type of `spec`.
    type Spec: JsonSchema;
    /// Type of `status`; `()` for kinds without.
    type Status: JsonSchema;
    /// What the kind is for.
    const DESCRIPTION: &'static str;
    /// The kind's name.
    const KIND: &'static str;
    /// Name in URLs.
    const PLURAL: &'static str;
    /// Short names for `kubectl`.
    const SHORT_NAMES: &'static [&'static str];
    /// Columns of `kubectl get`.
    const COLUMNS: &'static [PrinterColumn];
    /// Whether there is a `status` member at all.
    const HAS_STATUS: bool;
    /// Whether `status` is written through its own subresource.
    const STATUS_SUBRESOURCE: bool;
}

/// Declares a kind: the struct with `metadata`, `spec` and perhaps `status`, serde, and `kube`'s traits.
macro_rules! custom_resource {
    (
        $(#[doc = $doc:literal])*
        $Name:ident as $kind:literal {
            plural: $plural:literal,
            short_names: $short:expr,
            spec: $Spec:ty,
            status: $Status:ty,
            status_subresource: $subresource:literal,
            columns: [$( ($cname:literal, $ctype:literal, $cpath:literal, $cprio:literal) ),* $(,)?] $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $Name {
            /// Name, labels, annotations and the rest that every object has.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            #[serde(deserialize_with = "crate::serde_rules::null_as_default")]
            pub spec: $Spec,
            /// What was found; absent until the object was first looked at.
            pub status: Option<$Status>,
        }

        impl $Name {
            /// A new object of that name without namespace and status.
            pub fn new(name: &str, spec: $Spec) -> Self {
                let metadata = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                    name: Some(name.to_owned()),
                    ..Default::default()
                };
                Self { metadata, spec, status: None }
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let mut object = serializer.serialize_struct($kind, 4 + usize::from(self.status.is_some()))?;
                object.serialize_field("apiVersion", crate::resource::API_VERSION)?;
                object.serialize_field("kind", $kind)?;
                object.serialize_field("metadata", &self.metadata)?;
                object.serialize_field("spec", &self.spec)?;
                match &self.status {
                    Some(status) => object.serialize_field("status", status)?,
                    None => object.skip_field("status")?,
                }
                object.end()
            }
        }

        impl kube::core::object::HasStatus for $Name {
            type Status = $Status;
            fn status(&self) -> Option<&$Status> {
                self.status.as_ref()
            }
            fn status_mut(&mut self) -> &mut Option<$Status> {
                &mut self.status
            }
        }

        crate::resource::custom_resource!(@traits
            $(#[doc = $doc])* $Name as $kind, $plural, $short, $Spec, $Status, true, $subresource,
            [$( ($cname, $ctype, $cpath, $cprio) ),*]);
    };
    (
        $(#[doc = $doc:literal])*
        $Name:ident as $kind:literal {
            plural: $plural:literal,
            short_names: $short:expr,
            spec: $Spec:ty,
            status_subresource: $subresource:literal,
            columns: [$( ($cname:literal, $ctype:literal, $cpath:literal, $cprio:literal) ),* $(,)?] $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $Name {
            /// Name, labels, annotations and the rest that every object has.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// The content.
            #[serde(deserialize_with = "crate::serde_rules::null_as_default")]
            pub spec: $Spec,
        }

        impl $Name {
            /// A new object of that name without namespace.
            pub fn new(name: &str, spec: $Spec) -> Self {
                let metadata = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                    name: Some(name.to_owned()),
                    ..Default::default()
                };
                Self { metadata, spec }
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let mut object = serializer.serialize_struct($kind, 4)?;
                object.serialize_field("apiVersion", crate::resource::API_VERSION)?;
                object.serialize_field("kind", $kind)?;
                object.serialize_field("metadata", &self.metadata)?;
                object.serialize_field("spec", &self.spec)?;
                object.end()
            }
        }

        crate::resource::custom_resource!(@traits
            $(#[doc = $doc])* $Name as $kind, $plural, $short, $Spec, (), false, $subresource,
            [$( ($cname, $ctype, $cpath, $cprio) ),*]);
    };
    (@traits $(#[doc = $doc:literal])* $Name:ident as $kind:literal, $plural:literal, $short:expr, $Spec:ty, $Status:ty,
     $has_status:literal, $subresource:literal,
     [$( ($cname:literal, $ctype:literal, $cpath:literal, $cprio:literal) ),*]) => {
        impl kube::Resource for $Name {
            type DynamicType = ();
            type Scope = kube::core::NamespaceResourceScope;
            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                $kind.into()
            }
            fn group((): &()) -> std::borrow::Cow<'_, str> {
                crate::resource::GROUP.into()
            }
            fn version((): &()) -> std::borrow::Cow<'_, str> {
                crate::resource::VERSION.into()
            }
            fn api_version((): &()) -> std::borrow::Cow<'_, str> {
                crate::resource::API_VERSION.into()
            }
            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }

        impl kube::core::object::HasSpec for $Name {
            type Spec = $Spec;
            fn spec(&self) -> &$Spec {
                &self.spec
            }
            fn spec_mut(&mut self) -> &mut $Spec {
                &mut self.spec
            }
        }

        impl crate::resource::Metal3Resource for $Name {
            type Spec = $Spec;
            type Status = $Status;
            const DESCRIPTION: &'static str = concat!($($doc, "\n"),*);
            const KIND: &'static str = $kind;
            const PLURAL: &'static str = $plural;
            const SHORT_NAMES: &'static [&'static str] = &$short;
            const COLUMNS: &'static [crate::resource::PrinterColumn] = &[$(
                crate::resource::PrinterColumn { name: $cname, kind: $ctype, json_path: $cpath, priority: $cprio }
            ),*];
            const HAS_STATUS: bool = $has_status;
            const STATUS_SUBRESOURCE: bool = $subresource;
        }
    };
}

pub(crate) use custom_resource;

//! The messages that carry the contract over a boundary: JSON-RPC 2.0 documents of this crate's types.
//!
//! The same bytes travel in every carrier (the C ABI of [`abi`](crate::abi), a socket). [`rpc`] holds the
//! documents, [`method`] the methods with the types of their parameters and results, [`handshake`], [`pass`] and
//! [`host`] those types as far as they are not the contract's own, [`catalog`] the list from which
//! `docs/protocol/v1/` is generated. The normative text is `docs/protocol/README.md`.

pub mod catalog;
pub mod handshake;
pub mod host;
pub mod method;
pub mod pass;
pub mod rpc;

pub use handshake::{
    BuildInfo, CacheScope, ConfigureRequest, ConfigureResult, HostConfigureInput, HostRequirements,
    InitializeRequest, InitializeResult, ProtocolRange, TypeRef,
};
pub use host::{
    CancelNotice, EventNotice, KubeReader, KubeRequest, KubeResponse, LogLevel, LogNotice, OfProvisioner,
    WakeNotice,
};
pub use method::{Method, Notification};
pub use pass::{NewProvisionerRequest, OnProvisioner, ProvisionerHandle};
pub use rpc::{Request, Response, RpcError};

/// The oldest and the newest protocol version this code speaks.
pub const PROTOCOL: ProtocolRange = ProtocolRange { min: 1, max: 1 };

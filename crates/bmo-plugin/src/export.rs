//! The macro that makes a crate a plugin.

use std::sync::Arc;

use bmo_provisioner::wire::{HostConfigureInput, HostRequirements};
use bmo_provisioner::{Capabilities, ProvisionerFactory, Result};

use crate::PluginConfig;

/// A plugin as the macro describes it.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What it may implement at most.
    pub capabilities: fn() -> Capabilities,
    /// Makes its factory.
    pub factory: fn(PluginConfig) -> Result<Arc<dyn ProvisionerFactory>>,
    /// Says what it needs of the host.
    pub host_configure: Option<fn(HostConfigureInput) -> Result<HostRequirements>>,
}

/// Calls an author's constructor and hides the factory's type.
pub fn factory<F: ProvisionerFactory + 'static>(
    make: impl FnOnce(PluginConfig) -> Result<F>,
    config: PluginConfig,
) -> Result<Arc<dyn ProvisionerFactory>> {
    Ok(Arc::new(make(config)?))
}

/// Exports the symbols that make a `cdylib` a plugin.
///
/// * `name`: the plugin's name, a literal; the file is `<name>-provisioner.so`.
/// * `factory`: a function or closure `PluginConfig -> Result<impl ProvisionerFactory>`. It may keep the configuration;
///   it should not wait for anything: whether the back end can be used is for `new_provisioner` to say.
/// * `capabilities` (optional): an expression for the [`Capabilities`](crate::prelude::Capabilities) the plugin has at
///   most, for its hand-shake. Those of the factory count once it is configured.
/// * `host_configure` (optional): a function or closure `HostConfigureInput -> Result<HostRequirements>`, called
///   before the operator is connected to a cluster.
///
/// The version in the hand-shake is that of the crate that uses the macro.
#[macro_export]
macro_rules! export_provisioner {
    (
        name: $name:literal,
        $(capabilities: $capabilities:expr,)?
        factory: $factory:expr
        $(, host_configure: $host_configure:expr)?
        $(,)?
    ) => {
        #[allow(unsafe_code, non_snake_case, reason = "the exported symbols of the plugin ABI")]
        mod __bmo_plugin_exports {
            use super::*;

            static DEFINITION: $crate::private::Definition = $crate::private::Definition {
                name: $name,
                version: ::core::env!("CARGO_PKG_VERSION"),
                capabilities: || $crate::export_provisioner!(@capabilities $($capabilities)?),
                factory: |config| $crate::private::factory($factory, config),
                host_configure: $crate::export_provisioner!(@host_configure $($host_configure)?),
            };

            #[unsafe(no_mangle)]
            pub extern "C" fn BmoPluginAbiVersion() -> u32 {
                $crate::private::ABI_VERSION
            }

            #[unsafe(no_mangle)]
            pub extern "C" fn PluginName() -> *const ::core::ffi::c_char {
                ::core::concat!($name, "\0").as_ptr().cast()
            }

            /// # Safety
            /// As the header says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn NewProvisionerFactory(
                host: *const $crate::private::BmoHost,
                plugin: *mut *const $crate::private::BmoPlugin,
            ) -> i32 {
                // SAFETY: the caller keeps to the header.
                unsafe { $crate::private::new_factory(&DEFINITION, host, plugin) }
            }

            $crate::export_provisioner!(@host_configure_symbol $($host_configure)?);
        }
    };
    (@capabilities) => { $crate::contract::Capabilities::all() };
    (@capabilities $capabilities:expr) => { $capabilities };
    (@host_configure) => { ::core::option::Option::None };
    (@host_configure $function:expr) => {
        ::core::option::Option::Some(|input| {
            let configure: fn($crate::prelude::HostConfigureInput)
                -> $crate::contract::Result<$crate::prelude::HostRequirements> = $function;
            configure(input)
        })
    };
    (@host_configure_symbol) => {};
    (@host_configure_symbol $function:expr) => {
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn HostConfigure(
            host: *const $crate::private::BmoHost,
            request: $crate::private::BmoBytes,
            done: ::core::option::Option<$crate::private::DoneFn>,
            done_ctx: *mut ::core::ffi::c_void,
            token: u64,
        ) {
            // SAFETY: the caller keeps to the header.
            unsafe { $crate::private::host_configure(&DEFINITION, host, request, done, done_ctx, token) }
        }
    };
}

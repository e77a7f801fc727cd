//! The structures of `include/bmo_provisioner.h`, for both sides of the C ABI.
//!
//! Only shapes: the functions behind them are the business of `bmo-plugin` (plugin side) and `bmo-plugin-host`
//! (host side). The header holds the rules; the assertions at the end hold the layout to it.

use std::ffi::{c_char, c_void};

/// The version of the ABI. A plugin of another version is not loaded.
pub const ABI_VERSION: u32 = 1;
/// Counts additions that older plugins and hosts need not know.
pub const ABI_MINOR: u32 = 0;

/// Bytes that belong to the caller and are valid while the function they are passed to runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BmoBytes {
    /// First byte; may be null where `len` is 0.
    pub ptr: *const u8,
    /// How many bytes there are.
    pub len: usize,
}

impl BmoBytes {
    /// Lends `bytes`. The result must not be used after `bytes` is gone.
    pub fn lend(bytes: &[u8]) -> Self {
        Self {
            ptr: bytes.as_ptr(),
            len: bytes.len(),
        }
    }
}

/// Answers a call: context, token, response document.
pub type DoneFn = unsafe extern "C" fn(done_ctx: *mut c_void, token: u64, response: BmoBytes);
/// Begins a call: context, request document, and how to answer it.
pub type CallFn = unsafe extern "C" fn(
    ctx: *mut c_void,
    request: BmoBytes,
    done: Option<DoneFn>,
    done_ctx: *mut c_void,
    token: u64,
);

/// What the host offers the plugin.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BmoHost {
    /// Bytes of the structure its maker knew.
    pub struct_size: u32,
    /// [`ABI_MINOR`] of its maker.
    pub abi_minor: u32,
    /// First argument of every function.
    pub ctx: *mut c_void,
    /// Writes a line to the operator's log.
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: i32, text: BmoBytes)>,
    /// Asks the host something.
    pub call: Option<CallFn>,
    /// Tells the host something.
    pub notify: Option<unsafe extern "C" fn(ctx: *mut c_void, notification: BmoBytes)>,
}

/// What the plugin offers the host.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BmoPlugin {
    /// Bytes of the structure its maker knew.
    pub struct_size: u32,
    /// [`ABI_MINOR`] of its maker.
    pub abi_minor: u32,
    /// First argument of every function.
    pub ctx: *mut c_void,
    /// Does a request.
    pub call: Option<CallFn>,
    /// Stops working on a call.
    pub cancel: Option<unsafe extern "C" fn(ctx: *mut c_void, token: u64)>,
    /// Prepares for the end of the process.
    pub shutdown: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
}

/// Type of the symbol `BmoPluginAbiVersion`.
pub type AbiVersionFn = unsafe extern "C" fn() -> u32;
/// Type of the symbol `PluginName`.
pub type PluginNameFn = unsafe extern "C" fn() -> *const c_char;
/// Type of the symbol `NewProvisionerFactory`.
pub type NewProvisionerFactoryFn =
    unsafe extern "C" fn(host: *const BmoHost, plugin: *mut *const BmoPlugin) -> i32;
/// Type of the optional symbol `HostConfigure`.
pub type HostConfigureFn = unsafe extern "C" fn(
    host: *const BmoHost,
    request: BmoBytes,
    done: Option<DoneFn>,
    done_ctx: *mut c_void,
    token: u64,
);

/// The names under which the symbols are exported.
pub mod symbol {
    /// See [`super::AbiVersionFn`].
    pub const ABI_VERSION: &str = "BmoPluginAbiVersion";
    /// See [`super::PluginNameFn`].
    pub const PLUGIN_NAME: &str = "PluginName";
    /// See [`super::NewProvisionerFactoryFn`].
    pub const NEW_PROVISIONER_FACTORY: &str = "NewProvisionerFactory";
    /// See [`super::HostConfigureFn`].
    pub const HOST_CONFIGURE: &str = "HostConfigure";
}

const _: () = {
    use std::mem::offset_of;
    const WORD: usize = size_of::<*const ()>();
    assert!(size_of::<BmoBytes>() == 2 * WORD);
    assert!(offset_of!(BmoBytes, len) == WORD);
    assert!(offset_of!(BmoHost, abi_minor) == 4);
    assert!(offset_of!(BmoHost, ctx) == 8);
    assert!(offset_of!(BmoHost, log) == 8 + WORD);
    assert!(offset_of!(BmoHost, call) == 8 + 2 * WORD);
    assert!(offset_of!(BmoHost, notify) == 8 + 3 * WORD);
    assert!(size_of::<BmoHost>() == 8 + 4 * WORD);
    assert!(offset_of!(BmoPlugin, abi_minor) == 4);
    assert!(offset_of!(BmoPlugin, ctx) == 8);
    assert!(offset_of!(BmoPlugin, call) == 8 + WORD);
    assert!(offset_of!(BmoPlugin, cancel) == 8 + 2 * WORD);
    assert!(offset_of!(BmoPlugin, shutdown) == 8 + 3 * WORD);
    assert!(size_of::<BmoPlugin>() == 8 + 4 * WORD);
};

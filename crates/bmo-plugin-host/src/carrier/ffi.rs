//! The functions behind the tables of `include/bmo_provisioner.h`, and calls into the plugin's.
//!
//! Everything that is `unsafe` about calling a plugin is here. A context that a plugin hands back is only ever used
//! as the number of a carrier.
#![allow(unsafe_code, reason = "this module is the C ABI")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use bmo_provisioner::abi::{
    ABI_MINOR, BmoBytes, BmoHost, BmoPlugin, DoneFn, HostConfigureFn, NewProvisionerFactoryFn,
};

use super::{Carrier, carrier};

/// A reference that may go to other threads: host tables are never changed nor freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared(pub(crate) &'static BmoHost);

// SAFETY: the table is immutable and lives for ever; its context is a number.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The host's table as one plugin sees it.
#[derive(Debug)]
pub(crate) struct HostTable(BmoHost);

// SAFETY: the table is immutable; its context is a number, not a pointer.
unsafe impl Send for HostTable {}
// SAFETY: as above.
unsafe impl Sync for HostTable {}

impl HostTable {
    /// A table whose context is the carrier `id`. Lives for ever, as the plugin may keep it.
    pub(crate) fn leak(id: usize) -> &'static Self {
        Box::leak(Box::new(Self(BmoHost {
            struct_size: size_u32::<BmoHost>(),
            abi_minor: ABI_MINOR,
            ctx: context(id),
            log: Some(host_log),
            call: Some(host_call),
            notify: Some(host_notify),
        })))
    }

    pub(crate) fn table(&self) -> &BmoHost {
        &self.0
    }
}

/// The plugin's table, as far as this host knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PluginTable {
    table: BmoPlugin,
}

// SAFETY: the header asks plugins for functions that may be called from any thread with their context.
unsafe impl Send for PluginTable {}
// SAFETY: as above.
unsafe impl Sync for PluginTable {}

impl PluginTable {
    /// Does a request. Returns when the plugin's function does, which may be before or after the answer.
    pub(crate) fn call(&self, request: &[u8], carrier: usize, token: u64) {
        let Some(call) = self.table.call else { return };
        // SAFETY: `call` came from the plugin's table with its context; the bytes outlive the call.
        unsafe {
            call(
                self.table.ctx,
                BmoBytes::lend(request),
                Some(host_done),
                context(carrier),
                token,
            );
        }
    }

    pub(crate) fn cancel(&self, token: u64) {
        let Some(cancel) = self.table.cancel else { return };
        // SAFETY: as for `call`.
        unsafe { cancel(self.table.ctx, token) }
    }

    pub(crate) fn shutdown(&self) {
        let Some(shutdown) = self.table.shutdown else {
            return;
        };
        // SAFETY: as for `call`.
        unsafe { shutdown(self.table.ctx) }
    }
}

/// Asks a plugin for its table.
///
/// # Errors
/// What is wrong with what the plugin returned.
pub(crate) fn open(open: NewProvisionerFactoryFn, host: Shared) -> Result<PluginTable, String> {
    let mut plugin: *const BmoPlugin = ptr::null();
    // SAFETY: the symbol has this type by the header, and the host's table lives for ever.
    let status = unsafe { open(host.0, &raw mut plugin) };
    if status != 0 {
        return Err(format!(
            "it returned {status} instead of 0; its reason, if it gave one, is in the log"
        ));
    }
    if plugin.is_null() || !plugin.is_aligned() {
        return Err("it returned 0 but stored no table".to_owned());
    }
    // SAFETY: a plugin that returns 0 has stored a table that lives for ever and begins with its size.
    let size = unsafe { (&raw const (*plugin).struct_size).read() };
    if size < size_u32::<BmoPlugin>() {
        return Err(format!(
            "its table has {size} bytes, and the first version has {}; set struct_size to sizeof(bmo_plugin)",
            size_u32::<BmoPlugin>()
        ));
    }
    // SAFETY: the table has at least the members this host knows.
    let table = unsafe { plugin.read() };
    if table.call.is_none() {
        return Err("its table has no function `call`".to_owned());
    }
    Ok(PluginTable { table })
}

/// Sends a request through the symbol `HostConfigure`.
pub(crate) fn host_configure(
    function: HostConfigureFn,
    host: Shared,
    request: &[u8],
    carrier: usize,
    token: u64,
) {
    // SAFETY: the symbol has this type by the header; table and bytes outlive the call.
    unsafe {
        function(
            host.0,
            BmoBytes::lend(request),
            Some(host_done),
            context(carrier),
            token,
        );
    }
}

/// How a plugin wants a call of its own answered. Answers when dropped, if it has not before.
#[derive(Debug)]
pub(crate) struct Reply {
    done: Option<DoneFn>,
    ctx: *mut c_void,
    token: u64,
}

// SAFETY: the header lets `done` be called from any thread; the context is only handed back.
unsafe impl Send for Reply {}

impl Reply {
    /// The id of the request that is answered.
    pub(crate) fn token(&self) -> u64 {
        self.token
    }

    /// Answers with a response document.
    pub(crate) fn send(mut self, response: &[u8]) {
        self.answer(response);
    }

    fn answer(&mut self, response: &[u8]) {
        if let Some(done) = self.done.take() {
            // SAFETY: function and context came together from the plugin; the bytes outlive the call.
            unsafe { done(self.ctx, self.token, BmoBytes::lend(response)) }
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.done.is_some() {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32603,"message":"the operator stopped before it could answer"}}}}"#,
                self.token
            );
            self.answer(text.as_bytes());
        }
    }
}

unsafe extern "C" fn host_done(done_ctx: *mut c_void, token: u64, response: BmoBytes) {
    // SAFETY: the plugin lends the bytes for the time of this call.
    let bytes = unsafe { borrow(&response) };
    with_carrier(done_ctx, |carrier| carrier.answered(token, bytes));
}

unsafe extern "C" fn host_log(ctx: *mut c_void, level: i32, text: BmoBytes) {
    // SAFETY: the plugin lends the bytes for the time of this call.
    let bytes = unsafe { borrow(&text) };
    with_carrier(ctx, |carrier| carrier.services.log_line(level, bytes));
}

unsafe extern "C" fn host_notify(ctx: *mut c_void, notification: BmoBytes) {
    // SAFETY: the plugin lends the bytes for the time of this call.
    let bytes = unsafe { borrow(&notification) };
    with_carrier(ctx, |carrier| carrier.services.notified(bytes));
}

unsafe extern "C" fn host_call(
    ctx: *mut c_void,
    request: BmoBytes,
    done: Option<DoneFn>,
    done_ctx: *mut c_void,
    token: u64,
) {
    // SAFETY: the plugin lends the bytes for the time of this call.
    let bytes = unsafe { borrow(&request) };
    let reply = Reply {
        done,
        ctx: done_ctx,
        token,
    };
    with_carrier(ctx, move |carrier| carrier.services.asked(bytes, reply));
}

/// Runs `body` for the carrier a context names, if there is one. Nothing unwinds into the plugin.
fn with_carrier(ctx: *mut c_void, body: impl FnOnce(&Arc<Carrier>)) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        if let Some(carrier) = carrier(ctx.addr()) {
            body(&carrier);
        } else {
            tracing::warn!("a plugin called the host with a context the host never made; ignored");
        }
    }));
    if result.is_err() {
        tracing::error!("the host panicked while it served a plugin; the plugin goes on");
    }
}

/// The bytes as a slice; empty where the pointer is null.
///
/// # Safety
/// They must be readable while the result is used.
unsafe fn borrow(bytes: &BmoBytes) -> &[u8] {
    if bytes.ptr.is_null() || bytes.len == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(bytes.ptr, bytes.len) }
}

fn context(id: usize) -> *mut c_void {
    ptr::without_provenance_mut(id)
}

#[allow(clippy::cast_possible_truncation, reason = "a table of a few words")]
const fn size_u32<T>() -> u32 {
    size_of::<T>() as u32
}

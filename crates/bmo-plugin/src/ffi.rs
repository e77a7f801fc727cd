//! The functions behind the plugin's table of `include/bmo_provisioner.h`, and calls into the host's.
//!
//! All of the SDK's `unsafe` code is here, apart from the exported symbols of the macro, which only call it. No
//! function lets a panic out.
#![allow(unsafe_code, reason = "this module is the C ABI")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bmo_provisioner::abi::{ABI_MINOR, BmoBytes, BmoHost, BmoPlugin, DoneFn};
use bmo_provisioner::wire::rpc::{Response, RpcError, code};

use crate::dispatch::Instance;
use crate::export::Definition;
use crate::host::{HostHandle, host_answered};

/// The host's table, copied; it lives for ever and its functions may be called from any thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostTable(BmoHost);

// SAFETY: the header promises functions and a context that any thread may use until the process ends.
unsafe impl Send for HostTable {}
// SAFETY: as above.
unsafe impl Sync for HostTable {}

impl HostTable {
    pub(crate) fn log(&self, level: i32, text: &[u8]) {
        if let Some(log) = self.0.log {
            // SAFETY: function and context are the host's; the bytes outlive the call.
            unsafe { log(self.0.ctx, level, BmoBytes::lend(text)) }
        }
    }

    pub(crate) fn notify(&self, document: &[u8]) {
        if let Some(notify) = self.0.notify {
            // SAFETY: as in `log`.
            unsafe { notify(self.0.ctx, BmoBytes::lend(document)) }
        }
    }

    /// Begins a call; its answer goes to [`host_answered`].
    pub(crate) fn call(&self, document: &[u8], token: u64) {
        if let Some(call) = self.0.call {
            // SAFETY: as in `log`; the answer is found by its token, no context is needed.
            unsafe {
                call(
                    self.0.ctx,
                    BmoBytes::lend(document),
                    Some(host_done),
                    std::ptr::null_mut(),
                    token,
                );
            }
        }
    }

    /// Copies a table of the host's.
    ///
    /// # Safety
    /// `host` must be a table as the header describes it.
    unsafe fn read(host: *const BmoHost) -> Option<&'static Self> {
        if host.is_null() {
            return None;
        }
        // SAFETY: promised by the caller: every table begins with its size.
        let size = unsafe { (&raw const (*host).struct_size).read() };
        if (size as usize) < size_of::<BmoHost>() {
            return None;
        }
        // SAFETY: the table has the members this SDK knows.
        Some(Box::leak(Box::new(Self(unsafe { host.read() }))))
    }
}

unsafe extern "C" fn host_done(_ctx: *mut c_void, token: u64, response: BmoBytes) {
    // SAFETY: the host lends the bytes for the time of this call.
    let bytes = unsafe { borrow(&response) };
    let _ = catch_unwind(|| host_answered(token, bytes));
}

/// Answers one call of the host's, at the latest when it is dropped.
pub(crate) struct Reply {
    done: Option<DoneFn>,
    ctx: *mut c_void,
    token: u64,
}

// SAFETY: the header lets `done` be called from any thread; the context is only handed back.
unsafe impl Send for Reply {}

impl Reply {
    pub(crate) fn token(&self) -> u64 {
        self.token
    }

    pub(crate) fn send(mut self, response: &[u8]) {
        self.answer(response);
    }

    fn answer(&mut self, response: &[u8]) {
        if let Some(done) = self.done.take() {
            // SAFETY: function and context came together from the host; the bytes outlive the call.
            unsafe { done(self.ctx, self.token, BmoBytes::lend(response)) }
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if self.done.is_some() {
            let error = RpcError::new(
                code::INTERNAL_ERROR,
                "the plugin let go of the call without an answer",
            );
            let response = serde_json::to_vec(&Response::<()>::new(self.token, Err(error)));
            self.answer(&response.unwrap_or_default());
        }
    }
}

/// `NewProvisionerFactory`.
///
/// # Safety
/// As the header says.
pub unsafe fn new_factory(
    definition: &'static Definition,
    host: *const BmoHost,
    plugin: *mut *const BmoPlugin,
) -> i32 {
    // SAFETY: the caller keeps to the header.
    let Some(host) = (unsafe { HostTable::read(host) }) else {
        return 1;
    };
    if plugin.is_null() {
        return 1;
    }
    let made = catch_unwind(AssertUnwindSafe(|| {
        let instance: &'static Instance =
            Box::leak(Box::new(Instance::new(definition, HostHandle::new(host))));
        let table: &'static BmoPlugin = Box::leak(Box::new(BmoPlugin {
            struct_size: u32::try_from(size_of::<BmoPlugin>()).unwrap_or_default(),
            abi_minor: ABI_MINOR,
            ctx: std::ptr::from_ref(instance).cast_mut().cast(),
            call: Some(plugin_call),
            cancel: Some(plugin_cancel),
            shutdown: Some(plugin_shutdown),
        }));
        table
    }));
    let Ok(table) = made else { return 2 };
    // SAFETY: not null; the header asks the host for a place to store the table.
    unsafe { plugin.write(table) };
    0
}

/// `HostConfigure`.
///
/// # Safety
/// As the header says.
pub unsafe fn host_configure(
    definition: &'static Definition,
    host: *const BmoHost,
    request: BmoBytes,
    done: Option<DoneFn>,
    done_ctx: *mut c_void,
    token: u64,
) {
    let reply = Reply {
        done,
        ctx: done_ctx,
        token,
    };
    // SAFETY: the caller keeps to the header.
    let Some(host) = (unsafe { HostTable::read(host) }) else {
        return;
    };
    // SAFETY: the host lends the bytes for the time of this call.
    let document = unsafe { borrow(&request) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        Instance::new(definition, HostHandle::new(host)).host_configure(document, reply);
    }));
}

unsafe extern "C" fn plugin_call(
    ctx: *mut c_void,
    request: BmoBytes,
    done: Option<DoneFn>,
    done_ctx: *mut c_void,
    token: u64,
) {
    let reply = Reply {
        done,
        ctx: done_ctx,
        token,
    };
    // SAFETY: the host lends the bytes for the time of this call.
    let document = unsafe { borrow(&request) }.to_vec();
    // SAFETY: the context is that of a table made by `new_factory`.
    let instance = unsafe { instance(ctx) };
    let _ = catch_unwind(AssertUnwindSafe(|| instance.call(document, reply)));
}

unsafe extern "C" fn plugin_cancel(ctx: *mut c_void, token: u64) {
    // SAFETY: as in `plugin_call`.
    let instance = unsafe { instance(ctx) };
    let _ = catch_unwind(AssertUnwindSafe(|| instance.cancel(token)));
}

unsafe extern "C" fn plugin_shutdown(ctx: *mut c_void) {
    // SAFETY: as in `plugin_call`.
    let instance = unsafe { instance(ctx) };
    let _ = catch_unwind(AssertUnwindSafe(|| instance.shutdown()));
}

/// # Safety
/// The context must be that of a table made by [`new_factory`], which is never freed.
unsafe fn instance(ctx: *mut c_void) -> &'static Instance {
    // SAFETY: promised by the caller.
    unsafe { &*ctx.cast::<Instance>() }
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

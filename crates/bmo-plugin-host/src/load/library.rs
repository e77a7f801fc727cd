//! Opening a shared object and reading its symbols.
//!
//! Never unloaded: its code may still run on a thread, and destructors of thread-local data would outlive it. Local,
//! so that two plugins do not see each other's symbols, and with everything bound now, so that a missing symbol is
//! an error here and not a crash later.
#![allow(unsafe_code, reason = "this module calls the dynamic linker")]

use std::ffi::{CStr, c_int};
use std::path::Path;

use bmo_provisioner::abi::{AbiVersionFn, HostConfigureFn, NewProvisionerFactoryFn, PluginNameFn, symbol};
use libloading::os::unix::{Library as Opened, RTLD_LOCAL, RTLD_NOW};

use super::{LoadError, file};

/// From `dlfcn.h` of glibc and musl.
const RTLD_NODELETE: c_int = 0x1000;

/// An open shared object.
pub(super) struct Library(std::mem::ManuallyDrop<Opened>);

/// Its symbols. Those that were not looked for yet are looked for when asked for, to keep the order of errors.
pub(super) struct Symbols<'a> {
    library: &'a Library,
    plugin_name: PluginNameFn,
    abi_version: AbiVersionFn,
}

impl Library {
    /// Opens the file at `path` and runs its constructors.
    pub(super) fn open(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: constructors of the plugin run here; that they may do anything is what loading a plugin means.
        let opened = unsafe { Opened::open(Some(path), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) };
        let opened = opened.map_err(|error| LoadError::Open {
            path: path.to_owned(),
            reason: text(&error),
        })?;
        Ok(Self(std::mem::ManuallyDrop::new(opened)))
    }

    pub(super) fn symbols(&self, path: &Path) -> Result<Symbols<'_>, LoadError> {
        let plugin_name = self.required::<PluginNameFn>(path, symbol::PLUGIN_NAME)?;
        let abi_version = self.required::<AbiVersionFn>(path, symbol::ABI_VERSION)?;
        Ok(Symbols {
            library: self,
            plugin_name,
            abi_version,
        })
    }

    fn required<F: Copy>(&self, path: &Path, name: &'static str) -> Result<F, LoadError> {
        self.optional(name).ok_or_else(|| LoadError::MissingSymbol {
            path: path.to_owned(),
            symbol: name,
            hint: if file::is_go(path) {
                "it is built by Go, perhaps for the Go operator, whose plugins only that very build can load; port it to \
                 include/bmo_provisioner.h or use a plugin that is"
            } else {
                "a plugin exports PluginName, BmoPluginAbiVersion and NewProvisionerFactory, unmangled (Rust: the macro \
                 export_provisioner!; C: BMO_EXPORT, and extern \"C\" in C++); see with `nm -D`"
            },
        })
    }

    fn optional<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the header gives the symbol this type; the ABI version is checked before any but that one and
        // the name are called, and those two never change.
        let found = unsafe { self.0.get::<F>(name) };
        found.ok().map(|function| *function)
    }
}

impl Symbols<'_> {
    pub(super) fn abi_version(&self) -> u32 {
        // SAFETY: the symbol has this type in every version of the header.
        unsafe { (self.abi_version)() }
    }

    /// What the plugin calls itself; none where that is no text.
    pub(super) fn plugin_name(&self) -> Option<String> {
        // SAFETY: the symbol has this type in this version of the header.
        let name = unsafe { (self.plugin_name)() };
        if name.is_null() {
            return None;
        }
        // SAFETY: the header asks for a text that ends with NUL and lives for ever.
        let name = unsafe { CStr::from_ptr(name) };
        name.to_str().ok().map(str::to_owned)
    }

    pub(super) fn new_factory(&self, path: &Path) -> Result<NewProvisionerFactoryFn, LoadError> {
        self.library.required(path, symbol::NEW_PROVISIONER_FACTORY)
    }

    pub(super) fn host_configure(&self) -> Option<HostConfigureFn> {
        self.library.optional(symbol::HOST_CONFIGURE)
    }
}

/// The dynamic linker's own words.
fn text(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

//! Every way in which loading a plugin fails, in the order in which it is found.

use std::io;
use std::path::PathBuf;

use bmo_provisioner::wire::ProtocolRange;

use crate::name::{NameError, PluginName};

/// Why a plugin was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error(
        "no plugin at {}: {}; put the plugin there, or name another directory with PROVISIONER_PLUGIN_DIR or another \
         plugin with -provisioner", .path.display(), there(.found)
    )]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
        /// Plugins that are in the directory.
        found: Vec<PluginName>,
    },
    /// The file cannot be looked at.
    #[error("cannot read the plugin {}: {source}; the operator's user needs read access to it", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is a directory, or something else that is no file.
    #[error(
        "{} is {found}, not a file; the plugin itself must have this name (a mount of a single file makes a directory \
         where the file is missing)", .path.display()
    )]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// A symbolic link that leads out of the plugin directory.
    #[error(
        "{} is a symbolic link to {}, outside of the plugin directory {}; copy the file into the directory, or set \
         PROVISIONER_PLUGIN_DIR to where it is", .path.display(), .target.display(), .dir.display()
    )]
    LinkOutside {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// The plugin directory.
        dir: PathBuf,
    },
    /// It is no ELF file.
    #[error(
        "{} is not a shared object: it begins with {found}, not with an ELF header; a plugin is built as a shared \
         library (Rust: crate-type = [\"cdylib\"]; C: -shared -fPIC)", .path.display()
    )]
    NotElf {
        /// The file.
        path: PathBuf,
        /// How it begins.
        found: String,
    },
    /// It is an ELF file, but no shared object.
    #[error(
        "{} is an ELF file but not a shared object: its type is {found}; build it as a shared library (Rust: \
         crate-type = [\"cdylib\"]; C: -shared -fPIC)", .path.display()
    )]
    NotShared {
        /// The file.
        path: PathBuf,
        /// Its type.
        found: String,
    },
    /// It is for another kind of machine.
    #[error(
        "{} is built for {found}, and this operator runs on {expected}; build the plugin for {expected}", .path.display()
    )]
    WrongArchitecture {
        /// The file.
        path: PathBuf,
        /// What it is for.
        found: String,
        /// What is needed.
        expected: String,
    },
    /// It is open already, under another name.
    #[error(
        "{} is the same file as {}, which is loaded as {name}; a file is one plugin: give each name a file of its own",
        .path.display(), .other.display()
    )]
    OpenedUnderTwoNames {
        /// The path now.
        path: PathBuf,
        /// The path then.
        other: PathBuf,
        /// The name then.
        name: PluginName,
    },
    /// The dynamic linker refuses it.
    #[error(
        "failed to open the plugin {}: {reason}; see with `ldd {}` which library or symbol is missing: a plugin must \
         be built on the operator's C library or an older one and bring what else it needs",
        .path.display(), .path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// What the dynamic linker says.
        reason: String,
    },
    /// A symbol is missing.
    #[error("the plugin {} does not export {symbol}: {hint}", .path.display())]
    MissingSymbol {
        /// The file.
        path: PathBuf,
        /// Which symbol.
        symbol: &'static str,
        /// What may be the reason and what to do.
        hint: &'static str,
    },
    /// It was built for another version of the ABI.
    #[error(
        "the plugin {} was built for version {found} of the plugin ABI, and this operator has version {supported}; build \
         it with an SDK (or bmo_provisioner.h) of version {supported}, or run an operator that has version {found}",
        .path.display()
    )]
    AbiVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The host's.
        supported: u32,
    },
    /// `PluginName()` returns no text.
    #[error("PluginName() of {} returned no UTF-8 text; it must return the plugin's name", .path.display())]
    NoName {
        /// The file.
        path: PathBuf,
    },
    /// `PluginName()` is not the name asked for.
    #[error(
        "PluginName() of {} returned {reported:?}, expected {:?}: the file <name>-provisioner.so must hold the plugin \
         <name>; rename the file to {reported}-provisioner.so and select it with -provisioner={reported}, or build the \
         plugin with the name {expected}", .path.display(), .expected.as_str()
    )]
    WrongName {
        /// The file.
        path: PathBuf,
        /// What it says.
        reported: String,
        /// What was asked for.
        expected: PluginName,
    },
    /// `PluginName()` is no name.
    #[error("PluginName() of {}: {reason}", .path.display())]
    InvalidName {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: NameError,
    },
    /// `NewProvisionerFactory` gave no usable table.
    #[error("NewProvisionerFactory() of {} failed: {reason}", .path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The hand-shake failed.
    #[error("the hand-shake with {} failed: {reason}", .path.display())]
    HandShake {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no protocol version both speak.
    #[error(
        "the plugin {} speaks protocol {found}, and this operator speaks {supported}; use a plugin or an operator whose \
         versions overlap", .path.display()
    )]
    Protocol {
        /// The file.
        path: PathBuf,
        /// What it speaks.
        found: ProtocolRange,
        /// What the host speaks.
        supported: ProtocolRange,
    },
    /// The hand-shake has another name than the symbol.
    #[error(
        "PluginName() of {} returned {symbol}, but its hand-shake says {hand_shake:?}; both must be the plugin's name",
        .path.display()
    )]
    OtherName {
        /// The file.
        path: PathBuf,
        /// What the symbol returns.
        symbol: PluginName,
        /// What the hand-shake says.
        hand_shake: String,
    },
}

fn there(found: &[PluginName]) -> String {
    if found.is_empty() {
        return "there is no plugin in that directory".to_owned();
    }
    let names: Vec<&str> = found.iter().map(PluginName::as_str).collect();
    format!("the plugins there are {}", names.join(", "))
}

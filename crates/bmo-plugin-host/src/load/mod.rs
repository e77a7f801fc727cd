//! From a name to a loaded plugin. Each step has its own error, and each is made before the next:
//!
//! 1. the file: there, a file, inside the directory, an ELF shared object of this machine ([`file`]);
//! 2. not open already under another name;
//! 3. opened by the dynamic linker ([`library`]), which runs its constructors;
//! 4. the symbols and the ABI version, and that `PluginName()` is the name asked for;
//! 5. its table (`NewProvisionerFactory`) and the hand-shake.
//!
//! Nothing here touches a cluster, and neither can the plugin: it is handed one only with its configuration.
//!
//! Upstream has an error for a symbol of the wrong type. A C symbol has none: what is checked instead is the ABI
//! version.

mod error;
pub mod file;
mod library;

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use bmo_provisioner::HostFeatures;
use bmo_provisioner::abi::{ABI_VERSION, symbol};
use bmo_provisioner::wire::PROTOCOL;

pub use error::LoadError;
use file::FileId;
use library::Library;

use crate::carrier::Carrier;
use crate::health::PluginHealth;
use crate::lock::lock;
use crate::name::{PluginDir, PluginName};
use crate::plugin::{Deadlines, LoadedPlugin, initialize};

/// How plugins are loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Features of the operator that are on, told to the plugin in the hand-shake.
    pub features: HostFeatures,
    /// How long the plugin is waited for.
    pub deadlines: Deadlines,
    /// Where its figures are kept; clones share them.
    pub health: PluginHealth,
}

/// Loads the plugin `name` from `dir`.
///
/// Deadlines are those of tokio's clock; a plugin answers from threads the runtime does not know. With the paused
/// clock of a test every wait for a plugin would end at its deadline at once: do not pause it where one is loaded.
///
/// # Errors
/// See [`LoadError`]: what was found, what was expected, what to do.
pub async fn load(
    dir: &PluginDir,
    name: &PluginName,
    options: LoadOptions,
) -> Result<LoadedPlugin, LoadError> {
    load_file(&dir.file_of(name), Some(dir), Some(name), options).await
}

/// Loads the plugin in the file `path`, which may be anywhere; its name must be `expected`, if that is given.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_path(
    path: &Path,
    expected: Option<&PluginName>,
    options: LoadOptions,
) -> Result<LoadedPlugin, LoadError> {
    load_file(path, None, expected, options).await
}

async fn load_file(
    path: &Path,
    dir: Option<&PluginDir>,
    expected: Option<&PluginName>,
    options: LoadOptions,
) -> Result<LoadedPlugin, LoadError> {
    let id = file::examine(path, dir)?;
    refuse_second_name(id, path, expected)?;
    announce(path, expected);
    let library = Library::open(path)?;
    let symbols = library.symbols(path)?;
    check_abi(path, symbols.abi_version())?;
    let name = own_name(path, symbols.plugin_name(), expected)?;
    let new_factory = symbols.new_factory(path)?;
    remember(id, path, &name);

    let carrier = Carrier::new(name.as_str(), options.health);
    carrier
        .connect(new_factory, options.deadlines.handshake)
        .await
        .map_err(|reason| LoadError::Table {
            path: path.to_owned(),
            reason,
        })?;
    let (client, said) = initialize(name.as_str(), &carrier, options.deadlines, options.features)
        .await
        .map_err(|error| LoadError::HandShake {
            path: path.to_owned(),
            reason: error.message,
        })?;
    let protocol = PROTOCOL
        .common(said.protocol)
        .ok_or_else(|| LoadError::Protocol {
            path: path.to_owned(),
            found: said.protocol,
            supported: PROTOCOL,
        })?;
    if said.name != name.as_str() {
        return Err(LoadError::OtherName {
            path: path.to_owned(),
            symbol: name,
            hand_shake: said.name,
        });
    }
    tracing::info!(plugin = %name, path = %path.display(), version = %said.version, build = %said.build, protocol,
        "plugin loaded");
    Ok(LoadedPlugin {
        path: path.to_owned(),
        name,
        version: said.version,
        build_info: said.build,
        capabilities: said.capabilities,
        protocol,
        host_configure: symbols.host_configure(),
        client,
    })
}

/// Says which plugin is about to be opened: its constructors run in this process, and one that aborts ends it
/// without another word.
fn announce(path: &Path, expected: Option<&PluginName>) {
    let path = path.display();
    let plugin = expected.map_or_else(|| path.to_string(), |name| format!("{name} ({path})"));
    if tracing::enabled!(tracing::Level::INFO) {
        tracing::info!("opening the plugin {plugin}; if the process ends here, the plugin ended it");
    } else {
        let line = format!("opening the plugin {plugin}; if the process ends here, the plugin ended it\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
}

fn check_abi(path: &Path, found: u32) -> Result<(), LoadError> {
    if found == ABI_VERSION {
        return Ok(());
    }
    Err(LoadError::AbiVersion {
        path: path.to_owned(),
        found,
        supported: ABI_VERSION,
    })
}

fn own_name(
    path: &Path,
    reported: Option<String>,
    expected: Option<&PluginName>,
) -> Result<PluginName, LoadError> {
    let Some(reported) = reported else {
        return Err(LoadError::NoName {
            path: path.to_owned(),
        });
    };
    if let Some(expected) = expected.filter(|expected| expected.as_str() != reported) {
        return Err(LoadError::WrongName {
            path: path.to_owned(),
            reported,
            expected: expected.clone(),
        });
    }
    reported.parse().map_err(|reason| LoadError::InvalidName {
        path: path.to_owned(),
        reason,
    })
}

/// The files that are open, with the path and name they were opened under.
fn open_files() -> &'static Mutex<HashMap<FileId, (PathBuf, PluginName)>> {
    static OPEN: OnceLock<Mutex<HashMap<FileId, (PathBuf, PluginName)>>> = OnceLock::new();
    OPEN.get_or_init(Mutex::default)
}

/// The dynamic linker opens a file once; under a second name it would be the first plugin again, with its state.
fn refuse_second_name(id: FileId, path: &Path, expected: Option<&PluginName>) -> Result<(), LoadError> {
    let open = lock(open_files());
    let Some((other, name)) = open.get(&id) else {
        return Ok(());
    };
    // The same path under a wrong name is told by the name the plugin reports.
    if other == path || expected.is_none_or(|expected| expected == name) {
        return Ok(());
    }
    Err(LoadError::OpenedUnderTwoNames {
        path: path.to_owned(),
        other: other.clone(),
        name: name.clone(),
    })
}

fn remember(id: FileId, path: &Path, name: &PluginName) {
    lock(open_files())
        .entry(id)
        .or_insert_with(|| (path.to_owned(), name.clone()));
}

/// Symbols a plugin must export, in the order they are looked for.
pub const REQUIRED_SYMBOLS: [&str; 3] = [
    symbol::PLUGIN_NAME,
    symbol::ABI_VERSION,
    symbol::NEW_PROVISIONER_FACTORY,
];

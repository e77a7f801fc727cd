//! Folders: where data is kept, and where plugins are.

use std::path::PathBuf;

use bmo_manager::Environment;

/// Where `bmo up` keeps its data unless told otherwise: `$XDG_DATA_HOME/bmo` or `~/.local/share/bmo`.
pub fn default_data_dir(env: &Environment) -> Option<PathBuf> {
    if let Some(dir) = env.non_empty("XDG_DATA_HOME") {
        return Some(PathBuf::from(dir).join("bmo"));
    }
    env.non_empty("HOME")
        .map(|home| PathBuf::from(home).join(".local/share/bmo"))
}

/// Where `bmo demo` keeps its data: beside the folder of this program (`target/bmo-demo` for `target/debug/bmo`)
/// if it can write there.
pub fn default_demo_dir(once: bool, env: &Environment) -> Option<PathBuf> {
    let name = if once { "bmo-demo-once" } else { "bmo-demo" };
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_owned()))
        .filter(|folder| {
            folder
                .file_name()
                .is_some_and(|name| name != "usr" && name != "local")
        });
    beside
        .or_else(|| default_data_dir(env))
        .map(|folder| folder.join(name))
}

/// Where plugins are: `PROVISIONER_PLUGIN_DIR`, else the folder `plugins` beside this program, else the manager's
/// own default.
pub fn plugin_dir(env: &Environment) -> Option<PathBuf> {
    if env.non_empty("PROVISIONER_PLUGIN_DIR").is_some() {
        return None;
    }
    let beside = std::env::current_exe().ok()?.parent()?.join("plugins");
    beside.is_dir().then_some(beside)
}

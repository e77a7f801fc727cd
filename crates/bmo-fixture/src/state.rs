//! The machines, and the file they may be kept in.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What there is to know about a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineState {
    /// It is switched on.
    pub powered_on: bool,
    /// Switching it off was asked for where that reboots it.
    pub reboot_called: bool,
    /// Its inspection was begun.
    pub inspection_started: bool,
    /// It was adopted.
    pub adopted: bool,
    /// URL of the image it runs.
    pub image: Option<String>,
    /// Custom deploy method it runs.
    pub custom_deploy: Option<String>,
    /// How often it was deployed.
    pub deploys: u32,
    /// Its record was removed, for good or by detaching.
    pub deleted: bool,
}

/// The state file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// It cannot be read or written.
    #[error("cannot use the fixture's state file {}; is its folder there and writable?", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It holds something else.
    #[error("the fixture's state file {} is not one: remove it, or name another in BMO_FIXTURE_STATE", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// All machines by name.
#[derive(Debug, Default)]
pub(crate) struct Machines {
    by_name: BTreeMap<String, MachineState>,
    file: Option<PathBuf>,
}

impl Machines {
    pub(crate) fn load(path: PathBuf) -> Result<Self, StateFileError> {
        let by_name = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|source| StateFileError::Content {
                path: path.clone(),
                source,
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(source) => return Err(StateFileError::Io { path, source }),
        };
        Ok(Self {
            by_name,
            file: Some(path),
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&MachineState> {
        self.by_name.get(name)
    }

    /// Changes a machine, and keeps the change before anybody hears of it.
    pub(crate) fn change<T>(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut MachineState) -> T,
    ) -> Result<T, StateFileError> {
        let machine = self.by_name.entry(name.to_owned()).or_default();
        let before = machine.clone();
        let result = change(machine);
        if *machine != before
            && let Some(path) = &self.file
        {
            save(path, &self.by_name)?;
        }
        Ok(result)
    }
}

/// Replaces the file as a whole, so that it is never half written.
fn save(path: &Path, machines: &BTreeMap<String, MachineState>) -> Result<(), StateFileError> {
    let content = |source| StateFileError::Content {
        path: path.to_owned(),
        source,
    };
    let io = |source| StateFileError::Io {
        path: path.to_owned(),
        source,
    };
    let text = serde_json::to_vec_pretty(machines).map_err(content)?;
    let mut draft = path.as_os_str().to_owned();
    draft.push(".new");
    std::fs::write(&draft, text).map_err(io)?;
    std::fs::rename(&draft, path).map_err(io)
}

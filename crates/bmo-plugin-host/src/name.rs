//! Names of plugins and the directory they are in. A name is checked before any path is built from it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The variable that names the directory of the plugins.
pub const PLUGIN_DIR_VARIABLE: &str = "PROVISIONER_PLUGIN_DIR";
/// Where plugins are unless the variable says otherwise.
pub const DEFAULT_PLUGIN_DIR: &str = "/plugins";
const SUFFIX: &str = "-provisioner.so";

/// A name that matches `^[a-z0-9][a-z0-9-]*$`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(String);

/// A text is no plugin name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid provisioner name {found:?}: a name begins with a lower-case letter or a digit and goes on with those and \
     hyphens (^[a-z0-9][a-z0-9-]*$); give the name alone, not a path or a file name"
)]
pub struct NameError {
    /// What was given.
    pub found: String,
}

impl PluginName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in a file name of the form `<name>-provisioner.so`.
    pub fn of_file(path: &Path) -> Option<Self> {
        path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.parse().ok()
    }
}

impl FromStr for PluginName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.starts_with('-') || !text.chars().all(allowed) {
            return Err(NameError {
                found: text.to_owned(),
            });
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directory plugins are loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginDir(PathBuf);

impl PluginDir {
    /// The directory `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `PROVISIONER_PLUGIN_DIR`, or `/plugins` where that is unset or empty.
    pub fn from_env() -> Self {
        let set = std::env::var_os(PLUGIN_DIR_VARIABLE).filter(|value| !value.is_empty());
        Self(set.map_or_else(|| PathBuf::from(DEFAULT_PLUGIN_DIR), PathBuf::from))
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where the plugin `name` is, whether it is there or not.
    pub fn file_of(&self, name: &PluginName) -> PathBuf {
        self.0.join(format!("{name}{SUFFIX}"))
    }

    /// Names of the plugins that are there, sorted.
    pub fn list(&self) -> Vec<PluginName> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries
            .filter_map(|entry| PluginName::of_file(&entry.path()))
            .collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{PluginDir, PluginName};

    #[test]
    fn names_are_checked_before_a_path_exists() {
        for good in ["ironic", "demo", "0", "a-b", "9lives", "a--", "a-1"] {
            assert!(good.parse::<PluginName>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "A",
            "a_b",
            "a.b",
            "../a",
            "a/b",
            "/a",
            "é",
            "a b",
            "a\n",
            "ironic-provisioner.so",
        ] {
            let error = bad.parse::<PluginName>().unwrap_err();
            assert!(error.to_string().contains("^[a-z0-9][a-z0-9-]*$"), "{bad}");
        }
    }

    #[test]
    fn the_file_of_a_name() {
        let name: PluginName = "my-lab".parse().unwrap();
        let path = PluginDir::new("/somewhere").file_of(&name);
        assert_eq!(path, Path::new("/somewhere/my-lab-provisioner.so"));
        assert_eq!(PluginName::of_file(&path), Some(name));
        assert_eq!(PluginName::of_file(Path::new("/somewhere/libx.so")), None);
    }
}

//! Plugins for tests: where cargo put those in Rust, and how those in C are compiled.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmo_plugin_host::{
    Deadlines, LoadOptions, LoadedPlugin, NoKube, NoWake, PluginConfig, PluginName, load_path,
};
use bmo_provisioner::{HostData, HostFeatures, NoEvents, Provisioner, ProvisionerFactory};

/// A plugin that is a dev-dependency of this crate: cargo builds its `cdylib` beside the test's executable.
pub fn rust_plugin(library: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let plugin = test.parent().unwrap().join(format!("lib{library}.so"));
    assert!(plugin.exists(), "{} was not built", plugin.display());
    plugin
}

/// Compiles `bad.c` with the given defines to `<dir>/<file>`.
pub fn bad_plugin(dir: &Path, file: &str, defines: &[&str]) -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = dir.join(file);
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args([
        "-std=c11",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-o",
    ]);
    cc.arg(&output).arg("-I").arg(crate_dir.join("../../include"));
    cc.args(defines.iter().map(|define| format!("-D{define}")));
    cc.arg(crate_dir.join("tests/bad-plugins/bad.c")).arg("-lpthread");
    let built = cc.output().expect("a C compiler (cc) is needed");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    output
}

pub fn name(text: &str) -> PluginName {
    text.parse().unwrap()
}

/// Deadlines of a test: long enough for a busy machine where an answer comes, short where none does.
pub fn impatient() -> LoadOptions {
    let call = Duration::from_millis(200);
    LoadOptions {
        deadlines: Deadlines {
            call,
            short: Duration::from_secs(20),
            ..Deadlines::default()
        },
        ..LoadOptions::default()
    }
}

pub fn no_cluster() -> PluginConfig {
    PluginConfig {
        features: HostFeatures::default(),
        provisioner_namespace: String::new(),
        kube: Arc::new(NoKube),
        wake: Arc::new(NoWake),
    }
}

pub async fn load_configured(
    path: &Path,
    options: LoadOptions,
) -> (LoadedPlugin, Arc<dyn ProvisionerFactory>) {
    let plugin = load_path(path, None, options).await.unwrap();
    let factory = plugin.factory(no_cluster()).await.unwrap();
    (plugin, factory)
}

pub async fn provisioner(factory: &dyn ProvisionerFactory, host: &str) -> Box<dyn Provisioner> {
    let host = HostData {
        namespace: "n".into(),
        name: host.into(),
        ..HostData::default()
    };
    factory.new_provisioner(host, Arc::new(NoEvents)).await.unwrap()
}

/// Waits until `condition` holds; fails after ten seconds.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..1000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen within ten seconds");
}

/// A writer for `tracing` that keeps what is written.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Plugins that `test/plugins/*.sh` built and name in a variable, separated by colons.
pub fn named_plugins() -> Vec<PathBuf> {
    let plugins = std::env::var("BMO_TEST_PLUGINS").expect("BMO_TEST_PLUGINS is set by the script");
    plugins
        .split(':')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect()
}

//! `bmo plugin check`: what the manager would say of a plugin.

use std::process::ExitCode;

use bmo_manager::logging::{self, Style};
use bmo_plugin_host::check::EXIT_USAGE;
use bmo_plugin_host::{PluginName, check_plugin};

use crate::command_line::PluginCheck;

/// Checks and prints; 0: good, 1: not, 2: asked wrongly.
pub async fn run(check: PluginCheck) -> ExitCode {
    logging::start(Style::Plain);
    let name = match check.name.as_deref().map(str::parse::<PluginName>).transpose() {
        Ok(name) => name,
        Err(error) => {
            eprintln!("bmo: {error}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    let mut report = check_plugin(&check.path, name.as_ref()).await;
    if let Some(wanted) = &check.health {
        report = report.require_health(wanted);
    }
    println!("{report}");
    ExitCode::from(report.exit_code())
}

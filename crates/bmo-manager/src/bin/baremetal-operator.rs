//! The process `baremetal-operator`.

#![allow(
    clippy::print_stderr,
    reason = "what is wrong with the command line is said before there is a log"
)]

use std::process::ExitCode;

use bmo_manager::{Environment, KubeSource, ManagerFlags, Observers, Options, go_flags, logging};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};

/// Operator of bare-metal machines as Kubernetes resources (metal3.io/v1alpha1)
///
/// Flags are written as Go programs take them: -flag=value, -flag value, --flag=value; switches as -flag or
/// -flag=false.
#[derive(Parser)]
#[command(name = "baremetal-operator", version, next_line_help = false, after_help = ENVIRONMENT)]
struct CommandLine {
    #[command(flatten)]
    flags: ManagerFlags,
}

const ENVIRONMENT: &str = "Environment:
  WATCH_NAMESPACE          default of -namespace
  POD_NAMESPACE            namespace of the Lease, and where provisioners find their own objects
  PROVISIONER_PLUGIN_DIR   directory of plugins (default /plugins)
  BMO_CONCURRENCY          default of -controller-concurrency
  KUBECONFIG               the cluster, where -kubeconfig is not given
  RUST_LOG                 levels of the log, by part: info, debug, bmo_controllers=debug …
Plugins read more of it themselves; see their documentation.";

#[tokio::main]
async fn main() -> ExitCode {
    let options = match read_command_line() {
        Ok(options) => options,
        Err(code) => return code,
    };
    logging::start(if options.dev {
        logging::Style::Dev
    } else {
        logging::Style::Json
    });
    bmo_manager::install_crypto();
    let shutdown = match bmo_manager::shutdown::on_signals() {
        Ok(shutdown) => shutdown,
        Err(error) => {
            tracing::error!(%error, "signals cannot be listened to");
            return ExitCode::FAILURE;
        }
    };
    let env = Environment::of_process();
    match bmo_manager::run(options, &env, KubeSource::Cluster, shutdown, Observers::default()).await {
        Ok(()) => {
            tracing::info!("the manager ended");
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the manager ended");
            ExitCode::FAILURE
        }
    }
}

/// Flags and environment; what is wrong with them is told on standard error.
fn read_command_line() -> Result<Options, ExitCode> {
    let refuse = |error: &dyn std::fmt::Display| {
        eprintln!("baremetal-operator: {error}");
        ExitCode::FAILURE
    };
    let mut command = CommandLine::command();
    let words = go_flags::normalize(&command, std::env::args_os().skip(1)).map_err(|error| refuse(&error))?;
    let words = std::iter::once("baremetal-operator".into()).chain(words);
    let matches = command.try_get_matches_from_mut(words).map_err(|error| {
        let help = !error.use_stderr();
        // Failing to print help is no reason to fail otherwise.
        drop(error.print());
        if help {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    })?;
    let line = CommandLine::from_arg_matches(&matches).map_err(|error| refuse(&error))?;
    Options::new(line.flags, &Environment::of_process()).map_err(|error| refuse(&error))
}

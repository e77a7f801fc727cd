//! The command line of `bmo`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use bmo_manager::{ManagerFlags, go_flags};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Bare-metal machines as Kubernetes resources, without a cluster.
///
/// Flags are written as Go programs take them: -flag=value, -flag value, --flag=value; switches as -flag or
/// -flag=false.
#[derive(Parser)]
#[command(
    name = "bmo",
    version,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Words,
}

#[derive(Subcommand)]
enum Words {
    /// Run the Kubernetes API, the manager and a provisioner in this process; kubectl works against it
    #[command(after_help = UP_HELP)]
    Up(Box<Up>),
    /// Show it: start everything with the demo plugin and walk sample hosts to provisioned
    Demo(Demo),
    /// Help for authors of plugins
    #[command(subcommand, arg_required_else_help = true)]
    Plugin(PluginWords),
}

#[derive(Subcommand)]
enum PluginWords {
    /// Load a plugin as the manager would, without a cluster, and tell what it is; 0: good, 1: not, 2: asked wrongly
    Check(PluginCheck),
}

const UP_HELP: &str = "Differences from the process baremetal-operator: the provisioner is demo unless said otherwise, plugins are
looked for in PROVISIONER_PLUGIN_DIR or else in the folder plugins beside this program, and the health and metrics
endpoints are off unless given an address.";

/// `bmo up`
#[derive(Args, Clone, Debug)]
pub struct Up {
    /// Where objects, certificates and the kubeconfig are kept [default: $XDG_DATA_HOME/bmo or ~/.local/share/bmo]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Address of the API; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6443")]
    pub listen: SocketAddr,

    #[command(flatten)]
    pub manager: ManagerFlags,
}

/// `bmo demo`
#[derive(Args, Clone, Debug)]
pub struct Demo {
    /// End when all hosts are provisioned: 0, or 1 with the reason when they do not get there in time
    #[arg(long)]
    pub once: bool,

    /// Where everything is kept [default: a folder bmo-demo beside the folder of this program; a fresh one with --once]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// How long the hosts may take with --once, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub timeout: u64,
}

/// `bmo plugin check`
#[derive(Args, Clone, Debug)]
pub struct PluginCheck {
    /// The file, <name>-provisioner.so
    pub path: PathBuf,

    /// Name it must give itself; else that of the file
    pub name: Option<String>,

    /// Text its health must contain
    #[arg(long, value_name = "TEXT")]
    pub health: Option<String>,
}

/// What to do.
pub enum Command {
    /// `bmo up`
    Up(Box<Up>),
    /// `bmo demo`
    Demo(Demo),
    /// `bmo plugin check`
    PluginCheck(PluginCheck),
}

/// Reads the words after the program's name. Help and mistakes are printed; the code is the process's then.
pub fn read(words: impl Iterator<Item = OsString>) -> Result<Command, ExitCode> {
    let mut command = CommandLine::command();
    let words = go_flags::normalize(&command, words).map_err(|error| {
        eprintln!("bmo: {error}");
        ExitCode::from(2)
    })?;
    let matches = command
        .try_get_matches_from_mut(std::iter::once(OsString::from("bmo")).chain(words))
        .map_err(|error| told(&error))?;
    let line = CommandLine::from_arg_matches(&matches).map_err(|error| told(&error))?;
    Ok(match line.command {
        Words::Up(mut up) => {
            if let Some(matches) = matches.subcommand_matches("up") {
                prefer_embedded_defaults(&mut up.manager, matches);
            }
            Command::Up(up)
        }
        Words::Demo(demo) => Command::Demo(demo),
        Words::Plugin(PluginWords::Check(check)) => Command::PluginCheck(check),
    })
}

/// Prints clap's help or message.
fn told(error: &clap::Error) -> ExitCode {
    let code = if error.use_stderr() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    };
    drop(error.print());
    code
}

/// What is different without a cluster, for flags that were not given.
fn prefer_embedded_defaults(flags: &mut ManagerFlags, matches: &ArgMatches) {
    let unsaid = |flag: &str| matches.value_source(flag) != Some(ValueSource::CommandLine);
    if unsaid("provisioner") {
        "demo".clone_into(&mut flags.provisioner);
    }
    if unsaid("health_addr") {
        "0".clone_into(&mut flags.health_addr);
    }
    if unsaid("metrics_addr") {
        "0".clone_into(&mut flags.metrics_addr);
    }
    if unsaid("webhook_port") {
        flags.webhook_port = 0;
    }
}

/// The manager's flags as they are when none is given, for commands that run one inside.
pub fn manager_flags(words: &[&str]) -> Result<ManagerFlags, clap::Error> {
    let matches = CommandLine::command()
        .try_get_matches_from(["bmo", "up"].into_iter().chain(words.iter().copied()))?;
    let up = matches
        .subcommand_matches("up")
        .map(Up::from_arg_matches)
        .transpose()?;
    let Some(mut up) = up else {
        return Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand));
    };
    if let Some(matches) = matches.subcommand_matches("up") {
        prefer_embedded_defaults(&mut up.manager, matches);
    }
    Ok(up.manager)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Command, CommandLine, read};

    fn run(line: &str) -> Option<Command> {
        read(line.split_whitespace().map(Into::into)).ok()
    }

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn flags_of_the_manager_in_go_spelling() {
        let Some(Command::Up(up)) = run("up -provisioner=fixture -data-dir d --listen 127.0.0.1:0 -dev")
        else {
            panic!("not understood")
        };
        assert_eq!(
            (up.manager.provisioner.as_str(), up.manager.dev),
            ("fixture", true)
        );
        assert_eq!(up.manager.health_addr, "0");
        assert!(run("up -test-mode").is_none());
        let Some(Command::Up(up)) = run("up -health-addr=:9440") else {
            panic!("not understood")
        };
        assert_eq!(
            (up.manager.provisioner.as_str(), up.manager.health_addr.as_str()),
            ("demo", ":9440")
        );
    }

    #[test]
    fn plugin_check_takes_a_path_and_a_name() {
        let Some(Command::PluginCheck(check)) = run("plugin check ./x-provisioner.so x") else {
            panic!("not understood")
        };
        assert_eq!(check.name.as_deref(), Some("x"));
        assert!(run("plugin check").is_none());
    }
}

//! The tool `bmo`: an operator without a cluster, and help for plugin authors.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the output of a command line tool"
)]

mod command_line;
mod data_dir;
mod demo;
mod embedded;
mod plugin_check;
mod samples;
mod table;
mod up;

use std::process::ExitCode;

use command_line::{Command, read};

#[tokio::main]
async fn main() -> ExitCode {
    let command = match read(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(code) => return code,
    };
    bmo_manager::install_crypto();
    match command {
        Command::Up(up) => up::run(*up).await,
        Command::Demo(demo) => demo::run(demo).await,
        Command::PluginCheck(check) => plugin_check::run(check).await,
    }
}

/// Says on standard error why a command failed, each cause once: some errors tell their cause themselves.
fn fail(error: &anyhow::Error) -> ExitCode {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    eprintln!("bmo: {text}");
    ExitCode::FAILURE
}

//! Repository tasks: `cargo xtask <task>`. Each task is one file.
#![allow(clippy::print_stderr, reason = "a command-line tool")]

mod crds;
mod deps;
mod plugins;
mod schemas;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "xtask", about = "Repository tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write the CRD manifests to config/crd.
    Crds {
        /// Write nothing; fail where a file differs.
        #[arg(long)]
        check: bool,
    },
    /// Write the JSON Schemas of the plugin protocol to docs/protocol/v1.
    Schemas {
        /// Write nothing; fail where a file differs.
        #[arg(long)]
        check: bool,
    },
    /// Build the programs and the shipped plugins; install these as <target>/<profile>/plugins/<name>-provisioner.so.
    Plugins {
        /// Build with optimisation.
        #[arg(long)]
        release: bool,
    },
    /// Check the dependency tree: directions between our crates, licences, banned crates.
    Deps,
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Crds { check } => crds::run(check),
        Task::Schemas { check } => schemas::run(check),
        Task::Plugins { release } => plugins::run(release),
        Task::Deps => deps::run(),
    }
}

//! `bmo up`: API, manager and provisioner in this process until it is interrupted.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use bmo_manager::logging::{self, Style};
use bmo_manager::{Environment, shutdown};

use crate::command_line::Up;
use crate::data_dir::default_data_dir;
use crate::embedded::Embedded;
use crate::fail;

/// Runs until a signal.
pub async fn run(up: Up) -> ExitCode {
    logging::start(if up.manager.dev { Style::Dev } else { Style::Plain });
    match serve(up).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

async fn serve(up: Up) -> anyhow::Result<()> {
    let env = Environment::of_process();
    let directory = data_dir(&up, &env)?;
    let token = shutdown::on_signals().context("signals cannot be listened to")?;
    let provisioner = up.manager.provisioner.clone();
    let mut embedded = Embedded::start(&directory, up.listen, up.manager, &env, token).await?;
    if embedded.wait_until_working().await {
        let kubeconfig = embedded.kubeconfig.display();
        println!(
            "The API listens on https://{} with the provisioner {provisioner}.",
            embedded.address
        );
        println!(
            "Everything is kept in {}; a second start goes on from there.\n",
            directory.display()
        );
        println!("  export KUBECONFIG={kubeconfig}");
        println!("  kubectl get bmh -A");
        println!("  kubectl explain bmh.spec\n");
        println!("Ctrl-C ends it.");
    }
    embedded.finish().await
}

fn data_dir(up: &Up, env: &Environment) -> anyhow::Result<PathBuf> {
    up.data_dir.clone().or_else(|| default_data_dir(env)).context(
        "there is no place for data: neither XDG_DATA_HOME nor HOME is set; name one with --data-dir",
    )
}

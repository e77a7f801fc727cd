//! `bmo demo`: everything in one process with the demo plugin, sample hosts, and a table that follows them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use bmo_api::{BareMetalHost, ProvisioningState};
use bmo_manager::logging::{self, Style};
use bmo_manager::{Environment, shutdown};
use kube::api::ListParams;
use kube::{Api, ResourceExt as _};
use tokio_util::sync::CancellationToken;

use crate::command_line::{Demo, manager_flags};
use crate::data_dir::default_demo_dir;
use crate::embedded::Embedded;
use crate::table::{LiveTable, waits_for};
use crate::{fail, samples};

/// How often the table is looked after.
const REFRESH: Duration = Duration::from_millis(200);

/// Runs the demonstration.
pub async fn run(demo: Demo) -> ExitCode {
    match show(demo).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

async fn show(demo: Demo) -> anyhow::Result<()> {
    let env = Environment::of_process();
    let directory = demo
        .data_dir
        .clone()
        .or_else(|| default_demo_dir(demo.once, &env))
        .context("there is no place for data; name one with --data-dir")?;
    let log = prepare(&directory, &demo)?;
    let token = shutdown::on_signals().context("signals cannot be listened to")?;
    let flags = manager_flags(&["--provisioner=demo"])?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut embedded = Embedded::start(&directory, listen, flags, &env, token.clone()).await?;
    if !embedded.wait_until_working().await {
        embedded.finish().await?;
        anyhow::bail!("the manager ended before it began; its log is {}", log.display());
    }
    println!(
        "The demo plugin is loaded; {} machines are walked to provisioned.\n",
        samples::NAMES.len()
    );
    let walked = walk(&embedded, &demo, &token).await;
    if walked.is_ok() && !demo.once && !token.is_cancelled() {
        say_what_to_try(&embedded.kubeconfig, &log);
        token.cancelled().await;
    }
    embedded.stop().await?;
    walked
}

/// Makes the folder and starts the log in it; returns the log's path.
fn prepare(directory: &Path, demo: &Demo) -> anyhow::Result<PathBuf> {
    if demo.once && demo.data_dir.is_none() && directory.exists() {
        std::fs::remove_dir_all(directory)
            .with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let log = directory.join("bmo.log");
    let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    logging::start(Style::File(file));
    Ok(log)
}

/// Applies the samples and follows them until all are provisioned.
async fn walk(embedded: &Embedded, demo: &Demo, token: &CancellationToken) -> anyhow::Result<()> {
    let client = embedded.server.client();
    samples::apply(&client).await?;
    let hosts: Api<BareMetalHost> = Api::namespaced(client, samples::NAMESPACE);
    let mut table = LiveTable::new();
    let follow = async {
        loop {
            let mut list = hosts.list(&ListParams::default()).await?.items;
            list.retain(|host| samples::NAMES.contains(&host.name_any().as_str()));
            table.show(&list);
            if list.iter().filter(|host| is_provisioned(host)).count() == samples::NAMES.len() {
                return Ok(());
            }
            tokio::time::sleep(REFRESH).await;
        }
    };
    let bound = if demo.once {
        Duration::from_secs(demo.timeout)
    } else {
        Duration::MAX
    };
    tokio::select! {
        () = token.cancelled() => return Ok(()),
        followed = tokio::time::timeout(bound, follow) => {
            if let Ok(result) = followed {
                return result;
            }
        }
    }
    anyhow::bail!(
        "not all hosts were provisioned within {} s: {}",
        demo.timeout,
        reasons(&hosts).await?
    )
}

fn is_provisioned(host: &BareMetalHost) -> bool {
    host.state() == ProvisioningState::Provisioned
}

/// What keeps the hosts that are not provisioned.
async fn reasons(hosts: &Api<BareMetalHost>) -> anyhow::Result<String> {
    let list = hosts.list(&ListParams::default()).await?.items;
    let late: Vec<String> = list
        .iter()
        .filter(|host| !is_provisioned(host))
        .map(|host| {
            format!(
                "{} is in state {:?} ({})",
                host.name_any(),
                host.state().to_string(),
                waits_for(host)
            )
        })
        .collect();
    Ok(late.join("; "))
}

fn say_what_to_try(kubeconfig: &Path, log: &Path) {
    let kubectl = format!("kubectl --kubeconfig {}", kubeconfig.display());
    let name = samples::NAMES[0];
    println!("\nAll are provisioned. The API goes on; try in another terminal:\n");
    println!("  {kubectl} get bmh");
    println!("  {kubectl} describe bmh {name}");
    println!("  {kubectl} get hardwaredata {name} -o yaml");
    println!("  {kubectl} patch bmh {name} --type=merge -p '{{\"spec\":{{\"image\":null}}}}'");
    println!("  {kubectl} get bmh -w\n");
    println!(
        "The log is {}. Ctrl-C ends it; a second start goes on from here.",
        log.display()
    );
}

//! The API and the manager in this process.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use bmo_apiserver::{ApiServer, OpenOptions, Running, ServeOptions};
use bmo_manager::{Environment, KubeSource, ManagerFlags, Observers, Options, RunError};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::data_dir::plugin_dir;

/// An API that is served and a manager that works on it.
pub struct Embedded {
    /// The API, for clients in this process.
    pub server: Arc<ApiServer>,
    /// Ends the manager.
    pub shutdown: CancellationToken,
    /// Turns true when the manager looks after hosts.
    pub working: watch::Receiver<bool>,
    /// Where the kubeconfig is.
    pub kubeconfig: PathBuf,
    /// Where the API listens.
    pub address: SocketAddr,
    listening: Running,
    manager: JoinHandle<Result<(), RunError>>,
}

impl Embedded {
    /// Opens the data of `directory`, serves it at `listen`, and runs a manager with `flags` on it.
    pub async fn start(
        directory: &Path,
        listen: SocketAddr,
        flags: ManagerFlags,
        env: &Environment,
        shutdown: CancellationToken,
    ) -> anyhow::Result<Self> {
        let mut options = Options::new(flags, env)?;
        if let Some(dir) = plugin_dir(env) {
            options.plugin_dir = dir;
        }
        let server = ApiServer::open(OpenOptions::in_directory(directory))
            .with_context(|| format!("the data in {} cannot be used", directory.display()))?;
        server.install_crds(bmo_api::crds()).await?;
        let listening = server.serve(ServeOptions::new(directory).listen(listen)).await?;
        let (observer, working) = watch::channel(false);
        let source = KubeSource::InProcess(server.client());
        let (token, env) = (shutdown.clone(), env.clone());
        let manager = tokio::spawn(async move {
            bmo_manager::run(
                options,
                &env,
                source,
                token,
                Observers {
                    working: Some(observer),
                },
            )
            .await
        });
        Ok(Self {
            shutdown,
            working,
            kubeconfig: listening.kubeconfig_path.clone(),
            address: listening.addr,
            server,
            listening,
            manager,
        })
    }

    /// Waits until the manager works. False if it ended before.
    pub async fn wait_until_working(&mut self) -> bool {
        self.working.wait_for(|working| *working).await.is_ok()
    }

    /// Waits for the manager's end, then closes the API.
    pub async fn finish(self) -> anyhow::Result<()> {
        let ended = self.manager.await;
        self.listening.shutdown().await;
        self.server.close().await;
        ended.context("the manager panicked")??;
        Ok(())
    }

    /// Ends everything.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        self.finish().await
    }
}

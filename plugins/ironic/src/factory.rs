//! Makes provisioners, and sees that Ironic can be used before it does.
//!
//! Readiness is checked by reading the API's versions and its drivers: two requests, made once for all hosts. The
//! answer is good for the configured time, and beyond it as long as Ironic goes on answering, since every pass is a
//! check of its own. A negative answer is good for nobody but those who already wait for it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bmo_provisioner::{
    Capabilities, EventPublisher, HostData, Provisioner, ProvisionerError, ProvisionerFactory, Result,
};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::client::{Endpoint, Gate, Http, Ironic};
use crate::config::Config;
use crate::pace::Pace;
use crate::pass::Pass;
use crate::shared::Shared;

/// After this time versions and drivers are read again even though all is well, so that an upgrade is noticed.
const RECHECK: Duration = Duration::from_mins(10);

/// Where Ironic is, as of now.
#[async_trait]
pub trait EndpointSource: Send + Sync + std::fmt::Debug {
    /// Reads what may have changed.
    ///
    /// # Errors
    /// What is to be reported for every host meanwhile.
    async fn endpoint(&self, config: &Config) -> Result<Endpoint>;
}

#[async_trait]
impl EndpointSource for crate::config::EnvironmentEndpoint {
    async fn endpoint(&self, config: &Config) -> Result<Endpoint> {
        self.resolve(config)
            .map_err(|error| ProvisionerError::transient(error.to_string()))
    }
}

/// See the module.
#[derive(Debug)]
pub struct IronicFactory {
    source: Box<dyn EndpointSource>,
    shared: Arc<Shared>,
    gate: Arc<Gate>,
    connection: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    usable: Option<Connection>,
    refused: Option<(Instant, ProvisionerError)>,
}

#[derive(Debug)]
struct Connection {
    ironic: Arc<Ironic>,
    checked: Instant,
    looked: Instant,
    troubles: u64,
}

impl IronicFactory {
    /// Connects to nothing yet.
    pub fn new(source: Box<dyn EndpointSource>, config: Config, pace: Pace) -> Self {
        let shared = Arc::new(Shared::new(config, pace));
        Self {
            source,
            shared,
            gate: Arc::default(),
            connection: Mutex::default(),
        }
    }

    /// Requests sent to Ironic so far.
    pub fn requests(&self) -> u64 {
        self.gate.requests()
    }

    /// The Ironic to use now.
    async fn ironic(&self) -> Result<Arc<Ironic>> {
        let arrived = Instant::now();
        let mut state = self.connection.lock().await;
        let ttl = self.shared.config.cache_ttl;
        if let Some(connection) = state
            .usable
            .as_ref()
            .filter(|connection| connection.looked.elapsed() < ttl)
        {
            return Ok(Arc::clone(&connection.ironic));
        }
        if let Some((_, error)) = state.refused.as_ref().filter(|(when, _)| *when > arrived) {
            return Err(error.clone());
        }
        match self.check(&mut state, ttl).await {
            Ok(ironic) => {
                state.refused = None;
                Ok(ironic)
            }
            Err(error) => {
                state.usable = None;
                state.refused = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn check(&self, state: &mut State, ttl: Duration) -> Result<Arc<Ironic>> {
        let endpoint = self.source.endpoint(&self.shared.config).await?;
        let troubles = self.gate.troubles();
        if let Some(connection) = &mut state.usable {
            let same = *connection.ironic.http().endpoint() == endpoint;
            let well = connection.troubles == troubles && connection.checked.elapsed() < RECHECK;
            if same && well && !ttl.is_zero() {
                connection.looked = Instant::now();
                return Ok(Arc::clone(&connection.ironic));
            }
        }
        let http = Http::new(endpoint, Arc::clone(&self.gate)).map_err(ProvisionerError::transient)?;
        let ironic = Ironic::connect(http).await.map_err(|error| {
            tracing::warn!(%error, "Ironic is not ready");
            ProvisionerError::not_ready(format!("Ironic is not ready: {error}"))
        })?;
        let ironic = Arc::new(ironic);
        let now = Instant::now();
        let troubles = self.gate.troubles();
        state.usable = Some(Connection {
            ironic: Arc::clone(&ironic),
            checked: now,
            looked: now,
            troubles,
        });
        Ok(ironic)
    }
}

#[async_trait]
impl ProvisionerFactory for IronicFactory {
    fn capabilities(&self) -> Capabilities {
        Capabilities::all()
    }

    async fn new_provisioner(
        &self,
        host: HostData,
        events: Arc<dyn EventPublisher>,
    ) -> Result<Box<dyn Provisioner>> {
        let ironic = self.ironic().await?;
        Ok(Box::new(Pass::new(
            ironic,
            Arc::clone(&self.shared),
            host,
            events,
        )))
    }
}

//! The server as a whole: how it begins, and how it ends.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tonic::transport::server::Router;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::access::Guard;
use crate::calls::CallLayer;
use crate::configuration::{Configuration, ConfigurationError, Encryption};
use crate::context::{Context, stopped};
use crate::engine::Engine;
use crate::meters::Meters;
use crate::pool::Pool;
use crate::rpc;
use crate::store::{Store, StoreError, Told};
use crate::watch::Hub;
use crate::{admin, connection};

/// How often a connection is asked whether anybody is there, and how long it may take to answer.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It is configured to do what it must not.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Its data cannot be used.
    #[error("cannot use the data directory: {0}")]
    Store(#[from] StoreError),
    /// It cannot listen.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// Its certificates cannot be used, or connections cannot be served.
    #[error("cannot serve: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Its descriptors cannot be shown.
    #[error("cannot describe the services: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// A server that listens.
pub struct Server {
    context: Arc<Context>,
    stop: watch::Sender<bool>,
    guard: Guard,
    encryption: Option<Encryption>,
    listener: TcpListener,
    address: SocketAddr,
    admin: Option<(TcpListener, SocketAddr)>,
}

impl Server {
    /// Opens the data directory, takes up again what was not finished, and listens. Nothing is served yet.
    ///
    /// # Errors
    /// When any of that is not possible.
    pub async fn bind(configuration: Configuration) -> Result<Self, ServeError> {
        configuration.check()?;
        let (listener, address) = listen(configuration.listen).await?;
        let admin = match configuration.admin_listen {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let Configuration { data, tokens, encryption, limits, version, .. } = configuration;
        let mut features = vec!["sweeps".to_owned(), "checkpoints".to_owned()];
        features.extend(tokens.as_ref().map(|_| "tokens".to_owned()));
        features.extend(encryption.as_ref().map(|_| "tls".to_owned()));
        let (stop, stopping) = watch::channel(false);
        let (hub, limits, meters) = (Arc::new(Hub::default()), Arc::new(limits), Arc::new(Meters::default()));
        let store = Arc::new(Store::open(&data, Told { hub: hub.clone(), meters: meters.clone() })?);
        let engine = Engine::start(store.clone(), hub.clone(), limits.clone(), meters.clone(), version.clone())?;
        let streams = Arc::new(Semaphore::new(limits.streams_max as usize));
        let checks = Pool::new("checks", "checks_max", limits.checks_max);
        let reads = Pool::new("reads", "reads_max", limits.reads_max);
        let context =
            Context { store, hub, engine, limits, meters, version, features, stopping, streams, checks, reads };
        let guard = Guard::new(tokens);
        Ok(Self { context: Arc::new(context), stop, guard, encryption, listener, address, admin })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where metrics are told, if they are.
    #[must_use]
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `stop` resolves; then streams are ended, runs write checkpoints, and all that is told is on disk.
    ///
    /// # Errors
    /// When it cannot serve at all.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let (health, health_server) = tonic_health::server::health_reporter();
        set_serving(&health, ServingStatus::Serving).await;
        let router = router(&self.context, &self.guard, self.encryption.as_ref(), health_server)?;
        let context = self.context;
        let (gone, is_gone) = watch::channel(false);
        let admin = self.admin.map(|(listener, _)| tokio::spawn(admin::serve(listener, context.clone(), is_gone)));
        let incoming = connection::incoming(self.listener);
        let drained = stopped(context.stopping.clone());
        let mut serving = tokio::spawn(router.serve_with_incoming_shutdown(incoming, drained));
        let outcome = tokio::select! {
            () = stop => None,
            outcome = &mut serving => Some(outcome),
        };
        tracing::info!("stopping");
        set_serving(&health, ServingStatus::NotServing).await;
        self.stop.send_replace(true);
        let longest = Duration::from_secs(context.limits.shutdown_s_max);
        let engine = context.clone();
        let suspending = tokio::task::spawn_blocking(move || engine.engine.stop());
        let ended = timeout(longest, async {
            if outcome.is_none() {
                let _ = (&mut serving).await;
            }
            suspending.await
        });
        if ended.await.is_err() {
            // What runs have found since their last checkpoints is found again.
            tracing::warn!("stopping took too long: the rest is cut off");
            serving.abort();
        }
        gone.send_replace(true);
        if let Some(admin) = admin {
            let _ = timeout(Duration::from_secs(1), admin).await;
        }
        let closing = context.clone();
        let _ = timeout(longest, tokio::task::spawn_blocking(move || closing.store.close())).await;
        match outcome {
            Some(Ok(Err(error))) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let listen = async {
        let listener = TcpListener::bind(address).await?;
        let found = listener.local_addr()?;
        Ok((listener, found))
    };
    listen.await.map_err(|error| ServeError::Listen { address, error })
}

async fn set_serving(health: &HealthReporter, status: ServingStatus) {
    for name in [""].into_iter().chain(rpc::NAMES) {
        health.set_service_status(name, status).await;
    }
}

type Layered = tower::layer::util::Stack<CallLayer, tower::layer::util::Identity>;

fn router(
    context: &Arc<Context>,
    guard: &Guard,
    encryption: Option<&Encryption>,
    health: tonic_health::pb::health_server::HealthServer<impl tonic_health::pb::health_server::Health>,
) -> Result<Router<Layered>, ServeError> {
    let limits = &context.limits;
    let mut builder = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .max_concurrent_streams(limits.connection_calls_max)
        .http2_max_header_list_size(limits.header_bytes_max)
        .layer(CallLayer::new(context.meters.clone()));
    if let Some(with) = encryption {
        let mut tls = ServerTlsConfig::new().identity(Identity::from_pem(&with.certificate, &with.key));
        if let Some(authority) = &with.client_authority {
            tls = tls.client_ca_root(Certificate::from_pem(authority));
        }
        builder = builder.tls_config(tls)?;
    }
    Ok(builder.add_routes(rpc::routes(context, guard, health)?))
}

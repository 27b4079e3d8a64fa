//! The server as a whole: how it begins, and how it ends.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::service::Routes;
use tonic::transport::server::Router;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tower::layer::util::{Identity, Stack};

use crate::access::{Failures, Guard, TokensInForce};
use crate::answers::AnswerLayer;
use crate::bodies::BodyLayer;
use crate::calls::CallLayer;
use crate::checks::Checks;
use crate::configuration::{CertificateError, Configuration, ConfigurationError, Placement};
use crate::connection::accept::{Door, arrivals};
use crate::connection::places::Places;
use crate::connection::{CertificatesInForce, Encrypting, Protocol};
use crate::context::{Context, stopped};
use crate::engine::Engine;
use crate::engine::control_groups::Groups;
use crate::engine::process::{Processes, WorkerCommand};
use crate::engine::slurm::{Controller, Jobs};
use crate::engine::workers::Workers;
use crate::layers::Layers;
use crate::limits::Limits;
use crate::meters::Meters;
use crate::page::Page;
use crate::pool::Pool;
use crate::rpc;
use crate::store::{Store, StoreError, Told};
use crate::uploads::Uploads;
use crate::watch::Hub;
use crate::{admin, allocator, connection, descriptors, retention};

/// How often a connection is asked whether anybody is there, and how long it may take to answer.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// What a connection may send before it is read: as little as the protocol has, for there may be many connections.
const WINDOW_BYTES: u32 = 65_535;

/// Why a server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It is configured to do what it must not.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Its data cannot be used.
    #[error("cannot use the data directory: {0}")]
    Store(#[from] StoreError),
    /// Nothing can carry out runs.
    #[error("cannot carry out runs: {0}")]
    Workers(StoreError),
    /// It cannot listen.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// Its certificates cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Connections cannot be served.
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
    clients: Listening,
    admin: Option<Listening>,
    page: Option<Listening>,
    /// Whether the page may have any name, as nobody is let in who takes this server for another, or shows nothing.
    page_is_guarded: bool,
}

/// An address that is listened to.
struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    door: Door,
    /// Whether strangers are kept out.
    is_protected: bool,
}

/// Lists of runs that are read at once.
const LISTS_MAX: usize = 3;

/// Files of runs that are open at once because clients read them.
const CLIENT_FILES_MAX: usize = 16;

/// Files of runs that clients may have begun to take, for each that is read at once: if nobody takes the rest of them, they keep half a
/// mebibyte each.
const SENT_FILES_PER_READ: u32 = 4;

impl Server {
    /// Opens the data directory, takes up again what was not finished, and listens. Nothing is served yet.
    ///
    /// # Errors
    /// When any of that is not possible.
    pub async fn bind(configuration: Configuration) -> Result<Self, ServeError> {
        configuration.check()?;
        allocator::give_back_large();
        let encrypting = |protocol| configuration.encryption.as_ref().map(|with| Encrypting::new(with, protocol));
        let shares = descriptors::share(configuration.limits.connections_max);
        let meters = Arc::new(Meters::default());
        let places = |max| Places::new(max, configuration.limits.connections_per_peer_max.max(1));
        let failures = Arc::new(Failures::new(configuration.limits.refusal_pause()));
        let door = |encrypting, places| Door {
            places,
            encrypting,
            opening_max: configuration.limits.connection_opening(),
            failures: Some(failures.clone()),
            meters: meters.clone(),
        };
        let is_protected = configuration.must_protect(configuration.listen);
        let of_clients = places(shares.clients);
        let clients = door(encrypting(Protocol::Http2).transpose()?, of_clients.clone());
        let clients = Listening::start(configuration.listen, clients, is_protected).await?;
        let page = match configuration.page_listen {
            Some(address) => {
                let door = door(encrypting(Protocol::Page).transpose()?, of_clients);
                Some(Listening::start(address, door, configuration.must_protect(address)).await?)
            }
            None => None,
        };
        let page_is_guarded = configuration.encryption.is_some() || configuration.tokens.is_some();
        let admin = match configuration.admin_listen {
            Some(address) => {
                let is_protected = configuration.must_protect(address);
                let encrypting = if is_protected { encrypting(Protocol::Http1).transpose()? } else { None };
                // Liveness is told at once, whoever guesses tokens at the same address.
                let door = Door { failures: None, ..door(encrypting, places(shares.admin)) };
                Some(Listening::start(address, door, is_protected).await?)
            }
            None => None,
        };
        let (stop, stopping) = watch::channel(false);
        // All of the database is read, and runs may be ended: that waits for the disk, and for the writer.
        let opening = tokio::task::spawn_blocking(move || context(configuration, meters, failures, stopping));
        let opened =
            opening.await.unwrap_or_else(|error| Err(StoreError::Broken(format!("opening failed: {error}")).into()));
        let context = opened?;
        Ok(Self { context: Arc::new(context), stop, clients, admin, page, page_is_guarded })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.clients.address
    }

    /// Where metrics are told, if they are, and whether that is encrypted.
    #[must_use]
    pub fn admin_address(&self) -> Option<(SocketAddr, bool)> {
        self.admin.as_ref().map(|admin| (admin.address, admin.door.encrypting.is_some()))
    }

    /// Where browsers are shown the page, if they are, and whether that is encrypted.
    #[must_use]
    pub fn page_address(&self) -> Option<(SocketAddr, bool)> {
        self.page.as_ref().map(|page| (page.address, page.door.encrypting.is_some()))
    }

    /// The tokens that it goes by, so that they can be read again while it serves.
    #[must_use]
    pub fn tokens(&self) -> TokensInForce {
        self.context.guard.tokens()
    }

    /// The certificates that it encrypts connections by, so that they can be read again while it serves.
    #[must_use]
    pub fn certificates(&self) -> CertificatesInForce {
        let doors = [&self.clients].into_iter().chain(&self.admin).chain(&self.page);
        CertificatesInForce::of(doors.filter_map(|listening| listening.door.encrypting.as_ref()))
    }

    /// Serves until `stop` resolves; then streams are ended, runs write checkpoints, and all that is told is on disk.
    ///
    /// # Errors
    /// When it cannot serve at all.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let (health, health_server) = tonic_health::server::health_reporter();
        set_serving(&health, ServingStatus::Serving).await;
        let context = self.context;
        let layers = Layers::new(context.meters.clone(), &context.limits);
        let routes = rpc::routes(&context, health_server)?;
        let mut page = self.page.map(|Listening { listener, door, .. }| {
            let page = Page::new(routes.clone(), &layers, context.limits.clone(), self.page_is_guarded);
            tokio::spawn(page.serve(arrivals(listener, door), context.stopping.clone()))
        });
        let router = router(&context.limits, layers, routes);
        let (gone, is_gone) = watch::channel(false);
        let places = self.clients.door.places.clone();
        let admin = self.admin.map(|Listening { listener, door, is_protected, .. }| {
            let admin = admin::Admin::new(context.clone(), places, door.places.clone(), is_protected);
            tokio::spawn(admin.serve(arrivals(listener, door), is_gone))
        });
        let incoming =
            connection::incoming(arrivals(self.clients.listener, self.clients.door), context.limits.headers());
        let drained = stopped(context.stopping.clone());
        let retaining = tokio::spawn(retention::keep_to_limits(context.clone()));
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
            if let Some(page) = &mut page {
                let _ = page.await;
            }
            suspending.await
        });
        if ended.await.is_err() {
            // What runs have found since their last checkpoints is found again.
            tracing::warn!("stopping took too long: the rest is cut off");
            serving.abort();
            page.inspect(JoinHandle::abort);
        }
        gone.send_replace(true);
        if let Some(admin) = admin {
            let _ = timeout(Duration::from_secs(1), admin).await;
        }
        // The folder is free when nobody has it any more.
        let _ = timeout(longest, retaining).await;
        let closing = context.clone();
        let _ = timeout(longest, tokio::task::spawn_blocking(move || closing.store.close())).await;
        match outcome {
            Some(Ok(Err(error))) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

impl Listening {
    async fn start(address: SocketAddr, door: Door, is_protected: bool) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, door, is_protected })
    }
}

/// What carries out runs, as far as it can be had without changing anything.
enum Found {
    Processes(Processes),
    Jobs(Box<Controller>),
}

impl Found {
    fn at(placement: &Placement, worker: WorkerCommand, nice: u32, meters: &Arc<Meters>) -> Result<Self, StoreError> {
        Ok(match placement {
            Placement::Here => Self::Processes(Processes::new(worker, nice, meters.clone())?),
            Placement::Slurm(options) => Self::Jobs(Box::new(Jobs::there(worker, options)?)),
        })
    }

    /// Makes control groups for what is on this machine, if there are any to be had, and finds what jobs there are already.
    fn begin(self, control_groups: Option<PathBuf>, data: &Path) -> Result<Box<dyn Workers>, StoreError> {
        Ok(match self {
            Self::Processes(processes) => {
                Box::new(processes.in_groups(control_groups.and_then(|mount| Groups::of_this_process(&mount))))
            }
            Self::Jobs(controller) => Box::new(Jobs::begin(*controller, data)?),
        })
    }
}

/// Opens the data directory, and takes up again what was not finished.
fn context(
    configuration: Configuration,
    meters: Arc<Meters>,
    failures: Arc<Failures>,
    stopping: watch::Receiver<bool>,
) -> Result<Context, ServeError> {
    let Configuration { data, recover, tokens, encryption, limits, version, worker, placement, control_groups, .. } =
        configuration;
    let mut features =
        ["sweeps", "checkpoints", "priorities", "retry", "reuse", "private", "projects", "files", "tables"]
            .map(str::to_owned)
            .to_vec();
    features.extend(tokens.as_ref().map(|_| "tokens".to_owned()));
    features.extend(encryption.as_ref().map(|_| "tls".to_owned()));
    let (hub, limits) = (Arc::new(Hub::default()), Arc::new(limits));
    // Before anything is opened or changed.
    let workers = Found::at(&placement, worker, limits.engine_nice, &meters).map_err(ServeError::Workers)?;
    let store = Arc::new(Store::open(&data, recover, Told { hub: hub.clone(), meters: meters.clone() })?);
    let workers = workers.begin(control_groups, store.folder()).map_err(ServeError::Workers)?;
    let engine = Engine::start(store.clone(), hub.clone(), limits.clone(), meters.clone(), version.clone(), workers)?;
    let guard = Guard::new(tokens, failures, meters.clone());
    let streams = Arc::new(Semaphore::new(limits.streams_max as usize));
    let no_thread = |error| StoreError::Broken(format!("cannot start a thread: {error}"));
    let checks = Checks::start(limits.clone()).map_err(no_thread)?;
    let reads = |what, at_once| Pool::start(what, "reads_max", at_once).map_err(no_thread);
    let (reads, long_reads) = (reads("reads", limits.reads_max)?, reads("long reads", limits.reads_max / 2)?);
    let lists = Arc::new(Semaphore::new(LISTS_MAX));
    let files = Arc::new(Semaphore::new(CLIENT_FILES_MAX));
    let sent_files = limits.reads_max.saturating_mul(SENT_FILES_PER_READ);
    let sent_files = Places::new(sent_files, sent_files);
    let uploads = Uploads::new(store.clone(), limits.clone());
    Ok(Context {
        store,
        hub,
        engine,
        limits,
        meters,
        guard,
        version,
        features,
        stopping,
        streams,
        checks,
        reads,
        long_reads,
        uploads,
        lists,
        files,
        sent_files,
    })
}

async fn set_serving(health: &HealthReporter, status: ServingStatus) {
    for name in [""].into_iter().chain(rpc::NAMES) {
        health.set_service_status(name, status).await;
    }
}

type Layered = Stack<AnswerLayer, Stack<BodyLayer, Stack<CallLayer, Identity>>>;

fn router(limits: &Limits, Layers { calls, bodies, answers }: Layers, routes: Routes) -> Router<Layered> {
    let mut builder = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .max_concurrent_streams(limits.connection_calls_max)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_max_header_list_size(limits.header_bytes_max)
        .layer(calls)
        .layer(bodies)
        .layer(answers);
    builder.add_routes(routes)
}

//! The services, and how they are mounted.

mod files;
mod methods;
mod results;
mod runs;
mod scenarios;
mod series;
mod stream;
mod system;
mod watching;

use std::sync::Arc;

use tailback_api::FILE_DESCRIPTOR_SET;
use tailback_api::v1::file_service_server::FileServiceServer;
use tailback_api::v1::result_service_server::ResultServiceServer;
use tailback_api::v1::run_service_server::RunServiceServer;
use tailback_api::v1::scenario_service_server::ScenarioServiceServer;
use tailback_api::v1::system_service_server::SystemServiceServer;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::server::NamedService as _;
use tonic::service::Routes;
use tonic::service::interceptor::InterceptedService;
use tonic_health::pb::health_server::{Health, HealthServer};

use crate::context::Context;
pub(crate) use methods::{has_one_answer, method};

/// What the services are called, as health checks ask for them.
pub(crate) const NAMES: [&str; 5] = [
    FileServiceServer::<()>::NAME,
    RunServiceServer::<()>::NAME,
    ResultServiceServer::<()>::NAME,
    ScenarioServiceServer::<()>::NAME,
    SystemServiceServer::<()>::NAME,
];

/// The call of which what is sent is not kept until it is answered.
pub(crate) const UPLOAD: &str = "/tailback.v1.FileService/UploadFile";

/// Bytes of a message of it.
const PIECE_BYTES_MAX: u32 = 1 << 20;

/// Mounts everything. Health needs no token: who asks for it has none.
pub(crate) fn routes(
    context: &Arc<Context>,
    health: HealthServer<impl Health>,
) -> Result<Routes, tonic_reflection::server::Error> {
    let (bytes, piece_bytes) = (context.limits.message_bytes_max as usize, PIECE_BYTES_MAX as usize);
    // The same for all: compressed if the client likes, and no larger than allowed.
    macro_rules! guarded {
        ($server:expr) => {
            guarded!($server, bytes)
        };
        ($server:expr, $bytes:expr) => {{
            let server = $server.accept_compressed(Gzip).send_compressed(Gzip);
            InterceptedService::new(server.max_decoding_message_size($bytes), context.guard.clone())
        }};
    }
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // Without it the details of errors are unreadable for programs that know nothing else.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    let files = FileServiceServer::new(files::Files(context.clone()));
    let runs = RunServiceServer::new(runs::Runs(context.clone()));
    let results = ResultServiceServer::new(results::Results(context.clone()));
    let scenarios = ScenarioServiceServer::new(scenarios::Scenarios(context.clone()));
    let system = SystemServiceServer::new(system::System(context.clone()));
    Ok(Routes::new(health.accept_compressed(Gzip).send_compressed(Gzip))
        .add_service(guarded!(runs))
        .add_service(guarded!(results))
        .add_service(guarded!(scenarios))
        .add_service(guarded!(system))
        .add_service(guarded!(files, piece_bytes))
        .add_service(guarded!(reflection().build_v1()?))
        .add_service(guarded!(reflection().build_v1alpha()?)))
}

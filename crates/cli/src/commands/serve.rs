//! `tailback serve`: the control service in this process.

mod limits;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use tailback_service::{
    CertificateError, Configuration, Encryption, Limits, Placement, ServeError, Server, Tokens, WorkerCommand,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::{ServeArguments, WorkersArgument};
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::remote;
use crate::telemetry::{self, Traces};
use limits::Note;

/// Where systems that have control groups have them.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// How long what is still under way may take when the server has stopped: what a worker does not answer is waited for no longer.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Runs the command.
pub fn run(arguments: &ServeArguments) -> Result<(), Complaint> {
    tailback_service::keep_files_private();
    let files = CertificateFiles::of(arguments);
    let (limits, note) = limits::read(arguments)?;
    let configuration = configuration(arguments, files.as_ref(), limits)?;
    let runtime = remote::runtime()?;
    let to_collector = |collector: &String| remote::wait_for(&runtime, async { Traces::to(collector) });
    let traces = arguments.otlp.as_ref().map(to_collector).transpose()?;
    telemetry::start(arguments.log, traces.as_ref());
    note.iter().for_each(Note::say);
    let served = remote::wait_for(&runtime, serve(configuration, files));
    if let Some(traces) = traces {
        traces.finish();
    }
    runtime.shutdown_timeout(LAST_MOMENT);
    served
}

/// Where certificates are, and the key.
struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    client_authority: Option<PathBuf>,
}

impl CertificateFiles {
    fn of(arguments: &ServeArguments) -> Option<Self> {
        let (certificate, key) = (arguments.tls_cert.clone()?, arguments.tls_key.clone()?);
        Some(Self { certificate, key, client_authority: arguments.client_ca.clone() })
    }

    fn read(&self) -> Result<Encryption, CertificateError> {
        Encryption::read(&self.certificate, &self.key, self.client_authority.as_deref())
    }
}

async fn serve(configuration: Configuration, files: Option<CertificateFiles>) -> Result<(), Complaint> {
    let encrypted = configuration.encryption.is_some();
    // Before anything is said: whoever has read it may ask to stop.
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| Complaint::failed(error.to_string()))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| Complaint::failed(error.to_string()))?;
    let mut hangup = signal(SignalKind::hangup()).map_err(|error| Complaint::failed(error.to_string()))?;
    let server = Server::bind(configuration).await.map_err(|error| complaint(&error))?;
    say_line!("listening on {}://{}", if encrypted { "https" } else { "http" }, server.address());
    if let Some((address, encrypted)) = server.admin_address() {
        say_line!("metrics on {}://{address}/metrics", if encrypted { "https" } else { "http" });
    }
    if let Some((address, encrypted)) = server.page_address() {
        say_line!("page on {}://{address}", if encrypted { "https" } else { "http" });
    }
    let _ = io::stdout().flush();
    let (tokens, certificates) = (server.tokens(), server.certificates());
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            tokens.read_again();
            if let Some(files) = &files {
                certificates.read_again(|| files.read());
            }
        }
    });
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    server.serve(stop).await.map_err(|error| complaint(&error))
}

fn complaint(error: &ServeError) -> Complaint {
    match error {
        ServeError::Configuration(_) => Complaint::bad_input(error.to_string()),
        _ => Complaint::failed(error.to_string()),
    }
}

fn configuration(
    arguments: &ServeArguments,
    files: Option<&CertificateFiles>,
    limits: Limits,
) -> Result<Configuration, Complaint> {
    let tokens = arguments.tokens.as_deref().map(Tokens::read).transpose();
    let encryption = files.map(CertificateFiles::read).transpose();
    let encryption = encryption.map_err(|error| Complaint::bad_input(error.to_string()))?;
    let (worker, placement) = workers(arguments)?;
    Ok(Configuration {
        listen: arguments.listen,
        admin_listen: arguments.admin,
        page_listen: arguments.page,
        recover: arguments.recover,
        tokens: tokens.map_err(|error| Complaint::bad_input(error.to_string()))?,
        encryption,
        insecure: arguments.insecure,
        limits,
        placement,
        control_groups: Some(PathBuf::from(CONTROL_GROUPS)),
        ..Configuration::local(arguments.data.clone(), env!("CARGO_PKG_VERSION"), worker)
    })
}

/// What is started to carry out a run, and where.
fn workers(arguments: &ServeArguments) -> Result<(WorkerCommand, Placement), Complaint> {
    let worker = ["worker", "--log", arguments.log.word()];
    match arguments.workers {
        WorkersArgument::Local if !arguments.slurm.is_empty() => {
            let help = "say `--workers slurm` as well".to_owned();
            Err(Complaint::BadInput("`--slurm` is for jobs of Slurm".to_owned(), Some(help)))
        }
        WorkersArgument::Local => Ok((WorkerCommand::this_program(&worker), Placement::Here)),
        WorkersArgument::Slurm => {
            let worker = WorkerCommand::this_program_anywhere(&[&worker[..], &["--job"]].concat());
            Ok((worker, Placement::Slurm(arguments.slurm.clone())))
        }
    }
}

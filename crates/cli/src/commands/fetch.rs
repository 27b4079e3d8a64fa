//! `tailback fetch`: the files that a run has left.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::{Artifact, GetRunRequest, ListArtifactsRequest, ReadArtifactRequest};
use tonic::{Code, Status};

use crate::arguments::FetchArguments;
use crate::complaint::Complaint;
use crate::output::say_line;
use crate::remote::{self, Remote, state_name};
use crate::results::Directory;

/// Runs the command.
pub fn run(arguments: &FetchArguments) -> Result<(), Complaint> {
    let out = arguments.out.clone().unwrap_or_else(|| ["results", &arguments.run].iter().collect());
    Directory::at(&out)?;
    remote::carry_out(fetch(arguments, &out))
}

async fn fetch(arguments: &FetchArguments, out: &Path) -> Result<(), Complaint> {
    let mut remote = Remote::connect(&arguments.server).await?;
    if arguments.quiet {
        remote.retry.quieten();
    }
    let run_id = arguments.run.clone();
    let request = ListArtifactsRequest { run_id: run_id.clone() };
    let artifacts = remote.ask_results(ResultServiceClient::list_artifacts, request).await?.artifacts;
    let run = remote.ask_runs(RunServiceClient::get_run, GetRunRequest { run_id }).await?.run.unwrap_or_default();
    if artifacts.is_empty() {
        let state = state_name(run.state());
        return Err(Complaint::bad_input(format!("{} has left no files: it is {state}", arguments.run)));
    }
    Directory::at(out)?.refuse_others(&run.scenario_digest)?;
    fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
    let mut damaged = Vec::new();
    for artifact in &artifacts {
        // A server that is not ours might say anything.
        if artifact.name.contains(['/', '\\']) || artifact.name.starts_with('.') {
            return Err(Complaint::failed(format!("the server names a file `{}`", artifact.name.escape_debug())));
        }
        match fetch_one(&mut remote, &arguments.run, artifact, &out.join(&artifact.name)).await {
            Ok(()) if arguments.quiet => {}
            Ok(()) => say_line!("{}", out.join(&artifact.name).display()),
            // The others may be as they were.
            Err(Missed::Damaged(message)) => damaged.push(message),
            Err(Missed::Because(complaint)) => return Err(complaint),
        }
    }
    if damaged.is_empty() {
        return Ok(());
    }
    let message = format!("{} of {} files of {} are damaged", damaged.len(), artifacts.len(), arguments.run);
    Err(Complaint::Failed(format!("{message} on the server, and were not fetched"), damaged))
}

/// Why a file was not fetched.
enum Missed {
    /// It is not what it was any more, says the server.
    Damaged(String),
    Because(Complaint),
}

impl From<Complaint> for Missed {
    fn from(complaint: Complaint) -> Self {
        Self::Because(complaint)
    }
}

/// Fetches a file, going on where it broke off before.
async fn fetch_one(remote: &mut Remote, run: &str, artifact: &Artifact, path: &Path) -> Result<(), Missed> {
    let part = PathBuf::from(format!("{}.part", path.display()));
    loop {
        let there = fs::metadata(&part).map_or(0, |about| about.len());
        let there = if there > artifact.size { 0 } else { there };
        match append(remote, run, artifact, &part, there).await {
            Ok(written) => {
                written.map_err(|error| cannot_write(&part, &error))?;
                break;
            }
            Err(status) if status.code() == Code::DataLoss => return Err(Missed::Damaged(status.message().to_owned())),
            Err(status) => remote.retry.pause_after(status).await.map_err(Complaint::from)?,
        }
    }
    let bytes = fs::read(&part).map_err(|error| cannot_write(&part, &error))?;
    let digest = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if digest != artifact.sha256 {
        let _ = fs::remove_file(&part);
        return Err(Complaint::failed(format!("{} arrived damaged; fetch it again", artifact.name)).into());
    }
    Ok(fs::rename(&part, path).map_err(|error| cannot_write(path, &error))?)
}

async fn append(
    remote: &mut Remote,
    run: &str,
    artifact: &Artifact,
    part: &Path,
    offset: u64,
) -> Result<std::io::Result<()>, Status> {
    let request = ReadArtifactRequest { run_id: run.to_owned(), name: artifact.name.clone(), offset };
    let mut stream = remote.results.read_artifact(request).await?.into_inner();
    let opened = OpenOptions::new().create(true).write(true).truncate(offset == 0).append(offset > 0).open(part);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    while let Some(piece) = stream.message().await? {
        remote.retry.answered();
        if let Err(error) = file.write_all(&piece.content) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Complaint {
    Complaint::failed(format!("cannot write {}: {error}", path.display()))
}

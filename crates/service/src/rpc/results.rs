//! ResultService.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use tailback_api::v1::result_service_server::ResultService;
use tailback_api::v1::{
    GetReportRequest, GetReportResponse, ListArtifactsRequest, ListArtifactsResponse, QuerySeriesRequest,
    QuerySeriesResponse, ReadArtifactRequest, ReadArtifactResponse,
};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status};

use super::series;
use super::stream::{self, Closed, Outgoing, Sink};
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::connection::address;
use crate::context::{Context, caller, deadline};
use crate::domain::{Artifact, State};
use crate::names;
use crate::pool::Stop;
use crate::store::checked::{self, Checked};
use crate::store::runs::{self, Stored};
use crate::store::{StoreError, artifacts};
use crate::wire;

/// ResultService.
pub(super) struct Results(pub Arc<Context>);

#[tonic::async_trait]
impl ResultService for Results {
    type ReadArtifactStream = Outgoing<ReadArtifactResponse>;

    async fn get_report(&self, request: Request<GetReportRequest>) -> Result<Response<GetReportResponse>, Status> {
        let caller = caller(&request)?;
        let run_id = request.into_inner().run_id;
        let stored = find(&self.0, &caller, &run_id).await?;
        must_have_succeeded(&stored)?;
        if stored.run.sweep.is_some() {
            let why = "it is a sweep: QuerySeries gives its table, and its runs have reports".to_owned();
            return Err(ApiError::NoResults { run: run_id, state: stored.run.state, why }.into());
        }
        let (store, limits) = (self.0.store.clone(), self.0.limits.clone());
        let report = self.0.read(move |_| {
            let find = |name: &str| -> Result<Artifact, ApiError> {
                let found = store.read_blocking(|connection| artifacts::find(connection, &stored, name))?;
                Ok(checked::must_have(&stored, found, name)?)
            };
            let [json, text] = [find("report.json")?, find("report.txt")?];
            limits.check_answer(json.size.saturating_add(text.size))?;
            let content = |artifact: &Artifact| {
                checked::read(store.folder(), &stored, artifact, |file| {
                    std::io::read_to_string(file).map_err(|error| StoreError::Broken(error.to_string()))
                })
            };
            let result_digest = stored.run.result_digest.clone();
            Ok(GetReportResponse { json: content(&json)?, text: content(&text)?, result_digest })
        });
        Ok(Response::new(report.await?))
    }

    async fn list_artifacts(
        &self,
        request: Request<ListArtifactsRequest>,
    ) -> Result<Response<ListArtifactsResponse>, Status> {
        let caller = caller(&request)?;
        let stored = find(&self.0, &caller, &request.into_inner().run_id).await?;
        let artifacts = self.0.store.read(move |connection| artifacts::list(connection, &stored));
        let artifacts = artifacts.await.map_err(ApiError::from)?.into_iter().map(wire::artifact).collect();
        Ok(Response::new(ListArtifactsResponse { artifacts }))
    }

    async fn read_artifact(
        &self,
        request: Request<ReadArtifactRequest>,
    ) -> Result<Response<Self::ReadArtifactStream>, Status> {
        let place = self.0.open_stream()?;
        let (caller, gives_up, from) = (caller(&request)?, deadline(&request), address(request.extensions().get()));
        let ReadArtifactRequest { run_id, name, offset } = request.into_inner();
        let stored = find(&self.0, &caller, &run_id).await?;
        let (wanted, of) = (name.clone(), stored.clone());
        let found = self.0.store.read(move |connection| artifacts::find(connection, &of, &wanted));
        let artifact = found.await.map_err(ApiError::from)?;
        let artifact = artifact.ok_or(ApiError::ArtifactNotFound { run: run_id, artifact: name })?;
        if offset > artifact.size {
            return Err(ApiError::OffsetOutOfRange { size: artifact.size }.into());
        }
        // Nothing is read for somebody who could not be sent it.
        drop(self.0.send_file(from)?);
        // The name is one that the store has found: the server gave it.
        let (store, wanted) = (self.0.store.clone(), artifact.clone());
        let compare = move |stop: &Stop| Ok(Checked::open(store.folder(), &stored, &wanted, || stop.check())?);
        let is_large = self.0.limits.check_answer(artifact.size).is_err();
        let file = if is_large { self.0.read_long(compare).await? } else { self.0.read(compare).await? };
        // Whoever waits for the disk costs nothing yet.
        let (file, sent) = (Arc::new(file), self.0.send_file(from)?);
        let files = self.0.files.clone();
        let send = |sink| async move {
            let all = send(files, file, artifact, offset, sink).await;
            drop(sent);
            all
        };
        Ok(Response::new(stream::open(&self.0, place, caller, gives_up, send)))
    }

    async fn query_series(
        &self,
        request: Request<QuerySeriesRequest>,
    ) -> Result<Response<QuerySeriesResponse>, Status> {
        let caller = caller(&request)?;
        let request = request.into_inner();
        series::check_size(&request)?;
        let stored = find(&self.0, &caller, &request.run_id).await?;
        must_have_succeeded(&stored)?;
        let table = match request.table.as_str() {
            "" if stored.run.sweep.is_some() => "sweep",
            "" => "series",
            table => table,
        };
        let (of, name) = (stored.clone(), format!("{table}.csv"));
        let found = self.0.store.read(move |connection| artifacts::find(connection, &of, &name));
        let artifact = found.await.map_err(ApiError::from)?.ok_or_else(|| {
            let run = request.run_id.clone();
            match request.table.as_str() {
                "" | "series" => ApiError::NoSeries(run),
                _ => ApiError::ArtifactNotFound { run, artifact: format!("{table}.csv") },
            }
        })?;
        let (store, limits) = (self.0.store.clone(), self.0.limits.clone());
        let series = self.0.read_long(move |stop| {
            let select = |file: &mut dyn Read| Ok(series::select((&artifact.name, file), &request, &limits, stop)?);
            Ok(checked::read(store.folder(), &stored, &artifact, select)?)
        });
        Ok(Response::new(series.await?))
    }
}

async fn find(context: &Context, caller: &Caller, run_id: &str) -> Result<Stored, ApiError> {
    names::known_run(run_id)?;
    let (id, caller) = (run_id.to_owned(), caller.clone());
    Ok(context.store.read(move |connection| runs::get_for(connection, &caller, &id)).await?)
}

fn must_have_succeeded(stored: &Stored) -> Result<(), ApiError> {
    let (run, state) = (stored.run.id.clone(), stored.run.state);
    match state {
        State::Succeeded => Ok(()),
        State::Failed => {
            let why = stored.run.failure.as_ref().map_or_else(String::new, |failure| failure.message.clone());
            Err(ApiError::NoResults { run, state, why: format!("it has failed: {why}") })
        }
        State::Cancelled => Err(ApiError::NoResults { run, state, why: "it was cancelled".to_owned() }),
        _ => Err(ApiError::RunNotEnded { run, state }),
    }
}

/// Sends a file from an offset on, piece by piece.
async fn send(
    files: Arc<Semaphore>,
    file: Arc<Checked>,
    artifact: Artifact,
    mut offset: u64,
    sink: Sink<ReadArtifactResponse>,
) -> Result<(), Closed> {
    let size = artifact.size;
    let mut artifact = Some(wire::artifact(artifact));
    while artifact.is_some() || offset < size {
        let (file, files) = (file.clone(), files.clone());
        let reading = async move {
            let permit = files.acquire_owned().await;
            let read = move || {
                let piece = file.piece(offset);
                drop(permit);
                piece
            };
            tokio::task::spawn_blocking(read).await
        };
        let piece = sink.unless_over(reading).await?;
        let piece = piece.map_err(|error| ApiError::Internal(format!("reading failed: {error}")))?;
        let content = Bytes::from(piece.map_err(ApiError::from)?);
        let length = content.len() as u64;
        sink.send(ReadArtifactResponse { artifact: artifact.take(), offset, content }).await?;
        offset += length;
    }
    Ok(())
}

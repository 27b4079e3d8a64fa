//! FileService.

use std::sync::Arc;

use tailback_api::v1::file_service_server::FileService;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{
    DeleteFileRequest, DeleteFileResponse, ListFilesRequest, ListFilesResponse, UploadFileRequest, UploadFileResponse,
    UploadHeader,
};
use tokio::time::sleep_until;
use tonic::{Code, Request, Response, Status, Streaming};

use super::PIECE_BYTES_MAX;
use super::stream::from_now;
use crate::access::{Caller, Role};
use crate::api_error::ApiError;
use crate::context::{Context, caller, deadline, stopped, to_the_end};
use crate::domain::KeptFile;
use crate::store::uploads as kept;
use crate::{names, uploads, wire};

/// FileService.
pub(super) struct Files(pub Arc<Context>);

/// Files of a page, if the client does not say how many, and at most.
const PAGE: u32 = 50;
const PAGE_MAX: u32 = 1000;

#[tonic::async_trait]
impl FileService for Files {
    async fn upload_file(
        &self,
        request: Request<Streaming<UploadFileRequest>>,
    ) -> Result<Response<UploadFileResponse>, Status> {
        let (caller, gives_up) = (caller(&request)?, deadline(&request));
        caller.must_be(Role::Submit)?;
        let place = self.0.uploads.place()?;
        let expires = from_now(self.0.limits.stream_lifetime());
        let (until, at_end) = match gives_up {
            Some(gives_up) if gives_up < expires => (gives_up, ApiError::DeadlinePassed { resume_after: None }),
            _ => (expires, ApiError::StreamExpired { resume_after: None }),
        };
        let upload = tokio::select! {
            biased;
            () = stopped(self.0.stopping.clone()) => {
                return Err(ApiError::ShuttingDown { resume_after: None }.into());
            }
            () = sleep_until(until.into()) => return Err(at_end.into()),
            received = receive(&self.0, &caller, place, request.into_inner()) => received?,
        };
        self.0.guard.must_still_be(&caller)?;
        let context = self.0.clone();
        let keep = async move {
            let file = context.uploads.end(upload).await?;
            caller.note_file("upload", &file.owner, &file.sha256);
            Ok(file)
        };
        Ok(Response::new(UploadFileResponse { file: Some(wire::file(to_the_end(keep).await?)) }))
    }

    async fn list_files(&self, request: Request<ListFilesRequest>) -> Result<Response<ListFilesResponse>, Status> {
        let caller = caller(&request)?;
        let ListFilesRequest { page_size, page_token, sha256, owner } = request.into_inner();
        if !sha256.is_empty() {
            names::whole_digest("sha256", &sha256)?;
        }
        let (after_owner, after_sha256) = read_token(&page_token)?;
        let count = if page_size == 0 { PAGE } else { page_size.min(PAGE_MAX) };
        // Of others there is nothing to see.
        let own = (caller.role != Role::Admin).then(|| caller.name.clone());
        let wanted = (!owner.is_empty()).then_some(owner);
        if own.is_some() && wanted.is_some() && own != wanted {
            return Ok(Response::new(ListFilesResponse::default()));
        }
        let owner = own.or(wanted);
        let listing = self.0.store.read(move |connection| {
            let sha256 = (!sha256.is_empty()).then_some(sha256.as_str());
            kept::list(connection, (owner.as_deref(), sha256), (&after_owner, &after_sha256), count + 1)
        });
        let mut files = listing.await.map_err(ApiError::from)?;
        let is_last = files.len() <= count as usize;
        files.truncate(count as usize);
        let next_page_token = files.last().filter(|_| !is_last).map(token).unwrap_or_default();
        Ok(Response::new(ListFilesResponse { files: files.into_iter().map(wire::file).collect(), next_page_token }))
    }

    async fn delete_file(&self, request: Request<DeleteFileRequest>) -> Result<Response<DeleteFileResponse>, Status> {
        let caller = caller(&request)?;
        let DeleteFileRequest { sha256, owner } = request.into_inner();
        names::whole_digest("sha256", &sha256)?;
        let owner = if owner.is_empty() { caller.name.clone() } else { owner };
        caller.may_change_what_is_of(&owner)?;
        let context = self.0.clone();
        let delete = async move {
            uploads::delete(&context.store, owner.clone(), sha256.clone()).await?;
            caller.note_file("delete-file", &owner, &sha256);
            Ok(())
        };
        to_the_end(delete).await?;
        Ok(Response::new(DeleteFileResponse {}))
    }
}

/// Takes what a client sends, to its end.
async fn receive(
    context: &Context,
    caller: &Caller,
    place: uploads::Place,
    mut parts: Streaming<UploadFileRequest>,
) -> Result<uploads::Upload, Status> {
    let Some(Part::Header(header)) = next(&mut parts).await?.and_then(|first| first.part) else {
        return Err(ApiError::invalid("header", "the first message must be the header").into());
    };
    let mut upload = context.uploads.begin(place, announced(caller, header)?).await?;
    while let Some(next) = next(&mut parts).await? {
        let Some(Part::Content(piece)) = next.part else {
            return Err(ApiError::invalid("content", "behind the header come pieces of the content only").into());
        };
        upload = upload.put(piece).await?;
    }
    Ok(upload)
}

/// The next message. One that is too large, before or after it is decompressed, the framework refuses without any details.
async fn next(parts: &mut Streaming<UploadFileRequest>) -> Result<Option<UploadFileRequest>, Status> {
    parts.message().await.map_err(|refused| match refused.code() {
        Code::OutOfRange | Code::ResourceExhausted if refused.details().is_empty() => {
            ApiError::invalid("content", format!("a message has more than {PIECE_BYTES_MAX} bytes")).into()
        }
        _ => refused,
    })
}

/// The file that a header announces.
fn announced(caller: &Caller, header: UploadHeader) -> Result<KeptFile, ApiError> {
    let UploadHeader { name, size, sha256 } = header;
    names::file("header.name", &name)?;
    names::whole_digest("header.sha256", &sha256)?;
    Ok(KeptFile { owner: caller.name.clone(), sha256, size, name, uploaded_ms: 0 })
}

/// Where the next page begins: behind a content of an owner.
fn token(last: &KeptFile) -> String {
    format!("{}:{}", last.sha256, last.owner)
}

fn read_token(token: &str) -> Result<(String, String), ApiError> {
    if token.is_empty() {
        return Ok((String::new(), String::new()));
    }
    let parts = token.split_once(':').filter(|(sha256, _)| names::whole_digest("page_token", sha256).is_ok());
    let (sha256, owner) =
        parts.ok_or_else(|| ApiError::invalid("page_token", format!("{} is none", names::quoted(token))))?;
    Ok((owner.to_owned(), sha256.to_owned()))
}

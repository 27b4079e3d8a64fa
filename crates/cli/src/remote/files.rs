//! Files for a server: sent when it does not have them.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{DeleteFileRequest, ListFilesRequest, UploadFileRequest, UploadHeader};
use tonic::Status;
use tonic_types::StatusExt as _;

use super::Remote;
use crate::complaint::Complaint;
use crate::output::tell_line;

/// Bytes that are sent at once.
const PIECE_BYTES: usize = 256 << 10;
/// Files that are asked for at once.
const PAGE: u32 = 500;

/// A file that the server has been told of.
#[derive(Debug)]
pub(super) struct Named {
    path: PathBuf,
    header: UploadHeader,
    /// Whether it is said that it is sent.
    tells: bool,
}

impl Remote {
    /// Sends files that the server does not have; gives the SHA-256 of each, by the name that a scenario has for it.
    pub async fn upload(
        &mut self,
        files: &BTreeMap<String, PathBuf>,
        tells: bool,
    ) -> Result<HashMap<String, String>, Complaint> {
        let owner = self.must_know("files").await?.caller;
        let mut known = HashMap::new();
        for (name, path) in files {
            let (sha256, size) =
                digest(path).map_err(|error| Complaint::bad_input(format!("cannot read {name}: {error}")))?;
            let request = ListFilesRequest { sha256: sha256.clone(), owner: owner.clone(), ..Default::default() };
            let header = UploadHeader { name: short(name), size, sha256: sha256.clone() };
            let file = Named { path: path.clone(), header, tells };
            if self.list_files(request).await?.is_empty() {
                self.send(&file).await?;
            } else {
                self.named.insert(sha256.clone(), file);
            }
            known.insert(name.clone(), sha256);
        }
        Ok(known)
    }

    /// Sends a file again, once, because of which the server has refused a request: what it has of it is damaged, or gone meanwhile. Gives
    /// any other refusal back.
    pub(super) async fn send_again(&mut self, refused: Status) -> Result<(), Status> {
        let details = refused.get_error_details();
        let damaged = details.error_info().and_then(|about| about.metadata.get("file"));
        let Some(file) = damaged.and_then(|sha256| self.named.remove(sha256)) else { return Err(refused) };
        self.send(&file).await
    }

    async fn send(&mut self, Named { path, header, tells }: &Named) -> Result<(), Status> {
        if *tells {
            tell_line!("uploading {} ({} bytes)", header.name, header.size);
        }
        let Self { files, retry, .. } = self;
        let send = async || {
            let file = File::open(path).map_err(|error| Status::failed_precondition(error.to_string()))?;
            files.upload_file(tokio_stream::iter(parts(file, header.clone()))).await
        };
        retry.call(send).await.map(drop)
    }

    /// All files that a request asks for.
    pub async fn list_files(&mut self, request: ListFilesRequest) -> Result<Vec<tailback_api::v1::File>, Status> {
        let Self { files, retry, .. } = self;
        let (mut request, mut found) = (ListFilesRequest { page_size: PAGE, ..request }, Vec::new());
        loop {
            let page = retry.call(async || Ok(files.list_files(request.clone()).await?.into_inner())).await?;
            found.extend(page.files);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Deletes a file of one's own.
    pub async fn delete_file(&mut self, sha256: &str) -> Result<(), Status> {
        let Self { files, retry, .. } = self;
        let request = DeleteFileRequest { sha256: sha256.to_owned(), owner: String::new() };
        retry.call(async || files.delete_file(request.clone()).await).await.map(drop)
    }
}

/// What is sent of a file. If it cannot be read to its end, the server finds it too short.
fn parts(mut file: File, header: UploadHeader) -> impl Iterator<Item = UploadFileRequest> {
    let pieces = std::iter::from_fn(move || {
        let mut piece = vec![0; PIECE_BYTES];
        let count = file.read(&mut piece).ok().filter(|&count| count > 0)?;
        piece.truncate(count);
        Some(Part::Content(piece.into()))
    });
    [Part::Header(header)].into_iter().chain(pieces).map(|part| UploadFileRequest { part: Some(part) })
}

/// A name that a server takes: the end of one that is too long.
fn short(name: &str) -> String {
    let from = (name.len().saturating_sub(255)..=name.len()).find(|&from| name.is_char_boundary(from));
    name[from.unwrap_or(name.len())..].to_owned()
}

/// The SHA-256 and the size of a file.
fn digest(path: &Path) -> io::Result<(String, u64)> {
    let (mut file, mut digest, mut size) = (File::open(path)?, Sha256::new(), 0);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            count => {
                digest.update(&piece[..count]);
                size += count as u64;
            }
        }
    }
    Ok((digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect(), size))
}

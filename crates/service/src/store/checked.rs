//! Files that runs have left, read so that nothing of them is believed before their SHA-256 was compared.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::runs::Stored;
use super::{StoreError, artifacts};
use crate::access::hexadecimal;
use crate::api_error::ApiError;
use crate::descriptors;
use crate::domain::Artifact;

/// Bytes that are read, compared and sent at once.
pub(crate) const PIECE_BYTES: usize = 128 << 10;

/// A reader that digests what goes through it.
struct Digesting<R> {
    inner: R,
    digest: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.digest.update(&into[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

/// The size and the SHA-256 of what is read, which is `copied` on the way.
pub(super) fn digest(reader: impl Read, copied: &mut impl io::Write) -> io::Result<(u64, String)> {
    let mut reader = Digesting { inner: reader, digest: Sha256::new(), bytes: 0 };
    io::copy(&mut reader, copied)?;
    Ok((reader.bytes, hexadecimal(&reader.digest.finalize())))
}

/// A file whose content was compared as a whole. It is not kept open, so its pieces are compared again when they are read:
/// what is there then may be something else.
pub(crate) struct Checked {
    path: PathBuf,
    loss: Loss,
    size: u64,
    pieces: Vec<[u8; 32]>,
}

/// What to say of a file that is not as it was.
struct Loss {
    run: String,
    artifact: String,
}

impl Loss {
    fn of(stored: &Stored, artifact: &str) -> Self {
        Self { run: stored.run.id.clone(), artifact: artifact.to_owned() }
    }

    fn because(&self, problem: impl Into<String>) -> StoreError {
        let part = format!("artifact `{}`", self.artifact);
        ApiError::DataLoss { run: self.run.clone(), part, problem: problem.into() }.into()
    }

    fn unreadable(&self, error: &io::Error) -> StoreError {
        if descriptors::is_shortage(error) {
            // The file may well be as it was.
            return StoreError::Descriptors(format!("cannot read artifact `{}`: {error}", self.artifact));
        }
        self.because(error.to_string())
    }

    fn compare(&self, artifact: &Artifact, bytes: u64, digest: Sha256) -> Result<(), StoreError> {
        if bytes != artifact.size {
            return Err(self.because(format!("it has {bytes} bytes and had {}", artifact.size)));
        }
        let found = hexadecimal(&digest.finalize());
        if found != artifact.sha256 {
            return Err(self.because(format!("its SHA-256 is {found} and was {}", artifact.sha256)));
        }
        Ok(())
    }
}

/// Reads a file of a run, which must be there, with `read`. What that gives is given only if the file is as it was.
pub(crate) fn read<T>(
    folder: &Path,
    stored: &Stored,
    artifact: &Artifact,
    read: impl FnOnce(&mut dyn Read) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let loss = Loss::of(stored, &artifact.name);
    let path = artifacts::path(folder, stored.number, &artifact.name);
    let file = File::open(path).map_err(|error| loss.unreadable(&error))?;
    // Not more than it should be, however long somebody has made it: one byte more tells.
    let inner = BufReader::new(file).take(artifact.size.saturating_add(1));
    let mut reader = Digesting { inner, digest: Sha256::new(), bytes: 0 };
    let found = read(&mut reader);
    io::copy(&mut reader, &mut io::sink()).map_err(|error| loss.unreadable(&error))?;
    loss.compare(artifact, reader.bytes, reader.digest)?;
    found
}

/// Compares a file of a run with what it was.
pub(super) fn compare(folder: &Path, stored: &Stored, artifact: &Artifact) -> Result<(), StoreError> {
    read(folder, stored, artifact, |_| Ok(()))
}

/// What a run must have left, because it has succeeded.
pub(crate) fn must_have(stored: &Stored, found: Option<Artifact>, name: &str) -> Result<Artifact, StoreError> {
    found.ok_or_else(|| Loss::of(stored, name).because("the database has no row of it"))
}

impl Checked {
    /// Opens a file of a run and compares all of it, a piece at a time, for as long as `go_on` gives no error.
    pub(crate) fn open(
        folder: &Path,
        stored: &Stored,
        artifact: &Artifact,
        go_on: impl Fn() -> Result<(), ApiError>,
    ) -> Result<Self, StoreError> {
        let loss = Loss::of(stored, &artifact.name);
        let path = artifacts::path(folder, stored.number, &artifact.name);
        let mut file = File::open(&path).map_err(|error| loss.unreadable(&error))?;
        let (mut whole, mut bytes, mut pieces) = (Sha256::new(), 0, Vec::new());
        while bytes <= artifact.size {
            go_on()?;
            let piece = read_piece(&mut file).map_err(|error| loss.unreadable(&error))?;
            if piece.is_empty() {
                break;
            }
            whole.update(&piece);
            pieces.push(Sha256::digest(&piece).into());
            bytes += piece.len() as u64;
        }
        loss.compare(artifact, bytes, whole)?;
        Ok(Self { path, loss, size: artifact.size, pieces })
    }

    /// The bytes from an offset on, up to the end of the piece that it lies in; none at the end of the file.
    pub(crate) fn piece(&self, offset: u64) -> Result<Vec<u8>, StoreError> {
        if offset >= self.size {
            return Ok(Vec::new());
        }
        let index = offset / PIECE_BYTES as u64;
        let start = index * PIECE_BYTES as u64;
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            read_piece(&mut file)
        });
        let mut piece = read.map_err(|error| self.loss.unreadable(&error))?;
        let digest: [u8; 32] = Sha256::digest(&piece).into();
        if self.pieces.get(index as usize) != Some(&digest) {
            return Err(self.loss.because("it has changed while it was read"));
        }
        drop(piece.drain(..(offset - start) as usize));
        Ok(piece)
    }
}

fn read_piece(file: &mut File) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    file.take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
    Ok(piece)
}

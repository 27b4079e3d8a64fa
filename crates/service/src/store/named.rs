//! The files that a scenario names, opened for whoever reads it: by their names there, and nothing else.
//!
//! **The invariant it keeps:** nothing of a file is given before all of it was compared with its SHA-256.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tailback_scenario::{BufferedScratch, Diagnostics, Files, ReadAt, Scratch};

use super::{StoreError, files, uploads};
use crate::api_error::ApiError;
use crate::domain::{FailureReason, RunFailure, ScenarioSource};
use crate::pool::Stop;

/// What went wrong last, if anything did.
#[derive(Clone, Debug, Default)]
struct Problem(Arc<Mutex<Option<StoreError>>>);

impl Problem {
    fn is(&self, error: StoreError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    fn get(&self) -> Option<StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The files that a scenario names.
#[derive(Debug)]
pub(crate) struct NamedFiles {
    folder: PathBuf,
    /// Where there is room for what is made of them.
    scratch: PathBuf,
    /// Bytes that one thing may take which is made of them.
    scratch_bytes_max: u64,
    /// By name: the SHA-256 of the content.
    names: Arc<BTreeMap<String, String>>,
    /// When reading is to end; never for a worker, which is ended from without.
    stop: Option<Stop>,
    opened: Mutex<BTreeMap<String, Arc<dyn ReadAt>>>,
    /// Why the last of them could not be opened, or nothing be made of it: it is lost, or something is short now.
    problem: Problem,
}

impl NamedFiles {
    /// Those of a scenario, in a data directory. What is made of them has no name, and is in the folder `scratch`.
    pub(crate) fn of(scenario: &ScenarioSource, folder: &Path, scratch: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            scratch: scratch.to_owned(),
            scratch_bytes_max: u64::MAX,
            names: scenario.files.clone(),
            stop: None,
            opened: Mutex::default(),
            problem: Problem::default(),
        }
    }

    /// The same for a server, which reads them until it is told to stop, and has so many bytes of room.
    pub(crate) fn for_check(scenario: &ScenarioSource, folder: &Path, bytes_max: u64, stop: &Stop) -> Self {
        let scratch = folder.join(files::UPLOADS);
        Self { scratch_bytes_max: bytes_max, stop: Some(stop.clone()), ..Self::of(scenario, folder, &scratch) }
    }

    /// Why a scenario is refused that could not be resolved with these.
    pub(crate) fn refusal(&self, mistakes: Diagnostics) -> ApiError {
        match (self.go_on(), self.problem.get()) {
            (Err(stopped), _) => stopped,
            (Ok(()), Some(problem)) => problem.into(),
            (Ok(()), None) => ApiError::scenario(mistakes),
        }
    }

    /// Why a run fails whose scenario could not be resolved with these.
    pub(crate) fn failure(&self, mistakes: &Diagnostics) -> RunFailure {
        match self.problem.get() {
            Some(problem) => RunFailure::from(&problem),
            None => RunFailure::new(FailureReason::Scenario, mistakes.to_string()),
        }
    }

    /// What is short now, if it was for want of that: file descriptors, or room on the disk.
    pub(crate) fn want(&self) -> Option<StoreError> {
        self.problem.get().filter(StoreError::passes)
    }

    /// A file for what is made of one, which has no name any more.
    fn unnamed(&self) -> io::Result<File> {
        let path = uploads::unfinished(&self.scratch);
        let open = || {
            let file = File::options().create_new(true).read(true).write(true).open(&path)?;
            fs::remove_file(&path).map(|()| file)
        };
        open().inspect_err(|error| self.problem.is(files::broken("write", &path, error)))
    }

    fn go_on(&self) -> Result<(), ApiError> {
        self.stop.as_ref().map_or(Ok(()), Stop::check)
    }

    fn compared(&self, sha256: &str) -> io::Result<Arc<dyn ReadAt>> {
        let path = uploads::path(&self.folder, sha256);
        let file = uploads::compare(&path, sha256, || self.go_on().map_err(io::Error::other)).inspect_err(|error| {
            let problem = match error.kind() {
                ErrorKind::InvalidData => StoreError::from(lost(sha256, error.to_string())),
                ErrorKind::NotFound => lost(sha256, "it is not there any more".to_owned()).into(),
                _ => files::broken("read", &path, error),
            };
            self.problem.is(problem);
        })?;
        OnDisk::of(file, self.stop.clone())
    }
}

fn lost(sha256: &str, problem: String) -> ApiError {
    ApiError::FileLost { sha256: sha256.to_owned(), problem }
}

impl Files for NamedFiles {
    fn open(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        let Some(sha256) = self.names.get(name) else {
            let why =
                "the request does not say which file that is: upload it, and name its SHA-256 in `scenario.files`";
            return Err(io::Error::new(ErrorKind::NotFound, why));
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = opened.get(sha256) {
            return Ok(file.clone());
        }
        let file = self.compared(sha256)?;
        opened.insert(sha256.clone(), file.clone());
        Ok(file)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        let (file, bytes_max) = (self.unnamed()?, self.scratch_bytes_max);
        let file = Bounded { file, written: 0, bytes_max, stop: self.stop.clone(), problem: self.problem.clone() };
        Ok(Box::new(BufferedScratch::new(file, |Bounded { file, stop, .. }| OnDisk::of(file, stop))))
    }
}

/// A file that is read at any place.
#[derive(Debug)]
struct OnDisk {
    file: File,
    bytes: u64,
    stop: Option<Stop>,
}

impl OnDisk {
    fn of(file: File, stop: Option<Stop>) -> io::Result<Arc<dyn ReadAt>> {
        let bytes = file.metadata()?.len();
        Ok(Arc::new(Self { file, bytes, stop }))
    }
}

impl ReadAt for OnDisk {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.stop.as_ref().map_or(Ok(()), Stop::check).map_err(io::Error::other)?;
        self.file.read_exact_at(bytes, offset)
    }
}

/// A file that takes so many bytes and no more.
struct Bounded {
    file: File,
    written: u64,
    bytes_max: u64,
    stop: Option<Stop>,
    problem: Problem,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stop.as_ref().map_or(Ok(()), Stop::check).map_err(io::Error::other)?;
        if self.written.saturating_add(bytes.len() as u64) > self.bytes_max {
            let why = format!("it takes more than {} bytes", self.bytes_max);
            return Err(io::Error::new(ErrorKind::FileTooLarge, why));
        }
        let count = self.file.write(bytes).inspect_err(|error| {
            // Who was interrupted goes on.
            if error.kind() != ErrorKind::Interrupted {
                self.problem.is(files::broken("write", Path::new("what is made of a file"), error));
            }
        })?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Bounded {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

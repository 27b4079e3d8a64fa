//! The files that scenarios name: whoever reads a scenario says where they are.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::{self, BufRead as _, BufReader, BufWriter, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tailback_goal::{ReadAt, Schedule, text_to_binary_within};

/// Where a scenario finds the files that it names.
pub trait Files: Debug + Send + Sync {
    /// Opens a file to be read at any place.
    ///
    /// # Errors
    /// When there is no such file, or it may not be read.
    fn open(&self, name: &str) -> io::Result<Arc<dyn ReadAt>>;

    /// Room for what is made of a file. It is in memory if nothing else is said.
    ///
    /// # Errors
    /// When there is none.
    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }
}

/// Room that is written once and then read.
pub trait Scratch: Write + Seek {
    /// What was written.
    ///
    /// # Errors
    /// When it is not there any more.
    fn finish(self: Box<Self>) -> io::Result<Arc<dyn ReadAt>>;
}

impl Scratch for Cursor<Vec<u8>> {
    fn finish(self: Box<Self>) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.into_inner()))
    }
}

/// Room that is written in large pieces.
pub struct BufferedScratch<W: Write> {
    room: BufWriter<W>,
    finish: fn(W) -> io::Result<Arc<dyn ReadAt>>,
}

impl<W: Write> BufferedScratch<W> {
    /// The bytes of a piece.
    const PIECE_BYTES: usize = 1 << 18;

    /// Room that `finish` makes readable.
    pub fn new(room: W, finish: fn(W) -> io::Result<Arc<dyn ReadAt>>) -> Self {
        Self { room: BufWriter::with_capacity(Self::PIECE_BYTES, room), finish }
    }
}

impl<W: Write> Write for BufferedScratch<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.room.flush()
    }
}

impl<W: Write + Seek> Seek for BufferedScratch<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.room.seek(to)
    }
}

impl<W: Write + Seek> Scratch for BufferedScratch<W> {
    fn finish(self: Box<Self>) -> io::Result<Arc<dyn ReadAt>> {
        (self.finish)(self.room.into_inner().map_err(io::IntoInnerError::into_error)?)
    }
}

/// Where no files may be read.
#[derive(Debug)]
struct NoFiles;

impl Files for NoFiles {
    fn open(&self, _: &str) -> io::Result<Arc<dyn ReadAt>> {
        Err(io::Error::new(ErrorKind::PermissionDenied, "a scenario that is sent here cannot name files"))
    }
}

/// What resolved texts call a schedule by that is in a file: the SHA-256 of its binary form.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of_schedule(files: Arc<dyn Files>, name: &str) -> Result<String, String> {
    Ok(Library::new(files).trace(name, u32::MAX, u64::MAX)?.sha256)
}

/// A schedule that was read.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub schedule: Schedule,
    /// SHA-256 of its binary form, which is the same of text.
    pub sha256: String,
}

/// A list of messages, as it is found.
pub(crate) enum List {
    /// Comma-separated values.
    Text(String),
    Parquet(Arc<dyn ReadAt>),
}

/// The files of a document, and what was read of them: the runs of a sweep read a trace once.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    files: Arc<dyn Files>,
    traces: Arc<Mutex<BTreeMap<String, Trace>>>,
}

impl Default for Library {
    fn default() -> Self {
        Self::new(Arc::new(NoFiles))
    }
}

/// The first bytes of a schedule in binary form.
const BINARY: [u8; 8] = 4223u64.to_le_bytes();
/// Those of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

impl Library {
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, traces: Arc::default() }
    }

    /// The schedule in a file, as text, of no more than so many ranks and bytes, or in binary form.
    pub fn trace(&self, name: &str, ranks_max: u32, text_bytes_max: u64) -> Result<Trace, String> {
        if let Some(trace) = self.traces.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(trace.clone());
        }
        let file = self.files.open(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        let mut first = [0; BINARY.len()];
        let is_binary = file.read_exact_at(&mut first, 0).is_ok() && first == BINARY;
        let binary = if is_binary {
            file
        } else {
            check_size(&*file, name, text_bytes_max)?;
            self.binary(FromStart { file, offset: 0 }, name, ranks_max)?
        };
        let trace = trace_of(binary, name)?;
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), trace.clone());
        Ok(trace)
    }

    /// The schedule of a text of no more than so many ranks.
    pub fn trace_of_text(&self, text: &str, ranks_max: u32) -> Result<Trace, String> {
        trace_of(self.binary(text.as_bytes(), "the text", ranks_max)?, "the text")
    }

    /// The whole text of a file of no more than so many bytes, and its SHA-256.
    pub fn text(&self, name: &str, bytes_max: u64) -> Result<(String, String), String> {
        let file = self.files.open(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        check_size(&*file, name, bytes_max)?;
        whole_text(file, name)
    }

    /// The list in a file, as text, of no more than so many bytes, or as Parquet; and the SHA-256 of the file.
    pub fn list(&self, name: &str, bytes_max: u64) -> Result<(List, String), String> {
        let say = |error: io::Error| format!("cannot read {name}: {error}");
        let file = self.files.open(name).map_err(say)?;
        let mut first = [0; PARQUET.len()];
        if file.read_exact_at(&mut first, 0).is_ok() && first == PARQUET {
            let sha256 = sha256(file.clone()).map_err(say)?;
            return Ok((List::Parquet(file), sha256));
        }
        check_size(&*file, name, bytes_max)?;
        let (text, sha256) = whole_text(file, name)?;
        Ok((List::Text(text), sha256))
    }

    /// A text that is given, with its SHA-256.
    pub fn given(&self, text: &str) -> (String, String) {
        (text.to_owned(), hexadecimal(&Sha256::digest(text)))
    }

    fn binary(&self, text: impl Read, name: &str, ranks_max: u32) -> Result<Arc<dyn ReadAt>, String> {
        let say = |error: io::Error| format!("cannot make the binary form of {name}: {error}");
        let mut scratch = self.files.scratch().map_err(say)?;
        text_to_binary_within(BufReader::new(text), &mut scratch, ranks_max)
            .map_err(|error| format!("{name}: {error}"))?;
        scratch.finish().map_err(say)
    }
}

/// Refuses a text that is larger than may be read as a whole.
fn check_size(file: &dyn ReadAt, name: &str, bytes_max: u64) -> Result<(), String> {
    match file.len() {
        bytes if bytes <= bytes_max => Ok(()),
        bytes => Err(format!("{name} is a text of {bytes} bytes, the limit is {bytes_max}")),
    }
}

fn whole_text(file: Arc<dyn ReadAt>, name: &str) -> Result<(String, String), String> {
    let mut text = String::new();
    let read = FromStart { file, offset: 0 }.read_to_string(&mut text);
    read.map_err(|error| format!("cannot read {name}: {error}"))?;
    let sha256 = hexadecimal(&Sha256::digest(&text));
    Ok((text, sha256))
}

fn trace_of(binary: Arc<dyn ReadAt>, name: &str) -> Result<Trace, String> {
    let schedule = Schedule::open(Arc::clone(&binary)).map_err(|error| format!("{name}: {error}"))?;
    let sha256 = sha256(binary).map_err(|error| format!("cannot read {name}: {error}"))?;
    Ok(Trace { schedule, sha256 })
}

/// SHA-256 of a file, in hexadecimal.
fn sha256(file: Arc<dyn ReadAt>) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 16, FromStart { file, offset: 0 });
    loop {
        let piece = file.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        hash.update(piece);
        let taken = piece.len();
        file.consume(taken);
    }
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a file from some place to its end.
pub(crate) struct FromStart {
    pub file: Arc<dyn ReadAt>,
    pub offset: u64,
}

impl Read for FromStart {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.file.len() - self.offset).unwrap_or(usize::MAX);
        let count = bytes.len().min(left);
        self.file.read_exact_at(&mut bytes[..count], self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

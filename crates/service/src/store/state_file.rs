//! The state of a run as a file: a checksum, a heading in a line of its own, the state, and behind it a checksum of each block of it.
//!
//! The first checksum is that of all but the state, so that whoever needs only parts of the state has to read no others to know that they are what was
//! written. What a heading says is up to whoever writes one: a server keeps the states of its runs, and so does a run without a server.
//!
//! **The invariant it keeps:** a file is there as a whole or not at all, and what was changed is never taken for what was written.

use std::convert::Infallible;
use std::fs;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tailback_sim::{SnapshotError, StateSource};

use super::{StoreError, files};
use crate::access::hexadecimal;

/// Why a state is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is good for another program, or another scenario.
    #[error("{0}")]
    Other(String),
    /// It is not what was written.
    #[error("{0}")]
    Damaged(String),
}

/// Writes a state below its heading, by way of another file in the same file system.
///
/// # Errors
/// When the file cannot be written; the one before is then still there.
pub fn write_state<H: Serialize>(unfinished: &Path, path: &Path, heading: &H, state: &[u8]) -> Result<(), StoreError> {
    let show = |take: &mut dyn FnMut(&[u8])| -> Result<(), Infallible> {
        take(state);
        Ok(())
    };
    match write_state_by_pieces(unfinished, path, heading, show) {
        Ok(written) => written,
        Err(never) => match never {},
    }
}

/// The same of a state that `show` shows piece by piece, all of which it is asked for even if the file cannot be written.
///
/// # Errors
/// When `show` fails; and, inside, when the file cannot be written. The one before is then still there.
pub fn write_state_by_pieces<H: Serialize, E>(
    unfinished: &Path,
    path: &Path,
    heading: &H,
    show: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<Result<(), StoreError>, E> {
    let heading = serde_json::to_string(heading).expect("plain data") + "\n";
    let mut file = files::begin(unfinished).and_then(|mut file| {
        // The checksum comes when all is known.
        file.write_all(first_line(&[0; SUM_BYTES]).as_bytes())?;
        file.write_all(heading.as_bytes())?;
        Ok(file)
    });
    let mut sums = Sums::default();
    let shown = show(&mut |piece| {
        sums.add(piece);
        if let Ok(open) = &mut file
            && let Err(error) = open.write_all(piece)
        {
            file = Err(error);
        }
    });
    if let Err(error) = shown {
        let _ = fs::remove_file(unfinished);
        return Err(error);
    }
    let sums = sums.finish();
    let digest = Sha256::new().chain_update(&heading).chain_update(&sums).finalize();
    let written = file.and_then(|mut file| {
        file.write_all(&sums)?;
        file.rewind()?;
        file.write_all(first_line(&digest).as_bytes())?;
        Ok(file)
    });
    Ok(files::put_in_place(written, unfinished, path))
}

/// So many bytes of a state have a checksum: few enough that one may pass over regions and read of them only how long they are, and many enough that
/// checksums are a small part of the file.
const BLOCK_BYTES: usize = 16 << 10;
const SUM_BYTES: usize = 32;
/// The length of the state, at the very end.
const LENGTH_BYTES: usize = size_of::<u64>();

/// What the first line begins with; earlier versions had the checksum alone.
const MARK: &str = "state ";
const FIRST_LINE_BYTES: usize = MARK.len() + 2 * SUM_BYTES + 1;

fn first_line(digest: &[u8]) -> String {
    format!("{MARK}{}\n", hexadecimal(digest))
}

/// The checksums of blocks.
#[derive(Default)]
struct Sums {
    block: Sha256,
    /// Bytes of the state so far.
    bytes: u64,
    sums: Vec<u8>,
}

impl Sums {
    fn add(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let room = BLOCK_BYTES - (self.bytes % BLOCK_BYTES as u64) as usize;
            let (now, later) = piece.split_at(room.min(piece.len()));
            self.block.update(now);
            self.bytes += now.len() as u64;
            if now.len() == room {
                self.sums.extend(std::mem::take(&mut self.block).finalize());
            }
            piece = later;
        }
    }

    /// All of them, and how long the state is.
    fn finish(mut self) -> Vec<u8> {
        if !self.bytes.is_multiple_of(BLOCK_BYTES as u64) {
            self.sums.extend(self.block.finalize());
        }
        self.sums.extend(self.bytes.to_le_bytes());
        self.sums
    }
}

/// The state in a file, which is read block by block as far as it is wanted.
#[derive(Debug)]
pub struct StateFile<F> {
    file: F,
    /// Where the state begins in the file, and how long it is.
    start: u64,
    length: u64,
    sums: Vec<u8>,
    /// What comes next of it.
    next: u64,
    /// Whole blocks that were read, and which the first of them is.
    held: Vec<u8>,
    first_held: u64,
}

impl<F: Read + Seek> StateFile<F> {
    /// Opens a file, with its heading.
    ///
    /// # Errors
    /// When it is something else, or what stands around the state is not what was written.
    pub fn of<H: DeserializeOwned>(mut file: F) -> Result<(H, Self), Unfit> {
        let found = read_around(&mut file).map_err(|error| Unfit::Damaged(error.to_string()))?;
        let Around { heading, start, length, sums } = found?;
        let heading =
            serde_json::from_slice(&heading).map_err(|_| Unfit::Other("its heading is unknown".to_owned()))?;
        Ok((heading, Self { file, start, length, sums, next: 0, held: Vec::new(), first_held: 0 }))
    }

    /// All of the state.
    fn all(mut self) -> Result<Vec<u8>, Unfit> {
        match self.peek(usize::MAX) {
            Ok(_) => Ok(self.held),
            Err(SnapshotError::Damaged(reason)) => Err(Unfit::Damaged(reason)),
            Err(error) => Err(Unfit::Damaged(error.to_string())),
        }
    }

    /// Reads the next block that is not held, which must be what was written.
    fn hold_more(&mut self) -> io::Result<bool> {
        let at = self.first_held + self.held.len() as u64;
        let length = (self.length - at).min(BLOCK_BYTES as u64) as usize;
        self.file.seek(SeekFrom::Start(self.start + at))?;
        let before = self.held.len();
        self.held.resize(before + length, 0);
        self.file.read_exact(&mut self.held[before..])?;
        let sum = &self.sums[(at / BLOCK_BYTES as u64) as usize * SUM_BYTES..][..SUM_BYTES];
        Ok(*sum == *Sha256::digest(&self.held[before..]))
    }
}

impl<F: Read + Seek> StateSource for StateFile<F> {
    fn peek(&mut self, most: usize) -> Result<&[u8], SnapshotError> {
        let until = self.next.saturating_add(most as u64).min(self.length);
        while self.first_held + (self.held.len() as u64) < until {
            match self.hold_more() {
                Ok(true) => {}
                Ok(false) => return Err(SnapshotError::Damaged(UNFIT_SUM.to_owned())),
                Err(error) => return Err(SnapshotError::Damaged(error.to_string())),
            }
        }
        Ok(&self.held[(self.next - self.first_held) as usize..(until - self.first_held) as usize])
    }

    fn skip(&mut self, bytes: usize) -> Result<(), SnapshotError> {
        if bytes as u64 > self.length - self.next {
            return Err(SnapshotError::Damaged("it ends early".to_owned()));
        }
        self.next += bytes as u64;
        let block = self.next / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
        let gone = (block - self.first_held).min(self.held.len() as u64);
        self.held.drain(..gone as usize);
        self.first_held = block;
        Ok(())
    }
}

const UNFIT_SUM: &str = "its checksum does not fit";

/// What stands in a file around the state.
struct Around {
    heading: Vec<u8>,
    start: u64,
    length: u64,
    sums: Vec<u8>,
}

fn read_around<F: Read + Seek>(file: &mut F) -> io::Result<Result<Around, Unfit>> {
    let damaged = |reason: &str| Ok(Err(Unfit::Damaged(reason.to_owned())));
    let earlier = || Ok(Err(Unfit::Other("an earlier version of the program wrote it".to_owned())));
    file.rewind()?;
    let mut lines = io::BufReader::new(&mut *file);
    let first = line(&mut lines, FIRST_LINE_BYTES)?;
    if first.first() == Some(&b'{') || (first.len() == 2 * SUM_BYTES + 1 && first.ends_with(b"\n")) {
        return earlier();
    }
    if !first.ends_with(b"\n") {
        return damaged("it has no checksum");
    }
    let heading = line(&mut lines, usize::MAX)?;
    let start = (first.len() + heading.len()) as u64;
    let end = file.seek(SeekFrom::End(0))?;
    let Some(length_at) = end.checked_sub(LENGTH_BYTES as u64).filter(|at| *at >= start) else {
        return damaged(UNFIT_SUM);
    };
    file.seek(SeekFrom::Start(length_at))?;
    let mut length = [0; LENGTH_BYTES];
    file.read_exact(&mut length)?;
    let blocks = u64::from_le_bytes(length).div_ceil(BLOCK_BYTES as u64);
    let sums_bytes = blocks.saturating_mul(SUM_BYTES as u64);
    if start.saturating_add(u64::from_le_bytes(length)).saturating_add(sums_bytes) != length_at {
        return damaged(UNFIT_SUM);
    }
    file.seek(SeekFrom::Start(length_at - sums_bytes))?;
    let mut sums = vec![0; sums_bytes as usize];
    file.read_exact(&mut sums)?;
    let digest = Sha256::new().chain_update(&heading).chain_update(&sums).chain_update(length).finalize();
    if first != first_line(&digest).as_bytes() {
        return damaged(UNFIT_SUM);
    }
    let heading = heading.strip_suffix(b"\n").unwrap_or(&heading).to_vec();
    Ok(Ok(Around { heading, start, length: u64::from_le_bytes(length), sums }))
}

/// A line with its end, or so many bytes.
fn line(file: &mut impl BufRead, most: usize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    Read::take(file, most as u64).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The heading and the state of a file that holds `bytes`.
///
/// # Errors
/// When it holds something else.
pub fn read_state<H: DeserializeOwned>(bytes: &[u8]) -> Result<(H, Vec<u8>), Unfit> {
    let (heading, state) = StateFile::of(Cursor::new(bytes))?;
    Ok((heading, state.all()?))
}

/// Refuses what another version of the program wrote, or a state in another format.
///
/// # Errors
/// When it is one of these.
pub fn refuse_other_programs(found: (u32, &str), expected: (u32, &str)) -> Result<(), Unfit> {
    if found == expected {
        return Ok(());
    }
    let ((format, version), (own_format, own)) = (found, expected);
    Err(Unfit::Other(format!("version {version} wrote it, in format {format}; this is {own}, with {own_format}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state of some blocks as a file.
    fn file(state: &[u8]) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("state");
        write_state(&folder.path().join("unfinished"), &path, &7, state).expect("it can be written");
        fs::read(path).expect("it is there")
    }

    fn state(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|byte| (byte % 251) as u8).collect()
    }

    #[test]
    fn what_was_written_is_read_back_whatever_its_length() {
        for bytes in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES] {
            let state = state(bytes);
            assert_eq!(read_state::<u32>(&file(&state)), Ok((7, state)), "{bytes}");
        }
    }

    #[test]
    fn what_is_passed_over_is_not_looked_at() {
        let state = state(5 * BLOCK_BYTES);
        let mut bytes = file(&state);
        let start = bytes.len() - state.len() - 5 * SUM_BYTES - LENGTH_BYTES;
        bytes[start + 2 * BLOCK_BYTES] ^= 1;
        assert_eq!(read_state::<u32>(&bytes), Err(Unfit::Damaged(UNFIT_SUM.to_owned())));
        let (_, mut file) = StateFile::of::<u32>(Cursor::new(&bytes)).expect("what is around it is whole");
        assert_eq!(file.peek(10).expect("it is whole"), &state[..10]);
        file.skip(3 * BLOCK_BYTES + 5).expect("there is more");
        assert_eq!(file.peek(BLOCK_BYTES).expect("it is whole"), &state[3 * BLOCK_BYTES + 5..][..BLOCK_BYTES]);
        assert!(file.held.len() <= 2 * BLOCK_BYTES, "no more is held than is needed");
        file.skip(2 * BLOCK_BYTES - 5).expect("that is its end");
        assert_eq!(file.peek(1), Ok(&[][..]));
        assert!(file.skip(1).is_err());
    }

    #[test]
    fn files_of_earlier_versions_are_told_from_damaged_ones() {
        let earlier = format!("{}\n7\nstate", hexadecimal(&Sha256::digest("7\nstate")));
        assert!(matches!(read_state::<u32>(earlier.as_bytes()), Err(Unfit::Other(_))));
        for damaged in ["", "state", "a file of somebody else\n", "state 00\n7\n"] {
            assert!(matches!(read_state::<u32>(damaged.as_bytes()), Err(Unfit::Damaged(_))), "{damaged}");
        }
        let whole = file(&state(100));
        for cut in 0..whole.len() {
            assert!(read_state::<u32>(&whole[..cut]).is_err(), "cut off after {cut} bytes");
        }
    }
}

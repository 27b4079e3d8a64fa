//! Where a binary schedule lies.

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// Something that can be read at any place: a file, or bytes in memory.
///
/// A reader is shared by all ranks, so it must not keep a place of its own.
pub trait ReadAt: Send + Sync + Debug {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Fills `bytes` with what lies from `offset` on.
    ///
    /// # Errors
    /// When there is less, or it cannot be read.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;

    /// Whether there is nothing.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        copy(self, bytes, offset)
    }
}

impl ReadAt for Arc<[u8]> {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        copy(self, bytes, offset)
    }
}

fn copy(from: &[u8], bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let start = usize::try_from(offset).ok();
    let end = start.and_then(|start| start.checked_add(bytes.len()));
    let piece = start.zip(end).and_then(|(start, end)| from.get(start..end));
    bytes.copy_from_slice(piece.ok_or(ErrorKind::UnexpectedEof)?);
    Ok(())
}

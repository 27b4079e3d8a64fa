//! Writing a simulation down and reading it back.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something whose changing state can be written and read back into an equal twin.
///
/// Only what changes is written. What follows from the model's description is rebuilt from that
/// description before [`Snapshot::load`] is called.
pub trait Snapshot {
    /// Appends the state to `bytes`.
    ///
    /// # Errors
    /// When the state cannot be written.
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError>;

    /// Takes the state from the front of `bytes`, and the bytes it used with it.
    ///
    /// # Errors
    /// When the bytes do not hold such a state; `self` is then not to be used.
    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError>;
}

/// Why a snapshot cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes end early or hold something else.
    #[error("the snapshot is damaged: {0}")]
    Damaged(String),
    /// It was written by another kind of simulation.
    #[error("the snapshot does not fit: it has {found} {what}, this simulation has {expected}")]
    Mismatch {
        /// What does not fit.
        what: &'static str,
        /// What the snapshot says.
        found: u64,
        /// What this simulation needs.
        expected: u64,
    },
}

impl From<postcard::Error> for SnapshotError {
    fn from(error: postcard::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// Where a state is read from, front to back: who needs only parts of it passes over the others, which need not be there yet.
pub trait StateSource {
    /// The next bytes, as many as these unless it ends before; they stay the next.
    ///
    /// # Errors
    /// When they are not what was written.
    fn peek(&mut self, most: usize) -> Result<&[u8], SnapshotError>;

    /// Passes over so many bytes.
    ///
    /// # Errors
    /// When it ends before.
    fn skip(&mut self, bytes: usize) -> Result<(), SnapshotError>;
}

impl StateSource for &[u8] {
    fn peek(&mut self, most: usize) -> Result<&[u8], SnapshotError> {
        Ok(&self[..most.min(self.len())])
    }

    fn skip(&mut self, bytes: usize) -> Result<(), SnapshotError> {
        *self = self.get(bytes..).ok_or_else(|| SnapshotError::Damaged("it ends early".to_owned()))?;
        Ok(())
    }
}

/// Takes a value from the front of a state, which takes no more bytes than these.
///
/// # Errors
/// When they do not hold one.
pub fn take_value<T: DeserializeOwned>(source: &mut dyn StateSource, most: usize) -> Result<T, SnapshotError> {
    let mut bytes = source.peek(most)?;
    let before = bytes.len();
    let value = read_value(&mut bytes)?;
    let taken = before - bytes.len();
    source.skip(taken)?;
    Ok(value)
}

/// Appends `value` to `bytes`.
///
/// # Errors
/// When the value's own `Serialize` refuses.
pub fn write_value<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
    let taken = std::mem::take(bytes);
    *bytes = postcard::to_extend(value, taken)?;
    Ok(())
}

/// Takes a value from the front of `bytes`.
///
/// # Errors
/// When the bytes do not hold one.
pub fn read_value<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, SnapshotError> {
    let (value, rest) = postcard::take_from_bytes(bytes)?;
    *bytes = rest;
    Ok(value)
}

//! What a model gives the kernel: regions, and what they send each other.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::snapshot::{SnapshotError, read_value, write_value};
use crate::{Outbox, Tick};

/// A part of the simulated world that advances on its own for one window at a time.
pub trait Region: Send {
    /// What one region has for another at the end of a window.
    type Mail: Mail;

    /// A tick before which this region has nothing to do; [`crate::NEVER`] when it is idle for good.
    ///
    /// It may be too early, never too late: the kernel jumps to the earliest of all regions.
    fn next_tick(&self) -> Tick;

    /// Takes over what another region sent. The effect must not depend on the order in which senders are served.
    fn receive(&mut self, mail: &Self::Mail);

    /// Simulates everything before `until`, and puts what is for other regions into `outbox`.
    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Self::Mail>);

    /// How many events it has handled so far. The kernel shares out work by this measure; it cannot change results.
    fn events(&self) -> u64;
}

/// What one region sends another in one window, kept as suits the model.
pub trait Mail: Default + Send + Sync + Serialize + DeserializeOwned {
    /// Empties it.
    fn clear(&mut self);

    /// Appends it to a letter for another rank. Models whose letters are long write them in a way that is quicker.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, letter: &mut Vec<u8>) -> Result<(), SnapshotError> {
        write_value(self, letter)
    }

    /// Takes it from the front of a letter; what it is read into is empty.
    ///
    /// # Errors
    /// When there is something else.
    fn read(&mut self, letter: &mut &[u8]) -> Result<(), SnapshotError> {
        *self = read_value(letter)?;
        Ok(())
    }
}

/// The simplest mail: a list of messages, each with the tick of its arrival.
impl<M: Send + Sync + Serialize + DeserializeOwned> Mail for Vec<(Tick, M)> {
    fn clear(&mut self) {
        self.clear();
    }
}

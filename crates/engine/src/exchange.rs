//! What processes that share a simulation tell each other.
//!
//! Each process is a rank, and simulates some of the regions. At the end of each window all ranks [swap](Exchange::swap) what
//! their regions have sent to regions of others, and a [`Notice`] each, from which all of them conclude the same. That is
//! all: there is one meeting for each window.
//!
//! **What this module must never know:** by which means ranks reach each other.
//!
//! **The invariant it keeps:** a rank that has gone away is an error of all that wait for it, never a wrong number.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::{NEVER, Tick};

/// How many numbers a model can add to a notice.
pub const FIGURES: usize = 4;

/// What a rank tells all others at the end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When its regions, or what they have sent, have something to do next.
    pub next: Tick,
    /// Whether all are to stop.
    pub stop: bool,
    /// What the model says of itself, if it was asked.
    pub figures: [u64; FIGURES],
}

/// Of a rank that has nothing to do and nothing to say.
impl Default for Notice {
    fn default() -> Self {
        Self { next: NEVER, stop: false, figures: [0; FIGURES] }
    }
}

/// Why ranks cannot go on together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// A rank has ended early.
    #[error("rank {0} is gone")]
    Gone(usize),
    /// What was sent is not what was received.
    #[error("what rank {rank} has sent cannot be read: {reason}")]
    Garbled {
        /// Who has sent it.
        rank: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Ranks are not about the same simulation.
    #[error("rank {rank} simulates something else: {what}")]
    Different {
        /// Which one differs from this.
        rank: usize,
        /// In what.
        what: &'static str,
    },
}

/// How a rank reaches the others.
pub trait Exchange: Send {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// Gives each rank the letter for it and the notice of this one, and puts the letters and notices of the others in their
    /// places, by rank. All ranks call it equally often; what has its own number stays as it is.
    ///
    /// # Errors
    /// When another rank is gone.
    fn swap(&mut self, letters: &mut [Vec<u8>], notices: &mut [Notice]) -> Result<(), ExchangeError>;
}

/// An exchange between threads of one process: for tests, as regions of one process need none.
#[derive(Debug)]
pub struct InProcess {
    rank: usize,
    /// By rank.
    senders: Vec<Sender<(Vec<u8>, Notice)>>,
    receivers: Vec<Receiver<(Vec<u8>, Notice)>>,
}

impl InProcess {
    /// The ends of so many ranks.
    #[must_use]
    pub fn ranks(ranks: usize) -> Vec<Self> {
        let mut all: Vec<Self> =
            (0..ranks).map(|rank| Self { rank, senders: Vec::new(), receivers: Vec::new() }).collect();
        for from in 0..ranks {
            for to in 0..ranks {
                let (sender, receiver) = channel();
                all[from].senders.push(sender);
                all[to].receivers.push(receiver);
            }
        }
        all
    }
}

impl Exchange for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.senders.len()
    }

    fn swap(&mut self, letters: &mut [Vec<u8>], notices: &mut [Notice]) -> Result<(), ExchangeError> {
        let own = notices[self.rank];
        let others = || (0..self.senders.len()).filter(|&rank| rank != self.rank);
        for rank in others() {
            let sent = self.senders[rank].send((std::mem::take(&mut letters[rank]), own));
            sent.map_err(|_| ExchangeError::Gone(rank))?;
        }
        for rank in others() {
            let received = self.receivers[rank].recv().map_err(|_| ExchangeError::Gone(rank))?;
            (letters[rank], notices[rank]) = received;
        }
        Ok(())
    }
}

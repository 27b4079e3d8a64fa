//! All processes that were started together.

use mpi::collective::CommunicatorCollectives as _;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::{Count, Threading};
use tailback_engine::{Exchange, ExchangeError, FIGURES, Notice};

use crate::JoinError;

/// The length of a letter and of all letters of its sender, when there is something to do next, whether to stop, and the
/// figures.
const WORDS: usize = 4 + FIGURES;

/// All processes, as one of them sees them. They part when it is dropped.
pub(crate) struct World {
    rank: usize,
    ranks: usize,
    /// By rank: what is said, and what was heard.
    said: Vec<u64>,
    heard: Vec<u64>,
    /// All letters one behind the other, and where each begins and how long it is.
    sending: Letters,
    receiving: Letters,
    _universe: Universe,
}

#[derive(Default)]
struct Letters {
    bytes: Vec<u8>,
    counts: Vec<Count>,
    starts: Vec<Count>,
}

impl Letters {
    /// Room for letters of these lengths.
    fn lay_out(&mut self, lengths: impl Iterator<Item = usize>) {
        self.counts.clear();
        self.starts.clear();
        let mut start = 0;
        for length in lengths {
            self.counts.push(length as Count);
            self.starts.push(start as Count);
            start += length;
        }
        assert!(start <= Count::MAX as usize, "what is sent in one window fits into 2 GiB");
    }

    fn len(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}

impl World {
    /// Meets the others.
    pub fn join() -> Result<Self, JoinError> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized).ok_or(JoinError::Threads)?;
        if threading < Threading::Serialized {
            return Err(JoinError::Threads);
        }
        let world = universe.world();
        let (rank, ranks) = (world.rank() as usize, world.size() as usize);
        let words = vec![0; ranks * WORDS];
        let (sending, receiving) = (Letters::default(), Letters::default());
        Ok(Self { rank, ranks, said: words.clone(), heard: words, sending, receiving, _universe: universe })
    }
}

impl Exchange for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn swap(&mut self, letters: &mut [Vec<u8>], notices: &mut [Notice]) -> Result<(), ExchangeError> {
        let world = SimpleCommunicator::world();
        let own = self.rank;
        let length = |(rank, letter): (usize, &Vec<u8>)| if rank == own { 0 } else { letter.len() };
        let Notice { next, stop, figures } = notices[own];
        self.sending.lay_out(letters.iter().enumerate().map(length));
        let all = self.sending.len();
        for (words, &count) in self.said.chunks_exact_mut(WORDS).zip(&self.sending.counts) {
            words[..4].copy_from_slice(&[count as u64, all as u64, next, u64::from(stop)]);
            words[4..].copy_from_slice(&figures);
        }
        world.all_to_all_into(&self.said[..], &mut self.heard[..]);
        self.receiving.lay_out(self.heard.chunks_exact(WORDS).map(|words| words[0] as usize));
        // All come to the same conclusion.
        if self.heard.chunks_exact(WORDS).any(|words| words[1] > 0) {
            self.swap_letters(&world, letters);
        }
        self.read(letters, notices);
        Ok(())
    }
}

impl World {
    fn swap_letters(&mut self, world: &SimpleCommunicator, letters: &[Vec<u8>]) {
        let own = self.rank;
        self.sending.bytes.clear();
        let others = letters.iter().enumerate().filter(|&(rank, _)| rank != own);
        others.for_each(|(_, letter)| self.sending.bytes.extend_from_slice(letter));
        // Where there is nothing to send or to receive MPI still wants a place for it.
        let length = self.sending.len().max(1);
        self.sending.bytes.resize(length, 0);
        let length = self.receiving.len().max(1);
        self.receiving.bytes.resize(length, 0);
        let Letters { bytes, counts, starts } = &self.sending;
        let sending = Partition::new(&bytes[..], &counts[..], &starts[..]);
        let Letters { bytes, counts, starts } = &mut self.receiving;
        let mut receiving = PartitionMut::new(&mut bytes[..], &counts[..], &starts[..]);
        world.all_to_all_varcount_into(&sending, &mut receiving);
    }

    /// Puts what was heard into its places.
    fn read(&self, letters: &mut [Vec<u8>], notices: &mut [Notice]) {
        for rank in (0..self.ranks).filter(|&rank| rank != self.rank) {
            let words = &self.heard[rank * WORDS..][..WORDS];
            let figures = words[4..].try_into().expect("there are as many");
            notices[rank] = Notice { next: words[2], stop: words[3] != 0, figures };
            let start = self.receiving.starts[rank] as usize;
            letters[rank].clear();
            letters[rank].extend_from_slice(&self.receiving.bytes[start..][..words[0] as usize]);
        }
    }
}

/// To part takes all, and those who wait for one that has failed would wait for ever.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            abort(101);
        }
    }
}

/// Ends all processes at once.
pub(crate) fn abort(code: i32) -> ! {
    SimpleCommunicator::world().abort(code)
}

//! What messages carry, and how large that is.

/// How a vector is cut into blocks: as evenly as whole flits allow, the first ones larger by 1 where it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub flits: u64,
    pub blocks: u32,
}

/// The blocks that a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// Blocks that follow each other, counted round.
    Run { first: u32, count: u32 },
    /// Of all blocks that each rank has for each other, those at rank `at` that still have 2^`bit` ranks to go, once
    /// the lower bits of their way are done.
    Hops { at: u32, bit: u32 },
}

impl Layout {
    /// The flits of the first `count` blocks, which no other as many blocks exceed.
    pub(super) fn first(&self, count: u32) -> u64 {
        let blocks = u64::from(self.blocks);
        let count = u64::from(count);
        self.flits / blocks * count + count.min(self.flits % blocks)
    }

    /// The flits of the largest block.
    pub(super) fn largest_block(&self) -> u64 {
        self.first(1)
    }

    /// The flits of all blocks that a message carries.
    pub(super) fn flits(&self, carried: Carried) -> u64 {
        match carried {
            Carried::Run { first, count } => self.flits_of_run(first, count),
            Carried::Hops { at, bit } => self.flits_of_hops(u64::from(at), bit),
        }
    }

    fn flits_of_run(&self, first: u32, count: u32) -> u64 {
        let end = u64::from(first) + u64::from(count);
        match end.checked_sub(u64::from(self.blocks)) {
            Some(round) => self.flits - self.first(first) + self.first(round as u32),
            None => self.first(end as u32) - self.first(first),
        }
    }

    /// A block with `way` ranks to go in all is for the rank that lies `way`, without its lower bits, after `at`. So
    /// the larger ones, which are for the first ranks, are those whose way is in two spans.
    fn flits_of_hops(&self, at: u64, bit: u32) -> u64 {
        let ranks = u64::from(self.blocks);
        let (each, larger) = (self.flits / ranks, self.flits % ranks);
        let round_up = |way: u64| way.div_ceil(1 << bit) << bit;
        let below = |way: u64| with_bit(ranks.min(round_up(way)), bit);
        let without_wrap = below(larger.saturating_sub(at));
        let with_wrap = below(ranks - at + larger) - below(ranks - at);
        each * with_bit(ranks, bit) + without_wrap + with_wrap
    }
}

/// How many numbers below `end` have a bit set.
pub(super) fn with_bit(end: u64, bit: u32) -> u64 {
    (end >> (bit + 1) << bit) + (end & ((2 << bit) - 1)).saturating_sub(1 << bit)
}

#[cfg(test)]
impl Carried {
    /// The blocks of a [`Carried::Run`].
    pub(crate) fn of_vector(self, blocks: u32) -> Vec<u32> {
        let Self::Run { first, count } = self else { panic!("{self:?} is of an exchange") };
        (first..first + count).map(|block| block % blocks).collect()
    }

    /// The blocks of an exchange among `ranks` ranks: who has each, and for whom.
    pub(crate) fn of_exchange(self, sender: u32, ranks: u32) -> Vec<(u32, u32)> {
        match self {
            Self::Run { .. } => self.of_vector(ranks).into_iter().map(|to| (sender, to)).collect(),
            Self::Hops { at, bit } => {
                let ways = (0..ranks).filter(|way| way >> bit & 1 == 1);
                let ends = |way| (at + ranks - way % (1 << bit), at + (way >> bit << bit));
                ways.map(ends).map(|(from, to)| (from % ranks, to % ranks)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_cut_evenly() {
        let layout = Layout { flits: 17, blocks: 5 };
        let sizes: Vec<u64> = (0..5).map(|first| layout.flits(Carried::Run { first, count: 1 })).collect();
        assert_eq!(sizes, [4, 4, 3, 3, 3]);
        assert_eq!(layout.flits(Carried::Run { first: 4, count: 3 }), 11, "runs go round");
        assert_eq!(layout.flits(Carried::Run { first: 0, count: 5 }), 17);
        assert_eq!(layout.flits(Carried::Run { first: 3, count: 5 }), 17);
    }

    #[test]
    fn hops_are_as_large_as_their_blocks() {
        for ranks in 2..40 {
            for flits in [1, u64::from(ranks) - 1, u64::from(ranks), 3 * u64::from(ranks) + 5] {
                let layout = Layout { flits, blocks: ranks };
                for (at, bit) in (0..ranks).flat_map(|at| (0..6).map(move |bit| (at, bit))) {
                    let carried = Carried::Hops { at, bit };
                    let block = |(_, to)| layout.flits(Carried::Run { first: to, count: 1 });
                    let sum: u64 = carried.of_exchange(at, ranks).into_iter().map(block).sum();
                    assert_eq!(layout.flits(carried), sum, "{carried:?} of {ranks}");
                }
            }
        }
    }
}

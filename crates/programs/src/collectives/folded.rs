//! Halving and doubling: ranks exchange in pairs, over ways that halve or double.
//!
//! This needs a power of two. Of other numbers of ranks the surplus is folded in before: of the first ranks, two by
//! two, the even one hands over to the odd one, which acts for both, and gets the result at the end.

use super::layout::Carried;
use super::rounds::{InRounds, Rounds};
use super::tree::reducing;
use super::{CollectiveModel, NODES, REDUCE, vector};

pub(super) const ALL_REDUCE_DOUBLING: CollectiveModel = CollectiveModel {
    name: "allreduce-doubling",
    summary: "all ranks get the sum of the vectors of all: whole vectors are exchanged with ranks 1, 2, 4, ... away",
    example: "collective.allreduce-doubling.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank"), REDUCE],
    build: |values, setting| reducing(Folded::new(setting.ranks, Exchange::Whole), values),
};

pub(super) const ALL_REDUCE_RABENSEIFNER: CollectiveModel = CollectiveModel {
    name: "allreduce-rabenseifner",
    summary: "all ranks get the sum of the vectors of all: halves, quarters, ... are exchanged and summed up, then gathered",
    example: "collective.allreduce-rabenseifner.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank"), REDUCE],
    build: |values, setting| reducing(Folded::new(setting.ranks, Exchange::HalvesAndBack), values),
};

pub(super) const REDUCE_SCATTER_HALVING: CollectiveModel = CollectiveModel {
    name: "reducescatter-halving",
    summary: "each rank gets its block of the sum of the vectors of all: halves, quarters, ... are exchanged and summed up",
    example: "collective.reducescatter-halving.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank, of which it keeps a block"), REDUCE],
    build: |values, setting| reducing(Folded::new(setting.ranks, Exchange::Halves), values),
};

pub(super) const ALL_GATHER_DOUBLING: CollectiveModel = CollectiveModel {
    name: "allgather-doubling",
    summary: "all ranks get the blocks of all: 1, 2, 4, ... blocks are exchanged with ranks 1, 2, 4, ... away",
    example: "collective.allgather-doubling.bytes = 1024",
    parameters: &[NODES, vector("the blocks of all ranks together")],
    build: |values, setting| {
        let algorithm = Folded::new(setting.ranks, Exchange::Gathered);
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

/// What pairs exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// The whole vector, to be combined.
    Whole,
    /// The half that the other one keeps of what is left, to be combined; the farthest first, so that blocks end up in
    /// order.
    Halves,
    /// The same, the nearest first, so that most data goes the shortest way; then all the way back, to be kept.
    HalvesAndBack,
    /// All that has been gathered.
    Gathered,
}

/// Exchanges in pairs among as many places as the largest power of two that the ranks fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded {
    ranks: u32,
    exchange: Exchange,
    /// The binary logarithm of the number of places.
    doublings: u32,
    /// Ranks without a place.
    surplus: u32,
}

/// What happens in a round.
#[derive(Clone, Copy)]
enum Act {
    FoldIn,
    Exchange(u32),
    FoldOut,
}

impl Folded {
    pub(crate) fn new(ranks: u32, exchange: Exchange) -> Self {
        let doublings = ranks.ilog2();
        Self { ranks, exchange, doublings, surplus: ranks - (1 << doublings) }
    }

    fn places(self) -> u32 {
        1 << self.doublings
    }

    fn exchanges(self) -> u32 {
        if self.exchange == Exchange::HalvesAndBack { 2 * self.doublings } else { self.doublings }
    }

    fn act(self, round: u32) -> Act {
        let folds = self.surplus > 0;
        if folds && round == 0 {
            return Act::FoldIn;
        }
        let exchange = round - u32::from(folds);
        if exchange < self.exchanges() { Act::Exchange(exchange) } else { Act::FoldOut }
    }

    /// Whether a rank hands over to the next, which acts for it.
    fn is_folded(self, rank: u32) -> bool {
        rank < 2 * self.surplus && rank.is_multiple_of(2)
    }

    /// Whether a rank acts for the one before.
    fn is_double(self, rank: u32) -> bool {
        rank < 2 * self.surplus && rank % 2 == 1
    }

    /// The place of a rank that is not folded.
    fn place(self, rank: u32) -> u32 {
        if rank < 2 * self.surplus { rank / 2 } else { rank - self.surplus }
    }

    fn rank_at(self, place: u32) -> u32 {
        if place < self.surplus { 2 * place + 1 } else { place + self.surplus }
    }

    /// The first of the ranks whose blocks belong to a place; those of places that follow each other follow, too.
    fn first_block(self, place: u32) -> u32 {
        place + place.min(self.surplus)
    }

    /// The bit of the place in which partners of an exchange differ.
    fn bit(self, exchange: u32) -> u32 {
        match self.exchange {
            Exchange::Halves => self.doublings - 1 - exchange,
            Exchange::HalvesAndBack if exchange >= self.doublings => 2 * self.doublings - 1 - exchange,
            Exchange::Whole | Exchange::HalvesAndBack | Exchange::Gathered => exchange,
        }
    }

    fn partner(self, rank: u32, exchange: u32) -> Option<u32> {
        (!self.is_folded(rank)).then(|| self.rank_at(self.place(rank) ^ 1 << self.bit(exchange)))
    }

    fn exchanged(self, place: u32, exchange: u32) -> Carried {
        let bit = self.bit(exchange);
        match self.exchange {
            Exchange::Whole => self.whole(),
            Exchange::Halves => self.blocks_of(place ^ 1 << bit, bit),
            Exchange::Gathered => self.blocks_of(place, bit),
            // On the way there it sends what its partner keeps, on the way back what it has itself.
            Exchange::HalvesAndBack if exchange < self.doublings => self.kept(place ^ 1 << bit, bit),
            Exchange::HalvesAndBack => self.kept(place, bit),
        }
    }

    /// The blocks of all places that differ from one at most in the `bits` lowest bits.
    fn blocks_of(self, place: u32, bits: u32) -> Carried {
        let start = place >> bits << bits;
        let first = self.first_block(start);
        Carried::Run { first, count: self.first_block(start + (1 << bits)) - first }
    }

    /// What a place keeps once it has halved the vector by the bits up to `bit`, the lowest first.
    fn kept(self, place: u32, bit: u32) -> Carried {
        let bits = bit + 1;
        let halves = place & ((1 << bits) - 1);
        let first = halves.reverse_bits() >> (u32::BITS - self.doublings);
        Carried::Run { first, count: self.places() >> bits }
    }

    fn whole(self) -> Carried {
        Carried::Run { first: 0, count: self.blocks() }
    }
}

impl Rounds for Folded {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        self.exchanges() + if self.surplus > 0 { 2 } else { 0 }
    }

    fn blocks(&self) -> u32 {
        match self.exchange {
            Exchange::Whole => 1,
            Exchange::HalvesAndBack => self.places(),
            Exchange::Halves | Exchange::Gathered => self.ranks,
        }
    }

    fn blocks_most(&self) -> u32 {
        if self.surplus > 0 { self.blocks() } else { self.blocks().div_ceil(2) }
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        match self.act(round) {
            Act::FoldIn => self.is_folded(rank).then(|| rank + 1),
            Act::Exchange(exchange) => self.partner(rank, exchange),
            Act::FoldOut => self.is_double(rank).then(|| rank - 1),
        }
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        match self.act(round) {
            Act::FoldIn => self.is_double(rank).then(|| rank - 1),
            Act::Exchange(exchange) => self.partner(rank, exchange),
            Act::FoldOut => self.is_folded(rank).then(|| rank + 1),
        }
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        let block = |first| Carried::Run { first, count: 1 };
        match self.act(round) {
            Act::FoldIn if self.exchange == Exchange::Gathered => block(rank),
            Act::FoldOut if self.exchange == Exchange::Halves => block(rank - 1),
            Act::FoldIn | Act::FoldOut => self.whole(),
            Act::Exchange(exchange) => self.exchanged(self.place(rank), exchange),
        }
    }

    fn combines(&self, round: u32) -> bool {
        match self.act(round) {
            Act::FoldIn => self.exchange != Exchange::Gathered,
            Act::Exchange(exchange) => match self.exchange {
                Exchange::Whole | Exchange::Halves => true,
                Exchange::HalvesAndBack => exchange < self.doublings,
                Exchange::Gathered => false,
            },
            Act::FoldOut => false,
        }
    }

    fn messages(&self) -> u64 {
        u64::from(self.places()) * u64::from(self.exchanges()) + 2 * u64::from(self.surplus)
    }

    fn phases(&self) -> Vec<&'static str> {
        match self.exchange {
            Exchange::Whole => vec!["all-reduce"],
            Exchange::Halves => vec!["reduce-scatter"],
            Exchange::HalvesAndBack => vec!["reduce-scatter", "all-gather"],
            Exchange::Gathered => vec!["all-gather"],
        }
    }

    fn phase(&self, round: u32) -> u32 {
        let back = self.exchange == Exchange::HalvesAndBack && !self.combines(round);
        u32::from(back)
    }
}

//! Rings: each rank sends to the next and receives from the one before, a block in each round.

use super::layout::Carried;
use super::rounds::{InRounds, Rounds, Then, ahead, behind};
use super::tree::reducing;
use super::{CollectiveModel, NODES, REDUCE, vector};

pub(super) const ALL_REDUCE: CollectiveModel = CollectiveModel {
    name: "allreduce-ring",
    summary: "all ranks get the sum of the vectors of all: each block goes round to be summed up, and round again",
    example: "collective.allreduce-ring.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank"), REDUCE],
    build: |values, setting| reducing(all_reduce(setting.ranks), values),
};

pub(super) const REDUCE_SCATTER: CollectiveModel = CollectiveModel {
    name: "reducescatter-ring",
    summary: "each rank gets its block of the sum of the vectors of all: each block goes round to be summed up",
    example: "collective.reducescatter-ring.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank, of which it keeps a block"), REDUCE],
    build: |values, setting| reducing(ReduceScatter { ranks: setting.ranks }, values),
};

pub(super) const ALL_GATHER: CollectiveModel = CollectiveModel {
    name: "allgather-ring",
    summary: "all ranks get the blocks of all: each block goes round",
    example: "collective.allgather-ring.bytes = 1024",
    parameters: &[NODES, vector("the blocks of all ranks together")],
    build: |values, setting| {
        let algorithm = AllGather { ranks: setting.ranks };
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

/// Each block begins after the rank that it is for, and gathers what all have to it on its way there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReduceScatter {
    pub ranks: u32,
}

/// Each block begins at the rank that has it, and goes to all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllGather {
    pub ranks: u32,
}

/// The one, then the other.
pub(crate) type AllReduce = Then<ReduceScatter, AllGather>;

/// The all-reduce of a ring.
pub(crate) fn all_reduce(ranks: u32) -> AllReduce {
    Then(ReduceScatter { ranks }, AllGather { ranks })
}

fn messages(ranks: u32) -> u64 {
    u64::from(ranks) * (u64::from(ranks) - 1)
}

impl Rounds for ReduceScatter {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        self.ranks - 1
    }

    fn blocks(&self) -> u32 {
        self.ranks
    }

    fn blocks_most(&self) -> u32 {
        1
    }

    fn to(&self, rank: u32, _round: u32) -> Option<u32> {
        Some(ahead(rank, 1, self.ranks))
    }

    fn from(&self, rank: u32, _round: u32) -> Option<u32> {
        Some(behind(rank, 1, self.ranks))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        Carried::Run { first: behind(rank, round + 1, self.ranks), count: 1 }
    }

    fn combines(&self, _round: u32) -> bool {
        true
    }

    fn messages(&self) -> u64 {
        messages(self.ranks)
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["reduce-scatter"]
    }
}

impl Rounds for AllGather {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        self.ranks - 1
    }

    fn blocks(&self) -> u32 {
        self.ranks
    }

    fn blocks_most(&self) -> u32 {
        1
    }

    fn to(&self, rank: u32, _round: u32) -> Option<u32> {
        Some(ahead(rank, 1, self.ranks))
    }

    fn from(&self, rank: u32, _round: u32) -> Option<u32> {
        Some(behind(rank, 1, self.ranks))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        Carried::Run { first: behind(rank, round, self.ranks), count: 1 }
    }

    fn messages(&self) -> u64 {
        messages(self.ranks)
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["all-gather"]
    }
}

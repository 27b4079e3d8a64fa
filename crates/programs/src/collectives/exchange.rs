//! All ranks to all: each has a block for each, or the same block for all.

use super::layout::{Carried, Layout, with_bit};
use super::rounds::{InRounds, Rounds, ahead, behind, doublings};
use super::{CollectiveModel, NODES, vector};
use tailback_parameters::{Kind, Parameter};

pub(super) const ALL_TO_ALL_PAIRWISE: CollectiveModel = CollectiveModel {
    name: "alltoall-pairwise",
    summary: "each rank has a block for each other: it sends to the one 1, 2, 3, ... ranks further on",
    example: "collective.alltoall-pairwise.bytes = 1024",
    parameters: &[
        NODES,
        vector("the blocks of a rank for all ranks together, its own among them"),
        Parameter {
            name: "window",
            kind: Kind::Integer { min: 1, max: u32::MAX as u64 },
            default: Some("1"),
            help: "how many exchanges of a rank are under way at once",
        },
    ],
    build: |values, setting| {
        let algorithm = Pairwise { ranks: setting.ranks };
        let steps = InRounds::new(algorithm, values.amount("bytes"), "bytes")?;
        Ok(Box::new(steps.window(values.integer("window"))))
    },
};

pub(super) const ALL_TO_ALL_BRUCK: CollectiveModel = CollectiveModel {
    name: "alltoall-bruck",
    summary: "each rank has a block for each other: blocks go 1, 2, 4, ... ranks on, together with those that go as far",
    example: "collective.alltoall-bruck.bytes = 1024",
    parameters: &[NODES, vector("the blocks of a rank for all ranks together, its own among them")],
    build: |values, setting| {
        let algorithm = Bruck { ranks: setting.ranks };
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

pub(super) const ALL_GATHER_BRUCK: CollectiveModel = CollectiveModel {
    name: "allgather-bruck",
    summary: "all ranks get the blocks of all: 1, 2, 4, ... blocks go to the rank 1, 2, 4, ... before",
    example: "collective.allgather-bruck.bytes = 1024",
    parameters: &[NODES, vector("the blocks of all ranks together")],
    build: |values, setting| {
        let algorithm = Gathering { ranks: setting.ranks };
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

/// Each block goes straight to the rank that it is for, one in each round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairwise {
    pub ranks: u32,
}

/// A block that has a way of `w` ranks to go makes a hop in the rounds whose bit is set in `w`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bruck {
    pub ranks: u32,
}

/// A rank has 1, 2, 4, ... blocks from its own on, and passes on as many as are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gathering {
    pub ranks: u32,
}

impl Rounds for Pairwise {
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

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        Some(ahead(rank, round + 1, self.ranks))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        Some(behind(rank, round + 1, self.ranks))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        Carried::Run { first: ahead(rank, round + 1, self.ranks), count: 1 }
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.rounds())
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["all-to-all"]
    }
}

impl Rounds for Bruck {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        doublings(self.ranks)
    }

    fn blocks(&self) -> u32 {
        self.ranks
    }

    fn blocks_most(&self) -> u32 {
        (0..self.rounds()).map(|bit| with_bit(self.ranks.into(), bit) as u32).max().unwrap_or(0)
    }

    /// The large blocks are for the first ranks, so all of a message may be large.
    fn largest(&self, layout: &Layout) -> u64 {
        u64::from(self.blocks_most()) * layout.largest_block()
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        Some(ahead(rank, 1 << round, self.ranks))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        Some(behind(rank, 1 << round, self.ranks))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        Carried::Hops { at: rank, bit: round }
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.rounds())
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["all-to-all"]
    }
}

impl Rounds for Gathering {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        doublings(self.ranks)
    }

    fn blocks(&self) -> u32 {
        self.ranks
    }

    fn blocks_most(&self) -> u32 {
        self.ranks.div_ceil(2)
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        Some(behind(rank, 1 << round, self.ranks))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        Some(ahead(rank, 1 << round, self.ranks))
    }

    fn carried(&self, rank: u32, round: u32) -> Carried {
        let there = 1 << round;
        Carried::Run { first: rank, count: there.min(self.ranks - there) }
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.rounds())
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["all-gather"]
    }
}

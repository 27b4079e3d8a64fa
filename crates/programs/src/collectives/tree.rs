//! Barrier, broadcast and reduction: algorithms that reach all ranks in as many rounds as doublings do.

use tailback_parameters::{BuildError, Values};

use super::layout::Carried;
use super::rounds::{InRounds, Rounds, Then, ahead, behind, doublings};
use super::{Built, CollectiveModel, NODES, REDUCE, ROOT, Setting, bytes, combining, vector};

pub(super) const BARRIER: CollectiveModel = CollectiveModel {
    name: "barrier",
    summary: "no rank goes on before all have come, by dissemination: each tells one 1, 2, 4, ... ranks further on",
    example: "collective = \"barrier\"",
    parameters: &[NODES, bytes(Some("1"), "the size of each message")],
    build: |values, setting| {
        let algorithm = Dissemination { ranks: setting.ranks };
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

pub(super) const BROADCAST: CollectiveModel = CollectiveModel {
    name: "broadcast",
    summary: "all ranks get the vector of one, along a binomial tree",
    example: "collective.broadcast.bytes = 1024",
    parameters: &[NODES, vector("the vector of the root"), ROOT],
    build: |values, setting| {
        let algorithm = Broadcast(Tree { ranks: setting.ranks, root: root(values, setting)? });
        Ok(Box::new(InRounds::new(algorithm, values.amount("bytes"), "bytes")?))
    },
};

pub(super) const REDUCE_TO_ROOT: CollectiveModel = CollectiveModel {
    name: "reduce",
    summary: "one rank gets the sum of the vectors of all, along a binomial tree",
    example: "collective.reduce.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank"), ROOT, REDUCE],
    build: |values, setting| {
        let algorithm = Reduction(Tree { ranks: setting.ranks, root: root(values, setting)? });
        reducing(algorithm, values)
    },
};

pub(super) const ALL_REDUCE: CollectiveModel = CollectiveModel {
    name: "allreduce-tree",
    summary: "all ranks get the sum of the vectors of all: up a binomial tree to rank 0, and down again",
    example: "collective.allreduce-tree.bytes = 1024",
    parameters: &[NODES, vector("the vector of each rank"), REDUCE],
    build: |values, setting| {
        let tree = Tree { ranks: setting.ranks, root: 0 };
        reducing(Then(Reduction(tree), Broadcast(tree)), values)
    },
};

/// A dissemination: in each round a rank tells another, twice as far as in the round before, whom it has heard of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dissemination {
    pub ranks: u32,
}

/// The binomial tree of all ranks, counted round from the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub ranks: u32,
    pub root: u32,
}

/// From the root to all: the farthest first, which has most to pass on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broadcast(pub Tree);

/// From all to the root: the reverse of a broadcast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction(pub Tree);

/// A reducing algorithm as its parameters want it.
pub(super) fn reducing<A: Rounds + 'static>(algorithm: A, values: &Values) -> Built {
    let steps = InRounds::new(algorithm, values.amount("bytes"), "bytes")?;
    Ok(Box::new(steps.combining(combining(values))))
}

fn root(values: &Values, setting: &Setting) -> Result<u32, BuildError> {
    let root = values.integer("root");
    if root < setting.ranks {
        return Ok(root);
    }
    let message = format!("rank {root} does not exist: there are ranks 0..={}", setting.ranks - 1);
    Err(BuildError::at("root", message).help("take one of these, or more nodes"))
}

/// Everything is one block.
const WHOLE: Carried = Carried::Run { first: 0, count: 1 };

impl Rounds for Dissemination {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn rounds(&self) -> u32 {
        doublings(self.ranks)
    }

    fn blocks(&self) -> u32 {
        1
    }

    fn blocks_most(&self) -> u32 {
        1
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        Some(ahead(rank, 1 << round, self.ranks))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        Some(behind(rank, 1 << round, self.ranks))
    }

    fn carried(&self, _rank: u32, _round: u32) -> Carried {
        WHOLE
    }

    fn messages(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.rounds())
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["barrier"]
    }
}

impl Tree {
    fn rounds(self) -> u32 {
        doublings(self.ranks)
    }

    /// The child that a rank has 2^`bit` places further on.
    fn child(self, rank: u32, bit: u32) -> Option<u32> {
        let place = behind(rank, self.root, self.ranks);
        let inner = place.trailing_zeros() > bit && self.ranks - place > 1 << bit;
        inner.then(|| ahead(rank, 1 << bit, self.ranks))
    }

    /// The parent of a rank, if it is 2^`bit` places before.
    fn parent(self, rank: u32, bit: u32) -> Option<u32> {
        let place = behind(rank, self.root, self.ranks);
        (place.trailing_zeros() == bit).then(|| behind(rank, 1 << bit, self.ranks))
    }

    fn messages(self) -> u64 {
        u64::from(self.ranks) - 1
    }
}

impl Broadcast {
    fn bit(self, round: u32) -> u32 {
        self.0.rounds() - 1 - round
    }
}

impl Rounds for Broadcast {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn rounds(&self) -> u32 {
        self.0.rounds()
    }

    fn blocks(&self) -> u32 {
        1
    }

    fn blocks_most(&self) -> u32 {
        1
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        self.0.child(rank, self.bit(round))
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        self.0.parent(rank, self.bit(round))
    }

    fn carried(&self, _rank: u32, _round: u32) -> Carried {
        WHOLE
    }

    fn messages(&self) -> u64 {
        self.0.messages()
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["broadcast"]
    }
}

impl Rounds for Reduction {
    fn ranks(&self) -> u32 {
        self.0.ranks
    }

    fn rounds(&self) -> u32 {
        self.0.rounds()
    }

    fn blocks(&self) -> u32 {
        1
    }

    fn blocks_most(&self) -> u32 {
        1
    }

    fn to(&self, rank: u32, round: u32) -> Option<u32> {
        self.0.parent(rank, round)
    }

    fn from(&self, rank: u32, round: u32) -> Option<u32> {
        self.0.child(rank, round)
    }

    fn carried(&self, _rank: u32, _round: u32) -> Carried {
        WHOLE
    }

    fn combines(&self, _round: u32) -> bool {
        true
    }

    fn messages(&self) -> u64 {
        self.0.messages()
    }

    fn phases(&self) -> Vec<&'static str> {
        vec!["reduce"]
    }
}

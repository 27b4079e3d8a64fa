//! Programs: nodes whose messages wait for other messages.
//!
//! A [`Program`] is what the ranks of a job do. Each rank is a [`Machine`] without clock and queue: it is told what happens to it and says
//! what it wants, so it can be driven by a network, or by a test without one. A [`Job`] is a program with the nodes that its ranks run on.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a rank wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A message to another rank, which is told `word` with it.
    Send {
        /// The rank.
        to: u32,
        /// How large it is.
        flits: u32,
        /// What is told with it.
        word: u64,
    },
    /// To be told when so many ticks, at least one, are over.
    Wait {
        /// How many.
        ticks: u64,
        /// What is told then.
        token: u32,
    },
    /// Nothing: it has come to the end of a phase. At the end of the last one it is done.
    Reached {
        /// The place of the phase among those of the program.
        phase: u16,
    },
}

/// What a rank that is not done waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    /// The rank that would have to act, if it is one.
    pub of: Option<u32>,
    /// What it waits for, as in "a message with tag 3 from rank 2".
    pub what: String,
}

/// A rank of a program. What it does follows from what it is told, in this order, and from nothing else.
pub trait Machine: Debug + Send {
    /// The program begins.
    fn start(&mut self, actions: &mut Vec<Action>);

    /// The last packet of a message to rank `to` has left for the first time. Told only where the program asks for that.
    fn sent(&mut self, _to: u32, _word: u64, _actions: &mut Vec<Action>) {}

    /// A message from rank `from` has arrived as a whole.
    fn received(&mut self, from: u32, word: u64, actions: &mut Vec<Action>);

    /// What it waited for is over.
    fn elapsed(&mut self, _token: u32, _actions: &mut Vec<Action>) {}

    /// What it waits for; nothing when it is done, and perhaps not all there is.
    fn wants(&self) -> Vec<Want>;

    /// Writes its state down.
    fn save(&self, bytes: &mut Vec<u8>);

    /// Reads a state back that such a machine has written; none if it is damaged.
    fn load(&mut self, bytes: &mut &[u8]) -> Option<()>;
}

/// What the ranks of a job do.
pub trait Program: Debug + Send + Sync {
    /// How many there are.
    fn ranks(&self) -> u32;

    /// The names of its phases: at least one.
    fn phases(&self) -> Vec<String>;

    /// How many messages all ranks send together.
    fn messages(&self) -> u64;

    /// Whether ranks are told that messages have left.
    fn hears_of_departures(&self) -> bool;

    /// A rank before its start.
    fn machine(&self, rank: u32) -> Box<dyn Machine>;
}

/// A program and where it runs.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the ranks do.
    pub program: Arc<dyn Program>,
    /// When it starts.
    pub start_cycle: u64,
    /// By rank: its node.
    nodes: Arc<[u32]>,
    /// By node: its rank.
    ranks: Arc<BTreeMap<u32, u32>>,
}

impl Job {
    /// A program whose ranks run on `nodes`, each on one of its own.
    ///
    /// # Panics
    /// When there are not as many of them as ranks, or two are the same.
    #[must_use]
    pub fn new(program: Arc<dyn Program>, nodes: Vec<u32>, start_cycle: u64) -> Self {
        let ranks: BTreeMap<u32, u32> = nodes.iter().copied().zip(0..).collect();
        assert_eq!(nodes.len(), program.ranks() as usize, "each rank has a node");
        assert_eq!(nodes.len(), ranks.len(), "each rank has a node of its own");
        Self { program, start_cycle, nodes: nodes.into(), ranks: Arc::new(ranks) }
    }

    /// The node of a rank.
    #[must_use]
    pub fn node_of(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// The rank that runs on a node, if one does.
    #[must_use]
    pub fn rank_of(&self, node: u32) -> Option<u32> {
        self.ranks.get(&node).copied()
    }

    /// By rank: its node.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }
}

/// Two jobs are the same if they are one.
impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.program, &other.program) && self.start_cycle == other.start_cycle && self.nodes == other.nodes
    }
}

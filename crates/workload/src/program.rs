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

/// What a message is, of those that cross the network for one that a rank sends another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// All there is.
    Whole,
    /// The announcement of the one that has this number between its two ranks.
    Announcement(u32),
    /// The answer to it.
    Answer(u32),
    /// What was announced.
    Data(u32),
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

    /// How many of them go from a rank to another of which this holds. Takes as long as it takes to look at all messages.
    fn messages_between(&self, holds: &dyn Fn(u32, u32) -> bool) -> u64;

    /// What is in it that its author may not have meant to be simulated as it is, in whole sentences without a full stop.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }

    /// What a message is with which this word is told.
    fn part(&self, _word: u64) -> Part {
        Part::Whole
    }

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
    /// What messages take between ranks of a node, which do not cross the network.
    pub within_node: WithinNode,
    /// By rank: its node.
    nodes: Arc<[u32]>,
    /// By rank: its place among the ranks of its node.
    places: Arc<[u8]>,
    /// By node: its ranks, in ascending order.
    ranks: Arc<BTreeMap<u32, Vec<u32>>>,
    /// How many messages cross the network.
    messages: u64,
}

/// What a message takes from a rank to another of the same node: the same for each, however many are on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WithinNode {
    /// Ticks that any takes.
    pub latency_ticks: u64,
    /// Flits that are copied in a tick; 0: all at once.
    pub flits_per_tick: f64,
}

impl WithinNode {
    /// Ticks from handing a message over to its arrival.
    #[must_use]
    pub fn ticks(&self, flits: u32) -> u64 {
        let copying = if self.flits_per_tick > 0.0 { f64::from(flits) / self.flits_per_tick } else { 0.0 };
        // More than all time there is lasts for all time there is.
        self.latency_ticks.saturating_add(copying.ceil() as u64)
    }
}

/// The most ranks of a program on a node.
pub const RANKS_PER_NODE_MAX: u32 = 256;

impl Job {
    /// A program whose ranks run on `nodes`, of which several may be the same.
    ///
    /// # Panics
    /// When there are not as many of them as ranks, or one would run more than [`RANKS_PER_NODE_MAX`].
    #[must_use]
    pub fn new(program: Arc<dyn Program>, nodes: Vec<u32>, start_cycle: u64) -> Self {
        assert_eq!(nodes.len(), program.ranks() as usize, "each rank has a node");
        let mut ranks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let place = |(&node, rank): (&u32, u32)| {
            let here = ranks.entry(node).or_default();
            here.push(rank);
            u8::try_from(here.len() - 1).expect("a node runs no more ranks of a program than are allowed")
        };
        let places: Arc<[u8]> = nodes.iter().zip(0..).map(place).collect();
        let messages = if ranks.len() == nodes.len() {
            program.messages()
        } else {
            program.messages_between(&|from, to| nodes[from as usize] != nodes[to as usize])
        };
        let (nodes, ranks) = (nodes.into(), Arc::new(ranks));
        Self { program, start_cycle, within_node: WithinNode::default(), nodes, places, ranks, messages }
    }

    /// The same where messages between ranks of a node take so long.
    #[must_use]
    pub fn with_messages_within_nodes(self, within_node: WithinNode) -> Self {
        Self { within_node, ..self }
    }

    /// How many messages cross the network: those between ranks of different nodes.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Whether some node runs several ranks.
    #[must_use]
    pub fn shares_nodes(&self) -> bool {
        self.ranks.len() < self.nodes.len()
    }

    /// The node of a rank.
    #[must_use]
    pub fn node_of(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }

    /// The place of a rank among those of its node.
    #[must_use]
    pub fn place_of(&self, rank: u32) -> u8 {
        self.places[rank as usize]
    }

    /// The ranks that run on a node, in ascending order.
    #[must_use]
    pub fn ranks_at(&self, node: u32) -> &[u32] {
        self.ranks.get(&node).map_or(&[], Vec::as_slice)
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
        Arc::ptr_eq(&self.program, &other.program)
            && (self.start_cycle, self.within_node) == (other.start_cycle, other.within_node)
            && self.nodes == other.nodes
    }
}

//! How much a scenario may ask of whoever reads it: looked at before the work that it bounds.

use std::fmt;

use tailback_routing::deadlock::STATES_MAX;
use tailback_topology::NODES_MAX;

/// How much a scenario may ask of whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Nodes of the network, and routers; also ranks of a program, of which a node may run several.
    pub nodes: u64,
    /// Nodes that sets and patterns list one by one, counted each time that one is read. Nodes that follow each other, as in
    /// `"all"` and `"0..64"`, are not listed.
    pub listed_nodes: u64,
    /// Pairs of groups of a dragonfly: routing keeps the links between each two.
    pub group_pairs: u64,
    /// Values that overrides set, each text counted by its length, wherever they are set.
    pub set_values: u64,
    /// Steps of ranks of programs that are gone through one by one, to count the messages of which large ones are announced or some stay within a node.
    pub program_steps: u64,
    /// States of packets that are looked at where only following all paths tells whether packets can wait for each other in a circle.
    pub path_states: u64,
    /// Bytes of a file or text that is read as a whole: a list of messages, or a schedule that is not in binary form.
    pub text_bytes: u64,
}

impl Default for Bounds {
    /// What a machine of one's own can be asked for.
    fn default() -> Self {
        Self {
            nodes: NODES_MAX,
            listed_nodes: 1 << 28,
            group_pairs: 1 << 28,
            set_values: 1 << 20,
            program_steps: 1 << 30,
            path_states: STATES_MAX,
            text_bytes: u64::MAX,
        }
    }
}

/// What a scenario may ask for too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded {
    /// Nodes of the network.
    Nodes,
    /// Routers of the network.
    Routers,
    /// Nodes that are listed one by one.
    ListedNodes,
    /// Pairs of groups of a dragonfly.
    GroupPairs,
    /// Values that overrides set.
    SetValues,
    /// Steps of ranks of programs that are gone through one by one.
    ProgramSteps,
    /// Ranks of a program.
    Ranks,
    /// States of packets on all paths.
    PathStates,
}

impl fmt::Display for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nodes => "nodes",
            Self::Routers => "routers",
            Self::ListedNodes => "nodes listed one by one",
            Self::GroupPairs => "pairs of groups",
            Self::SetValues => "values",
            Self::ProgramSteps => "steps",
            Self::Ranks => "ranks",
            Self::PathStates => "states of packets on their paths",
        })
    }
}

/// A bound that a scenario has exceeded: what comes behind it was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// What there is too much of.
    pub what: Bounded,
    /// How much the scenario asks for, as far as it was read.
    pub asked: u64,
    /// How much it may.
    pub allowed: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, asked, allowed } = self;
        match what {
            Bounded::Nodes | Bounded::Routers | Bounded::GroupPairs => {
                write!(f, "the network has {asked} {what}, the limit is {allowed}")
            }
            Bounded::ListedNodes => {
                write!(f, "sets and patterns have {asked} {what} so far, the limit is {allowed}")
            }
            Bounded::ProgramSteps => {
                write!(
                    f,
                    "ranks of programs that announce large messages or share nodes have {asked} {what}, the limit is {allowed}"
                )
            }
            Bounded::PathStates => write!(
                f,
                "whether packets can wait for each other in a circle is known after {asked} {what} or more, the limit is {allowed}"
            ),
            Bounded::Ranks => write!(f, "the program has {asked} {what}, the limit is {allowed}"),
            Bounded::SetValues => write!(f, "overrides set {asked} {what} and more, the limit is {allowed}"),
        }
    }
}

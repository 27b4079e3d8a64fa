//! Which message is traced: found before anything is simulated, as sources depend on seed and node alone; ranks of programs do not, so their
//! messages are counted while they are simulated.

use std::fmt;

use tailback_network::{TracedMessage, Which};
use tailback_scenario::Scenario;
use tailback_topology::NodeId;
use tailback_workload::Traffic;

/// One of the messages that a node offers for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageChoice {
    /// The node that sends it.
    pub source: NodeId,
    /// The node that it is for.
    pub destination: NodeId,
    /// Its number among those that the one offers for the other, from 0 on; lost ones count, and those of a program that are announced count once.
    pub number: u64,
}

/// Why there is no such message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchMessage {
    /// A node does not exist.
    #[error("there is no node {node}: the network has {nodes} nodes, from 0 on")]
    NoNode {
        /// The node.
        node: NodeId,
        /// How many there are.
        nodes: u32,
    },
    /// No flow has the node send itself anything over the network.
    #[error("node {0} is both the source and the destination")]
    SameNode(NodeId),
    /// There are not so many.
    #[error(
        "there is no message {} of node {} for node {}: {} offered in {cycles} cycles, counted from 0",
        choice.number, choice.source, choice.destination,
        match offered { 0 => "none is".to_owned(), 1 => "1 is".to_owned(), _ => format!("{offered} are") }
    )]
    TooFew {
        /// What was asked for.
        choice: MessageChoice,
        /// How many there are.
        offered: u64,
        /// In how many cycles.
        cycles: u64,
        /// The nodes that its source offers messages for, the first few.
        destinations: Vec<NodeId>,
    },
}

/// How many nodes are named that a source offers messages for.
const DESTINATIONS_NAMED: usize = 5;

impl NoSuchMessage {
    /// What could be asked for instead.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let Self::TooFew { choice: MessageChoice { source, .. }, destinations, .. } = self else { return None };
        let named: Vec<String> = destinations.iter().map(NodeId::to_string).collect();
        Some(match named.as_slice() {
            [] => format!("node {source} offers no messages at all"),
            [one] => format!("node {source} offers messages for node {one}"),
            several => format!("the first messages of node {source} are for nodes {}", several.join(", ")),
        })
    }
}

impl fmt::Display for MessageChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, destination, number } = self;
        write!(f, "message {number} of node {source} for node {destination}")
    }
}

impl MessageChoice {
    /// The message of a scenario.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn find(self, scenario: &Scenario) -> Result<TracedMessage, NoSuchMessage> {
        let Self { source, destination, number } = self;
        let nodes = scenario.topology.built.graph().nodes();
        if let Some(node) = [source, destination].into_iter().find(|&node| node >= nodes) {
            return Err(NoSuchMessage::NoNode { node, nodes });
        }
        let sends_itself = |flow: &Traffic| {
            flow.sources.contains(source) && flow.phases().iter().any(|phase| phase.pattern.may_choose_source(source))
        };
        if source == destination && !scenario.workload.flows.iter().any(sends_itself) {
            return Err(NoSuchMessage::SameNode(source));
        }
        if scenario.workload.jobs().any(|(_, job)| !job.ranks_at(source).is_empty()) {
            // Nobody knows before the run when ranks send what.
            return Ok(TracedMessage { source, destination, which: Which::Nth(number) });
        }
        let cycles = scenario.measure.warmup + scenario.measure.cycles;
        let mut processes = scenario.workload.processes(source, scenario.seed);
        let (mut offered, mut destinations) = (0, Vec::new());
        loop {
            // Of equal cycles the first process acts first, as in the node.
            let due = processes.iter_mut().filter_map(|process| Some((process.next_cycle()?, process)));
            let Some((cycle, process)) = due.min_by_key(|&(cycle, _)| cycle).filter(|&(cycle, _)| cycle < cycles)
            else {
                return Err(NoSuchMessage::TooFew { choice: self, offered, cycles, destinations });
            };
            let traffic = process.traffic;
            let request = process.fire(&scenario.workload.flows[usize::from(traffic)], source);
            if destinations.len() < DESTINATIONS_NAMED && !destinations.contains(&request.destination) {
                destinations.push(request.destination);
            }
            if request.destination == destination {
                if offered == number {
                    let created = cycle * u64::from(scenario.clock.ticks_per_cycle);
                    return Ok(TracedMessage { source, destination, which: Which::Offered { traffic, created } });
                }
                offered += 1;
            }
        }
    }
}

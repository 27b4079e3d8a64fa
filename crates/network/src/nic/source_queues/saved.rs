//! How waiting messages are written down.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ByFlow, Dealing, Destination, InTurn, List, Order, SourceQueues, Store, Waiting};

/// What is written of the waiting messages: the directory follows from the destinations.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    order: Order,
    dealing: Dealing,
    injection_queues_per_node: usize,
    injection_queues: Vec<List>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
    turns: BTreeMap<u64, u8>,
    in_turn: Option<InTurn>,
}

impl From<SourceQueues> for Saved {
    fn from(queues: SourceQueues) -> Self {
        let SourceQueues { order, dealing, injection_queues_per_node, injection_queues, messages, in_turn, .. } =
            queues;
        let (destinations, turns) = (queues.destinations, queues.turns.into_iter().collect());
        Self { order, dealing, injection_queues_per_node, injection_queues, messages, destinations, turns, in_turn }
    }
}

impl From<Saved> for SourceQueues {
    fn from(saved: Saved) -> Self {
        let Saved {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues,
            messages,
            destinations,
            turns,
            in_turn,
        } = saved;
        let mut directory = ByFlow::default();
        if order != Order::Fifo {
            let free: BTreeSet<u32> = destinations.free.iter().copied().collect();
            let used = (0..destinations.records.len() as u32).filter(|queue| !free.contains(queue));
            directory.extend(used.map(|queue| (destinations.records[queue as usize].key, queue)));
        }
        let turns = turns.into_iter().collect();
        Self {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues,
            messages,
            destinations,
            directory,
            turns,
            in_turn,
        }
    }
}

//! How waiting messages are written down.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ByFlow, Dealing, Destination, List, NONE, Order, SourceQueues, Store, Waiting};

/// What is written of the waiting messages: the directory follows from the destinations.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    order: Order,
    dealing: Dealing,
    injection_queues_per_node: usize,
    injection_queues: Vec<List>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
    /// Of how many nodes here, and of how many in the network, the directory is.
    directory: (u32, u32),
    turns: ByFlow<u8>,
}

impl From<SourceQueues> for Saved {
    fn from(queues: SourceQueues) -> Self {
        let SourceQueues {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues,
            known: _,
            messages,
            destinations,
            directory,
            turns,
        } = queues;
        let directory = directory.sizes();
        Self { order, dealing, injection_queues_per_node, injection_queues, messages, destinations, directory, turns }
    }
}

/// Which injection queues of each node have a first one that is known, where destinations take turns by number.
fn known(order: &Order, injection_queues_per_node: usize, injection_queues: &[List]) -> Vec<u32> {
    if !matches!(order, Order::InTurn(_)) {
        return Vec::new();
    }
    let of_node = |lists: &[List]| {
        (0..).zip(lists).filter(|(_, list)| list.first != NONE).fold(0, |known, (number, _)| known | 1 << number)
    };
    injection_queues.chunks(injection_queues_per_node).map(of_node).collect()
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
            directory,
            turns,
        } = saved;
        let mut directory = ByFlow::new(directory.0, directory.1, NONE);
        let free: BTreeSet<u32> = destinations.free.iter().copied().collect();
        for (queue, record) in (0..).zip(&destinations.records).filter(|(queue, _)| !free.contains(queue)) {
            *directory.get_mut(record.node, record.destination) = queue;
        }
        let known = known(&order, injection_queues_per_node, &injection_queues);
        Self {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues,
            known,
            messages,
            destinations,
            directory,
            turns,
        }
    }
}

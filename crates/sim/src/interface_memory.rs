//! What network interfaces keep for each of those that they send to or receive from.

use tailback_hardware::{Delivery, NetworkSpec, SourceQueues};
use tailback_scenario::Scenario;
use tailback_workload::{Arrival, Traffic};

/// A place for each destination in which its queue stands, where destinations take turns by number, and a bit for each that waits in an injection queue.
const TURN_BYTES: u64 = 4;
const WORD_BITS: u64 = u64::BITS as u64;
/// What source and sink remember of a flow whose packets are put in order, in tables that are half full.
const FLOW_BYTES: u64 = 100;
/// Which draws of slots are a flow's, from one change of loads to the next.
const SHARE_BYTES: u64 = 24;

/// Bytes that interfaces take on top of the state of their nodes, of flows that send so many messages.
pub(crate) fn interface_bytes(scenario: &Scenario, messages: u64) -> u64 {
    let nodes = u64::from(scenario.topology.built.graph().nodes());
    turns_bytes(&scenario.network, nodes)
        + order_bytes(&scenario.network, nodes, messages)
        + shares_bytes(&scenario.workload.flows)
}

fn turns_bytes(spec: &NetworkSpec, nodes: u64) -> u64 {
    if spec.nic.queues != SourceQueues::InTurn {
        return 0;
    }
    let words = nodes.div_ceil(WORD_BITS) * u64::from(spec.classes[0].vcs[0]);
    nodes * (nodes * TURN_BYTES + words * size_of::<u64>() as u64)
}

fn order_bytes(spec: &NetworkSpec, nodes: u64, messages: u64) -> u64 {
    if spec.nic.delivery != Delivery::InOrder {
        return 0;
    }
    messages.min(nodes * nodes) * FLOW_BYTES
}

/// Each source of a flow remembers all changes of those before it.
fn shares_bytes(flows: &[Traffic]) -> u64 {
    let (mut changes, mut bytes) = (0, 0);
    for flow in flows.iter().filter(|flow| matches!(flow.arrival, Arrival::Slots { .. })) {
        changes += flow.phases().len() as u64;
        bytes += changes * u64::from(flow.sources.len()) * SHARE_BYTES;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use tailback_scenario::Document;

    use super::*;

    #[test]
    fn turns_order_and_shares_of_slots_are_counted() {
        let text = include_str!("../../../tests/scenarios/clos-slots.toml");
        let scenario = Document::read("scenario.toml", text).resolve().expect("it has no mistakes");
        let (spec, flows) = (&scenario.network, &scenario.workload.flows);
        // 16 nodes with a queue for each of 16 destinations, and a word for each of four channels.
        assert_eq!(turns_bytes(spec, 16), 16 * (16 * 4 + 4 * 8));
        assert_eq!(order_bytes(spec, 16, 1_000_000), 256 * 100);
        assert_eq!(order_bytes(spec, 16, 3), 300);
        // The first flow has one share at each node, and the second two.
        assert_eq!(shares_bytes(flows), 16 * (1 + 2) * 24);
        assert_eq!(interface_bytes(&scenario, 3), 1536 + 300 + 1152);
    }
}

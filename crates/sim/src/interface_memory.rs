//! What network interfaces keep for each of those that they send to or receive from.

use tailback_hardware::{Delivery, InjectionVc, NetworkSpec, SourceQueues};
use tailback_network::TABLE_FLOWS_MAX;
use tailback_scenario::Scenario;
use tailback_workload::{Arrival, Traffic};

/// The place of a flow, in networks that have tables of flows, for its queue, and for the channel of its next packet.
const QUEUE_BYTES: u64 = 4;
const CHANNEL_BYTES: u64 = 1;
/// The same for what source and sink remember if its packets are put in order, and what they take of a flow that has sent any, in maps that are half full
/// or with what waits.
const ORDER_BYTES: u64 = 12;
const FLOW_BYTES: u64 = 100;
/// Where destinations take turns by number each injection queue has a bit for each that waits in it.
const WORD_BITS: u64 = u64::BITS as u64;
/// Which draws of slots are a flow's, from one change of loads to the next.
const SHARE_BYTES: u64 = 24;

/// Bytes that interfaces take on top of the state of their nodes, of flows that send so many messages.
pub(crate) fn interface_bytes(scenario: &Scenario, messages: u64) -> u64 {
    let nodes = u64::from(scenario.topology.built.graph().nodes());
    queue_bytes(&scenario.network, nodes)
        + turns_bytes(&scenario.network, nodes)
        + order_bytes(&scenario.network, nodes, messages)
        + shares_bytes(&scenario.workload.flows)
}

/// How many flows have places in tables.
fn places(nodes: u64) -> u64 {
    let flows = nodes * nodes;
    if flows <= TABLE_FLOWS_MAX { flows } else { 0 }
}

fn queue_bytes(spec: &NetworkSpec, nodes: u64) -> u64 {
    let queues = if spec.nic.queues == SourceQueues::Fifo { 0 } else { QUEUE_BYTES };
    let channels = if matches!(spec.nic.vc_choice, InjectionVc::Rotation { .. }) { CHANNEL_BYTES } else { 0 };
    places(nodes) * (queues + channels)
}

fn turns_bytes(spec: &NetworkSpec, nodes: u64) -> u64 {
    if spec.nic.queues != SourceQueues::InTurn {
        return 0;
    }
    let words = nodes.div_ceil(WORD_BITS) * u64::from(spec.classes[0].vcs[0]);
    nodes * words * size_of::<u64>() as u64
}

fn order_bytes(spec: &NetworkSpec, nodes: u64, messages: u64) -> u64 {
    if spec.nic.delivery != Delivery::InOrder {
        return 0;
    }
    places(nodes) * ORDER_BYTES + messages.min(nodes * nodes) * FLOW_BYTES
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
        // 256 flows with a queue and a channel, of 16 nodes with a word for each of four channels.
        assert_eq!((queue_bytes(spec, 16), turns_bytes(spec, 16)), (256 * 5, 16 * 4 * 8));
        assert_eq!(order_bytes(spec, 16, 1_000_000), 256 * (12 + 100));
        assert_eq!(order_bytes(spec, 16, 3), 256 * 12 + 300);
        // Of large networks only flows that have sent anything are known.
        assert_eq!((queue_bytes(spec, 1448), queue_bytes(spec, 1449)), (1448 * 1448 * 5, 0));
        assert_eq!(order_bytes(spec, 1449, 3), 300);
        // The first flow has one share at each node, and the second two.
        assert_eq!(shares_bytes(flows), 16 * (1 + 2) * 24);
        assert_eq!(interface_bytes(&scenario, 3), 1280 + 512 + 3372 + 1152);
    }
}

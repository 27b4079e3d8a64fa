//! Data in order: sources number the packets of a flow, and sinks are told of a packet when all before it have arrived.
//!
//! A flow is what one node sends another. The number of a packet travels as its last word of payload, and is the same when the
//! packet is sent again.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::by_flow::ByFlow;
use crate::packet::Packet;
use crate::payload::Told;
use crate::time::Time;

/// The number of the next packet of each flow of a region's sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Numbering(ByFlow<u32>);

impl Numbering {
    /// For so many nodes of the region, and so many of the network.
    pub fn new(nodes: u32, destinations: u32) -> Self {
        Self(ByFlow::new(nodes, destinations, 0))
    }

    /// The number of the first of so many packets of a flow, which are numbered from there on.
    #[inline]
    pub fn take(&mut self, node: u32, destination: u32, packets: u32) -> u32 {
        let next = self.0.get_mut(node, destination);
        let first = *next;
        *next = next.wrapping_add(packets);
        first
    }
}

/// A packet that has arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub packet: Packet,
    pub payload: Vec<u64>,
    /// What a program tells with its message.
    pub told: Told,
    /// When its last flit arrived.
    pub arrived: Time,
}

/// What has arrived of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Flow {
    /// The number of the next packet in order.
    next: u32,
    /// The ring of those that have arrived after it; none of flows of which nothing waits.
    ring: Option<NonZeroU32>,
}

impl Flow {
    const NEW: Self = Self { next: 0, ring: None };
}

/// By distance from the packet that comes next but one in order: those that wait. The last place is never empty.
type Ring = VecDeque<Option<Held>>;

/// Rings of flows. Few flows need one at a time, and those that are given back, which have memory already, go first.
#[derive(Clone, Debug, Default)]
struct Rings {
    rings: Vec<Ring>,
    free: Vec<NonZeroU32>,
}

impl Rings {
    fn take(&mut self) -> NonZeroU32 {
        self.free.pop().unwrap_or_else(|| {
            self.rings.push(Ring::new());
            NonZeroU32::new(self.rings.len() as u32).expect("there is one at least")
        })
    }

    fn get(&mut self, ring: NonZeroU32) -> &mut Ring {
        &mut self.rings[ring.get() as usize - 1]
    }

    /// Keeps a packet of a flow that is not the next in order.
    fn put(&mut self, flow: &mut Flow, number: u32, held: Held) {
        let ring = match flow.ring {
            Some(ring) => ring,
            None => *flow.ring.insert(self.take()),
        };
        let (ring, ahead) = (self.get(ring), number.wrapping_sub(flow.next).wrapping_sub(1));
        assert!(ahead <= AHEAD_MAX, "a packet of a flow has arrived twice");
        if ring.len() <= ahead as usize {
            ring.resize_with(ahead as usize + 1, || None);
        }
        assert!(ring[ahead as usize].replace(held).is_none(), "two packets of a flow have the same number");
    }
}

/// A packet that seems to be further ahead of the next in order is behind it.
const AHEAD_MAX: u32 = u32::MAX / 2;

/// The packets that wait at the nodes of a region for others before them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct Resequencing {
    /// By node and source.
    flows: ByFlow<Flow>,
    rings: Rings,
    /// By node: packets that wait.
    waiting: Vec<u32>,
}

/// What is written of a flow: the packets that wait, by their numbers.
#[derive(Serialize, Deserialize)]
struct SavedFlow {
    next: u32,
    waiting: BTreeMap<u32, Held>,
}

/// What is written of them.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Of how many nodes here, and of how many in the network, they are.
    sizes: (u32, u32),
    flows: BTreeMap<(u32, u32), SavedFlow>,
    waiting: Vec<u32>,
}

impl From<Saved> for Resequencing {
    fn from(Saved { sizes: (nodes, sources), flows, waiting }: Saved) -> Self {
        let mut found = Self { waiting, ..Self::new(nodes, sources) };
        for ((node, source), SavedFlow { next, waiting }) in flows {
            let mut state = Flow { next, ..Flow::NEW };
            waiting.into_iter().for_each(|(number, held)| found.rings.put(&mut state, number, held));
            *found.flows.get_mut(node, source) = state;
        }
        found
    }
}

impl From<Resequencing> for Saved {
    fn from(Resequencing { flows, mut rings, waiting }: Resequencing) -> Self {
        let mut save = |Flow { next, ring }: Flow| {
            let ring = ring.map(|ring| std::mem::take(rings.get(ring))).unwrap_or_default();
            let numbered = (1..).zip(ring).filter_map(|(ahead, held)| Some((next.wrapping_add(ahead), held?)));
            SavedFlow { next, waiting: numbered.collect() }
        };
        let saved = flows.list().into_iter().map(|(key, flow)| (key, save(flow))).collect();
        Self { sizes: flows.sizes(), flows: saved, waiting }
    }
}

impl Resequencing {
    /// For so many nodes of the region, and so many of the network.
    pub fn new(nodes: u32, sources: u32) -> Self {
        let flows = ByFlow::new(nodes, sources, Flow::NEW);
        Self { flows, rings: Rings::default(), waiting: vec![0; nodes as usize] }
    }

    /// How many packets wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().copied().map(u64::from).sum()
    }

    /// Whether a packet that has arrived at a node is the next one of its flow and no other waits for it, as is so of most. If not it is
    /// still to be added.
    #[inline]
    pub fn passes(&mut self, node: u32, number: u32, source: u32) -> bool {
        let flow = self.flows.get_mut(node, source);
        let passes = number == flow.next && flow.ring.is_none();
        flow.next = flow.next.wrapping_add(passes.into());
        passes
    }

    /// A packet has arrived at a node that does not pass. Appends those that are in order now to a list.
    ///
    /// # Panics
    /// When more than `most` packets wait at the node: the protocol said that it would not let that happen.
    pub fn add(&mut self, node: u32, number: u32, held: Held, most: u32, in_order: &mut Vec<Held>) {
        let flow = self.flows.get_mut(node, held.packet.source);
        let waiting = &mut self.waiting[node as usize];
        if number != flow.next {
            self.rings.put(flow, number, held);
            *waiting += 1;
            assert!(*waiting <= most, "the protocol lets more than {most} packets wait for their order at a node");
            return;
        }
        in_order.push(held);
        flow.next = flow.next.wrapping_add(1);
        let Some(number) = flow.ring else { return };
        let ring = self.rings.get(number);
        while let Some(Some(held)) = ring.pop_front() {
            flow.next = flow.next.wrapping_add(1);
            *waiting -= 1;
            in_order.push(held);
        }
        if ring.is_empty() {
            flow.ring = None;
            self.rings.free.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailback_protocol::PacketKind;
    use tailback_routing::Header;

    use super::super::written_and_read;
    use super::*;
    use crate::packet::NONE;

    impl Resequencing {
        /// A packet arrives: it passes, or is added.
        fn arrive(&mut self, node: u32, number: u32, held: Held, in_order: &mut Vec<Held>) {
            if self.passes(node, number, held.packet.source) {
                in_order.push(held);
            } else {
                self.add(node, number, held, u32::MAX, in_order);
            }
        }
    }

    /// A packet of a flow from `source`. Its number is in its payload, for the test to look at.
    fn held(source: u32, number: u32) -> Held {
        let packet = Packet {
            created: 0,
            injected: 0,
            head_at: 0,
            tail_lag: 0,
            next: NONE,
            source,
            destination: 0,
            message: 0,
            index_and_flags: 0,
            header: Header::new(tailback_topology::Locator(0)),
            flits: 1,
            traffic: 0,
            class: 0,
            vc: 0,
            vcs: 1,
            hops: 0,
            kind: PacketKind::DATA,
            marks: 0,
            about_flits: 0,
            word: 0,
        };
        Held { packet, payload: vec![number.into()], told: Told::default(), arrived: 0 }
    }

    proptest! {
        /// Packets of three flows that take any ways.
        #[test]
        fn flows_are_in_order_and_what_waits_is_written(
            arrivals in Just((0..60_u32).collect::<Vec<_>>()).prop_shuffle(),
            written_after in 0..60_usize,
        ) {
            let mut state = Resequencing::new(8, 3);
            let (mut seen, mut arrived) = ([0; 3], 0);
            for (index, packet) in arrivals.into_iter().enumerate() {
                if index == written_after {
                    state = written_and_read(&state);
                }
                let mut in_order = Vec::new();
                state.arrive(7, packet / 3, held(packet % 3, packet / 3), &mut in_order);
                arrived += 1;
                for Held { packet, payload, .. } in in_order {
                    let next = &mut seen[packet.source as usize];
                    prop_assert_eq!(payload, [*next]);
                    *next += 1;
                }
                prop_assert_eq!(state.waiting(), arrived - seen.iter().sum::<u64>());
            }
            prop_assert_eq!(seen, [20; 3]);
            prop_assert_eq!(state.rings.free.len(), state.rings.rings.len(), "no flow keeps a ring");
        }
    }

    #[test]
    #[should_panic(expected = "the same number")]
    fn two_packets_of_a_number_are_a_mistake() {
        let mut state = Resequencing::new(8, 3);
        (0..2).for_each(|_| state.arrive(0, 5, held(1, 5), &mut Vec::new()));
    }

    #[test]
    #[should_panic(expected = "arrived twice")]
    fn a_packet_behind_the_next_is_a_mistake() {
        let mut state = Resequencing::new(8, 3);
        (0..2).for_each(|_| state.arrive(0, 0, held(1, 0), &mut Vec::new()));
    }
}

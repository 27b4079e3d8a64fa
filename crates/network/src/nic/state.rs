//! The changing state of the nodes of a region.

use serde::{Deserialize, Serialize};
use tailback_random::Stream;
use tailback_workload::Process;

use super::destination_rooms::DestinationRooms;
use super::due::DueQueue;
use super::egress::EgressLines;
use super::pause::Pause;
use super::receive::Reassembly;
use super::resequence::{Held, Numbering, Resequencing};
use super::retransmit::RetransmitBuffer;
use super::source_queues::{EMPTY, List, SourceQueues};
use crate::fabric::Fabric;
use crate::time::Time;
use tailback_hardware::{Delivery, InjectionVc};

/// A node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Node {
    /// When the link has taken the last flit of the packet before.
    pub link_free_at: Time,
    /// Whether an event tells when the link is free.
    pub link_scheduled: bool,
    /// Whether the node is in the list of those that may be able to send.
    pub ready: bool,
    /// The source injection queue that was served last.
    pub last_injection_queue: u8,
    /// The serial number of the next message.
    pub next_message: u32,
    /// Messages that wait or are in flight to the network.
    pub waiting: u32,
    /// Messages whose rest the protocol withholds, or has let go without all of it having left.
    pub withheld: u32,
    /// Control packets that wait.
    pub control_waiting: u32,
    /// Its processes, as a range of all.
    pub processes: (u32, u32),
}

/// All nodes of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NodeState {
    pub nodes: Vec<Node>,
    /// By node and virtual channel: free flits in the router's injection buffer.
    pub free: Vec<u16>,
    /// By node and traffic class: the channel that was served last, of those of its class.
    pub last_channels: Vec<u8>,
    /// Where routers have a queue for each node.
    pub rooms: DestinationRooms,
    pub processes: Vec<Process>,
    pub sources: SourceQueues,
    /// By node and traffic class: the control packets that wait. None where there is only one class.
    controls: Vec<List>,
    /// By node, where the protocol wants copies: the messages that are not done.
    pub copies: Vec<RetransmitBuffer>,
    /// By node, where the protocol has sources or sinks, data leaves in order, or there are programs: what is to be done from some time on.
    pub due: Vec<DueQueue>,
    pub reassembly: Reassembly,
    /// Where data reaches sinks in order: the numbers of packets, and those that wait for others before them.
    pub numbering: Numbering,
    pub resequencing: Resequencing,
    pub egress: EgressLines,
    /// Packets that are in order just now: empty, and kept for its memory.
    #[serde(skip)]
    pub in_order: Vec<Held>,
    /// The pauses of this tick that have not been sent.
    #[serde(skip)]
    pub pauses: Vec<Pause>,
    /// The random streams for choosing channels. Only where channels are chosen at random.
    pub streams: Vec<Stream>,
    /// Nodes that may be able to send in this tick.
    pub ready: Vec<u32>,
    /// Data flits that were offered and not lost, and data flits that have arrived.
    pub flits_offered: u64,
    pub flits_received: u64,
    /// Data flits that were dropped, as NACKs have told sources and trimmed packets have told sinks here, without those that
    /// sources here have sent again: negative where it was the sinks of others that were told.
    pub flits_dropped: i64,
}

/// Purposes of random streams of nodes, beside those of the workload, which are small.
const CHANNEL_CHOICE: u64 = 1 << 32;

impl NodeState {
    /// The control packets of a class that wait at a node.
    pub fn control_list(&mut self, node: u32, class: u8) -> &mut List {
        let classes = self.controls.len() / self.nodes.len();
        &mut self.controls[node as usize * classes + usize::from(class)]
    }

    /// The first of the control packets of each class that wait at a node.
    pub fn control_heads(&self, node: usize) -> impl Iterator<Item = u32> {
        let classes = self.controls.len() / self.nodes.len();
        self.controls[node * classes..][..classes].iter().map(|list| list.first)
    }

    /// Reads a little of every node, in order.
    pub fn read_through(&self) -> u32 {
        let nodes = self.nodes.iter().fold(0, |sum, node| sum ^ node.link_free_at);
        self.processes.iter().fold(nodes, |sum, process| sum ^ u32::from(process.traffic))
    }

    /// Reads a little of what belongs to a node.
    #[inline]
    pub fn glance(&self, node: u32) -> u32 {
        let node = &self.nodes[node as usize];
        let process = self.processes.get(node.processes.0 as usize);
        node.link_free_at ^ process.map_or(0, |process| u32::from(process.traffic))
    }

    pub fn new(fabric: &Fabric, node_ids: &[u32]) -> Self {
        let mut processes = Vec::new();
        let nodes = node_ids.iter().map(|&node| {
            let first = processes.len() as u32;
            processes.extend(fabric.workload.processes(node, fabric.seed));
            Node {
                link_free_at: 0,
                link_scheduled: false,
                ready: false,
                last_injection_queue: 0,
                next_message: 0,
                waiting: 0,
                withheld: 0,
                control_waiting: 0,
                processes: (first, processes.len() as u32),
            }
        });
        let nodes = nodes.collect();
        let classes = fabric.spec.classes.len();
        let station = fabric.station();
        let in_order = fabric.spec.nic.delivery == Delivery::InOrder;
        let has_timers = fabric.protocol.source(&station).is_some() || fabric.protocol.sink(&station).is_some();
        let has_due = has_timers || in_order || fabric.has_programs;
        let random = fabric.spec.nic.vc_choice == InjectionVc::Random;
        let stream = |&node: &u32| Stream::new(fabric.seed, node.into(), CHANNEL_CHOICE);
        let in_order_nodes = if fabric.hooks.resequencing.is_some() { node_ids.len() as u32 } else { 0 };
        let nodes_of_network = fabric.topology.nodes();
        Self {
            nodes,
            free: node_ids.iter().flat_map(|_| (0..fabric.shape.vcs).map(|vc| fabric.capacity(0, vc))).collect(),
            last_channels: vec![0; node_ids.len() * classes],
            rooms: DestinationRooms::new(fabric, node_ids.len()),
            processes,
            sources: SourceQueues::new(fabric, node_ids.len()),
            controls: vec![EMPTY; if classes > 1 { node_ids.len() * classes } else { 0 }],
            copies: vec![
                RetransmitBuffer::new(fabric.hooks.names_are_unique());
                if fabric.hooks.copies { node_ids.len() } else { 0 }
            ],
            due: vec![DueQueue::default(); if has_due { node_ids.len() } else { 0 }],
            reassembly: Reassembly::default(),
            numbering: Numbering::new(in_order_nodes, nodes_of_network),
            resequencing: Resequencing::new(in_order_nodes, nodes_of_network),
            egress: EgressLines::new(if in_order { node_ids.len() } else { 0 }),
            in_order: Vec::new(),
            pauses: Vec::new(),
            streams: if random { node_ids.iter().map(stream).collect() } else { Vec::new() },
            ready: Vec::new(),
            flits_offered: 0,
            flits_received: 0,
            flits_dropped: 0,
        }
    }
}

//! The changing state of the routers of a region: plain arrays, one element per port, channel or queue.
//!
//! A port has, for packets that come in, `vcs` virtual channels. Each is one queue, or one per output (then a
//! *row* is the queues towards one output). For packets that go out it has the crossbar's output
//! connections, one or more output queues (*lanes*), and the link.

use serde::{Deserialize, Serialize};
use tailback_engine::{NEVER, Tick};

use crate::fabric::{Fabric, Shape};
use crate::packet::NONE;
use crate::spec::Arbiter;

/// A queue of packets at an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    pub head: u32,
    pub tail: u32,
    /// The flits of the head packet.
    pub flits: u16,
    /// Where the head packet wants to go, once it is routed: the port, and the channels that will do.
    pub port: u8,
    pub vc: u8,
    pub vcs: u8,
    pub routed: bool,
    /// Whether the head packet owns channel `vc` of `port`.
    pub owns_vc: bool,
}

/// The queues of one row of a port, as sets of virtual channels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Queues that hold something.
    pub nonempty: u16,
    /// Queues whose head may try to leave at the next allocation.
    pub awake: u16,
    /// Queues whose head waits for an output: to be woken when something changes there.
    pub asleep: u16,
    /// Queues whose head is not ready yet.
    pub delayed: u16,
}

/// A crossbar connection on the input side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Input {
    /// Until when a packet crosses by it.
    pub busy_until: Tick,
    /// The queue that was served last.
    pub last_row: u8,
    pub last_vc: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// A crossbar connection on the output side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Output {
    /// Until when a packet crosses by it.
    pub busy_until: Tick,
    /// The input connection that was served last.
    pub last: u16,
    /// The virtual channel of the packet that crosses.
    pub vc: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// A queue between crossbar and link.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub head: u32,
    pub tail: u32,
    /// Free flits.
    pub space: u32,
}

/// The sending side of a port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// When the link has sent the last flit of the packet before.
    pub link_free_at: Tick,
    /// When the event that starts the next packet comes; `NEVER` if there is none.
    pub start_at: Tick,
    /// Flits sent since the beginning.
    pub flits_sent: u64,
    /// How often a start was scheduled: only the latest counts.
    pub starts: u32,
    /// The lane that was served last.
    pub last: u8,
    /// The lane that a departing packet makes room in when its last flit has left, and how much.
    pub releasing_lane: u8,
    pub releasing: u16,
}

/// All routers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RouterState {
    /// Set of routers with something to allocate.
    pub busy: Vec<u64>,
    /// By router: set of ports with an awake queue and a free input.
    pub active: Vec<u64>,
    /// By port: set of rows with an awake queue. Only with virtual output queues.
    pub active_rows: Vec<u64>,
    /// By port: set of ports at which a queue sleeps until this port's output changes.
    pub waiters: Vec<u64>,
    pub rows: Vec<Row>,
    pub queues: Vec<Queue>,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// By port and virtual channel: free flits in the buffer at the other end of the link.
    pub free: Vec<u16>,
    /// By port and virtual channel: flits in the input buffer.
    pub occupied: Vec<u16>,
    /// By port and virtual channel: whether a packet owns it, and which queue (by port and channel) it chose last.
    /// Only with a stage for that.
    pub owned: Vec<bool>,
    pub last_seeker: Vec<u16>,
    /// By queue: the channel that it owned last. Only with a stage for that.
    pub last_channel: Vec<u32>,
    /// By queue: when it was served last. Only where inputs serve by that.
    pub queue_served: Vec<Tick>,
    /// By crossbar output and input: when it was served last. Only where outputs serve by that.
    pub input_served: Vec<Tick>,
    pub lanes: Vec<Lane>,
    pub senders: Vec<Sender>,
    /// Packets that have crossed a router.
    pub packet_hops: u64,
    /// When a packet last crossed a router.
    pub last_hop: Tick,
}

impl RouterState {
    /// `routers` empty routers, whose ports are of the given link classes.
    pub fn new(fabric: &Fabric, routers: usize, port_classes: &[u8]) -> Self {
        let Shape { ports, words, vcs, rows, inputs, outputs, lanes } = fabric.shape;
        let all_ports = routers * ports;
        let empty = Queue { head: NONE, tail: NONE, flits: 0, port: 0, vc: 0, vcs: 0, routed: false, owns_vc: false };
        let lane = Lane { head: NONE, tail: NONE, space: fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX) };
        let sender = Sender {
            link_free_at: 0,
            start_at: NEVER,
            flits_sent: 0,
            starts: 0,
            last: 0,
            releasing_lane: 0,
            releasing: 0,
        };
        let free = port_classes.iter().flat_map(|&class| {
            let class = usize::from(class);
            &fabric.capacity[class * vcs..(class + 1) * vcs]
        });
        let with_rows = if rows > 1 { all_ports * words } else { 0 };
        let router = &fabric.spec.router;
        let only_if = |condition: bool, count: usize| if condition { count } else { 0 };
        let with_owners = only_if(router.vc_allocation, all_ports * vcs);
        let all_queues = all_ports * rows * vcs;
        let served = only_if(router.input_arbiter == Arbiter::LeastRecentlyServed, all_queues);
        let pairs = all_ports * outputs * ports * inputs;
        let served_pairs = only_if(router.output_arbiter == Arbiter::LeastRecentlyServed, pairs);
        Self {
            busy: vec![0; routers.div_ceil(64)],
            active: vec![0; routers * words],
            active_rows: vec![0; with_rows],
            waiters: vec![0; all_ports * words],
            rows: vec![Row::default(); all_ports * rows],
            queues: vec![empty; all_ports * rows * vcs],
            inputs: vec![Input::default(); all_ports * inputs],
            outputs: vec![Output::default(); all_ports * outputs],
            free: free.copied().collect(),
            occupied: vec![0; all_ports * vcs],
            owned: vec![false; with_owners],
            last_seeker: vec![0; with_owners],
            last_channel: vec![0; only_if(router.vc_allocation, all_queues)],
            queue_served: vec![0; served],
            input_served: vec![0; served_pairs],
            lanes: vec![lane; all_ports * lanes],
            senders: vec![sender; all_ports],
            packet_hops: 0,
            last_hop: 0,
        }
    }
}

//! The state of general routers: plain arrays, one element per port, channel or queue.

mod outputs;

use serde::{Deserialize, Serialize};
use tailback_engine::NEVER;

use crate::fabric::{Fabric, Rules, Shape};
use crate::link::Link;
use crate::packet::NONE;
use crate::router::Place;
use crate::time::Time;
use tailback_hardware::Arbiter;

/// A queue of packets at an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
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
pub(super) struct Row {
    /// Queues whose head may try to leave at the next allocation.
    pub awake: u32,
    /// Queues whose head waits for an output: to be woken when something changes there.
    pub asleep: u32,
}

/// A crossbar connection on the input side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Input {
    /// Until when a packet crosses by it.
    pub busy_until: Time,
    /// The queue that was served last, and the port that its packet left by.
    pub last_row: u8,
    pub last_vc: u8,
    pub last_port: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// A crossbar connection on the output side.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Output {
    /// Until when a packet crosses by it.
    pub busy_until: Time,
    /// The input connection that was served last.
    pub last: u16,
    /// The virtual channel of the packet that crosses.
    pub vc: u8,
    /// Whether an event tells when it is free again.
    pub free_scheduled: bool,
}

/// A queue between crossbar and link.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Lane {
    pub head: u32,
    pub tail: u32,
    /// Free flits.
    pub space: u32,
}

/// The sending side of a port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sender {
    /// When the event that starts the next packet comes; `NEVER` if there is none.
    pub start_at: u64,
    /// How often a start was scheduled: only the latest counts.
    pub starts: u32,
    /// When the link has sent the last flit of the packet before.
    pub link_free_at: Time,
    /// Flits sent since the beginning.
    pub flits_sent: u32,
    /// What a departing packet makes room for when its last flit has left, and in which lane.
    pub releasing: u16,
    pub releasing_lane: u8,
    /// The lane that was served last.
    pub last_lane: u8,
}

/// What waits for a link, of all virtual channels.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Backlog {
    /// Flits in the output queue.
    pub lined_up: u32,
    /// Flits that have claimed room in the buffer at the other end.
    pub claimed: u32,
}

/// When the head of a queue is looked at for having waited for too long.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Impatience {
    /// When its event comes; 0 if there is none.
    pub at: Time,
    /// How often one was scheduled: only the latest counts.
    pub serial: u16,
}

/// A queue of a router: its port by number in the router and in the region, its row, its virtual channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub router: u32,
    pub index: u32,
    pub port: u8,
    pub row: u8,
    pub vc: u8,
}

/// The arrays. Everything is by port first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub shape: Shape,
    pub rules: Rules,
    pub links: Vec<Link>,
    rows: Vec<Row>,
    queues: Vec<Queue>,
    /// Flits in the input buffer of each virtual channel, and free flits in that at the other end.
    occupied: Vec<u16>,
    free: Vec<u16>,
    /// Where packets claim room only when they leave: flits in the output queue that go by each virtual channel.
    lined_up: Vec<u32>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    lanes: Vec<Lane>,
    /// By port: the set of lanes with packets.
    filled_lanes: Vec<u32>,
    senders: Vec<Sender>,
    /// Where routing measures queues: by port.
    backlogs: Vec<Backlog>,
    /// Set of ports at which a queue sleeps until this port's output changes.
    waiters: Vec<u64>,
    /// Set of rows with an awake queue.
    awake_rows: Vec<u64>,
    /// By router: set of ports that the allocator shall look at. And the set of routers that have any.
    active: Vec<u64>,
    pub busy: Vec<u64>,
    pub allocation_due: bool,
    /// With a stage for virtual channels: whether a packet owns a channel, which queue (by port and channel) it
    /// chose last, and, by queue, the channel that was owned last.
    owned: Vec<bool>,
    last_seeker: Vec<u32>,
    last_channel: Vec<u16>,
    /// Where the least recently served goes first: when each queue was served, and each input by each output.
    queue_served: Vec<Time>,
    input_served: Vec<Time>,
    /// Where routers watch their nodes: by port, data flits that wait for its node.
    queued: Vec<u32>,
    /// Where packets lose patience: by queue.
    impatience: Vec<Impatience>,
}

impl State {
    pub fn new(fabric: &Fabric, links: &[Link]) -> Self {
        let (shape, rules) = (fabric.shape, fabric.rules);
        let (ports, vcs) = (links.len(), shape.vcs);
        let routers = ports / shape.ports;
        let only_if = |condition: bool, count: usize| if condition { count } else { 0 };
        let by_age = |arbiter: Arbiter, count: usize| only_if(arbiter == Arbiter::LeastRecentlyServed, count);
        let queues = ports * shape.rows * vcs;
        let owners = only_if(rules.vc_allocation, ports * vcs);
        let queue = Queue { head: NONE, tail: NONE, flits: 0, port: 0, vc: 0, vcs: 0, routed: false, owns_vc: false };
        let space = fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX);
        let sender = Sender {
            start_at: NEVER,
            starts: 0,
            link_free_at: 0,
            flits_sent: 0,
            releasing: 0,
            releasing_lane: 0,
            last_lane: 0,
        };
        let free = links.iter().flat_map(|link| (0..vcs).map(|vc| fabric.capacity(link.class, vc)));
        Self {
            shape,
            rules,
            links: links.to_vec(),
            rows: vec![Row::default(); ports * shape.rows],
            queues: vec![queue; queues],
            occupied: vec![0; ports * vcs],
            free: free.collect(),
            lined_up: vec![0; only_if(!rules.claims_first, ports * vcs)],
            inputs: vec![Input::default(); ports * shape.inputs],
            outputs: vec![Output::default(); ports * shape.outputs],
            lanes: vec![Lane { head: NONE, tail: NONE, space }; ports * shape.lanes],
            filled_lanes: vec![0; ports],
            senders: vec![sender; ports],
            backlogs: vec![Backlog::default(); only_if(rules.measures_queues, ports)],
            waiters: vec![0; ports * shape.words],
            awake_rows: vec![0; ports * shape.rows.div_ceil(64)],
            active: vec![0; routers * shape.words],
            busy: vec![0; routers.div_ceil(64)],
            allocation_due: false,
            owned: vec![false; owners],
            last_seeker: vec![0; owners],
            last_channel: vec![0; only_if(rules.vc_allocation, queues)],
            queued: vec![0; only_if(rules.watches, ports)],
            impatience: vec![Impatience::default(); only_if(rules.impatient, queues)],
            queue_served: vec![0; by_age(rules.input_arbiter, queues)],
            input_served: vec![0; by_age(rules.output_arbiter, ports * shape.outputs * shape.ports * shape.inputs)],
        }
    }

    /// The number of a port in the region.
    pub fn port_index(&self, router: u32, port: u8) -> u32 {
        router * self.shape.ports as u32 + u32::from(port)
    }

    /// The port with a number.
    pub fn place(&self, index: u32) -> Place {
        let ports = self.shape.ports as u32;
        Place { router: index / ports, port: (index % ports) as u8 }
    }

    /// All queues of a port.
    pub fn queues_of(&self, place: Place) -> impl Iterator<Item = At> {
        let rows = 0..self.shape.rows;
        rows.flat_map(move |row| (0..self.shape.vcs).map(move |vc| self.at(place, row as u8, vc as u8)))
    }

    /// A queue of a port.
    pub fn at(&self, place: Place, row: u8, vc: u8) -> At {
        let Place { router, port } = place;
        At { router, index: self.port_index(router, port), port, row, vc }
    }

    pub fn link(&self, index: u32) -> &Link {
        &self.links[index as usize]
    }

    pub fn row_mut(&mut self, at: At) -> &mut Row {
        &mut self.rows[at.index as usize * self.shape.rows + usize::from(at.row)]
    }

    pub fn row(&self, at: At) -> &Row {
        &self.rows[at.index as usize * self.shape.rows + usize::from(at.row)]
    }

    pub fn queue(&self, at: At) -> &Queue {
        &self.queues[self.queue_index(at)]
    }

    pub fn queue_mut(&mut self, at: At) -> &mut Queue {
        let index = self.queue_index(at);
        &mut self.queues[index]
    }

    fn queue_index(&self, at: At) -> usize {
        (at.index as usize * self.shape.rows + usize::from(at.row)) * self.shape.vcs + usize::from(at.vc)
    }

    /// The number of a queue among those of its router.
    pub fn queue_number(&self, at: At) -> u32 {
        self.queue_index(at) as u32 - at.router * self.queues_per_router()
    }

    /// Queues of a router.
    pub fn queues_per_router(&self) -> u32 {
        (self.shape.ports * self.shape.rows * self.shape.vcs) as u32
    }

    /// The port by which a router speaks itself, where routers do.
    pub fn voice(&self) -> u8 {
        debug_assert!(self.rules.speaks);
        (self.shape.ports - 1) as u8
    }

    /// When the head of a queue is looked at for having waited for too long.
    pub fn impatience_mut(&mut self, at: At) -> &mut Impatience {
        let queue = self.queue_index(at);
        &mut self.impatience[queue]
    }

    /// Flits in the input buffer of a virtual channel of a port.
    pub fn occupied(&self, index: u32, vc: u8) -> u16 {
        self.occupied[index as usize * self.shape.vcs + usize::from(vc)]
    }

    pub fn occupied_mut(&mut self, index: u32, vc: u8) -> &mut u16 {
        &mut self.occupied[index as usize * self.shape.vcs + usize::from(vc)]
    }

    /// The crossbar connection of a queue.
    pub fn input(&self, at: At) -> &Input {
        &self.inputs[self.input_index(at)]
    }

    pub fn input_mut(&mut self, at: At) -> &mut Input {
        let index = self.input_index(at);
        &mut self.inputs[index]
    }

    fn input_index(&self, at: At) -> usize {
        at.index as usize * self.shape.inputs + if self.shape.inputs == 1 { 0 } else { at.vc.into() }
    }

    /// The number of a queue's crossbar connection among those of its router.
    pub fn input_number(&self, at: At) -> u16 {
        (self.input_index(at) - at.router as usize * self.inputs_per_router()) as u16
    }

    /// Crossbar connections of a router on the input side.
    pub fn inputs_per_router(&self) -> usize {
        self.shape.ports * self.shape.inputs
    }

    /// The first row of a port from `from` on with an awake queue.
    pub fn awake_row(&self, index: u32, from: usize) -> Option<u8> {
        let words = self.shape.rows.div_ceil(64);
        let rows = &self.awake_rows[index as usize * words..][..words];
        let mut mask = u64::MAX << (from % 64);
        for (word, &rows) in rows.iter().enumerate().skip(from / 64) {
            if rows & mask != 0 {
                return Some((word as u32 * 64 + (rows & mask).trailing_zeros()) as u8);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The head of a queue may try to leave.
    pub fn set_awake(&mut self, at: At) {
        let row = self.row_mut(at);
        row.awake |= 1 << at.vc;
        row.asleep &= !(1 << at.vc);
        let word = at.index as usize * self.shape.rows.div_ceil(64) + usize::from(at.row) / 64;
        self.awake_rows[word] |= 1 << (at.row % 64);
    }

    /// Whether it may.
    pub fn is_awake(&self, at: At) -> bool {
        self.row(at).awake & 1 << at.vc != 0
    }

    /// It may not, or there is none.
    pub fn clear_awake(&mut self, at: At) {
        let row = self.row_mut(at);
        row.awake &= !(1 << at.vc);
        if row.awake == 0 {
            let word = at.index as usize * self.shape.rows.div_ceil(64) + usize::from(at.row) / 64;
            self.awake_rows[word] &= !(1 << (at.row % 64));
        }
    }

    /// The allocator shall look at a port.
    pub fn activate(&mut self, router: u32, port: u8) {
        self.active[router as usize * self.shape.words + usize::from(port) / 64] |= 1 << (port % 64);
        self.busy[router as usize / 64] |= 1 << (router % 64);
        self.allocation_due = true;
    }

    /// The allocator need not look at a port until it is activated.
    pub fn deactivate(&mut self, router: u32, port: u8) {
        self.active[router as usize * self.shape.words + usize::from(port) / 64] &= !(1 << (port % 64));
    }

    /// The ports that the allocator shall look at, one word of them.
    pub fn active_ports(&self, router: u32, word: usize) -> u64 {
        self.active[router as usize * self.shape.words + word]
    }

    /// The channel that a queue owned last, by its number in its router.
    pub fn last_channel_mut(&mut self, at: At) -> &mut u16 {
        let queue = self.queue_index(at);
        &mut self.last_channel[queue]
    }

    /// When a queue was served last.
    pub fn queue_served(&self, at: At) -> Time {
        self.queue_served[self.queue_index(at)]
    }

    /// Notes that a queue is chosen to ask for the output of `port`.
    pub fn note_asked(&mut self, at: At, port: u8, now: Time) {
        let input = self.input_mut(at);
        (input.last_row, input.last_vc, input.last_port) = (at.row, at.vc, port);
        if !self.queue_served.is_empty() {
            let queue = self.queue_index(at);
            self.queue_served[queue] = now;
        }
    }

    /// Notes that an output serves a queue.
    pub fn note_served(&mut self, at: At, index: u32, vc: u8, now: Time) {
        if !self.queue_served.is_empty() {
            let queue = self.queue_index(at);
            self.queue_served[queue] = now;
        }
        if !self.input_served.is_empty() {
            let input = usize::from(self.input_number(at));
            let pair = self.output_index(index, vc) * self.inputs_per_router() + input;
            self.input_served[pair] = now;
        }
    }
}

/// The members of a small set, in ascending order.
pub(super) fn members(mut set: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros() as u8);
        set &= set.wrapping_sub(1);
        member
    })
}

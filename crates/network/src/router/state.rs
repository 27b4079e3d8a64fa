//! The changing state of the routers of a region: one record per port, plain arrays beside it.
//!
//! For packets that come in, a port has `V` virtual channels. Each is one queue, or one per output (then a
//! *row* is the queues towards one output). For packets that go out it has the crossbar's output
//! connections, one or more output queues (*lanes*), and the link.
//!
//! What every router has sits in the port's record: one row, one crossbar connection each way, one lane. What only
//! some kinds of routers have more of is in arrays that are empty for all others.

use serde::{Deserialize, Serialize};
use tailback_engine::{NEVER, Tick};

use crate::array::PerVc;
use crate::fabric::{Fabric, Shape};
use crate::link::Link;
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

/// A queue between crossbar and link, where there are several per port or packets claim credits only there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub head: u32,
    pub tail: u32,
    /// Free flits.
    pub space: u32,
}

/// What such a port knows of its link.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// When the event that starts the next packet comes; `NEVER` if there is none.
    pub start_at: Tick,
    /// How often a start was scheduled: only the latest counts.
    pub starts: u32,
    /// What a departing packet makes room for when its last flit has left, and in which lane.
    pub releasing: u16,
    pub releasing_lane: u8,
    /// The lane that was served last.
    pub last_lane: u8,
}

/// The output queue of a port whose packets depart in order: all that needs to be known of it is how much room there
/// is, and when there will be more.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct OutputQueue {
    /// Free flits, as of the last look at the departures.
    pub space: u32,
    /// The departures that have not been looked at: a ring in an array.
    first: u16,
    len: u16,
    /// Whether an event tells when the first of them makes room.
    pub room_scheduled: bool,
}

/// When a packet makes room in its output queue, and how much.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Departure {
    pub tick: Tick,
    pub flits: u16,
}

/// A port. With four channels it fills three cache lines: the queues, what else comes in, what goes out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct PortState<const V: usize> {
    queues: PerVc<Queue, V>,
    row: Row,
    /// Flits in the input buffer of each virtual channel, and the size of these buffers.
    pub occupied: PerVc<u16, V>,
    pub capacity: PerVc<u16, V>,
    input: Input,
    pub link: Link,
    output: Output,
    pub output_queue: OutputQueue,
    /// Set of ports at which a queue sleeps until this port's output changes: the first 64.
    waiters: u64,
    /// When the link has sent the last flit of the packet before.
    pub link_free_at: Tick,
    /// Flits that the link has been given since the beginning.
    pub flits_sent: u32,
}

const _: () = assert!(size_of::<PortState<4>>() == 192);

/// What only some kinds of routers have. Everything is by port first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Extra {
    /// With virtual output queues: rows, queues, and the set of rows with an awake queue.
    rows: Vec<Row>,
    queues: Vec<Queue>,
    awake_rows: Vec<u64>,
    /// With crossbar connections per channel.
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Where output queues have a bound: their departures, `Shape::departures` for each port.
    departures: Vec<Departure>,
    /// Where packets do not depart in order.
    lanes: Vec<Lane>,
    senders: Vec<Sender>,
    /// With more than 64 ports: the other words of the sets of waiters.
    waiters: Vec<u64>,
    /// With a stage for virtual channels: whether a packet owns a channel, which queue (by port and channel) it
    /// chose last, and, by queue, the channel that was owned last.
    owned: Vec<bool>,
    last_seeker: Vec<u16>,
    last_channel: Vec<u32>,
    /// Where the least recently served goes first: when each queue was served, and each input by each output.
    queue_served: Vec<Tick>,
    input_served: Vec<Tick>,
}

/// All routers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RouterState<const V: usize, const PLAIN: bool> {
    shape: Shape,
    /// Set of routers with something to allocate.
    pub busy: Vec<u64>,
    /// By router: set of ports with an awake queue and a free input.
    pub active: Vec<u64>,
    pub ports: Vec<PortState<V>>,
    /// By port and virtual channel: free flits in the buffer at the other end of the link.
    pub free: Vec<u16>,
    extra: Extra,
    /// Packets that have crossed a router.
    pub packet_hops: u64,
    /// When a packet last crossed a router.
    pub last_hop: Tick,
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

impl<const V: usize, const PLAIN: bool> RouterState<V, PLAIN> {
    /// Empty routers with the given links, by port.
    pub fn new(fabric: &Fabric, routers: usize, links: &[Link]) -> Self {
        let shape = fabric.shape;
        let ports: Vec<PortState<V>> = links.iter().map(|link| PortState::new(fabric, *link)).collect();
        let free = ports.iter().flat_map(|port| port.capacity.0).collect();
        Self {
            shape,
            busy: vec![0; routers.div_ceil(64)],
            active: vec![0; routers * shape.words],
            free,
            extra: Extra::new(fabric, ports.len(), V),
            ports,
            packet_hops: 0,
            last_hop: 0,
        }
    }

    /// The number of a router's port in the region.
    #[inline]
    pub fn port_index(&self, router: u32, port: u8) -> u32 {
        router * self.shape.ports as u32 + u32::from(port)
    }

    /// A queue, by the port it belongs to.
    #[inline]
    pub(super) fn at(&self, router: u32, port: u8, row: u8, vc: u8) -> At {
        At { router, index: self.port_index(router, port), port, row, vc }
    }

    #[inline]
    pub fn port(&self, index: u32) -> &PortState<V> {
        &self.ports[index as usize]
    }

    #[inline]
    pub fn port_mut(&mut self, index: u32) -> &mut PortState<V> {
        &mut self.ports[index as usize]
    }

    /// The free flits behind a channel of a port.
    #[inline]
    pub fn free_mut(&mut self, index: u32, vc: u8) -> &mut u16 {
        &mut self.free[index as usize * V + usize::from(vc)]
    }

    #[inline]
    pub(super) fn row(&self, at: At) -> &Row {
        if PLAIN || self.shape.rows == 1 { &self.port(at.index).row } else { &self.extra.rows[self.row_index(at)] }
    }

    #[inline]
    pub(super) fn row_mut(&mut self, at: At) -> &mut Row {
        if PLAIN || self.shape.rows == 1 {
            return &mut self.port_mut(at.index).row;
        }
        let row = self.row_index(at);
        &mut self.extra.rows[row]
    }

    #[inline]
    pub(super) fn queue(&self, at: At) -> &Queue {
        if PLAIN || self.shape.rows == 1 {
            return &self.port(at.index).queues[usize::from(at.vc)];
        }
        &self.extra.queues[self.queue_index(at)]
    }

    #[inline]
    pub(super) fn queue_mut(&mut self, at: At) -> &mut Queue {
        if PLAIN || self.shape.rows == 1 {
            return &mut self.port_mut(at.index).queues[usize::from(at.vc)];
        }
        let queue = self.queue_index(at);
        &mut self.extra.queues[queue]
    }

    /// The crossbar connection of a queue.
    #[inline]
    pub(super) fn input(&self, at: At) -> &Input {
        if PLAIN || self.shape.inputs == 1 {
            return &self.port(at.index).input;
        }
        &self.extra.inputs[at.index as usize * V + usize::from(at.vc)]
    }

    #[inline]
    pub(super) fn input_mut(&mut self, at: At) -> &mut Input {
        if PLAIN || self.shape.inputs == 1 {
            return &mut self.port_mut(at.index).input;
        }
        &mut self.extra.inputs[at.index as usize * V + usize::from(at.vc)]
    }

    /// The number of a queue's crossbar connection among those of its router.
    #[inline]
    pub(super) fn input_number(&self, at: At) -> u16 {
        let port = u16::from(at.port);
        if PLAIN || self.shape.inputs == 1 { port } else { port * V as u16 + u16::from(at.vc) }
    }

    /// The crossbar connection of a channel of a port.
    #[inline]
    pub(super) fn output(&self, index: u32, vc: u8) -> &Output {
        if PLAIN || self.shape.outputs == 1 {
            return &self.port(index).output;
        }
        &self.extra.outputs[index as usize * V + usize::from(vc)]
    }

    #[inline]
    pub(super) fn output_mut(&mut self, index: u32, vc: u8) -> &mut Output {
        if PLAIN || self.shape.outputs == 1 {
            return &mut self.port_mut(index).output;
        }
        &mut self.extra.outputs[index as usize * V + usize::from(vc)]
    }

    /// The number of the crossbar connection of a channel of a port among those of its router.
    #[inline]
    pub(super) fn output_number(&self, port: u8, vc: u8) -> usize {
        let port = usize::from(port);
        if PLAIN || self.shape.outputs == 1 { port } else { port * V + usize::from(vc) }
    }

    #[inline]
    pub(super) fn lane(&self, index: u32, lane: usize) -> &Lane {
        &self.extra.lanes[index as usize * self.shape.lanes + lane]
    }

    #[inline]
    pub(super) fn lane_mut(&mut self, index: u32, lane: usize) -> &mut Lane {
        &mut self.extra.lanes[index as usize * self.shape.lanes + lane]
    }

    #[inline]
    pub(super) fn sender(&self, index: u32) -> &Sender {
        &self.extra.senders[index as usize]
    }

    #[inline]
    pub(super) fn sender_mut(&mut self, index: u32) -> &mut Sender {
        &mut self.extra.senders[index as usize]
    }

    /// Notes when a packet makes room in the output queue that it enters.
    #[inline]
    pub(super) fn push_departure(&mut self, index: u32, departure: Departure) {
        let size = self.shape.departures;
        let queue = &mut self.ports[index as usize].output_queue;
        queue.space -= u32::from(departure.flits);
        let place = usize::from(queue.first + queue.len) & (size - 1);
        queue.len += 1;
        self.extra.departures[index as usize * size + place] = departure;
    }

    /// The next departure of a port that has not been looked at.
    #[inline]
    pub(super) fn next_departure(&self, index: u32) -> Option<Departure> {
        let queue = &self.port(index).output_queue;
        let place = index as usize * self.shape.departures + usize::from(queue.first);
        (queue.len > 0).then(|| self.extra.departures[place])
    }

    /// Makes the room that packets have left which departed before `now`.
    #[inline]
    pub(super) fn look_at_departures(&mut self, index: u32, now: Tick) {
        while let Some(departure) = self.next_departure(index).filter(|departure| departure.tick < now) {
            let mask = self.shape.departures as u16 - 1;
            let queue = &mut self.port_mut(index).output_queue;
            queue.space += u32::from(departure.flits);
            queue.first = (queue.first + 1) & mask;
            queue.len -= 1;
        }
    }

    /// Adds a port to those with a queue that sleeps until the output of port `index` changes.
    #[inline]
    pub(super) fn add_waiter(&mut self, index: u32, port: u8) {
        match usize::from(port) / 64 {
            0 => self.port_mut(index).waiters |= 1 << port,
            word => self.extra.waiters[index as usize * (self.shape.words - 1) + word - 1] |= 1 << (port % 64),
        }
    }

    #[inline]
    pub(super) fn has_waiters(&self, index: u32) -> bool {
        let more = self.shape.words - 1;
        let others = index as usize * more..(index as usize + 1) * more;
        self.port(index).waiters != 0 || (more > 0 && self.extra.waiters[others].iter().any(|&word| word != 0))
    }

    /// Takes one word of the set of ports with such queues.
    #[inline]
    pub(super) fn take_waiters(&mut self, index: u32, word: usize) -> u64 {
        match word {
            0 => std::mem::take(&mut self.port_mut(index).waiters),
            word => std::mem::take(&mut self.extra.waiters[index as usize * (self.shape.words - 1) + word - 1]),
        }
    }

    /// The first row of a port from `from` on with an awake queue.
    #[inline]
    pub(super) fn awake_row(&self, index: u32, from: usize) -> Option<usize> {
        if PLAIN || self.shape.rows == 1 {
            return (from == 0 && self.port(index).row.awake != 0).then_some(0);
        }
        let words = &self.extra.awake_rows[index as usize * self.shape.words..][..self.shape.words];
        let mut mask = u64::MAX.checked_shl(from as u32 % 64).unwrap_or(0);
        for (word, &rows) in words.iter().enumerate().skip(from / 64) {
            if rows & mask != 0 {
                return Some(word * 64 + (rows & mask).trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The head of a queue may try to leave.
    #[inline]
    pub(super) fn set_awake(&mut self, at: At) {
        let row = self.row_mut(at);
        row.awake |= 1 << at.vc;
        row.asleep &= !(1 << at.vc);
        if !PLAIN && self.shape.rows > 1 {
            self.extra.awake_rows[at.index as usize * self.shape.words + usize::from(at.row) / 64] |=
                1 << (at.row % 64);
        }
    }

    /// It may not, or there is none.
    #[inline]
    pub(super) fn clear_awake(&mut self, at: At) {
        let row = self.row_mut(at);
        row.awake &= !(1 << at.vc);
        let none_left = row.awake == 0;
        if (!PLAIN && self.shape.rows > 1) && none_left {
            self.extra.awake_rows[at.index as usize * self.shape.words + usize::from(at.row) / 64] &=
                !(1 << (at.row % 64));
        }
    }

    /// The allocator shall look at a port.
    #[inline]
    pub(super) fn activate(&mut self, router: u32, port: u8) {
        self.active[router as usize * self.shape.words + usize::from(port) / 64] |= 1 << (port % 64);
        self.busy[router as usize / 64] |= 1 << (router % 64);
    }

    /// The allocator need not look at a port until it is activated.
    #[inline]
    pub(super) fn deactivate(&mut self, router: u32, port: u8) {
        self.active[router as usize * self.shape.words + usize::from(port) / 64] &= !(1 << (port % 64));
    }

    /// The ports that the allocator shall look at, one word of them.
    #[inline]
    pub(super) fn active_ports(&self, router: u32, word: usize) -> u64 {
        self.active[router as usize * self.shape.words + word]
    }

    /// Whether a packet owns a channel of a port, for routers with a stage for virtual channels.
    pub(super) fn owned_mut(&mut self, index: u32, vc: u8) -> &mut bool {
        &mut self.extra.owned[index as usize * V + usize::from(vc)]
    }

    /// The queue, by port and channel, that a channel of a port chose last, for such routers.
    pub(super) fn last_seeker_mut(&mut self, index: u32, vc: u8) -> &mut u16 {
        &mut self.extra.last_seeker[index as usize * V + usize::from(vc)]
    }

    /// The channel, by port and channel, that a queue owned last, for such routers.
    pub(super) fn last_channel_mut(&mut self, at: At) -> &mut u32 {
        let queue = self.queue_index(at);
        &mut self.extra.last_channel[queue]
    }

    /// When a queue was served last, for routers that serve by that.
    pub(super) fn queue_served(&self, at: At) -> Tick {
        self.extra.queue_served[self.queue_index(at)]
    }

    /// When an output of a router served one of its inputs last, for routers that serve by that.
    pub(super) fn input_served(&self, index: u32, vc: u8, input: u16) -> Tick {
        self.extra.input_served[self.pair_index(index, vc, input)]
    }

    /// Notes that an output of a router serves a queue, for routers that care.
    #[inline]
    pub(super) fn note_served(&mut self, at: At, index: u32, vc: u8, now: Tick) {
        if !self.extra.queue_served.is_empty() {
            let queue = self.queue_index(at);
            self.extra.queue_served[queue] = now;
        }
        if !self.extra.input_served.is_empty() {
            let pair = self.pair_index(index, vc, self.input_number(at));
            self.extra.input_served[pair] = now;
        }
    }

    fn pair_index(&self, index: u32, vc: u8, input: u16) -> usize {
        let output =
            if PLAIN || self.shape.outputs == 1 { index as usize } else { index as usize * V + usize::from(vc) };
        let inputs = self.shape.ports * if PLAIN || self.shape.inputs == 1 { 1 } else { V };
        output * inputs + usize::from(input)
    }

    #[inline]
    fn row_index(&self, at: At) -> usize {
        at.index as usize * self.shape.rows + usize::from(at.row)
    }

    #[inline]
    fn queue_index(&self, at: At) -> usize {
        self.row_index(at) * V + usize::from(at.vc)
    }
}

/// What plain routers do to a port, with each field in its place.
impl<const V: usize> PortState<V> {
    #[inline]
    pub(super) fn row(&self) -> &Row {
        &self.row
    }

    #[inline]
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The crossbar is busy with a packet from `input` to this port until `end`.
    #[inline]
    pub(super) fn set_busy(&mut self, end: Tick, input: u16) {
        (self.output.busy_until, self.output.last) = (end, input);
    }

    /// Whether any of the first 64 ports has a queue that sleeps until this port's output changes.
    #[inline]
    pub(super) fn has_first_waiters(&self) -> bool {
        self.waiters != 0
    }

    /// The head of a queue starts to cross until `end`, and the packet behind it, if any, becomes head. Returns whether
    /// an event must be scheduled for the end, because queues of this port are awake.
    #[inline]
    pub(super) fn replace_head(&mut self, vc: u8, behind: u32, behind_flits: u16, end: Tick) -> bool {
        let queue = &mut self.queues[usize::from(vc)];
        queue.head = behind;
        queue.flits = behind_flits;
        queue.routed = false;
        if behind == NONE {
            self.row.nonempty &= !(1 << vc);
            self.row.awake &= !(1 << vc);
        }
        (self.input.busy_until, self.input.last_vc) = (end, vc);
        let needed = self.row.awake != 0 && !self.input.free_scheduled;
        self.input.free_scheduled |= needed;
        needed
    }
}

const NO_QUEUE: Queue =
    Queue { head: NONE, tail: NONE, flits: 0, port: 0, vc: 0, vcs: 0, routed: false, owns_vc: false };

impl<const V: usize> PortState<V> {
    fn new(fabric: &Fabric, link: Link) -> Self {
        let mut capacity = PerVc([0; V]);
        for (vc, capacity) in capacity[..fabric.shape.vcs].iter_mut().enumerate() {
            *capacity = fabric.capacity(link.class, vc);
        }
        Self {
            queues: PerVc([NO_QUEUE; V]),
            row: Row::default(),
            input: Input::default(),
            occupied: PerVc([0; V]),
            capacity,
            link,
            output: Output::default(),
            output_queue: OutputQueue {
                space: fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX),
                first: 0,
                len: 0,
                room_scheduled: false,
            },
            waiters: 0,
            link_free_at: 0,
            flits_sent: 0,
        }
    }
}

impl Extra {
    fn new(fabric: &Fabric, ports: usize, vcs: usize) -> Self {
        let (shape, router) = (fabric.shape, &fabric.spec.router);
        let only_if = |condition: bool, count: usize| if condition { count } else { 0 };
        let queues = ports * shape.rows * vcs;
        let inputs = shape.ports * if shape.inputs == 1 { 1 } else { vcs };
        let outputs = ports * if shape.outputs == 1 { 1 } else { vcs };
        let owners = only_if(router.vc_allocation, ports * vcs);
        let space = router.output_queues.flits.unwrap_or(u32::MAX);
        let lane = Lane { head: NONE, tail: NONE, space };
        let sender = Sender { start_at: NEVER, starts: 0, releasing: 0, releasing_lane: 0, last_lane: 0 };
        let in_order = fabric.rules.departs_in_order;
        let by_age = |arbiter: Arbiter, count: usize| only_if(arbiter == Arbiter::LeastRecentlyServed, count);
        Self {
            rows: vec![Row::default(); only_if(shape.rows > 1, ports * shape.rows)],
            queues: vec![NO_QUEUE; only_if(shape.rows > 1, queues)],
            awake_rows: vec![0; only_if(shape.rows > 1, ports * shape.words)],
            inputs: vec![Input::default(); only_if(shape.inputs > 1, ports * vcs)],
            outputs: vec![Output::default(); only_if(shape.outputs > 1, ports * vcs)],
            departures: vec![Departure::default(); only_if(in_order && fabric.rules.bounded, ports * shape.departures)],
            lanes: vec![lane; only_if(!in_order, ports * shape.lanes)],
            senders: vec![sender; only_if(!in_order, ports)],
            waiters: vec![0; ports * (shape.words - 1)],
            owned: vec![false; owners],
            last_seeker: vec![0; owners],
            last_channel: vec![0; only_if(router.vc_allocation, queues)],
            queue_served: vec![0; by_age(router.input_arbiter, queues)],
            input_served: vec![0; by_age(router.output_arbiter, outputs * inputs)],
        }
    }
}

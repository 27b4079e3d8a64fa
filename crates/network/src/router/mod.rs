//! Routers: what happens at their inputs, in their crossbars and at their outputs.
//!
//! There is one description of a router, [`crate::RouterSpec`], and one implementation of it, [`Routers`]: the state of
//! all routers of a region. It is compiled six times. As [`General`] it does everything the description can say. As
//! [`Plain`], [`Basic`], [`Sorting`] and [`Crosspoints`] it does what most networks ask for; all else is known to be absent when it is compiled,
//! so it costs nothing. As [`Traced`] it also tells what happens to the packets of a message.
//!
//! For packets that come in, a port has virtual channels. Each is one queue, or one per output (a VOQ). For packets that
//! go out it has the crossbar's output connections, one or more output queues, and the link. Heads that cannot leave
//! sleep until something changes at the output they want, so an allocation looks only at heads that may be able to.
//!
//! **What this module must never know:** nodes and what they send; how the network is dealt out to regions.
//!
//! **The invariant it keeps:** everything that happens to a router comes in by a method of [`Routers`], and everything that
//! it causes goes out by the [`Surroundings`].

mod active;
mod allocate;
mod arbiters;
mod arrive;
mod by_output;
mod cross;
mod decision;
mod departures;
mod destinations;
mod examine;
mod extras;
mod inspect;
mod link;
mod mark;
mod microarchitecture;
mod path;
mod request;
mod rivals;
mod shared_queues;
mod sleep;
mod state;
mod surroundings;
mod switch;
mod trace;
mod turns;
mod turns_by_priority;
mod vc_allocation;
mod view;
mod wake_next;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use self::active::ActivePorts;
use self::departures::Departures;
pub(crate) use self::departures::{can_be_known, departure_bytes};
use self::extras::Extras;
pub(crate) use self::inspect::{Held, InputQueue};
pub use self::microarchitecture::{Basic, Crosspoints, General, Microarchitecture, Plain, Sorting, Traced};
use self::request::Scratch;
use self::state::{
    Heads, InputConnection, InputPort, OutputConnection, OutputPort, PLAIN_VCS, Queue, QueueId, members,
};
pub(crate) use self::surroundings::Surroundings;
use crate::fabric::{Fabric, Shape};
use crate::link::{FarKind, PortLinks};
use crate::rules::Rules;
use crate::time::Time;

/// Words of a set of ports, at most.
const WORDS_MAX: usize = 4;

/// A port of a router of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortId {
    /// The router, as the region numbers it.
    pub(crate) router: u32,
    /// The port.
    pub(crate) port: u8,
}

/// All routers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Routers<M> {
    shape: Shape,
    rules: Rules,
    /// By port: the side where packets come in, and the side where they go out.
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    /// By port, VOQ and virtual channel.
    queues: Vec<Queue>,
    /// By port and virtual channel: free flits in the buffer at the other end; those of plain routers are in their ports.
    credits: Vec<u16>,
    departures: Departures,
    extras: Extras,
    active: ActivePorts,
    packet_hops: u64,
    last_hop: Time,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    microarchitecture: PhantomData<M>,
}

impl<M: Microarchitecture> Routers<M> {
    /// Empty routers whose ports have the given links, router by router.
    pub fn new(fabric: &Fabric, links: &[PortLinks]) -> Self {
        let (shape, rules) = (fabric.shape, fabric.rules);
        let (inputs, outputs, credits) = state::ports(fabric, links);
        let departures = departures::ring_places(&fabric.spec).filter(|_| rules.departs_at_once).unwrap_or(0);
        Self {
            shape,
            rules,
            inputs,
            outputs,
            queues: state::queues(&shape, links.len()),
            credits: if Self::CREDITS_IN_PORTS { Vec::new() } else { credits },
            departures: Departures::new(links.len(), departures),
            extras: Extras::new(fabric, links.len()),
            active: ActivePorts::new(&shape, links.len() / shape.ports),
            packet_hops: 0,
            last_hop: 0,
            scratch: Scratch::new(&shape),
            microarchitecture: PhantomData,
        }
    }

    /// Whether a port has the credits of all channels in its record.
    const CREDITS_IN_PORTS: bool = M::PLAIN && !M::CROSSPOINTS;

    /// Whether a rule holds that never does in plain routers.
    #[inline]
    fn unless_plain(rule: bool) -> bool {
        !M::PLAIN && rule
    }

    /// Whether a rule holds that never does in basic routers.
    #[inline]
    fn unless_basic(rule: bool) -> bool {
        !M::BASIC && rule
    }

    /// The words that a set of the ports of a router takes.
    #[inline]
    fn words(&self) -> usize {
        if M::PLAIN { 1 } else { self.shape.words }
    }

    /// Whether inputs have a queue per node of the network.
    #[inline]
    fn sorts_by_node(&self) -> bool {
        Self::unless_basic(self.rules.destination_queue.is_some())
    }

    /// Whether inputs have several queues per virtual channel.
    #[inline]
    fn has_voqs(&self) -> bool {
        Self::sorts(&self.shape)
    }

    /// The same of routers of this shape.
    #[inline]
    fn sorts(shape: &Shape) -> bool {
        M::VOQS.unwrap_or(shape.voqs > 1)
    }

    /// Whether packets are routed when they arrive.
    #[inline]
    pub fn routes_on_arrival(&self) -> bool {
        M::VOQS.unwrap_or(self.rules.routes_on_arrival)
    }

    /// Whether that is known when they are compiled: no head has to decide then.
    const SETTLES_ON_ARRIVAL: bool = matches!(M::VOQS, Some(true));

    /// Whether all virtual channels of an input share a connection to the crossbar.
    #[inline]
    fn inputs_share(&self) -> bool {
        !M::CROSSPOINTS && !Self::unless_basic(self.shape.inputs > 1)
    }

    /// Whether all virtual channels of an output share a connection from the crossbar.
    #[inline]
    fn outputs_share(&self) -> bool {
        !Self::unless_basic(self.shape.outputs > 1)
    }

    /// Whether the time at which a packet departs is known when it crosses.
    #[inline]
    fn departs_at_once(&self) -> bool {
        M::PLAIN || self.rules.departs_at_once
    }

    /// Whether packets cross to this port while its link is idle, and then without waiting for those before them.
    #[inline]
    fn ejects_when_idle(&self, index: u32) -> bool {
        Self::unless_basic(self.rules.ejects_when_idle) && self.outputs[index as usize].is_terminal()
    }

    /// The number of the first port of a router in the region.
    #[inline]
    fn first_port(&self, router: u32) -> u32 {
        router * self.shape.ports as u32
    }

    /// The number of a port in the region.
    #[inline]
    fn port_index(&self, port: PortId) -> u32 {
        self.first_port(port.router) + u32::from(port.port)
    }

    /// The port with a number.
    pub fn port_id(&self, index: u32) -> PortId {
        let input = &self.inputs[index as usize];
        PortId { router: input.router, port: input.port }
    }

    /// A queue of a port.
    #[inline]
    fn queue_id(&self, index: u32, voq: u8, vc: u8) -> QueueId {
        QueueId { index, port: self.inputs[index as usize].port, voq, vc }
    }

    /// Where the record of a queue is.
    #[inline]
    fn queue_index(&self, id: QueueId) -> usize {
        let first = if self.has_voqs() { self.shape.voq(id) } else { id.index as usize };
        first * self.shape.vcs + usize::from(id.vc)
    }

    #[inline]
    fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[self.queue_index(id)]
    }

    /// The heads of the virtual channels of a port, or of one VOQ of each.
    #[inline]
    fn heads(&self, id: QueueId) -> &Heads {
        if self.has_voqs() { &self.extras.heads[self.shape.voq(id)] } else { &self.inputs[id.index as usize].heads }
    }

    #[inline]
    fn heads_mut(&mut self, id: QueueId) -> &mut Heads {
        if self.has_voqs() {
            &mut self.extras.heads[self.shape.voq(id)]
        } else {
            &mut self.inputs[id.index as usize].heads
        }
    }

    /// Where the connection of a queue to the crossbar is among those of single channels, if it is not the port's.
    #[inline]
    fn own_connection(&self, id: QueueId) -> Option<usize> {
        let shares = self.inputs_share() || id.vc == 0;
        (!shares).then(|| id.index as usize * (self.shape.inputs - 1) + usize::from(id.vc) - 1)
    }

    /// The connection of a queue to the crossbar.
    #[inline]
    fn input(&self, id: QueueId) -> &InputConnection {
        match self.own_connection(id) {
            None => &self.inputs[id.index as usize].connection,
            Some(own) => &self.extras.inputs[own],
        }
    }

    #[inline]
    fn input_mut(&mut self, id: QueueId) -> &mut InputConnection {
        match self.own_connection(id) {
            None => &mut self.inputs[id.index as usize].connection,
            Some(own) => &mut self.extras.inputs[own],
        }
    }

    /// The number of a queue's connection among those of its router.
    #[inline]
    fn input_number(&self, id: QueueId) -> u16 {
        if self.inputs_share() {
            id.port.into()
        } else {
            u16::from(id.port) * self.shape.inputs as u16 + u16::from(id.vc)
        }
    }

    /// Where the connection of the crossbar to a channel of a port is among those to single channels, if it is not the port's.
    #[inline]
    fn own_output(&self, index: u32, vc: u8) -> Option<usize> {
        let shares = self.outputs_share() || vc == 0;
        (!shares).then(|| index as usize * (self.shape.outputs - 1) + usize::from(vc) - 1)
    }

    /// The connection of the crossbar to a channel of a port.
    #[inline]
    fn output(&self, index: u32, vc: u8) -> &OutputConnection {
        match self.own_output(index, vc) {
            None => &self.outputs[index as usize].connection,
            Some(own) => &self.extras.outputs[own],
        }
    }

    #[inline]
    fn output_mut(&mut self, index: u32, vc: u8) -> &mut OutputConnection {
        match self.own_output(index, vc) {
            None => &mut self.outputs[index as usize].connection,
            Some(own) => &mut self.extras.outputs[own],
        }
    }

    /// The number of the connection to a channel of a port among those of its router.
    #[inline]
    fn output_number(&self, port: u8, vc: u8) -> usize {
        if self.outputs_share() { port.into() } else { usize::from(port) * self.shape.outputs + usize::from(vc) }
    }

    /// Where a virtual channel of a port is found in arrays by port and channel.
    #[inline]
    fn channel(&self, index: u32, vc: u8) -> usize {
        index as usize * self.shape.vcs + usize::from(vc)
    }

    /// The allocator need not look at a port until one of its heads asks again.
    #[inline]
    fn deactivate(&mut self, index: u32) {
        self.active.remove(self.inputs[index as usize].place());
    }

    /// Whether some router has something to allocate.
    #[inline]
    pub fn allocation_due(&self) -> bool {
        self.active.is_due()
    }

    /// Keeps the links of a class of a router busy with other things than packets.
    pub fn occupy_links(&mut self, router: u32, link_class: u8, flits: u16, now: Time) {
        let (first, rules) = (router as usize * self.shape.ports, self.rules);
        debug_assert!(!rules.departs_at_once, "a packet that has crossed knows when its link is free");
        for output in &mut self.outputs[first..first + self.shape.ports] {
            if output.link_class == link_class && !output.is_terminal() {
                let from = rules.link_time(output.link_free_at.max(now));
                output.link_free_at = from + Time::from(flits) * Time::from(output.flit_ticks);
            }
        }
    }

    /// Free flits in the buffer of a virtual channel at the other end of a port's link.
    #[inline]
    fn credit(&self, index: u32, vc: u8) -> u16 {
        self.outputs[index as usize].credit::<M>(&self.credits, self.channel(index, vc), vc)
    }

    #[inline]
    fn credit_mut(&mut self, index: u32, vc: u8) -> &mut u16 {
        let channel = self.channel(index, vc);
        self.outputs[index as usize].credit_mut::<M>(&mut self.credits, channel, vc)
    }

    /// Whether the routing agent is told of the heads of a port. It does not know of what the router itself sends.
    #[inline]
    fn tells_heads(&self, index: u32) -> bool {
        self.rules.tells_heads && !self.is_internal(index)
    }

    /// The port by which a router itself sends control packets, where it does: nothing is behind it.
    fn internal_port(&self) -> u8 {
        debug_assert!(self.rules.has_internal_port);
        (self.shape.ports - 1) as u8
    }

    /// Whether a port is that one, or nothing feeds it.
    #[inline]
    fn is_internal(&self, index: u32) -> bool {
        self.inputs[index as usize].fed_by == FarKind::Open
    }
}

impl OutputPort {
    /// Free flits in the buffer of a virtual channel at the other end: here, or in `credits` at `channel`.
    #[inline]
    pub(super) fn credit<M: Microarchitecture>(&self, credits: &[u16], channel: usize, vc: u8) -> u16 {
        if Routers::<M>::CREDITS_IN_PORTS { self.credits[usize::from(vc) % PLAIN_VCS] } else { credits[channel] }
    }

    #[inline]
    fn credit_mut<'a, M: Microarchitecture>(
        &'a mut self,
        credits: &'a mut [u16],
        channel: usize,
        vc: u8,
    ) -> &'a mut u16 {
        if Routers::<M>::CREDITS_IN_PORTS {
            &mut self.credits[usize::from(vc) % PLAIN_VCS]
        } else {
            &mut credits[channel]
        }
    }
}

impl Shape {
    /// Where a VOQ of a port is in arrays by port and VOQ.
    #[inline]
    fn voq(&self, id: QueueId) -> usize {
        id.index as usize * self.voqs + usize::from(id.voq)
    }
}

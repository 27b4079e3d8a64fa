//! Inputs: packets arrive, queue up, and become heads that ask for the crossbar.

use tailback_routing::{PortVc, Step};

use super::decision::Decision;
use super::state::{InputPort, Queue, QueueId};
use super::{Microarchitecture, Routers, Surroundings};
use crate::event::{Event, EventKind};
use crate::fabric::Fabric;
use crate::message_trace::Blocked;
use crate::packet::NONE;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// The first flit of a packet arrives at a port.
    #[inline]
    pub fn arrive(&mut self, port: u32, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let record = &mut around.pool[packet];
        debug_assert_eq!(record.head_at, now, "a packet arrives when it says");
        record.next = NONE;
        let (vc, flits) = (record.vc, record.flits);
        let mut id = self.queue_id(port, 0, vc);
        self.trace_arrival(id, packet, now, around);
        if Self::unless_plain(self.rules.counts_inputs) {
            let channel = self.channel(port, vc);
            self.extras.occupied[channel] += flits;
        }
        if Self::unless_plain(self.rules.records_paths) {
            self.note_path(id, packet, around);
        }
        if self.routes_on_arrival() {
            id.voq = self.route_on_arrival(id, packet, now, around);
        } else if self.sorts_by_node() {
            id.voq = around.pool[packet].destination as u8;
        }
        if Self::unless_plain(self.rules.watches_arrivals || self.rules.counts_for_nodes.is_some()) {
            self.arrive_watched(id, packet, now, around);
        } else {
            self.join_queue(id, packet, flits, now, around);
        }
    }

    /// A packet joins its queue at an input. Always inline: one of the two who call it does so for nearly all packets.
    #[inline(always)]
    pub(super) fn join_queue(
        &mut self,
        id: QueueId,
        packet: u32,
        flits: u16,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let index = self.queue_index(id);
        let routed = self.routes_on_arrival();
        let queue = &mut self.queues[index];
        let last = std::mem::replace(&mut queue.tail, packet);
        if queue.head != NONE {
            around.pool[last].next = packet;
            return;
        }
        queue.set_head(packet, flits, routed.then_some(id.voq), around);
        if self.tells_heads(id.index) && !self.is_crossing_still(id) {
            self.tell_head(id, index, packet, now, around);
        }
        let alone_from =
            if Self::unless_basic(self.rules.head_delay > 0) { now.max(self.crossing_until(id)) } else { now };
        self.begin_asking(id, alone_from, now, around);
    }

    /// The traffic class of a queue, and the virtual channel that it is to a routing agent.
    #[inline]
    pub(super) fn entry(&self, id: QueueId, fabric: &Fabric) -> (u8, PortVc) {
        self.inputs[id.index as usize].entry(id, fabric)
    }

    /// The crossbar is done with a packet that came in by a port.
    #[inline]
    pub fn input_free(&mut self, port: u32, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(port, 0, vc);
        let connection = self.input_mut(id);
        connection.free_scheduled = false;
        let served = QueueId { voq: connection.last_voq, vc: connection.last_vc, ..id };
        if self.tells_heads(port) {
            self.tell_of_new_head(served, now, around);
        }
        if self.has_awake(id) {
            self.rouse(id, now, around);
        }
    }

    /// Tells the routing agent that a packet is head of a queue now. A function of its own, as most agents want to know nothing of heads.
    #[inline(never)]
    fn tell_head(&mut self, id: QueueId, number: usize, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let input = &self.inputs[id.index as usize];
        let (router, first_port) = (input.router, input.first_port);
        let (_, entry) = input.entry(id, around.fabric);
        let mut look = around.tell_head(router, packet, entry);
        if let Some(port) = look.named {
            self.ask_anew(first_port + u32::from(port), now, around);
        }
        if let Some(step) = &mut look.step
            && !self.routes_on_arrival()
        {
            self.decide_early(first_port, number, packet, step, around);
        }
    }

    /// Tells the routing agent that the head of a queue has left it, and who is head now.
    pub(super) fn tell_of_new_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let input = &self.inputs[id.index as usize];
        let (class, entry) = input.entry(id, around.fabric);
        around.tell_left(input.router, class, entry);
        let number = self.queue_index(id);
        let head = self.queues[number].head;
        if head != NONE {
            self.tell_head(id, number, head, now, around);
        }
    }

    /// Routes a packet on arrival, for VOQs: its output port and the channels that will do are settled.
    fn route_on_arrival(&mut self, id: QueueId, packet: u32, now: Time, around: &mut Surroundings<'_>) -> u8 {
        let flits = around.pool[packet].flits;
        let (step, vc) = self.route(id, packet, flits, true, now, around);
        let packet = &mut around.pool[packet];
        (packet.header, packet.vc, packet.vcs) = (step.header, vc, step.vcs);
        if self.rules.counts_routed {
            let output = self.output_of(id, step.port);
            self.extras.routed[output] += u32::from(flits);
        }
        step.port
    }

    /// A packet that was routed on arrival to the output of its queue leaves its input.
    #[inline]
    pub(super) fn routed_no_more(&mut self, id: QueueId, flits: u16) {
        if Self::unless_plain(self.rules.counts_routed) {
            let output = self.output_of(id, id.voq);
            self.extras.routed[output] -= u32::from(flits);
        }
    }

    /// Whether a packet crosses that was the head of this queue, and its end has not been told: where all are told.
    pub(super) fn is_crossing_still(&self, id: QueueId) -> bool {
        let input = self.input(id);
        input.free_scheduled && (input.last_voq, input.last_vc) == (id.voq, id.vc)
    }

    /// Until when the packet that left this queue last is still crossing.
    pub(super) fn crossing_until(&self, id: QueueId) -> Time {
        let input = self.input(id);
        let own = !self.inputs_share() || (input.last_voq, input.last_vc) == (id.voq, id.vc);
        if own { input.busy_until } else { 0 }
    }

    /// The head of a queue may ask for the crossbar, some time after it is alone at the head, which is at `from`.
    /// Always inline: with VOQs it was a call for each packet.
    #[inline(always)]
    pub(super) fn begin_asking(&mut self, id: QueueId, from: Time, now: Time, around: &mut Surroundings<'_>) {
        if Self::unless_basic(self.rules.head_delay > 0) {
            self.trace_head(id, Blocked::Pipeline, from, around);
            self.clear_awake(id);
            let payload = u32::from(id.voq) << 8 | u32::from(id.vc);
            around.schedule(from + self.rules.head_delay, Event::at(EventKind::HeadReady, id.index, payload));
        } else {
            self.trace_head(id, Blocked::Input, from, around);
            self.wake_head(id, now, around);
        }
    }

    /// The head of a queue of a port may ask for the crossbar.
    pub fn head_ready(&mut self, port: u32, voq: u8, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(port, voq, vc);
        self.trace_head(id, Blocked::Input, now, around);
        self.wake_head(id, now, around);
    }

    /// Makes sure that an event tells when the crossbar connection of a queue is free again.
    #[inline]
    pub(super) fn schedule_input_free(&mut self, id: QueueId, around: &mut Surroundings<'_>) {
        self.input_mut(id).announce_free::<M>(id, around);
    }

    /// Asks the routing agent where a packet of `flits` flits shall go, for the first time or again, and counts the channel through all
    /// classes.
    #[inline]
    pub(super) fn route(
        &mut self,
        id: QueueId,
        packet: u32,
        flits: u16,
        first_time: bool,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> (Step, u8) {
        if let Some(port) = self.recorded_port(packet, around) {
            return self.step_on_path(id, packet, port, around);
        }
        let InputPort { router, first_port, link_class, .. } = self.inputs[id.index as usize];
        let own = Self::unless_plain(self.is_internal(id.index));
        let class = around.pool[packet].class;
        let vc = id.vc - around.fabric.first_vc(class, link_class);
        let entry = if own { PortVc::OWN } else { PortVc { port: id.port, vc } };
        let mut step = if self.rules.is_oblivious(class) {
            around.route_unseeing(router, packet, entry)
        } else {
            let outputs = self.outputs(first_port, class, flits, now, around.fabric);
            around.route(router, packet, entry, outputs, first_time)
        };
        if cfg!(debug_assertions) {
            around.assert_only_port(router, packet, entry, &step);
            if !own {
                around.assert_named(router, class, entry, &step);
            }
        }
        let vc = self.vc_of(&mut step, first_port, class, around.fabric);
        (step, vc)
    }

    /// The channel of a step of a traffic class, at the router whose first port has a number, counted through all classes.
    #[inline(always)]
    pub(super) fn vc_of(&self, step: &mut Step, first_port: u32, class: u8, fabric: &Fabric) -> u8 {
        let index = first_port as usize + usize::from(step.port);
        if Self::unless_plain(self.rules.ejection_vcs > 1) && step.vcs > 0 && self.outputs[index].is_terminal() {
            step.vcs = step.vcs.max(self.rules.ejection_vcs);
        }
        debug_assert!(
            step.vc + step.vcs <= self.vcs_of(class, index, fabric),
            "routing uses channels that it did not ask for"
        );
        // The channels of the first class come first.
        let first = if class == 0 { 0 } else { fabric.first_vc(class, self.outputs[index].link_class) };
        first + step.vc
    }

    /// The virtual channels of a traffic class on the link of a port.
    fn vcs_of(&self, class: u8, index: usize, fabric: &Fabric) -> u8 {
        fabric.spec.classes[usize::from(class)].vcs[usize::from(self.outputs[index].link_class)]
    }
}

impl InputPort {
    /// The traffic class of a queue of this port, and the virtual channel that it is to a routing agent.
    #[inline]
    fn entry(&self, id: QueueId, fabric: &Fabric) -> (u8, PortVc) {
        let class = fabric.class_of(self.link_class, id.vc);
        (class, PortVc { port: id.port, vc: id.vc - fabric.first_vc(class, self.link_class) })
    }
}

impl Queue {
    /// Notes what the allocator has to know of its new head, and where that goes if packets are routed when they arrive.
    #[inline]
    pub fn set_head(&mut self, packet: u32, flits: u16, routed_to: Option<u8>, around: &Surroundings<'_>) {
        let decision = if routed_to.is_some() { Decision::Settled } else { Decision::Open };
        (self.head, self.flits, self.decision, self.owns_vc) = (packet, flits, decision, false);
        if let Some(port) = routed_to {
            let packet = &around.pool[packet];
            (self.port, self.vc, self.vcs) = (port, packet.vc, packet.vcs);
        }
    }
}

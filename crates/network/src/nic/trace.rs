//! What interfaces note of a message that is traced. Without `TRACES` of its microarchitecture nothing of it is there.

use tailback_protocol::{Control, Outgoing, SourceAction, Verdict};
use tailback_workload::Part;

use super::source_queues::Waiting;
use crate::Observer;
use crate::fabric::Fabric;
use crate::message_trace::{Blocked, MessageTrace, Occurrence, Offered, Place, Subject};
use crate::observer::Offer;
use crate::packet::{NONE, Packet};
use crate::payload::Told;
use crate::region::NetworkRegion;
use crate::router::Microarchitecture;
use crate::time::Time;

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// A message is offered, and has been counted among those that wait unless it is lost. It has its name, if it does not get one when it
    /// has its turn.
    #[inline(always)]
    pub(super) fn trace_offer(
        &mut self,
        node: u32,
        (destination, told): (u32, Told),
        offer: &Offer,
        name: u32,
        now: Time,
    ) {
        if !M::TRACES {
            return;
        }
        let &Offer { node: source, traffic, flits, lost, .. } = offer;
        let part = part(&self.fabric, traffic, told);
        if self.trace.is_offered(&Offered { source, destination, traffic, created: now, told, part }) {
            let waiting = self.nodes.nodes[node as usize].waiting - u32::from(!lost);
            self.trace_message(node, Occurrence::Offered { part, traffic, flits, waiting, lost }, now);
            if name != NONE {
                self.trace.named(source, name, true);
            }
        }
    }

    /// A message has its turn for the first time, and gets its name.
    #[inline(always)]
    pub(super) fn trace_name(trace: &mut MessageTrace, fabric: &Fabric, source: u32, message: &Waiting) {
        if M::TRACES {
            let &Waiting { destination, traffic, created, serial, told, .. } = message;
            let part = part(fabric, traffic, told);
            let is_message = trace.is_message(&Offered { source, destination, traffic, created, told, part });
            trace.named(source, serial, is_message);
        }
    }

    /// The source has said whether a packet may leave, and what it wants done.
    #[inline(always)]
    pub(super) fn trace_verdict(
        &mut self,
        node: u32,
        packet: &Outgoing,
        verdict: Verdict,
        actions: &[SourceAction],
        now: Time,
    ) {
        if !M::TRACES {
            return;
        }
        if !matches!(verdict, Verdict::Send { .. }) {
            let name = (packet.packet.message, packet.packet.index);
            self.trace.keeps((packet.source, packet.destination), name, Blocked::Protocol, now);
        }
        if self.trace.is_name(packet.source, packet.packet.message) {
            let index = packet.packet.index;
            match verdict {
                Verdict::Send { .. } => {}
                Verdict::NotBefore(tick) => {
                    self.trace_message(node, Occurrence::Held { index, until: Some(tick) }, now);
                }
                Verdict::Hold => self.trace_message(node, Occurrence::Held { index, until: None }, now),
            }
            self.trace_actions(node, true, actions, now);
        }
    }

    /// There is no room for the next packet of an injection queue.
    #[inline(always)]
    pub(super) fn trace_no_room(&mut self, node: u32, injection_queue: usize, now: Time) {
        if M::TRACES && self.trace.is_of_packets() {
            let Some(message) = self.nodes.sources.front(node, injection_queue) else { return };
            let (between, name) =
                ((self.node_ids[node as usize], message.destination), (message.serial, message.index));
            self.trace.keeps(between, name, Blocked::Credits, now);
        }
    }

    /// The source wants things done: about the message, or as it is told of it.
    #[inline(always)]
    pub(super) fn trace_actions(&mut self, node: u32, told_of_it: bool, actions: &[SourceAction], now: Time) {
        if M::TRACES {
            actions.iter().for_each(|action| self.trace_action(node, told_of_it, action, now));
        }
    }

    fn trace_action(&mut self, node: u32, told_of_it: bool, action: &SourceAction, now: Time) {
        let source = self.node_ids[node as usize];
        let (name, what) = match *action {
            SourceAction::Withhold { message } => (Some(message), Occurrence::Withheld),
            SourceAction::Resume { message, at } => (Some(message), Occurrence::Resumed(at)),
            SourceAction::Resend { packet, kind, at } => {
                (Some(packet.message), Occurrence::Resent { packet, kind, at })
            }
            SourceAction::Timer { at, .. } => (None, Occurrence::Timer(at)),
            _ => return,
        };
        if name.map_or(told_of_it, |name| self.trace.is_name(source, name)) {
            self.trace_message(node, what, now);
        }
    }

    /// The interface forgets a message.
    #[inline(always)]
    pub(super) fn trace_forgotten(&mut self, node: u32, name: u32, now: Time) {
        if M::TRACES && self.trace.is_name(self.node_ids[node as usize], name) {
            self.trace_message(node, Occurrence::Forgotten, now);
        }
    }

    /// A control packet comes to be, which is traced if it is about the message.
    #[inline(always)]
    pub(super) fn trace_control(&self, control: &Control, packet: &mut Packet) {
        if M::TRACES && self.trace.concerns(control) {
            packet.set_traced(true);
        }
    }

    /// A packet is put on the link to the router; data is traced if it is of the message.
    #[inline(always)]
    pub(super) fn trace_launch(&mut self, node: u32, slot: u32, now: Time) {
        if !M::TRACES {
            return;
        }
        let &Packet { source, destination, traffic, created, kind, vc, flits, .. } = &self.pool[slot];
        if self.fabric.direction(kind).carries_data() {
            let told = self.payloads.told(slot);
            let part = part(&self.fabric, traffic, told);
            let is_message = self.trace.is_message(&Offered { source, destination, traffic, created, told, part });
            self.pool[slot].set_traced(is_message);
        }
        let (is_taken, story) = (self.trace.takes(&self.pool[slot], now), self.trace.story_of(&self.pool[slot]));
        if is_taken {
            self.pool[slot].set_traced(true);
        }
        if self.pool[slot].is_traced() {
            let says = self.says(slot, &self.pool[slot]);
            let what = Occurrence::Sent { vc, flits, created: created.into(), traffic, story, says };
            self.trace_packet(node, &Subject::of(&self.pool[slot]), what, now);
        }
    }

    /// The last flit of a packet has arrived, which was in this slot of the pool.
    #[inline(always)]
    pub(super) fn trace_delivery(&mut self, node: u32, slot: u32, packet: &Packet, now: Time) {
        if !M::TRACES {
            return;
        }
        self.trace.passes(packet, &self.fabric);
        if packet.is_traced() {
            let (injected, hops, says) = (packet.injected(), packet.hops, self.says(slot, packet));
            let what = Occurrence::Received { injected, tail_lag: packet.tail_lag.into(), hops, says };
            self.trace_packet(node, &Subject::of(packet), what, now);
            self.trace_told(node, slot, packet, now);
        }
    }

    /// What the source or the sink of a node is about to do about a control packet.
    fn trace_told(&mut self, node: u32, slot: u32, packet: &Packet, now: Time) {
        let Some(control) = packet.control(slot, &self.payloads, &self.fabric) else { return };
        let (tick, clock) = (now.into(), self.fabric.clock());
        let (sources, sinks) = (&self.protocol.sources, &self.protocol.sinks);
        let foretold = if self.fabric.direction(packet.kind).asks_sink() {
            sinks.get(node as usize).and_then(|sink| sink.foretell(&control, tick, clock))
        } else {
            sources.get(node as usize).and_then(|source| source.foretell(&control, tick, clock))
        };
        if let Some(text) = foretold {
            self.trace_packet(node, &Subject::of(packet), Occurrence::Decided(text), now);
        }
    }

    /// All packets of a message have arrived, this one last.
    #[inline(always)]
    pub(super) fn trace_complete(&mut self, node: u32, packet: &Packet, told: Told, now: Time) {
        if M::TRACES && packet.is_traced() && !self.trace.is_of_packets() {
            let &Packet { source, destination, traffic, created, .. } = packet;
            let part = part(&self.fabric, traffic, told);
            self.trace_message(node, Occurrence::Complete { part, created: created.into() }, now);
            self.trace.is_announced(&Offered { source, destination, traffic, created, told, part });
        }
    }

    /// What a packet says, if it is control; `slot` is where it is or was in the pool.
    fn says(&self, slot: u32, packet: &Packet) -> Option<String> {
        packet.control(slot, &self.payloads, &self.fabric).map(|control| self.fabric.describe(&control))
    }

    fn trace_message(&mut self, node: u32, what: Occurrence, now: Time) {
        self.trace_packet(node, &Subject::Message, what, now);
    }

    fn trace_packet(&mut self, node: u32, subject: &Subject, what: Occurrence, now: Time) {
        self.trace.note(now, Place::Node(self.node_ids[node as usize]), *subject, what);
    }
}

/// What a message is of those that cross the network for one.
fn part(fabric: &Fabric, traffic: u16, told: Told) -> Part {
    let job = fabric.workload.flows[usize::from(traffic)].job.as_ref();
    job.map_or(Part::Whole, |job| job.program.part(told.word()))
}

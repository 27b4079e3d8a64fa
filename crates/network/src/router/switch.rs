//! Where the protocol's part of a router is asked about packets, and does what it wants done: packets are dropped, trimmed or
//! absorbed, and control packets sent. What is sent or trimmed comes in by an internal port, behind which nothing is.
//!
//! **The invariant it keeps:** only lossy data is dropped or trimmed, and a control packet says so; the credits of what
//! ends here are given back.

use tailback_protocol::{Control, Direction, Fate, Fill, Here, Moment, Passing, PathUse, PortVc, SwitchAction, View};

use super::state::QueueId;
use super::{Microarchitecture, PortId, Routers, Surroundings};
use crate::event::{Event, EventKind};
use crate::fabric::Fabric;
use crate::packet::{NONE, Packet};
use crate::protocol_state::ProtocolState;
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// A packet comes in where switches are asked about arrivals, or count them: it ends here, or joins its queue.
    pub(super) fn arrive_watched(&mut self, id: QueueId, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        if !self.ends_here(id, packet, now, around) {
            self.join_queue(id, packet, around.pool[packet].flits, now, around);
        }
        self.act(id, now, around);
    }

    /// A packet that has just come in and is in no queue yet. Returns whether it ends here.
    fn ends_here(&mut self, id: QueueId, packet: u32, now: Time, around: &mut Surroundings<'_>) -> bool {
        let node_port = self.node_port(id, packet, around);
        let output = node_port.map(|port| PortVc { port, vc: 0 });
        let kind = around.pool[packet].kind;
        let link_class = (!self.is_internal(id.index)).then(|| self.inputs[id.index as usize].link_class);
        let asked = around.fabric.watched(Moment::Arrives, kind).asks(node_port.is_some(), link_class);
        let fate = if asked { self.ask(Moment::Arrives, id, packet, output, now, around) } else { Fate::Forward };
        let ends = fate != Fate::Forward;
        if !ends {
            if let Some(port) = node_port {
                self.begins_to_wait(id, packet, port, around);
            }
        } else {
            self.trace_end(id, packet, Moment::Arrives, &fate, now, around);
            self.free_buffer(id, around.pool[packet].flits, now, around);
            self.end(packet, fate, id, now, around);
        }
        ends
    }

    /// The port of the node that a packet is for that has come in, if that is where it leaves.
    pub(super) fn node_port(&self, id: QueueId, packet: u32, around: &Surroundings<'_>) -> Option<u8> {
        if self.routes_on_arrival() {
            return self.outputs[self.output_of(id, id.voq)].is_terminal().then_some(id.voq);
        }
        if let Some(port) = self.recorded_port(packet, around) {
            return self.outputs[self.output_of(id, port)].is_terminal().then_some(port);
        }
        let record = &around.pool[packet];
        let (_, entry) = self.entry(id, around.fabric);
        let ejects = around.ejects(self.router_of(id), record.class, entry, &record.header);
        ejects.then(|| around.fabric.topology.attachment(record.destination).1)
    }

    /// A packet waits from now on for its node.
    fn begins_to_wait(&mut self, id: QueueId, packet: u32, port: u8, around: &mut Surroundings<'_>) {
        let output = self.output_of(id, port);
        let record = &mut around.pool[packet];
        record.set_at_last_hop();
        if self.rules.counts_for_nodes.is_some() && around.fabric.direction(record.kind).carries_data() {
            self.extras.waiting_for_node[output] += u32::from(record.flits);
        }
    }

    /// A packet does not wait for its node any more: it leaves for it, or is dropped.
    pub(super) fn waits_no_more(&mut self, index: u32, packet: &Packet, fabric: &Fabric) {
        if packet.is_at_last_hop() && fabric.direction(packet.kind).carries_data() {
            self.extras.waiting_for_node[index as usize] -= u32::from(packet.flits);
        }
    }

    /// Asks the protocol about a packet.
    fn ask(
        &self,
        moment: Moment,
        id: QueueId,
        packet: u32,
        output: Option<PortVc>,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> Fate {
        let (router, fabric, slot) = (self.router_of(id), around.fabric, packet);
        let traced = Self::is_traced(packet, around);
        let record = &mut around.pool[packet];
        let marks_before = record.marks;
        let waits = moment != Moment::Arrives && record.is_at_last_hop();
        let own = if waits { record.flits.into() } else { 0 };
        let first_port = self.inputs[id.index as usize].first_port;
        let view = RouterBuffers { routers: self, fabric, first_port, now, own };
        let (mut control, name) = (record.control(packet, around.payloads, fabric), record.name());
        if let Some(control) = control.as_mut().filter(|_| fabric.kinds[record.kind.index()].path == PathUse::Follows) {
            control.path = control.path.before_step(); // what takes the packet's place here steps back anew
        }
        let payload = around.payloads.of_mut(packet, fabric.kinds[record.kind.index()].payload_words);
        let Packet { kind, source, destination, flits, .. } = *record;
        let marks = &mut record.marks;
        let mut packet = Passing { kind, source, destination, packet: name, flits, marks, control, payload };
        let input = PortVc { port: id.port, vc: id.vc };
        let ProtocolState { switches, switch_actions: actions, streams, .. } = &mut *around.protocol;
        let stream = streams.get_mut(router as usize);
        let mut here = Here { now: now.into(), input, output, view: &view, actions, stream };
        let switch = &mut switches[router as usize];
        let foretold = if traced { switch.foretell(moment, &packet, &here, fabric.clock()) } else { None };
        let fate = switch.ask(moment, &mut packet, &mut here);
        if traced {
            // Heads that request are asked about again and again: what counts is the last time.
            let foretold = foretold.filter(|_| moment != Moment::Requests || fate != Fate::Forward);
            self.trace_decision(id, slot, foretold, marks_before, now, around);
        }
        fate
    }

    /// A packet that has left its buffer ends here, or at least its data does.
    fn end(&mut self, packet: u32, fate: Fate, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let (router, direction) = (self.router_of(id), around.fabric.direction(around.pool[packet].kind));
        match fate {
            Fate::Forward => unreachable!("it goes on"),
            Fate::Drop(control) => {
                assert!(direction == Direction::LossyData, "a switch drops {direction:?}");
                let gone = around.pool.remove(packet);
                around.protocol.dropped.push(gone);
                self.inject_control(router, &control, now, around);
            }
            Fate::Trim(kind) => {
                assert!(direction == Direction::LossyData, "a switch trims {direction:?}");
                let record = &mut around.pool[packet];
                around.protocol.dropped.push(record.clone());
                record.trim(kind, around.fabric, now);
                self.come_in_internally(router, packet, now, around);
            }
            Fate::Absorb(answer) => {
                assert!(!direction.carries_data(), "a switch absorbs {direction:?}");
                around.pool.remove(packet);
                if let Some(control) = answer {
                    self.inject_control(router, &control, now, around);
                }
            }
        }
    }

    /// Does what the protocol's part of a router wants done.
    fn act(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        if around.protocol.switch_actions.is_empty() {
            return;
        }
        let (router, first_port) = (self.router_of(id), self.inputs[id.index as usize].first_port);
        let mut actions = std::mem::take(&mut around.protocol.switch_actions);
        for action in actions.drain(..) {
            match action {
                SwitchAction::Send(control) => self.inject_control(router, &control, now, around),
                SwitchAction::MarkQueued { like, marks } => self.mark_queued(first_port, like, marks, now, around),
                SwitchAction::Timer { at, token } => {
                    let event = Event::at(EventKind::SwitchTimer, first_port, token);
                    around.wheel.schedule(at.max(u64::from(now) + 1), event);
                }
            }
        }
        if around.protocol.switch_actions.is_empty() {
            around.protocol.switch_actions = actions; // its memory is used again
        } else {
            self.act(id, now, around); // what was sent made the protocol act again
        }
    }

    /// A timer is due of the protocol's part of the router with a port.
    pub fn on_timer(&mut self, index: u32, token: u32, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(index, 0, 0);
        let router = self.router_of(id) as usize;
        let state = &mut *around.protocol;
        state.switches[router].on_timer(token, now.into(), &mut state.switch_actions);
        self.act(id, now, around);
    }

    /// The router that a queue is in, as the region numbers it.
    fn router_of(&self, id: QueueId) -> u32 {
        self.inputs[id.index as usize].router
    }

    /// The number of a port of the same router.
    pub(super) fn output_of(&self, id: QueueId, port: u8) -> usize {
        self.inputs[id.index as usize].first_port as usize + usize::from(port)
    }

    /// A packet is gone from its buffer: gives its credits back.
    fn free_buffer(&mut self, id: QueueId, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        self.routed_no_more(id, flits);
        if self.rules.counts_inputs {
            let channel = self.channel(id.index, id.vc);
            self.extras.occupied[channel] -= flits;
        }
        let at = self.credit_time(id.index, now);
        around.return_credit(&self.inputs[id.index as usize], id.vc, flits, self.node_of_credit(id), at);
    }

    /// Asks about the head of a queue, which requests the crossbar or has waited for too long. Returns whether it ends here.
    pub(super) fn stops_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) -> bool {
        let queue = *self.queue(id);
        let overdue = times_out_after(queue.head, around).is_some_and(|end| end < now);
        let moment = if overdue { Moment::Expires } else { Moment::Requests };
        let record = &around.pool[queue.head];
        let watched = around.fabric.watched(moment, record.kind);
        if !watched.asks(record.is_at_last_hop(), None) {
            return false;
        }
        let port = record.is_at_last_hop().then(|| {
            if self.routes_on_arrival() { queue.port } else { around.fabric.topology.attachment(record.destination).1 }
        });
        let fate = self.ask(moment, id, queue.head, port.map(|port| PortVc { port, vc: 0 }), now, around);
        let ends = fate != Fate::Forward;
        if ends {
            self.trace_end(id, queue.head, moment, &fate, now, around);
            let packet = self.take_head(id, now, around);
            if let Some(port) = port.filter(|_| self.rules.counts_for_nodes.is_some()) {
                self.waits_no_more(self.output_of(id, port) as u32, &around.pool[packet], around.fabric);
            }
            self.end(packet, fate, id, now, around);
        }
        self.act(id, now, around);
        ends
    }

    /// Takes the head of a queue out of it, and gives its credits back.
    fn take_head(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) -> u32 {
        let head = self.queue(id).head;
        let Packet { flits, next: behind, .. } = around.pool[head];
        self.free_buffer(id, flits, now, around);
        let (index, routed) = (self.queue_index(id), self.routes_on_arrival());
        self.queues[index].head = behind;
        self.clear_awake(id);
        self.heads_mut(id).asleep &= !(1 << id.vc);
        if self.tells_heads(id.index) && !self.is_crossing_still(id) {
            self.tell_of_new_head(id, now, around);
        }
        if behind != NONE {
            let from = now.max(self.crossing_until(id));
            let flits = around.pool[behind].flits;
            self.queues[index].set_head(behind, flits, routed.then_some(id.voq), around);
            self.begin_asking(id, from, now, around);
        }
        head
    }

    /// Makes sure that an event wakes the head of a queue, which is going to sleep, when it has waited for too long.
    pub(super) fn schedule_timeout(&mut self, id: QueueId, now: Time, around: &mut Surroundings<'_>) {
        let packet = self.queue(id).head;
        let Some(end) = times_out_after(packet, around) else { return };
        let time = end.saturating_add(1).max(now + 1);
        let queue = self.queue_index(id);
        let timeout = &mut self.extras.timeouts[queue];
        if timeout.at == time {
            return;
        }
        timeout.at = time;
        timeout.serial = timeout.serial.wrapping_add(1);
        let payload = u32::from(id.voq) << 24 | u32::from(id.vc) << 16 | u32::from(timeout.serial);
        around.schedule(time, Event::at(EventKind::HeadTimeout, id.index, payload));
    }

    /// The head of a queue may have waited for too long: lets it be looked at.
    pub fn head_timeout(&mut self, port: u32, payload: u32, now: Time, around: &mut Surroundings<'_>) {
        let id = self.queue_id(port, (payload >> 24) as u8, (payload >> 16) as u8);
        let queue = self.queue_index(id);
        let timeout = &mut self.extras.timeouts[queue];
        if timeout.serial != payload as u16 {
            return; // it was for another head
        }
        timeout.at = 0;
        let sleeps = self.heads(id).asleep & 1 << id.vc != 0;
        if sleeps && times_out_after(self.queue(id).head, around).is_some_and(|end| end < now) {
            self.wake_head(id, now, around);
        }
    }

    /// A control packet of the router itself comes in by its internal port.
    fn inject_control(&mut self, router: u32, control: &Control, now: Time, around: &mut Surroundings<'_>) {
        let mut packet = Packet::of_control(control, around.fabric, now);
        packet.vc = around.fabric.spec.classes[usize::from(packet.class)].first_vc[0];
        Self::trace_injection(router, control, &mut packet, now, around);
        let packet = around.pool.insert(packet);
        around.payloads.set_control(packet, control, &around.fabric.kinds[control.kind.index()]);
        self.come_in_internally(router, packet, now, around);
    }

    /// A packet that a router sends or has trimmed comes in by its internal port. Trimmed packets do as well, as what feeds the
    /// port that they came by has taken credits of another virtual channel than the one they are in now: in that one they would
    /// take room for which others have credits.
    #[cold]
    fn come_in_internally(&mut self, router: u32, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        let port = self.internal_port();
        self.arrive(self.port_index(PortId { router, port }), packet, now, around);
    }

    /// Lets the protocol change a packet that leaves its buffer for channel `vc` of port `index`.
    pub(super) fn ask_crossing(
        &mut self,
        id: QueueId,
        packet: u32,
        index: u32,
        vc: u8,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let record = &around.pool[packet];
        let output = &self.outputs[index as usize];
        let watched = around.fabric.watched(Moment::Crosses, record.kind);
        if watched.asks(output.is_terminal(), Some(output.link_class)) {
            let port = self.inputs[index as usize].port;
            self.ask(Moment::Crosses, id, packet, Some(PortVc { port, vc }), now, around);
            self.act(id, now, around);
        }
    }
}

/// The buffers of a router, as the protocol sees them.
struct RouterBuffers<'a, M> {
    routers: &'a Routers<M>,
    fabric: &'a Fabric,
    first_port: u32,
    now: Time,
    /// The flits of the packet that is asked about, if it is counted among those that wait for nodes.
    own: u32,
}

impl<M: Microarchitecture> View for RouterBuffers<'_, M> {
    fn input(&self, PortVc { port, vc }: PortVc) -> Fill {
        let Self { routers, fabric, first_port, .. } = self;
        let index = first_port + u32::from(port);
        let link_class = routers.inputs[index as usize].link_class;
        let flits = routers.extras.occupied[routers.channel(index, vc)].into();
        Fill { flits, capacity: fabric.capacity(link_class, vc.into()).into() }
    }

    fn output(&self, PortVc { port, vc }: PortVc) -> Fill {
        let Self { routers, fabric, first_port, now, .. } = self;
        let index = first_port + u32::from(port);
        let Some(capacity) = fabric.spec.router.output_queues.flits else { return Fill::default() };
        let queue = fabric.output_queue(routers.outputs[index as usize].link_class, vc);
        Fill { flits: capacity - routers.space(index, queue, *now), capacity }
    }

    fn downstream(&self, PortVc { port, vc }: PortVc) -> Fill {
        let Self { routers, fabric, first_port, .. } = self;
        let index = first_port + u32::from(port);
        let output = &routers.outputs[index as usize];
        if output.is_terminal() {
            return Fill::default();
        }
        let capacity = fabric.capacity(output.link_class, vc.into());
        let taken = u32::from(capacity - routers.credit(index, vc));
        Fill { flits: taken.saturating_sub(output.round_trip()), capacity: capacity.into() }
    }

    fn sent(&self, port: u8) -> u64 {
        self.routers.extras.sent[(self.first_port + u32::from(port)) as usize]
    }

    fn waiting_for_node(&self, port: u8) -> u32 {
        self.routers.extras.waiting_for_node[(self.first_port + u32::from(port)) as usize] - self.own
    }
}

/// The last tick until which a packet may wait at an input.
fn times_out_after(packet: u32, around: &Surroundings<'_>) -> Option<Time> {
    let record = &around.pool[packet];
    let timeout = around.fabric.queueing_timeout(record.class)?;
    Some(record.head_at.saturating_add(timeout.time.saturating_sub(record.word)))
}

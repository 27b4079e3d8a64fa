//! A tick of a region: what happens in it, and in which order.

use tailback_engine::{Kinds, Outbox, Tick};

use super::{NetworkMail, NetworkRegion};
use crate::Observer;
use crate::event::{BROADCAST, EARLY, Event, EventKind, OF_NODES, RARE, has};
use crate::router::{Microarchitecture, Routers, Surroundings};
use crate::time::{Time, time};

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Simulates one tick.
    pub(super) fn step(&mut self, tick: Tick, outbox: &mut Outbox<NetworkMail>) {
        let now = time(tick);
        let kinds = self.wheel.begin(tick);
        let (routers, mut around) = self.routers(outbox);
        if kinds & EARLY != 0 {
            take_early(routers, &mut around, kinds, now);
        }
        if around.fabric.rules.allocation_time(now) == now {
            around.listen(routers, now);
            if routers.allocation_due() {
                routers.allocate(now, &mut around);
            }
        }
        if has(kinds, EventKind::LinkStart) {
            around.each(EventKind::LinkStart, |around, event| {
                routers.start_link(event.target(), event.payload(), now, around);
            });
        }
        routers.start_links_now(now, &mut around);
        for packet in self.protocol.dropped.drain(..) {
            self.observer.packet_dropped(&packet, tick);
        }
        if kinds & OF_NODES != 0 {
            self.take_late(kinds, now);
            if !self.nodes.pauses.is_empty() {
                self.send_pauses(now, outbox);
            }
            if self.control_network.is_sending() {
                let messages = self.control_network.dispatch(tick, &mut self.wheel, outbox);
                self.observer.control_messages_sent(messages, tick);
            }
        }
        self.wheel.finish();
        self.present = now + 1;
    }

    /// Handles what nodes do.
    #[inline]
    fn take_late(&mut self, kinds: Kinds, now: Time) {
        self.each(kinds, EventKind::NodeCredit, |region, event| {
            region.receive_node_credit(event.target(), event.payload(), now);
        });
        self.each(kinds, EventKind::ControlMessage, |region, _| region.receive_messages(now));
        self.each(kinds, EventKind::Delivery, |region, event| region.deliver(event.target(), event.payload(), now));
        self.each(kinds, EventKind::NodeLink, |region, event| region.node_link_free(event.target(), now));
        let cycle = u64::from(now / self.fabric.spec.ticks_per_cycle);
        self.each(kinds, EventKind::Message, |region, event| region.offer_messages(event.target(), cycle, now));
        self.each(kinds, EventKind::Due, |region, event| region.release_due(event.target(), event.payload(), now));
        self.inject_all(now);
    }

    /// Takes all events of a kind, of this tick, whose effects commute.
    #[inline]
    fn each(&mut self, kinds: Kinds, kind: EventKind, mut act: impl FnMut(&mut Self, Event)) {
        if has(kinds, kind) {
            while let Some(batch) = self.wheel.take_batch(kind as usize) {
                batch.events().iter().for_each(|&event| act(self, event));
                if batch.is_last() {
                    break;
                }
            }
        }
    }
}

/// Handles what changes the state that routers allocate by.
#[inline]
fn take_early<M: Microarchitecture>(routers: &mut Routers<M>, around: &mut Surroundings<'_>, kinds: Kinds, now: Time) {
    if has(kinds, EventKind::Arrival) {
        // The first question is answered when they are compiled, if it can be.
        if !M::PLAIN && (routers.routes_on_arrival() || around.fabric.rules.orders_arrivals()) {
            around.each_by_port(EventKind::Arrival, |around, event| {
                routers.arrive(event.target(), event.payload(), now, around);
            });
        } else {
            around.each(EventKind::Arrival, |around, event| {
                routers.arrive(event.target(), event.payload(), now, around);
            });
        }
    }
    if has(kinds, EventKind::Credit) {
        if around.fabric.rules.nodes_pause {
            take_pauses(routers, around, now);
        } else {
            around.each(EventKind::Credit, |around, event| {
                routers.receive_credit(event.target(), event.payload(), now, around);
            });
        }
    }
    if has(kinds, EventKind::InputFree) {
        around.each(EventKind::InputFree, |around, event| {
            routers.input_free(event.target(), event.payload() as u8, now, around);
        });
    }
    if has(kinds, EventKind::OutputFree) {
        around.each(EventKind::OutputFree, |around, event| {
            routers.output_free(event.target(), event.payload() as u8, now, around);
        });
    }
    if kinds & RARE != 0 {
        take_rare(routers, around, kinds, now);
    }
}

/// Handles credits where nodes pause the links that lead to them, and pauses.
#[cold]
fn take_pauses<M: Microarchitecture>(routers: &mut Routers<M>, around: &mut Surroundings<'_>, now: Time) {
    around.each(EventKind::Credit, |around, event| {
        routers.receive_credit_or_pause(event.target(), event.payload(), now, around);
    });
}

/// Handles what happens in some networks, and there less often.
fn take_rare<M: Microarchitecture>(routers: &mut Routers<M>, around: &mut Surroundings<'_>, kinds: Kinds, now: Time) {
    if has(kinds, EventKind::RoomFree) {
        around.each(EventKind::RoomFree, |around, event| routers.room_free(event.target(), now, around));
    }
    if has(kinds, EventKind::HeadReady) {
        around.each(EventKind::HeadReady, |around, event| {
            routers.head_ready(event.target(), (event.payload() >> 8) as u8, event.payload() as u8, now, around);
        });
    }
    if has(kinds, EventKind::HeadTimeout) {
        around.each(EventKind::HeadTimeout, |around, event| {
            routers.head_timeout(event.target(), event.payload(), now, around);
        });
    }
    if !M::PLAIN && has(kinds, EventKind::SwitchTimer) {
        around.each_in_order(EventKind::SwitchTimer, |around, event| {
            routers.on_timer(event.target(), event.payload(), now, around);
        });
    }
    if has(kinds, EventKind::Notice) {
        around.each(EventKind::Notice, |around, event| match event.target() {
            BROADCAST => around.broadcasts.state.broadcast_due = true,
            _ => around.broadcasts.post(event.payload()),
        });
        if around.fabric.interests().broadcast_cycles.is_some() {
            for router in around.broadcasts.take_heard() {
                routers.hear_broadcast(router, now, around);
            }
        }
    }
}

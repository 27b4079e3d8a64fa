//! General routers: everything that [`crate::RouterSpec`] can say.
//!
//! For packets that come in, a port has virtual channels. Each is one queue, or one per output (then a *row* is
//! the queues towards one output). For packets that go out it has the crossbar's output connections, one or more
//! output queues (*lanes*), and the link. Allocators may work in several rounds, by several arbiters, and from either
//! side; there may be a stage for virtual channels before the crossbar.

mod allocate;
mod channels;
mod input;
mod lanes;
mod output;
mod sleep;
mod state;

use serde::{Deserialize, Serialize};

use self::allocate::Scratch;
use self::input::GeneralOutputs;
use self::state::State;
use super::sealed::Routers;
use super::{Held, Outputs, Place, Surroundings};
use crate::fabric::{Fabric, Rules, Shape};
use crate::link::Link;
use crate::packet::Pool;
use crate::time::Time;

/// All routers of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct General {
    state: State,
    packet_hops: u64,
    last_hop: Time,
    #[serde(skip)]
    scratch: Scratch,
}

impl Routers for General {
    fn suits(_shape: &Shape, _rules: &Rules) -> bool {
        true
    }

    fn new(fabric: &Fabric, links: &[Link]) -> Self {
        Self { state: State::new(fabric, links), packet_hops: 0, last_hop: 0, scratch: Scratch::default() }
    }

    fn arrive(&mut self, place: Place, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        self.take_in(place, packet, now, around);
    }

    fn receive_credit(&mut self, place: Place, vc: u8, flits: u16, now: Time, around: &mut Surroundings<'_>) {
        self.add_credit(place, vc, flits, now, around);
    }

    fn input_free(&mut self, place: Place, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let at = self.state.at(place, 0, vc);
        self.state.input_mut(at).free_scheduled = false;
        if self.state.rules.tells_heads {
            self.tell_of_crossing(at, around);
        }
        if self.state.awake_row(at.index, 0).is_some() {
            self.rouse(at, now, around);
        }
    }

    fn output_free(&mut self, place: Place, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let index = self.state.port_index(place.router, place.port);
        let output = self.state.output_mut(index, vc);
        output.free_scheduled = false;
        let vc = output.vc;
        if self.state.rules.vc_allocation {
            *self.state.owned_mut(index, vc) = false;
        }
        self.notify(place, now, around);
    }

    fn room_free(&mut self, place: Place, now: Time, around: &mut Surroundings<'_>) {
        self.notify(place, now, around);
    }

    fn head_ready(&mut self, place: Place, row: u8, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        let at = self.state.at(place, row, vc);
        self.state.set_awake(at);
        self.rouse(at, now, around);
    }

    fn start_link(&mut self, place: Place, serial: u32, now: Time, around: &mut Surroundings<'_>) {
        self.start(place, serial, now, around);
    }

    fn start_links_now(&mut self, now: Time, around: &mut Surroundings<'_>) {
        while let Some((place, serial)) = self.scratch.starts_now.pop() {
            self.start(place, serial, now, around);
        }
    }

    fn allocation_due(&self) -> bool {
        self.state.allocation_due
    }

    fn allocate(&mut self, now: Time, around: &mut Surroundings<'_>) {
        self.state.allocation_due = false;
        for word in 0..self.state.busy.len() {
            let mut routers = std::mem::take(&mut self.state.busy[word]);
            while routers != 0 {
                let router = word as u32 * 64 + routers.trailing_zeros();
                routers &= routers - 1;
                self.allocate_at(router, now, around);
            }
        }
    }

    fn outputs<'a>(&'a self, router: u32, class: u8, flits: u16, now: Time, fabric: &'a Fabric) -> impl Outputs {
        let first = self.state.port_index(router, 0);
        GeneralOutputs { routers: self, first, class: &fabric.spec.classes[usize::from(class)], fabric, flits, now }
    }

    fn occupy_links(&mut self, router: u32, link_class: u8, flits: u16, now: Time) {
        let first = self.state.port_index(router, 0);
        for index in first..first + self.state.shape.ports as u32 {
            let link = *self.state.link(index);
            if link.class == link_class && !link.is_terminal() {
                let rules = self.state.rules;
                let sender = self.state.sender_mut(index);
                let from = rules.link_time(sender.link_free_at.max(now));
                sender.link_free_at = from + Time::from(flits) * Time::from(link.flit_ticks);
            }
        }
    }

    fn glance(&self, _place: Place) -> u32 {
        0
    }

    fn read_through(&self) -> u32 {
        // Its state is spread over many small arrays, which streams of their own read quickly enough.
        0
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    fn last_hop(&self) -> Time {
        self.last_hop
    }

    fn is_crossing(&self, place: Place, vc: u8, now: Time) -> bool {
        let input = self.state.input(self.state.at(place, 0, vc));
        input.busy_until > now && input.last_vc == vc
    }

    fn visit_packets(&self, pool: &Pool, visit: &mut dyn FnMut(Held)) {
        for index in 0..self.state.links.len() as u32 {
            let place = self.state.place(index);
            for at in self.state.queues_of(place) {
                let queue = self.state.queue(at);
                let wish = queue.routed.then_some((queue.port, queue.vc, queue.vcs));
                let wishes = std::iter::once(wish).chain(std::iter::repeat(None));
                for (packet, wish) in pool.list(queue.head).zip(wishes) {
                    visit(Held::Input { place, vc: at.vc, packet, wish });
                }
            }
            for lane in 0..self.state.shape.lanes {
                for packet in pool.list(self.state.lane(index, lane).head) {
                    let claimed = self.state.rules.claims_first;
                    visit(Held::Output { place, vc: pool[packet].vc, packet, claimed });
                }
            }
        }
    }

    fn free(&self, place: Place, vc: u8) -> u16 {
        self.state.free(self.state.port_index(place.router, place.port), vc)
    }

    fn flits_sent(&self, place: Place) -> u32 {
        self.state.sender(self.state.port_index(place.router, place.port)).flits_sent
    }
}

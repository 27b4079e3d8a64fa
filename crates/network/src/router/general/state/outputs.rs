//! The state of outputs: crossbar connections, output queues, links, and the room behind them.

use super::{Backlog, Lane, Output, Sender, State, members};
use crate::packet::NONE;
use crate::time::Time;

impl State {
    /// Data flits that wait for the node of a port.
    pub fn queued(&self, index: u32) -> u32 {
        self.queued[index as usize]
    }

    pub fn queued_mut(&mut self, index: u32) -> &mut u32 {
        &mut self.queued[index as usize]
    }

    /// Free flits behind a virtual channel of a port.
    pub fn free(&self, index: u32, vc: u8) -> u16 {
        self.free[index as usize * self.shape.vcs + usize::from(vc)]
    }

    pub fn free_mut(&mut self, index: u32, vc: u8) -> &mut u16 {
        &mut self.free[index as usize * self.shape.vcs + usize::from(vc)]
    }

    /// Flits in the output queue that go by a virtual channel of a port, where they claim room only when they leave.
    pub fn lined_up_mut(&mut self, index: u32, vc: u8) -> &mut u32 {
        &mut self.lined_up[index as usize * self.shape.vcs + usize::from(vc)]
    }

    /// Flits on their way to, or in, the buffer of the next router, as [`tailback_routing::View::occupancy`] says.
    pub fn on_their_way(&self, index: u32, vc: u8, capacity: u16) -> u32 {
        let number = index as usize * self.shape.vcs + usize::from(vc);
        u32::from(capacity - self.free[number]) + self.lined_up.get(number).copied().unwrap_or(0)
    }

    /// The flits that wait for the link of a port, as [`tailback_routing::View::waiting`] says.
    pub fn waiting(&self, index: u32) -> u32 {
        let Backlog { lined_up, claimed } = *self.backlog(index);
        let beyond = if self.rules.claims_first { claimed.saturating_sub(lined_up) } else { claimed };
        lined_up + beyond.saturating_sub(self.link(index).round_trip())
    }

    pub fn backlog(&self, index: u32) -> &Backlog {
        &self.backlogs[index as usize]
    }

    pub fn backlog_mut(&mut self, index: u32) -> &mut Backlog {
        &mut self.backlogs[index as usize]
    }

    /// The crossbar connection of a channel of a port.
    pub fn output(&self, index: u32, vc: u8) -> &Output {
        &self.outputs[self.output_index(index, vc)]
    }

    pub fn output_mut(&mut self, index: u32, vc: u8) -> &mut Output {
        let index = self.output_index(index, vc);
        &mut self.outputs[index]
    }

    pub(super) fn output_index(&self, index: u32, vc: u8) -> usize {
        index as usize * self.shape.outputs + if self.shape.outputs == 1 { 0 } else { vc.into() }
    }

    /// The number of the crossbar connection of a channel of a port among those of its router.
    pub fn output_number(&self, router: u32, index: u32, vc: u8) -> usize {
        self.output_index(index, vc) - router as usize * self.shape.ports * self.shape.outputs
    }

    pub fn lane(&self, index: u32, lane: usize) -> &Lane {
        &self.lanes[index as usize * self.shape.lanes + lane]
    }

    pub fn lane_mut(&mut self, index: u32, lane: usize) -> &mut Lane {
        &mut self.lanes[index as usize * self.shape.lanes + lane]
    }

    /// The lanes of a port that have packets, in ascending order.
    pub fn filled_lanes(&self, index: u32) -> impl Iterator<Item = usize> + use<> {
        members(self.filled_lanes[index as usize]).map(usize::from)
    }

    /// Puts a packet behind the last one of a lane, and says which that was.
    pub fn append(&mut self, index: u32, lane: usize, packet: u32) -> Option<u32> {
        self.filled_lanes[index as usize] |= 1 << lane;
        let lane = self.lane_mut(index, lane);
        let last = std::mem::replace(&mut lane.tail, packet);
        if lane.head == NONE {
            lane.head = packet;
            return None;
        }
        Some(last)
    }

    /// Takes the first packet of a lane away; `next` is the one behind it.
    pub fn advance(&mut self, index: u32, lane: usize, next: u32) {
        self.lane_mut(index, lane).head = next;
        if next == NONE {
            self.filled_lanes[index as usize] &= !(1 << lane);
        }
    }

    pub fn sender(&self, index: u32) -> &Sender {
        &self.senders[index as usize]
    }

    pub fn sender_mut(&mut self, index: u32) -> &mut Sender {
        &mut self.senders[index as usize]
    }

    /// Adds a port to those with a queue that sleeps until the output of port `index` changes.
    pub fn add_waiter(&mut self, index: u32, port: u8) {
        self.waiters[index as usize * self.shape.words + usize::from(port) / 64] |= 1 << (port % 64);
    }

    pub fn has_waiters(&self, index: u32) -> bool {
        self.waiters[index as usize * self.shape.words..][..self.shape.words].iter().any(|&word| word != 0)
    }

    /// Takes one word of the set of ports with such queues.
    pub fn take_waiters(&mut self, index: u32, word: usize) -> u64 {
        std::mem::take(&mut self.waiters[index as usize * self.shape.words + word])
    }

    /// Whether a packet owns a channel of a port.
    pub fn owned_mut(&mut self, index: u32, vc: u8) -> &mut bool {
        &mut self.owned[index as usize * self.shape.vcs + usize::from(vc)]
    }

    /// The queue that a channel of a port chose last, by its number in its router.
    pub fn last_seeker_mut(&mut self, index: u32, vc: u8) -> &mut u32 {
        &mut self.last_seeker[index as usize * self.shape.vcs + usize::from(vc)]
    }

    /// When the output of a channel of a port served an input of its router last.
    pub fn input_served(&self, index: u32, vc: u8, input: u16) -> Time {
        self.input_served[self.output_index(index, vc) * self.inputs_per_router() + usize::from(input)]
    }
}

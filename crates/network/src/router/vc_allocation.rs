//! The allocation of virtual channels, for routers with a stage for it.
//!
//! A packet owns a virtual channel of its output from the tick in which it wins it until its last flit has
//! crossed. Each seeker asks for one of the channels that will do, each channel chooses one of its seekers.

use tailback_hardware::VCS_MAX;

use super::state::QueueId;
use super::{Microarchitecture, Routers};

/// A queue whose head asks for a channel of a port.
#[derive(Clone, Copy, Debug)]
struct Seeker {
    id: QueueId,
    port: u8,
    index: u32,
    vc: u8,
}

impl<M: Microarchitecture> Routers<M> {
    /// Gives free channels to the queues that seek one.
    pub(super) fn allocate_channels(&mut self) {
        let mut asking = Vec::with_capacity(self.scratch.channel_seekers.len());
        let mut seekers = std::mem::take(&mut self.scratch.channel_seekers);
        for id in seekers.drain(..) {
            match self.choose_channel(id) {
                Some(seeker) => asking.push((self.turn(&seeker), seeker)),
                None => {
                    let port = self.queue(id).port;
                    self.sleep_until_change(id, port);
                }
            }
        }
        self.scratch.channel_seekers = seekers;
        asking.sort_unstable_by_key(|(turn, seeker)| (seeker.index, seeker.vc, *turn));
        for equal in asking.chunk_by(|(_, a), (_, b)| (a.index, a.vc) == (b.index, b.vc)) {
            self.own(&equal[0].1);
        }
    }

    /// The free channel that it is the queue's turn to ask for, among those that will do.
    fn choose_channel(&self, id: QueueId) -> Option<Seeker> {
        let queue = self.queue(id);
        let index = self.inputs[id.index as usize].first_port + u32::from(queue.port);
        let last = self.extras.last_channel[self.queue_index(id)];
        let free = (queue.vc..queue.vc + queue.vcs).filter(|&vc| !self.extras.owned[self.channel(index, vc)]);
        let vc = free.min_by_key(|&vc| (channel_number(queue.port, vc) <= last, vc))?;
        Some(Seeker { id, port: queue.port, index, vc })
    }

    /// How far a seeker is from the one that its channel chose last, going round.
    fn turn(&self, seeker: &Seeker) -> u32 {
        let own = self.queue_number(seeker.id);
        let last = self.extras.last_seeker[self.channel(seeker.index, seeker.vc)];
        if own > last { own - last } else { own + self.queues_per_router() - last }
    }

    fn own(&mut self, seeker: &Seeker) {
        let Seeker { id, port, index, vc } = *seeker;
        let (channel, queue) = (self.channel(index, vc), self.queue_index(id));
        self.extras.owned[channel] = true;
        self.extras.last_channel[queue] = channel_number(port, vc);
        self.extras.last_seeker[channel] = self.queue_number(id);
        let queue = &mut self.queues[queue];
        (queue.vc, queue.vcs, queue.owns_vc) = (vc, 1, true);
    }

    /// The number of a queue among those of its router.
    fn queue_number(&self, id: QueueId) -> u32 {
        let first = self.queue_index(self.queue_id(self.inputs[id.index as usize].first_port, 0, 0));
        (self.queue_index(id) - first) as u32
    }

    /// Queues of a router.
    fn queues_per_router(&self) -> u32 {
        (self.shape.ports * self.shape.voqs * self.shape.vcs) as u32
    }
}

/// The number of a channel among those of its router.
fn channel_number(port: u8, vc: u8) -> u16 {
    u16::from(port) * VCS_MAX as u16 + u16::from(vc)
}

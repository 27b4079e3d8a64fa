//! The allocation of virtual channels, for routers with a stage for it.
//!
//! A packet owns a virtual channel of its output from the tick in which it wins it until its last flit has
//! crossed. Each seeker asks for one of the channels that will do, each channel chooses one of its seekers.

use tailback_hardware::VCS_MAX;

use super::General;
use super::state::At;

/// A queue whose head asks for a channel of a port.
#[derive(Clone, Copy, Debug)]
struct Seeker {
    at: At,
    port: u8,
    index: u32,
    vc: u8,
}

impl General {
    /// Gives free channels to the queues that seek one.
    pub(super) fn allocate_channels(&mut self) {
        let mut asking = Vec::with_capacity(self.scratch.channel_seekers.len());
        let mut seekers = std::mem::take(&mut self.scratch.channel_seekers);
        for at in seekers.drain(..) {
            match self.choose_channel(at) {
                Some(seeker) => asking.push((self.turn(&seeker), seeker)),
                None => {
                    let port = self.state.queue(at).port;
                    self.sleep_until_change(at, port);
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
    fn choose_channel(&mut self, at: At) -> Option<Seeker> {
        let queue = *self.state.queue(at);
        let index = self.state.port_index(at.router, queue.port);
        let last = *self.state.last_channel_mut(at);
        let free = (queue.vc..queue.vc + queue.vcs).filter(|&vc| !*self.state.owned_mut(index, vc));
        let vc = free.min_by_key(|&vc| (channel_number(queue.port, vc) <= last, vc))?;
        Some(Seeker { at, port: queue.port, index, vc })
    }

    /// How far a seeker is from the one that its channel chose last, going round.
    fn turn(&mut self, seeker: &Seeker) -> u32 {
        let own = self.state.queue_number(seeker.at);
        let last = *self.state.last_seeker_mut(seeker.index, seeker.vc);
        if own > last { own - last } else { own + self.state.queues_per_router() - last }
    }

    fn own(&mut self, seeker: &Seeker) {
        let Seeker { at, port, index, vc } = *seeker;
        *self.state.owned_mut(index, vc) = true;
        *self.state.last_channel_mut(at) = channel_number(port, vc);
        *self.state.last_seeker_mut(index, vc) = self.state.queue_number(at);
        let queue = self.state.queue_mut(at);
        (queue.vc, queue.vcs, queue.owns_vc) = (vc, 1, true);
    }
}

/// The number of a channel among those of its router.
fn channel_number(port: u8, vc: u8) -> u16 {
    u16::from(port) * VCS_MAX as u16 + u16::from(vc)
}

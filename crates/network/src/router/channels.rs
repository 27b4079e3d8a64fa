//! The allocation of virtual channels, for routers with a stage for it.
//!
//! A packet owns a virtual channel of its output from the tick in which it wins it until its last flit has
//! crossed. Each seeker asks for one of the channels that will do, each channel chooses one of its seekers.

use super::input::QueueAt;
use crate::Observer;
use crate::region::NetworkRegion;

impl<O: Observer> NetworkRegion<O> {
    /// Gives free channels to the queues that seek one.
    pub(super) fn allocate_channels(&mut self, router: u32) {
        let mut seekers = std::mem::take(&mut self.scratch.channel_seekers);
        let mut asked: Vec<(usize, QueueAt)> = Vec::with_capacity(seekers.len());
        for at in seekers.drain(..) {
            match self.free_channel(at) {
                Some(channel) => asked.push((channel, at)),
                None => {
                    let port = self.routers.queues[self.queue_index(at)].port;
                    self.sleep_until_change(at, port);
                }
            }
        }
        self.scratch.channel_seekers = seekers;
        // Channels in ascending order, and for each its seekers by whose turn it is.
        asked.sort_unstable_by_key(|&(channel, at)| (channel, self.turn(channel, at)));
        let mut last = None;
        for (channel, at) in asked {
            if last.replace(channel) != Some(channel) {
                self.own(router, channel, at);
            }
        }
    }

    /// The free channel that it is the queue's turn to ask for, among those that will do.
    fn free_channel(&self, at: QueueAt) -> Option<usize> {
        let index = self.queue_index(at);
        let queue = &self.routers.queues[index];
        let first = self.port_index(at.router, queue.port) * self.fabric.shape.vcs + usize::from(queue.vc);
        let channels = (first..first + usize::from(queue.vcs)).filter(|&channel| !self.routers.owned[channel]);
        let last = self.routers.last_channel[index] as usize;
        channels.min_by_key(|&channel| (channel <= last, channel))
    }

    /// How far a seeker is from the one that the channel chose last, going round.
    fn turn(&self, channel: usize, at: QueueAt) -> usize {
        let vcs = self.fabric.shape.vcs;
        let seekers = self.fabric.shape.ports * vcs;
        let own = usize::from(at.port) * vcs + usize::from(at.vc);
        let last = usize::from(self.routers.last_seeker[channel]);
        if own > last { own - last } else { own + seekers - last }
    }

    fn own(&mut self, router: u32, channel: usize, at: QueueAt) {
        let vcs = self.fabric.shape.vcs;
        let port = channel / vcs - router as usize * self.fabric.shape.ports;
        let index = self.queue_index(at);
        self.routers.owned[channel] = true;
        self.routers.last_channel[index] = channel as u32;
        self.routers.last_seeker[channel] = (usize::from(at.port) * vcs + usize::from(at.vc)) as u16;
        let queue = &mut self.routers.queues[index];
        debug_assert_eq!(usize::from(queue.port), port);
        (queue.vc, queue.vcs, queue.owns_vc) = ((channel % vcs) as u8, 1, true);
    }
}

//! Output queues that several virtual channels lead to, each by a connection to the crossbar of its own: which channel goes first
//! when there is room for the packets of some of them only.
//!
//! **The invariant it keeps:** a channel that has been let in waits until each other one that asks has had its turn, so none starves
//! because of its number.

use super::{Microarchitecture, Routers, Surroundings};

impl<M: Microarchitecture> Routers<M> {
    /// Puts the outputs that were asked for in the order in which their winners cross: of the channels of a port those first that go before
    /// others by priority, and then by turns.
    pub(super) fn let_channels_take_turns(&mut self, around: &Surroundings<'_>) {
        let mut asked = std::mem::take(&mut self.scratch.asked);
        asked.sort_unstable_by_key(|&output| {
            let channels = self.shape.outputs;
            let (port, vc) = (usize::from(output) / channels, usize::from(output) % channels);
            // An output whose grant has lapsed comes anywhere among those of its port.
            self.winner(output).map_or((port, 0, 0), |winner| {
                let last = usize::from(self.extras.last_entered[winner.output as usize]);
                (port, self.precedence(&winner, around), (vc + channels - last - 1) % channels)
            })
        });
        self.scratch.asked = asked;
    }

    /// A packet enters the output queue of a port by a channel.
    #[inline]
    pub(super) fn note_entry(&mut self, index: u32, vc: u8) {
        if Self::unless_basic(self.rules.channels_take_turns) {
            self.extras.last_entered[index as usize] = vc;
        }
    }
}

//! Congestion as credits tell it: how full the buffer behind an output is.

use super::trigger::{DecisionContext, Stay};
use crate::view::share_in_use;
use crate::{Better, Hop, PortSet, PortVc};

/// When a minimal path counts as congested, and another one as better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Credits {
    /// Percent of its buffer that a minimal path must at least have in use.
    pub minimum: u32,
    /// Percent of the use of the minimal path that another path may have at most.
    pub share: u32,
    /// A minimal global link must have more in use than this percentage of the mean of all global links of its router,
    /// and so many flits.
    pub siblings: u32,
    pub siblings_margin: u32,
    /// Whether all virtual channels of a port stand for each of them.
    pub whole_port: bool,
}

impl Credits {
    /// The flits in the buffer of a channel: its own, or the mean of its port.
    #[inline]
    fn occupancy(&self, context: &DecisionContext<'_>, channel: PortVc) -> u32 {
        if self.whole_port {
            context.view.port_occupancy(channel.port) / u32::from(context.view.channels(channel.port)).max(1)
        } else {
            context.view.occupancy(channel.port, channel.vc)
        }
    }

    /// The use of a channel in ten thousandths of its buffer.
    #[inline]
    fn used(&self, context: &DecisionContext<'_>, channel: PortVc) -> u32 {
        if self.whole_port {
            share_in_use(self.occupancy(context, channel), context.view.capacity(channel.port, channel.vc))
        } else {
            context.view.used(channel.port, channel.vc)
        }
    }

    /// How long a packet stays on its minimal path, whatever others are like: while it can be taken, while little of it is in use, and
    /// while it is like its siblings. None if that is not so.
    #[inline(always)]
    pub fn stay(&self, context: &DecisionContext<'_>) -> Option<Stay> {
        let PortVc { port, vc } = context.minimal;
        if context.view.admits(port, vc) {
            return Some(Stay::Once);
        }
        if self.minimum > 0 && self.used(context, context.minimal) < 100 * self.minimum {
            return Some(self.until_rivaled(PortSet::default(), vc, 0));
        }
        (context.hop == Hop::Global).then(|| self.stay_like_siblings(*context)).flatten()
    }

    /// As long as so many flits are in the buffers of some ports. Of single channels alone it can be said.
    fn until_rivaled(&self, ports: PortSet, vc: u8, flits: u32) -> Stay {
        if self.whole_port { Stay::Once } else { Stay::until_rivaled(ports, vc, Better::Emptier { flits }) }
    }

    /// How long a packet stays whose minimal path is a global link that has no more in use than its siblings: then all are, and nothing is
    /// won by another one.
    #[inline(never)]
    fn stay_like_siblings(&self, context: DecisionContext<'_>) -> Option<Stay> {
        let (vc, ports) = (context.minimal.vc, context.routes.ports(Hop::Global));
        let sum = if self.whole_port {
            ports.iter().map(|port| self.occupancy(&context, PortVc { port, vc })).sum()
        } else {
            context.view.occupancy_of_all(ports, vc)
        };
        // own > siblings % · sum / count + margin, without fractions.
        let (own, count) = (self.occupancy(&context, context.minimal), ports.len());
        let [own, sum, siblings, margin] = [own, sum, self.siblings, self.siblings_margin].map(u64::from);
        let above = 100 * u64::from(count) * own.saturating_sub(margin);
        (above <= siblings * sum).then(|| {
            // If nothing counts of siblings, nothing is above the margin.
            let least = above.div_ceil(siblings.max(1));
            self.until_rivaled(ports, vc, u32::try_from(least).unwrap_or(u32::MAX))
        })
    }

    /// The most that may be in use of the buffer of another path for it to be better: much less than of the minimal one, by share of their buffers. None
    /// if this is not about single buffers: see [`Credits::accepts`].
    #[inline]
    pub fn used_max(&self, context: &DecisionContext<'_>) -> Option<u32> {
        (!self.whole_port).then(|| {
            let used = u64::from(self.share) * u64::from(self.used(context, context.minimal)) / 100;
            u32::try_from(used).unwrap_or(u32::MAX)
        })
    }

    /// Whether another path is better.
    #[inline]
    pub fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        100 * u64::from(self.used(context, candidate))
            <= u64::from(self.share) * u64::from(self.used(context, context.minimal))
    }
}

//! Congestion as credits tell it: how full the buffer behind an output is.

use super::{Alternatives, DecisionContext};
use crate::{Hop, PortVc};

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
        10_000 * self.occupancy(context, channel) / context.view.capacity(channel.port, channel.vc).max(1)
    }

    /// Whether the minimal path is in use and cannot be taken this very moment.
    #[inline]
    pub fn is_congested(&self, context: &DecisionContext<'_>) -> bool {
        let PortVc { port, vc } = context.minimal;
        !context.view.admits(port, vc)
            && (self.minimum == 0 || self.used(context, context.minimal) >= 100 * self.minimum)
    }

    /// Whether the minimal path is a global link that has no more in use than its siblings: then all are, and nothing is won
    /// by another one.
    #[inline]
    pub fn is_like_siblings(&self, context: &DecisionContext<'_>) -> bool {
        if context.hop != Hop::Global {
            return false;
        }
        let (vc, siblings) = (context.minimal.vc, context.routes.ports(Hop::Global));
        let sum = if self.whole_port {
            siblings.iter().map(|port| self.occupancy(context, PortVc { port, vc })).sum()
        } else {
            context.view.occupancy_of_all(siblings, vc)
        };
        // own > siblings % · sum / count + margin, without fractions.
        let (own, count) = (self.occupancy(context, context.minimal), siblings.len());
        100 * count * own <= self.siblings * sum + 100 * count * self.siblings_margin
    }

    /// The most flits that the buffer of another path may hold to be better: much less in use than the minimal one, by
    /// share of their buffers.
    #[inline]
    pub fn occupancy_max(&self, context: &DecisionContext<'_>, alternatives: Alternatives) -> u32 {
        if self.whole_port {
            return u32::MAX; // this is not about single buffers: see `accepts`
        }
        let used_max = self.share * self.used(context, context.minimal) / 100;
        let capacity = context.view.capacity(context.routes.first_port(alternatives.hop), alternatives.vc);
        flits_of_use(used_max, capacity)
    }

    /// Whether another path is better, if its own buffer is.
    #[inline]
    pub fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        !self.whole_port || 100 * self.used(context, candidate) <= self.share * self.used(context, context.minimal)
    }
}

/// The most flits of a buffer whose use in ten thousandths, rounded down, is not above `used`.
#[inline]
fn flits_of_use(used: u32, capacity: u32) -> u32 {
    ((used + 1) * capacity).div_ceil(10_000).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::flits_of_use;

    proptest! {
        #[test]
        fn flits_of_use_are_the_most_with_that_use(used in 0u32..20_000, capacity in 1u32..5_000) {
            let most = flits_of_use(used, capacity);
            prop_assert!(10_000 * most / capacity <= used);
            prop_assert!(10_000 * (most + 1) / capacity > used);
        }
    }
}

//! Congestion as credits tell it: how full the buffer behind an output is.

use super::Scene;
use crate::{Hop, Lane};

/// When a minimal way counts as congested, and another one as better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Credits {
    /// Percent of its buffer that a minimal way must at least have in use.
    pub minimum: u32,
    /// Percent of the use of the minimal way that another way may have at most.
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
    fn occupancy(&self, scene: &Scene<'_>, lane: Lane) -> u32 {
        if self.whole_port {
            scene.view.port_occupancy(lane.port) / u32::from(scene.view.channels(lane.port)).max(1)
        } else {
            scene.view.occupancy(lane.port, lane.vc)
        }
    }

    /// The use of a channel in ten thousandths of its buffer.
    #[inline]
    fn used(&self, scene: &Scene<'_>, lane: Lane) -> u32 {
        10_000 * self.occupancy(scene, lane) / scene.view.capacity(lane.port, lane.vc).max(1)
    }

    /// Whether the minimal way is in use and cannot be taken this very moment.
    #[inline]
    pub fn is_congested(&self, scene: &Scene<'_>) -> bool {
        let Lane { port, vc } = scene.minimal;
        !scene.view.admits(port, vc) && self.used(scene, scene.minimal) >= 100 * self.minimum
    }

    /// Whether the minimal way is a global link that has no more in use than its siblings: then all are, and nothing is won
    /// by another one.
    #[inline]
    pub fn is_like_siblings(&self, scene: &Scene<'_>) -> bool {
        if scene.hop != Hop::Global {
            return false;
        }
        let vc = scene.minimal.vc;
        let (mut sum, mut count) = (0, 0);
        for port in scene.compass.global_ports() {
            sum += self.occupancy(scene, Lane { port, vc });
            count += 1;
        }
        // own > siblings % · sum / count + margin, without fractions.
        let own = self.occupancy(scene, scene.minimal);
        100 * count * own <= self.siblings * sum + 100 * count * self.siblings_margin
    }

    /// Whether another way has much less in use.
    #[inline]
    pub fn is_better(&self, scene: &Scene<'_>, candidate: Lane) -> bool {
        100 * self.used(scene, candidate) <= self.share * self.used(scene, scene.minimal)
    }
}

//! Decisions of heads: where they go, and how long that is known.
//!
//! **The invariant it keeps:** a decision that is kept is the one that the routing agent would make now.

use serde::{Deserialize, Serialize};
use tailback_routing::Header;
use tailback_topology::Locator;

use super::rivals::KeptRivals;
use crate::time::Time;

/// Whether it is known where the head of a queue goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Decision {
    /// No.
    Open,
    /// Until its port is named: see [`KeptDecisions`].
    Kept,
    /// The same, and until others are better: see [`super::rivals`].
    Unrivaled,
    /// For good.
    Settled,
    /// It was made, and is made anew at the next attempt.
    Revised,
}

impl Decision {
    /// Whether it is the same at the next attempt, as far as is known.
    #[inline]
    pub fn lasts(self) -> bool {
        matches!(self, Self::Kept | Self::Settled)
    }
}

/// Decisions that are the same until their port is named. There is room for them only where routing agents may say so.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct KeptDecisions {
    /// By queue.
    kept: Vec<KeptDecision>,
    /// By port of the region: how often it was named.
    named: Vec<u32>,
    /// By queue, where decisions may depend on others: those.
    rivals: Vec<KeptRivals>,
    /// The same: by router, class of links and virtual channel, how often credits have come.
    credits: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct KeptDecision {
    /// What the header of the packet becomes when it crosses.
    header: Header,
    /// How often its port had been named.
    named: u32,
}

impl KeptDecisions {
    /// `kinds` are the virtual channels of each class of links, for each router.
    pub fn new(queues: usize, ports: usize, kinds: usize, with_rivals: bool) -> Self {
        let none = KeptDecision { header: Header::new(Locator::default()), named: 0 };
        let only_if_rivals = |count: usize| if with_rivals { count } else { 0 };
        let rivals = vec![KeptRivals::NONE; only_if_rivals(queues)];
        let credits = vec![0; only_if_rivals(kinds)];
        Self { kept: vec![none; queues], named: vec![0; ports], rivals, credits }
    }

    /// Whether decisions can be kept.
    #[inline]
    pub fn exist(&self) -> bool {
        !self.named.is_empty()
    }

    /// The head of a queue has decided to leave by a port.
    #[inline]
    pub fn keep(&mut self, queue: usize, port: u32, header: Header) {
        self.kept[queue] = KeptDecision { header, named: self.named[port as usize] };
    }

    /// Whether the head of a queue, which has decided to leave by a port, would decide the same now.
    #[inline]
    pub fn hold(&self, queue: usize, port: u32) -> bool {
        self.kept[queue].named == self.named[port as usize]
    }

    /// Whether decisions can be kept until others are better.
    #[inline]
    pub fn have_rivals(&self) -> bool {
        !self.rivals.is_empty()
    }

    /// What the decision of the head of a queue depends on.
    #[inline]
    pub fn rivals(&self, queue: usize) -> &KeptRivals {
        &self.rivals[queue]
    }

    /// The decision that the head of a queue keeps depends on these.
    #[inline]
    pub fn keep_rivals(&mut self, queue: usize, rivals: KeptRivals) {
        self.rivals[queue] = rivals;
    }

    /// The output of the head of a queue is busy until then, and no rival has enough free: until credits come, nothing changes before.
    #[inline]
    pub fn rest(&mut self, queue: usize, busy_until: Time) {
        let rivals = &mut self.rivals[queue];
        (rivals.quiet_until, rivals.credits) = (busy_until, self.credits[rivals.channel as usize]);
    }

    /// Whether nothing has changed for the head of a queue since then.
    #[inline]
    pub fn is_quiet(&self, queue: usize, now: Time) -> bool {
        let rivals = &self.rivals[queue];
        now < rivals.quiet_until && self.credits[rivals.channel as usize] == rivals.credits
    }

    /// Credits come to a port: to a virtual channel of a class of links of its router, as one number.
    #[inline]
    pub fn note_credits(&mut self, channel: usize) {
        self.credits[channel] = self.credits[channel].wrapping_add(1);
    }

    /// What the header becomes of the head of a queue.
    #[inline]
    pub fn header(&self, queue: usize) -> &Header {
        &self.kept[queue].header
    }

    /// Decisions to leave by a port are not valid any more.
    #[inline]
    pub fn name(&mut self, port: u32) {
        if let Some(named) = self.named.get_mut(port as usize) {
            *named = named.wrapping_add(1);
        }
    }
}

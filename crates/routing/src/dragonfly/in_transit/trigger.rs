//! The seam of a trigger: what it is asked, what it sees, and what it says.

use std::fmt::Debug;

use tailback_random::Stream;

use super::super::local_routes::LocalRoutes;
use super::contention::Contention;
use crate::{Better, Causes, Hop, Interests, PortSet, PortVc, Rivals, View};

/// What makes a packet look for another path, and which paths will do.
pub(super) trait Trigger: Clone + Send + Sync + Debug + 'static {
    /// One line for people.
    fn describe(&self) -> String;

    /// What agents want to know.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// Whether it draws at random whether it fires.
    const DRAWS: bool = false;

    /// Whether a packet looks for another path than its minimal one where `count` packets want the minimal output, and `group_count` the
    /// group that it leaves its own for, if it does. None if it takes more than these counts to say. A packet that does not is not asked
    /// about then until this router hears a broadcast, or has come to count as many as make it look for another path.
    #[inline]
    fn fires_at(&self, _count: impl FnOnce() -> u32, _group_count: impl FnOnce() -> Option<u32>) -> Option<bool> {
        None
    }

    /// How long a packet does not look for another path, by what the router sees, where counts do not say; none if it does. It is asked about
    /// earlier when this router has come to count as many as make it look for another one.
    #[inline]
    fn stays(&self, _context: &DecisionContext<'_>, _random: &mut Stream) -> Option<Stay> {
        Some(Stay::Once)
    }

    /// What makes a packet leave its minimal path, where it fires. `group` is the one that it leaves its own for, if it does.
    fn cause(&self, context: &DecisionContext<'_>, group: impl FnOnce() -> Option<u32>) -> Causes;

    /// Whether a router that counts one more packet for an output has come to count so many, and `group_count` for the group that this
    /// packet leaves its own for, if it does.
    #[inline]
    fn is_reached(&self, _count: u32, _group_count: impl FnOnce() -> Option<u32>) -> bool {
        false
    }

    /// The most that may be in use of the buffer behind another path, in ten thousandths, if that is all that matters.
    #[inline]
    fn used_max(&self, _context: &DecisionContext<'_>) -> Option<u32> {
        None
    }

    /// Whether another path will do that is open, if more matters than that.
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool;
}

/// How long a packet stays on its minimal path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    /// Only now, as far as is known.
    Once,
    /// As [`Validity::UntilNamed`].
    UntilNamed,
    /// As [`Validity::UntilRivaled`].
    UntilRivaled(Rivals),
}

impl Stay {
    /// Until something is better at some ports.
    #[inline]
    pub fn until_rivaled(ports: PortSet, vc: u8, better: Better) -> Self {
        Rivals::new(ports, vc, better).map_or(Self::Once, Self::UntilRivaled)
    }
}

/// What a trigger sees of a router and of the packet that is asked about.
#[derive(Clone, Copy)]
pub(super) struct DecisionContext<'a> {
    pub view: &'a dyn View,
    pub routes: &'a LocalRoutes,
    pub contention: &'a Contention,
    /// The minimal step of the packet.
    pub minimal: PortVc,
    /// The kind of its link.
    pub hop: Hop,
}

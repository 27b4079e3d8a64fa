//! What a routing agent sees of its router.

use tailback_topology::Port;

use crate::{Board, PortSet};

/// The state of a router, as far as its routing agent may see it, for packets of one traffic class. Virtual channels
/// are counted inside the class.
pub trait View {
    /// How many virtual channels the class has on the link behind `port`.
    fn channels(&self, port: Port) -> u8;

    /// Flits on their way to, or in, the buffer behind virtual channel `vc` of `port`, as far as this router
    /// knows: those that wait in its output queue, are on the link, or have not been acknowledged by a credit.
    fn occupancy(&self, port: Port, vc: u8) -> u32;

    /// The size of that buffer in flits.
    fn capacity(&self, port: Port, vc: u8) -> u32;

    /// The flits that wait for the link behind `port`, of all traffic classes: in its output queue, and in the buffer at the other
    /// end what is more than the link itself holds when it is never idle, credits on their way back included; and where
    /// [`Interests::queues_at_inputs`](crate::Interests::queues_at_inputs) says so, at inputs of this router, of packets that are routed to it.
    /// Only for those who say so by [`Interests::queues`](crate::Interests::queues).
    fn waiting(&self, port: Port) -> u32;

    /// Whether the packet that is being routed could start to cross to `port` now, by virtual channel `vc`: nothing else
    /// crosses to it, and its output queue and the buffer behind it have room.
    fn admits(&self, port: Port, vc: u8) -> bool;

    /// How much of that buffer is in use, in ten thousandths.
    fn used(&self, port: Port, vc: u8) -> u32 {
        share_in_use(self.occupancy(port, vc), self.capacity(port, vc))
    }

    /// Those of some ports with links to routers, of one class, that admit the packet that is being routed, by virtual channel `vc`, and
    /// of the buffer behind which no more than `used_max` ten thousandths are in use, if that is said; and whether any has so little in use.
    fn open(&self, ports: PortSet, vc: u8, used_max: Option<u32>) -> OpenPorts {
        let Some(first) = ports.first() else { return OpenPorts::default() };
        let occupancy_max = used_max.map_or(u32::MAX, |used| flits_of_use(used, self.capacity(first, vc)));
        let emptier = ports.filter(|port| self.occupancy(port, vc) <= occupancy_max);
        OpenPorts { ports: emptier.filter(|port| self.admits(port, vc)), any_emptier: !emptier.is_empty() }
    }

    /// [`View::occupancy`] of a channel, summed over some ports with links to routers, of one class.
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        ports.iter().map(|port| self.occupancy(port, vc)).sum()
    }

    /// [`View::occupancy`] of a channel at each of as many ports from `first` on as there are places in `found`, with links to routers, of
    /// one class.
    fn occupancies(&self, first: Port, vc: u8, found: &mut [u32]) {
        for (port, found) in (first..).zip(found) {
            *found = self.occupancy(port, vc);
        }
    }

    /// What the routers of the domain have told each other.
    fn board(&self) -> &Board;

    /// Whether the packet that is being routed is asked about for the first time since it is head of its queue.
    fn is_first_time(&self) -> bool {
        true
    }

    /// The same as [`View::occupancy`], summed over all virtual channels of the class.
    fn port_occupancy(&self, port: Port) -> u32 {
        (0..self.channels(port)).map(|vc| self.occupancy(port, vc)).sum()
    }
}

/// What an oblivious algorithm sees: see [`Routing::is_oblivious`](crate::Routing::is_oblivious).
pub(crate) struct Unseen;

/// Why it is asked nothing.
const LOOKED: &str = "an oblivious algorithm looks at nothing";

impl View for Unseen {
    fn channels(&self, _port: Port) -> u8 {
        unreachable!("{LOOKED}")
    }

    fn occupancy(&self, _port: Port, _vc: u8) -> u32 {
        unreachable!("{LOOKED}")
    }

    fn capacity(&self, _port: Port, _vc: u8) -> u32 {
        unreachable!("{LOOKED}")
    }

    fn waiting(&self, _port: Port) -> u32 {
        unreachable!("{LOOKED}")
    }

    fn admits(&self, _port: Port, _vc: u8) -> bool {
        unreachable!("{LOOKED}")
    }

    fn board(&self) -> &Board {
        unreachable!("{LOOKED}")
    }
}

/// What [`View::open`] finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenPorts {
    /// The ports that admit the packet and have no more in use than was said.
    pub ports: PortSet,
    /// Whether any port has no more in use than that, whether it admits the packet or not. If none has, only credits can open one.
    pub any_emptier: bool,
}

/// How much of a buffer is in use, in ten thousandths. Flits that wait in front of it count too, so it may be more than all.
#[inline]
#[must_use]
pub fn share_in_use(flits: u32, capacity: u32) -> u32 {
    u32::try_from(10_000 * u64::from(flits) / u64::from(capacity.max(1))).unwrap_or(u32::MAX)
}

/// The most flits of a buffer whose use in ten thousandths, rounded down, is not above `used`.
#[inline]
#[must_use]
pub fn flits_of_use(used: u32, capacity: u32) -> u32 {
    let above = ((u64::from(used) + 1) * u64::from(capacity)).div_ceil(10_000);
    u32::try_from(above.saturating_sub(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use tailback_random::Stream;

    use super::{View, flits_of_use, share_in_use};
    use crate::{ANYWHERE, Agent, Header, PortVc, Step};

    /// Goes nowhere if there are more than two virtual channels at the first port.
    struct Looks;

    impl Agent for Looks {
        fn route(&mut self, _entry: PortVc, header: &Header, view: &dyn View, _random: &mut Stream) -> Step {
            assert!(view.channels(0) <= 2);
            Step::none_yet(*header)
        }

        fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
            false
        }
    }

    #[test]
    #[should_panic(expected = "an oblivious algorithm looks at nothing")]
    fn whoever_is_said_to_be_oblivious_and_looks_panics() {
        Looks.route_unseeing(PortVc::OWN, &ANYWHERE, &mut Stream::new(1, 2, 3));
    }

    proptest! {
        #[test]
        fn more_flits_are_no_smaller_share(flits in any::<[u32; 2]>(), capacity in 1u32..=65_535) {
            let [less, more] = [flits[0].min(flits[1]), flits[0].max(flits[1])].map(|flits| share_in_use(flits, capacity));
            prop_assert!(less <= more);
        }

        #[test]
        fn flits_of_use_are_the_most_with_that_use(used in 0u32..=100_000, capacity in 1u32..=65_535) {
            let use_of = |flits: u32| 10_000 * u64::from(flits) / u64::from(capacity);
            let most = flits_of_use(used, capacity);
            prop_assert!(use_of(most) <= used.into());
            prop_assert!(use_of(most + 1) > used.into());
        }
    }
}

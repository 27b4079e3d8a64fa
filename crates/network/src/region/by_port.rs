//! Events of a tick by port.

use crate::event::Event;

/// Events of one tick, at most one for each port of a region, to be handled in order of port. They are in order by where they are put, so none is compared
/// with others.
///
/// **The invariant it keeps:** between ticks it is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByPort {
    /// By port: its event, where it has one.
    events: Vec<Event>,
    /// Set of the ports that have one, and set of the words of this set that have any: few of many ports are found at once.
    ports: Vec<u64>,
    words: Vec<u64>,
}

impl ByPort {
    /// For so many ports.
    pub fn new(ports: usize) -> Self {
        let words = ports.div_ceil(64);
        Self { events: vec![Event::default(); ports], ports: vec![0; words], words: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    pub fn put(&mut self, event: Event) {
        let port = event.target() as usize;
        debug_assert!(self.ports[port / 64] & 1 << (port % 64) == 0, "two events of a kind at port {port} in one tick");
        self.events[port] = event;
        self.ports[port / 64] |= 1 << (port % 64);
        self.words[port / (64 * 64)] |= 1 << (port / 64 % 64);
    }

    /// Takes all of them, in order of port.
    #[inline]
    pub fn take(&mut self, mut act: impl FnMut(Event)) {
        for (first, words) in (0..).step_by(64).zip(&mut self.words) {
            let mut words = std::mem::take(words);
            while words != 0 {
                let word = first + words.trailing_zeros() as usize;
                words &= words - 1;
                let mut ports = std::mem::take(&mut self.ports[word]);
                while ports != 0 {
                    act(self.events[word * 64 + ports.trailing_zeros() as usize]);
                    ports &= ports - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::EventKind;

    proptest! {
        #[test]
        fn events_are_taken_in_order_of_port_and_once(
            ticks in prop::collection::vec(prop::collection::btree_set(0..10_000_u32, 0..50), 1..4),
            reversed in any::<bool>(),
        ) {
            let mut by_port = ByPort::new(10_000);
            for ports in ticks {
                let mut events: Vec<_> = ports.iter().map(|&port| Event::at(EventKind::Arrival, port, port + 1)).collect();
                if reversed {
                    events.reverse();
                }
                events.into_iter().for_each(|event| by_port.put(event));
                let mut taken = Vec::new();
                by_port.take(|event| taken.push(event));
                prop_assert!(taken.iter().all(|event| event.payload() == event.target() + 1));
                prop_assert!(taken.iter().map(|event| event.target()).eq(ports));
            }
        }
    }

    #[test]
    #[should_panic(expected = "two events of a kind at port 7 in one tick")]
    #[cfg(debug_assertions)]
    fn two_events_at_a_port_are_a_mistake() {
        let mut by_port = ByPort::new(8);
        (0..2).for_each(|packet| by_port.put(Event::at(EventKind::Arrival, 7, packet)));
    }
}

//! Channels between regions, and the lookahead they leave.

use crate::{NEVER, Tick};

/// A promise: whatever `from` sends to `to` arrives at least `delay` ticks after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The sending region.
    pub from: u32,
    /// The receiving region.
    pub to: u32,
    /// The least time between sending and arrival, at least one tick.
    pub delay: Tick,
}

/// Why a set of channels cannot carry a simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// A channel ends at a region that does not exist.
    #[error("a channel runs from region {from} to region {to}, but there are only {regions} regions")]
    NoSuchRegion {
        /// The sending region.
        from: u32,
        /// The receiving region.
        to: u32,
        /// How many regions there are.
        regions: u32,
    },
    /// Without a delay nothing can be simulated ahead of anything else.
    #[error("the channel from region {from} to region {to} has no delay: give it at least one tick")]
    NoDelay {
        /// The sending region.
        from: u32,
        /// The receiving region.
        to: u32,
    },
}

/// Who may send to whom, and how far regions may run ahead of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelMap {
    lookahead: Tick,
    senders: Vec<Vec<u32>>,
    receivers: Vec<Vec<u32>>,
    /// By sender, as `receivers`: where the sender stands among the senders of that receiver.
    places: Vec<Vec<u32>>,
}

impl ChannelMap {
    /// Builds the map of `regions` regions joined by `channels`.
    ///
    /// A channel from a region to itself is allowed and says nothing about lookahead.
    ///
    /// # Errors
    /// When a channel names a region that does not exist or has no delay.
    pub fn new(regions: u32, channels: impl IntoIterator<Item = Channel>) -> Result<Self, ChannelError> {
        let mut senders = vec![Vec::new(); regions as usize];
        let mut receivers = vec![Vec::new(); regions as usize];
        let mut lookahead = NEVER;
        for Channel { from, to, delay } in channels {
            if from >= regions || to >= regions {
                return Err(ChannelError::NoSuchRegion { from, to, regions });
            }
            if delay == 0 {
                return Err(ChannelError::NoDelay { from, to });
            }
            if from != to {
                lookahead = lookahead.min(delay);
                senders[to as usize].push(from);
                receivers[from as usize].push(to);
            }
        }
        for list in senders.iter_mut().chain(&mut receivers) {
            list.sort_unstable();
            list.dedup();
        }
        // In ascending order of senders each is the next of its receivers.
        let mut counts = vec![0; regions as usize];
        let mut place = |&to: &u32| {
            counts[to as usize] += 1;
            counts[to as usize] - 1
        };
        let places = receivers.iter().map(|list| list.iter().map(&mut place).collect()).collect();
        Ok(Self { lookahead, senders, receivers, places })
    }

    /// The number of regions.
    #[must_use]
    pub fn regions(&self) -> usize {
        self.senders.len()
    }

    /// The shortest delay between two different regions; [`NEVER`] when no channel crosses.
    #[must_use]
    pub fn lookahead(&self) -> Tick {
        self.lookahead
    }

    /// The other regions that may send to `region`, in ascending order.
    #[must_use]
    pub fn senders(&self, region: usize) -> &[u32] {
        &self.senders[region]
    }

    /// The other regions that `region` may send to, in ascending order.
    #[must_use]
    pub fn receivers(&self, region: usize) -> &[u32] {
        &self.receivers[region]
    }

    /// Where `to` stands among the receivers of `from`: by this number [`crate::Outbox::mail`] knows it.
    #[must_use]
    #[inline]
    pub fn position(&self, from: u32, to: u32) -> Option<u32> {
        self.receivers[from as usize].binary_search(&to).ok().map(|position| position as u32)
    }

    /// The region that stands at `position` among the receivers of `from`, and where `from` stands among its senders.
    pub(crate) fn target(&self, from: usize, position: u32) -> (u32, u32) {
        (self.receivers[from][position as usize], self.places[from][position as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(from: u32, to: u32, delay: Tick) -> Channel {
        Channel { from, to, delay }
    }

    #[test]
    fn lookahead_is_the_shortest_crossing_delay() {
        let map = ChannelMap::new(3, [channel(0, 1, 9), channel(1, 0, 7), channel(2, 2, 1), channel(0, 1, 8)]).unwrap();
        assert_eq!(map.lookahead(), 7);
        assert_eq!(map.senders(0), [1]);
        assert_eq!(map.senders(1), [0]);
        assert_eq!(map.receivers(1), [0]);
        assert!(map.senders(2).is_empty());
    }

    #[test]
    fn both_ends_know_the_place_of_the_other() {
        let all = (0..4).flat_map(|from| (0..4).map(move |to| channel(from, to, 1)));
        let map = ChannelMap::new(4, all.filter(|channel| channel.from != 1 || channel.to > 2)).unwrap();
        assert_eq!((map.position(1, 3), map.position(1, 2), map.position(2, 3)), (Some(0), None, Some(2)));
        for from in 0..4 {
            for (position, &to) in map.receivers(from).iter().enumerate() {
                assert_eq!(map.position(from as u32, to), Some(position as u32));
                let (target, place) = map.target(from, position as u32);
                assert_eq!((target, map.senders(to as usize)[place as usize]), (to, from as u32));
            }
        }
    }

    #[test]
    fn regions_without_channels_never_wait() {
        assert_eq!(ChannelMap::new(2, []).unwrap().lookahead(), NEVER);
    }

    #[test]
    fn broken_channels_are_refused() {
        let error = ChannelMap::new(2, [channel(0, 2, 1)]).unwrap_err();
        assert_eq!(error.to_string(), "a channel runs from region 0 to region 2, but there are only 2 regions");
        let error = ChannelMap::new(2, [channel(0, 1, 0)]).unwrap_err();
        assert_eq!(error.to_string(), "the channel from region 0 to region 1 has no delay: give it at least one tick");
    }
}

//! Which virtual channels packets use on their way round a ring of clusters.
//!
//! A packet is on one *leg* of its path in each cluster. Each leg has virtual channels of its own inside clusters, and packets change
//! legs when they cross to another cluster, so that a ring of waiting packets cannot close:
//!
//! * *counted*: the leg is the number of clusters behind the packet. Every crossing is a dateline. As many legs as crossings, and one.
//! * *datelined*: in long rings. There is one dateline, between the last cluster and the first, and each direction has a leg before
//!   it and one after it, beside that of packets in the cluster where they started.

/// The legs of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Legs {
    clusters: u32,
    /// The most crossings of a packet.
    crossings: u8,
}

/// The first leg.
pub(super) const START: u8 = 0;
const FORWARD: [u8; 2] = [1, 2];
const BACKWARD: [u8; 2] = [3, 4];
/// The legs of a ring with a dateline.
const DATELINED: u8 = 5;

impl Legs {
    pub fn new(clusters: u32, crossings: u8) -> Self {
        Self { clusters, crossings }
    }

    fn is_counted(self) -> bool {
        self.crossings < DATELINED
    }

    /// How many there are.
    pub fn count(self) -> u8 {
        (self.crossings + 1).min(DATELINED)
    }

    /// How many virtual channels there are between clusters.
    pub fn channels_across(self) -> u8 {
        if self.is_counted() { self.crossings.max(1) } else { 2 }
    }

    /// The virtual channel by which a packet leaves its cluster.
    pub fn channel_across(self, leg: u8) -> u8 {
        if self.is_counted() { leg } else { u8::from([FORWARD[1], BACKWARD[1]].contains(&leg)) }
    }

    /// The leg of a packet that leaves `cluster` for the next one, or for the one before, unless no packet does so on this leg.
    pub fn next(self, leg: u8, cluster: u32, forward: bool) -> Option<u8> {
        if self.is_counted() {
            return (leg < self.crossings).then_some(leg + 1);
        }
        let ([before, after], edge) = if forward { (FORWARD, self.clusters - 1) } else { (BACKWARD, 0) };
        let dateline = cluster == edge;
        match leg {
            _ if leg == START || leg == before => Some(if dateline { after } else { before }),
            // A packet goes at most half round: it does not come to the dateline again.
            _ if leg == after && !dateline => Some(after),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rings_count_and_long_ones_have_a_dateline() {
        let two = Legs::new(2, 1);
        assert_eq!(
            (two.count(), two.channels_across(), two.next(0, 1, false), two.next(1, 0, true)),
            (2, 1, Some(1), None)
        );
        let long = Legs::new(16, 8);
        assert_eq!((long.count(), long.channels_across()), (5, 2));
        let forward = [13, 14, 15, 0, 1].iter().fold(vec![START], |mut legs, &cluster| {
            legs.push(long.next(legs[legs.len() - 1], cluster, true).unwrap());
            legs
        });
        assert_eq!(forward, [0, 1, 1, 2, 2, 2]);
        assert_eq!(
            (long.next(START, 0, false), long.next(3, 0, false), long.next(4, 0, false)),
            (Some(4), Some(4), None)
        );
        assert_eq!([0, 1, 2, 3, 4].map(|leg| long.channel_across(leg)), [0, 0, 1, 0, 1]);
    }
}

//! What protocols and routing did to packets: marks, pauses and non-minimal paths by cause.

use serde::{Deserialize, Serialize};

/// What was done to the packets of a flow, during the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interventions {
    /// Packets that arrived with a mark of congestion.
    pub marked_packets: u64,
    /// Packets that left after their protocol had not let them go when it was first asked.
    pub held_packets: u64,
    /// The ticks from there until they left.
    pub held_ticks: u64,
    /// Packets that arrived by a path that is not minimal.
    pub nonminimal: NonminimalPackets,
}

/// Packets that have left their minimal path, by cause. One that has left it several times, for different causes, counts for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NonminimalPackets {
    /// Between groups, as routing sends every packet by way of a place that it draws.
    pub drawn: u64,
    /// Between groups, for queues that the router that decided knows itself.
    pub queues: u64,
    /// Between groups, for packets that wanted the same output there.
    pub contention: u64,
    /// Between groups, for what other routers had told.
    pub told: u64,
    /// By a hop inside a group that is not minimal, whatever the cause.
    pub local: u64,
}

impl NonminimalPackets {
    /// The numbers with their names.
    #[must_use]
    pub fn by_cause(self) -> [(&'static str, u64); 5] {
        let Self { drawn, queues, contention, told, local } = self;
        [("drawn", drawn), ("queues", queues), ("contention", contention), ("told", told), ("local", local)]
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.drawn += other.drawn;
        self.queues += other.queues;
        self.contention += other.contention;
        self.told += other.told;
        self.local += other.local;
    }
}

impl Interventions {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.marked_packets += other.marked_packets;
        self.held_packets += other.held_packets;
        self.held_ticks += other.held_ticks;
        self.nonminimal.merge(&other.nonminimal);
    }
}

//! How an output arbiter chooses among flows that can be granted, where it is not simply their turn: by what they have had.

use serde::{Deserialize, Serialize};

use crate::turns::Set;

/// What an output arbiter goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fairness {
    /// One packet of each flow in turn.
    RoundRobin,
    /// As many packets of each flow as it has weight, spread out.
    Weighted,
    /// The same in a row: a flow's turn is as long as it has weight.
    WeightedBlocks,
    /// The flow that has had least by its weight, of what it asked for.
    MaxMin,
}

/// What it has to remember for that, by the places of flows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Scores {
    None,
    Credits(Credits),
    Service(Service),
    Block(Block),
}

impl Scores {
    pub fn new(fairness: Fairness, flows: usize) -> Self {
        match fairness {
            Fairness::RoundRobin => Self::None,
            Fairness::Weighted => Self::Credits(Credits(vec![0; flows])),
            Fairness::WeightedBlocks => Self::Block(Block::default()),
            Fairness::MaxMin => Self::Service(Service { starts: vec![0; flows], now: 0 }),
        }
    }

    /// A flow asks that had nothing to ask for.
    pub fn begin(&mut self, place: usize) {
        if let Self::Service(service) = self {
            service.starts[place] = service.starts[place].max(service.now);
        }
    }
}

/// Smooth weighted round robin: how much each flow is behind what its weight gives it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Credits(Vec<i64>);

impl Credits {
    /// Adds to each ready flow its weight, and takes the sum from the one that has most: the first of several.
    pub fn serve(&mut self, weights: &[u32], ready: Set<'_>) -> Option<usize> {
        let (mut best, mut sum) = (None, 0);
        for place in ready.iter() {
            let weight = i64::from(weights[place]);
            self.0[place] += weight;
            sum += weight;
            if best.is_none_or(|best: usize| self.0[place] > self.0[best]) {
                best = Some(place);
            }
        }
        let best = best?;
        self.0[best] -= sum;
        Some(best)
    }
}

/// Start-time fair queueing: a packet of a flow starts when the one before it has ended, in a time in which each flow that asks is served all the time,
/// by its weight.
///
/// In smooth weighted round robin a turn costs as much as all flows weigh that are ready for it, so that flows which pay for cheap turns get more than their
/// weight. Here a packet of a flow costs the same whoever else asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Service {
    /// When the next packet of each flow starts.
    starts: Vec<u64>,
    /// When the last one started that was served: a flow that begins to ask starts now, and has no claim to what it did not want before.
    now: u64,
}

/// What a packet of a flow with the weight 1 takes. There is room for 4 thousand million of them.
const PACKET: u64 = 1 << 32;

impl Service {
    /// The flow whose packet starts first: the first of several.
    pub fn serve(&mut self, weights: &[u32], ready: Set<'_>) -> Option<usize> {
        let first = ready.iter().min_by_key(|&place| self.starts[place])?;
        self.now = self.now.max(self.starts[first]);
        self.starts[first] += PACKET / u64::from(weights[first]);
        Some(first)
    }
}

/// Weighted round robin by turns that are as long as flows are heavy. Who cannot be granted any more loses the rest of a turn.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Block {
    /// Who goes first at the next turn: who has the turn, as long as packets of it are left.
    first: usize,
    left: u32,
}

impl Block {
    pub fn serve(&mut self, weights: &[u32], ready: Set<'_>) -> Option<usize> {
        let place = ready.next_from(self.first)?;
        if place != self.first || self.left == 0 {
            self.left = weights[place];
        }
        self.left -= 1;
        self.first = if self.left == 0 { place + 1 } else { place };
        Some(place)
    }
}

//! Slots of time that the flows of a node share.

use rand_core::Rng as _;
use serde::{Deserialize, Serialize};
use tailback_random::Stream;

use crate::{Arrival, SLOTS_LOAD_MIN, Traffic};

/// The purpose of the random streams that say whose message a slot has.
const SLOTS: u64 = 1 << 38;

/// Shares of the draw of a slot are counted in units of 2⁻³².
const WHOLE: f64 = (1u64 << 32) as f64;

/// Of what a flow has, less is nothing: somewhat less than the least load, which may be rounded.
const LEAST: u64 = (SLOTS_LOAD_MIN / 2.0 * WHOLE) as u64;

/// The slots of a node as one of its flows sees them.
///
/// All flows of a node that share its slots have the same stream of draws, one for each slot, and each has a part of what can be
/// drawn that is as large as its load. So they never send in the same slot, and none need know of what the others do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slots {
    /// The cycle in which the next slot begins.
    next_cycle: u64,
    /// Cycles in a slot.
    length: u64,
    /// Which draws are the flow's, over time.
    shares: Vec<Share>,
    draws: Stream,
}

/// The draws that are a flow's from some cycle on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Share {
    from_cycle: u64,
    low: u64,
    high: u64,
}

impl Slots {
    /// The slots of `node` as the flow at place `index` sees them. What flows before it have of a slot it cannot have.
    ///
    /// # Panics
    /// When its messages are not all of one size, or it has no slots.
    pub(crate) fn start(flows: &[Traffic], index: usize, node: u32, seed: u64) -> Self {
        let Arrival::Slots { cycles_per_flit } = flows[index].arrival else { panic!("it arrives otherwise") };
        let length = flows[index].size.fixed().expect("a slot is as long as any message") * cycles_per_flit;
        let shares_slots =
            |flow: &&Traffic| matches!(flow.arrival, Arrival::Slots { .. }) && flow.sources.contains(node);
        let before: Vec<&Traffic> = flows[..index].iter().filter(shares_slots).collect();
        let own = &flows[index];
        let mut changes: Vec<u64> =
            before.iter().chain([&own]).flat_map(|flow| flow.phases().iter().map(|phase| phase.from_cycle)).collect();
        changes.sort_unstable();
        changes.dedup();
        let share = |from_cycle| {
            let low: f64 = before.iter().map(|flow| flow.load_at(from_cycle)).sum();
            let chance = |load: f64| ((load * f64::from(cycles_per_flit)).min(1.0) * WHOLE) as u64;
            let [low, high] = [low, low + own.load_at(from_cycle)].map(chance);
            // What others leave may be so little that it would take long to find.
            let high = if high - low < LEAST { low } else { high };
            Share { from_cycle, low, high }
        };
        let shares = changes.into_iter().map(share).collect();
        let mut draws = Stream::new(seed, node.into(), SLOTS);
        // Nodes do not act in step.
        let next_cycle = draws.below(length).into();
        Self { next_cycle, length: length.into(), shares, draws }
    }

    /// The cycle in which the next slot begins that is the flow's, if there is one.
    pub(crate) fn next_own(&mut self) -> Option<u64> {
        loop {
            let later = self.shares.partition_point(|share| share.from_cycle <= self.next_cycle);
            let end = self.shares.get(later).map(|share| share.from_cycle);
            let share = later.checked_sub(1).map(|current| self.shares[current]).filter(|share| share.low < share.high);
            let Some(share) = share else {
                self.skip_to(end?);
                continue;
            };
            while end.is_none_or(|end| self.next_cycle < end) {
                let cycle = self.next_cycle;
                self.next_cycle += self.length;
                if (share.low..share.high).contains(&self.draws.next_u32().into()) {
                    return Some(cycle);
                }
            }
        }
    }

    /// Leaves out all slots that begin before `cycle`, with their draws.
    fn skip_to(&mut self, cycle: u64) {
        let slots = (cycle - self.next_cycle).div_ceil(self.length);
        self.next_cycle += slots * self.length;
        self.draws.skip(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageSize, NodeSet, Pattern, Phase, Workload};

    const SLOTS_OF_A_LINK: Arrival = Arrival::Slots { cycles_per_flit: 1 };

    fn flow(phases: &[(u64, f64)]) -> Traffic {
        flow_on(SLOTS_OF_A_LINK, phases)
    }

    fn flow_on(arrival: Arrival, phases: &[(u64, f64)]) -> Traffic {
        let pattern = Pattern::uniform(NodeSet::all(9), true).unwrap();
        let phase = |&(from_cycle, load)| Phase { from_cycle, pattern: pattern.clone(), load };
        let phases = phases.iter().map(phase).collect();
        Traffic::new("test".to_owned(), NodeSet::all(9), MessageSize::Fixed(8), arrival, phases)
    }

    /// For each flow of node 2 the cycles before `end` in which it sends.
    fn sent(flows: Vec<Traffic>, end: u64) -> Vec<Vec<u64>> {
        let workload = Workload { flows };
        let cycles = |mut process: crate::Process| {
            let mut cycles = Vec::new();
            while let Some(cycle) = process.next_cycle().filter(|&cycle| cycle < end) {
                process.fire(&workload.flows[usize::from(process.traffic)], 2);
                cycles.push(cycle);
            }
            cycles
        };
        workload.processes(2, 5).into_iter().map(cycles).collect()
    }

    fn load(cycles: &[u64], from: u64, until: u64) -> f64 {
        cycles.iter().filter(|cycle| (from..until).contains(cycle)).count() as f64 * 8.0 / (until - from) as f64
    }

    #[test]
    fn flows_of_a_node_send_one_message_in_a_slot_together() {
        let sent = sent(vec![flow(&[(0, 0.5)]), flow(&[(0, 0.3)]), flow(&[(0, 0.15)])], 800_000);
        for (cycles, expected) in sent.iter().zip([0.5, 0.3, 0.15]) {
            assert!((load(cycles, 0, 800_000) - expected).abs() < 0.01, "{} for {expected}", load(cycles, 0, 800_000));
        }
        let mut all = sent.concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] >= 8), "two messages in a slot");
        assert!(all.iter().all(|cycle| cycle % 8 == all[0] % 8), "slots follow each other");
    }

    #[test]
    fn what_is_too_much_for_a_slot_the_last_flow_goes_without() {
        let sent = sent(vec![flow(&[(0, 0.4)]), flow(&[(0, 0.9)]), flow(&[(0, 0.1)])], 800_000);
        assert!((load(&sent[1], 0, 800_000) - 0.6).abs() < 0.01);
        assert!(sent[2].is_empty());
        assert_eq!(sent[0].len() + sent[1].len(), 100_000, "each slot has its message");
        // What is next to nothing is not looked for.
        let sent = self::sent(vec![flow(&[(0, 0.999_999)]), flow(&[(0, 0.1)])], 80_000_000);
        assert!(sent[1].is_empty());
    }

    #[test]
    fn phases_of_one_flow_leave_the_slots_of_the_others_as_they_are() {
        let changing = flow(&[(8_000, 0.3), (80_000, 0.0), (400_000, 0.6)]);
        let with = sent(vec![changing, flow(&[(0, 0.3)])], 800_000);
        assert!(with[0][0] >= 8_000);
        assert_eq!(load(&with[0], 80_000, 400_000), 0.0);
        assert!((load(&with[0], 400_000, 800_000) - 0.6).abs() < 0.02);
        assert!((load(&with[1], 0, 800_000) - 0.3).abs() < 0.01);
        assert!(with[0].iter().all(|cycle| with[1].binary_search(cycle).is_err()), "a slot has one message at most");
        // A flow that comes later changes nothing for those before it.
        let alone = sent(vec![flow(&[(0, 0.3)])], 800_000);
        assert_eq!(sent(vec![flow(&[(0, 0.3)]), flow(&[(0, 0.9)])], 800_000)[0], alone[0]);
    }

    #[test]
    fn slots_of_a_slower_line_are_longer() {
        let sent = sent(vec![flow_on(Arrival::Slots { cycles_per_flit: 3 }, &[(0, 0.2)])], 800_000);
        assert!((load(&sent[0], 0, 800_000) - 0.2).abs() < 0.01);
        assert!(sent[0].windows(2).all(|pair| (pair[1] - pair[0]) % 24 == 0));
    }

    #[test]
    fn silence_lasts_and_counts_end() {
        assert_eq!(sent(vec![flow(&[(0, 0.0)])], u64::MAX), [vec![0; 0]]);
        assert!(!sent(vec![flow(&[(0, 0.5), (100, 0.0)])], u64::MAX).is_empty());
        let mut counted = flow(&[(0, 0.5)]);
        counted.count = Some(7);
        assert_eq!(sent(vec![counted], u64::MAX)[0].len(), 7);
    }
}

//! A source at work.

use serde::{Deserialize, Serialize};
use tailback_random::{Geometric, Stream};

use crate::slots::Slots;
use crate::{Arrival, Pattern, Traffic};

/// A message that a source wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where to.
    pub destination: u32,
    /// How large, in flits.
    pub flits: u32,
}

/// A source of one traffic at one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The place of its traffic in the workload.
    pub traffic: u16,
    /// The cycle in which it acts next; `NEVER` when it is done.
    next_cycle: u64,
    /// Messages that it has made.
    made: u64,
    /// What is left of a burst.
    burst: Burst,
    /// The slots that it shares with other flows of its node, if it does.
    slots: Option<Box<Slots>>,
    stream: Stream,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Burst {
    messages_left: u32,
    destination: Option<u32>,
}

/// The cycle that never comes.
const NEVER: u64 = u64::MAX;

impl Process {
    /// The process of a source of `traffic`, which is at place `index` of the workload.
    #[must_use]
    pub(crate) fn start(traffic: &Traffic, index: u16, stream: Stream, slots: Option<Slots>) -> Self {
        let slots = slots.map(Box::new);
        let mut process = Self { traffic: index, next_cycle: 0, made: 0, burst: Burst::default(), slots, stream };
        process.schedule(traffic, 0);
        process
    }

    /// The cycle in which it acts next, if it ever does.
    #[inline]
    #[must_use]
    pub fn next_cycle(&self) -> Option<u64> {
        (self.next_cycle != NEVER).then_some(self.next_cycle)
    }

    /// Makes the message that is due in [`Process::next_cycle`], and schedules the next one.
    ///
    /// # Panics
    /// When none is due.
    pub fn fire(&mut self, traffic: &Traffic, source: u32) -> Request {
        let cycle = self.next_cycle;
        let (phase, end) = traffic.phase_index(cycle);
        let phase = phase.expect("a message is due only in a phase");
        let flits = traffic.size.sample(&mut self.stream);
        let destination = self.destination(traffic, &traffic.phases()[phase].pattern, source);
        self.made += 1;
        let earliest = match traffic.arrival {
            Arrival::Bernoulli | Arrival::Slots { .. } | Arrival::At(_) => cycle + 1,
            Arrival::Bursts { cycles_per_flit, .. } => {
                self.burst.messages_left -= 1;
                // The line is busy with this message, so the next cannot come sooner.
                let earliest = cycle + u64::from(flits) * u64::from(cycles_per_flit);
                if end.is_some_and(|end| earliest >= end) {
                    // What follows is of another phase, which has a load and destinations of its own.
                    self.burst = Burst::default();
                }
                earliest
            }
        };
        self.schedule(traffic, earliest);
        Request { destination, flits }
    }

    #[inline(always)]
    fn destination(&mut self, traffic: &Traffic, pattern: &Pattern, source: u32) -> u32 {
        if let Arrival::Bursts { same_destination: true, .. } = traffic.arrival {
            if let Some(destination) = self.burst.destination {
                return destination;
            }
            let destination = pattern.destination(source, &mut self.stream);
            self.burst.destination = Some(destination);
            return destination;
        }
        pattern.destination(source, &mut self.stream)
    }

    /// Draws the first message at or after `cycle`. Where a phase ends before it, the draw is made anew in the
    /// next phase from its start, or from `cycle` if that is later. No burst lasts beyond its phase.
    #[inline(always)]
    fn schedule(&mut self, traffic: &Traffic, cycle: u64) {
        if traffic.count.is_some_and(|count| self.made >= count) {
            self.next_cycle = NEVER;
            return;
        }
        if let Arrival::At(cycles) = &traffic.arrival {
            self.next_cycle = cycles[self.made as usize];
            return;
        }
        if let Some(slots) = &mut self.slots {
            self.next_cycle = slots.next_own().unwrap_or(NEVER);
            return;
        }
        let (next, end) = self.draw_in_phase(traffic, cycle);
        self.next_cycle = match end {
            Some(end) if next >= end => self.draw_after(traffic, end),
            _ => next,
        };
    }

    /// Draws the first message at or after the end of a phase.
    #[cold]
    #[inline(never)]
    fn draw_after(&mut self, traffic: &Traffic, mut cycle: u64) -> u64 {
        loop {
            self.burst = Burst::default();
            let (next, end) = self.draw_in_phase(traffic, cycle);
            match end {
                Some(end) if next >= end => cycle = end,
                _ => return next,
            }
        }
    }

    /// Draws the first message at or after `cycle`, were its phase to last for ever; says when that ends.
    #[inline(always)]
    fn draw_in_phase(&mut self, traffic: &Traffic, cycle: u64) -> (u64, Option<u64>) {
        let (phase, end) = traffic.phase_index(cycle);
        let gaps = phase.and_then(|phase| traffic.gaps(phase));
        (gaps.map_or(NEVER, |gaps| self.draw(traffic, gaps, cycle)), end)
    }

    /// The same in a phase with such gaps.
    #[inline(always)]
    fn draw(&mut self, traffic: &Traffic, gaps: &Geometric, cycle: u64) -> u64 {
        if let Arrival::Bursts { messages_mean, .. } = traffic.arrival {
            if self.burst.messages_left > 0 {
                return cycle;
            }
            self.begin_burst(messages_mean);
        }
        cycle.saturating_add(gaps.sample(&mut self.stream) - 1)
    }

    /// Apart, as other traffic would begin with its division.
    #[cold]
    fn begin_burst(&mut self, messages_mean: f64) {
        let messages = Geometric::new(1.0 / messages_mean).sample(&mut self.stream);
        self.burst = Burst { messages_left: messages.min(u64::from(u32::MAX)) as u32, destination: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageSize, NodeSet, Phase};

    fn traffic(arrival: &Arrival, phases: &[(u64, f64)]) -> Traffic {
        let phase = |&(from_cycle, load)| Phase {
            from_cycle,
            pattern: Pattern::uniform(NodeSet::all(9), false).unwrap(),
            load,
        };
        let size = MessageSize::Uniform { min: 4, max: 12 };
        Traffic::new("test".to_owned(), NodeSet::all(9), size, arrival.clone(), phases.iter().map(phase).collect())
    }

    /// All messages before cycle `end`.
    fn run(traffic: &Traffic, end: u64) -> Vec<(u64, Request)> {
        let mut process = Process::start(traffic, 0, Stream::new(1, 2, 3), None);
        let mut messages = Vec::new();
        while let Some(cycle) = process.next_cycle().filter(|&cycle| cycle < end) {
            messages.push((cycle, process.fire(traffic, 2)));
        }
        messages
    }

    fn load(messages: &[(u64, Request)], from: u64, until: u64) -> f64 {
        let inside = messages.iter().filter(|(cycle, _)| (from..until).contains(cycle));
        inside.map(|(_, request)| f64::from(request.flits)).sum::<f64>() / (until - from) as f64
    }

    const BURSTS: Arrival = Arrival::Bursts { messages_mean: 12.0, same_destination: true, cycles_per_flit: 1 };

    #[test]
    fn loads_are_kept_by_each_arrival_process() {
        for arrival in [Arrival::Bernoulli, BURSTS] {
            for wanted in [0.02, 0.1, 0.5, 0.9] {
                let messages = run(&traffic(&arrival, &[(0, wanted)]), 4_000_000);
                let found = load(&messages, 0, 4_000_000);
                assert!((found / wanted - 1.0).abs() < 0.15, "{arrival:?} at {wanted}: {found}");
                assert!(messages.windows(2).all(|pair| pair[0].0 < pair[1].0), "one message per cycle at most");
            }
        }
    }

    #[test]
    fn phases_change_load_at_their_cycle() {
        for arrival in [Arrival::Bernoulli, BURSTS] {
            let messages = run(&traffic(&arrival, &[(1000, 0.8), (200_000, 0.0), (300_000, 0.2)]), 600_000);
            assert!(messages[0].0 >= 1000);
            assert!((load(&messages, 1000, 200_000) - 0.8).abs() < 0.05, "{arrival:?}");
            // A message that a burst has begun may still start in silence's first cycles: none does here.
            assert_eq!(load(&messages, 200_000, 300_000), 0.0);
            assert!((load(&messages, 300_000, 600_000) - 0.2).abs() < 0.03, "{arrival:?}");
        }
    }

    #[test]
    fn a_burst_ends_with_its_phase() {
        let to = |from_cycle, node, load| {
            let pattern = Pattern::uniform(NodeSet::of(&[node], 9).unwrap(), true).unwrap();
            Phase { from_cycle, pattern, load }
        };
        // Of a million messages on average, so that no burst ends by itself.
        for cycles_per_flit in [1, 10] {
            let arrival = Arrival::Bursts { messages_mean: 1e6, same_destination: true, cycles_per_flit };
            let phases = vec![to(0, 3, 1.0), to(1000, 4, 1.0), to(2000, 5, 1e-6)];
            let size = MessageSize::Fixed(8);
            let messages = run(&Traffic::new("test".to_owned(), NodeSet::all(9), size, arrival, phases), 1_000_000);
            let destination = |cycle| if cycle < 1000 { 3 } else { 4 };
            assert!(messages.iter().all(|&(cycle, request)| request.destination == destination(cycle)), "{messages:?}");
            assert!(messages.iter().any(|&(cycle, _)| (1000..2000).contains(&cycle)), "the second phase has a burst");
            // The third phase has a burst every 8e12 cycles on average.
            assert!(messages.iter().all(|&(cycle, _)| cycle < 2000), "{messages:?}");
        }
    }

    #[test]
    fn bursts_run_back_to_back_to_one_destination() {
        let messages = run(&traffic(&BURSTS, &[(0, 0.3)]), 2_000_000);
        let follows = |pair: &[(u64, Request)]| pair[1].0 == pair[0].0 + u64::from(pair[0].1.flits);
        let bursts: Vec<&[(u64, Request)]> = messages.chunk_by(|a, b| follows(&[*a, *b])).collect();
        let mean = messages.len() as f64 / bursts.len() as f64;
        assert!((mean - 12.0).abs() < 1.0, "bursts have {mean} messages");
        // Two bursts can touch; then they may differ in destination, but that is rare at this load.
        let pure = |burst: &&&[(u64, Request)]| burst.iter().all(|m| m.1.destination == burst[0].1.destination);
        let share = bursts.iter().filter(pure).count() as f64 / bursts.len() as f64;
        assert!(share > 0.95, "{share} of the bursts have one destination");
    }

    #[test]
    fn messages_of_a_burst_come_in_as_their_line_carries_them() {
        let slow = Arrival::Bursts { messages_mean: 12.0, same_destination: true, cycles_per_flit: 10 };
        for (wanted, expected) in [(0.05, 0.05), (0.1, 0.1), (0.5, 0.1)] {
            let messages = run(&traffic(&slow, &[(0, wanted)]), 4_000_000);
            let found = load(&messages, 0, 4_000_000);
            assert!((found / expected - 1.0).abs() < 0.1, "{found} for {wanted}");
            assert!(messages.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 10 * u64::from(pair[0].1.flits)));
        }
    }

    #[test]
    fn a_source_stops_after_as_many_messages_as_it_has() {
        for arrival in [Arrival::Bernoulli, BURSTS] {
            let endless = traffic(&arrival, &[(0, 0.3), (2000, 0.1)]);
            let all = run(&endless, 1_000_000);
            for count in [0, 1, 7, 400] {
                let mut traffic = endless.clone();
                traffic.count = Some(count);
                assert_eq!(
                    run(&traffic, u64::MAX),
                    all[..count as usize],
                    "the first of those that it would send without end"
                );
            }
        }
    }

    #[test]
    fn messages_come_in_the_cycles_that_are_named() {
        let to = Pattern::uniform(NodeSet::all(9), false).unwrap();
        let sizes = MessageSize::Fixed(5);
        let traffic = Traffic::at("test".to_owned(), NodeSet::all(9), sizes, to, &[0, 1, 70, 1 << 40]);
        let cycles: Vec<u64> = run(&traffic, u64::MAX).iter().map(|(cycle, _)| *cycle).collect();
        assert_eq!(cycles, [0, 1, 70, 1 << 40]);
        assert_eq!(traffic.messages(), Some(36));
    }

    #[test]
    fn silence_lasts() {
        assert!(run(&traffic(&Arrival::Bernoulli, &[]), u64::MAX).is_empty());
        assert!(run(&traffic(&Arrival::Bernoulli, &[(0, 0.0)]), u64::MAX).is_empty());
        assert!(!run(&traffic(&Arrival::Bernoulli, &[(0, 0.5), (100, 0.0)]), u64::MAX).is_empty());
    }
}

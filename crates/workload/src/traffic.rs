//! Traffics, and the workload they make up.

use tailback_random::{Geometric, Stream};

use crate::slots::Slots;
use crate::{Arrival, Job, MessageSize, NodeSet, Pattern, Process};

/// What a traffic does from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The cycle it starts in.
    pub from_cycle: u64,
    /// Where messages go.
    pub pattern: Pattern,
    /// Flits per source and cycle; 0 for silence.
    pub load: f64,
}

/// Some nodes that send in the same manner.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Who sends.
    pub sources: NodeSet,
    /// How large messages are.
    pub size: MessageSize,
    /// When they arrive.
    pub arrival: Arrival,
    /// How many messages each source sends before it falls silent for ever, if it does.
    pub count: Option<u64>,
    /// Whether it is declared to exceed what its destinations can take. It changes nothing but how results are judged.
    pub saturates: bool,
    /// The program that its messages are of, if they are of one: then nothing else here says who sends what.
    pub job: Option<Job>,
    /// What happens over time, by ascending start; before the first phase there is silence.
    phases: Vec<Phase>,
    /// For each phase the gaps between messages, or those between bursts plus 1; none in silence, and none for arrivals that are
    /// not drawn by gaps.
    gaps: Vec<Option<Geometric>>,
}

impl Traffic {
    /// A traffic that goes through `phases`, given by ascending start; before the first there is silence.
    #[must_use]
    pub fn new(name: String, sources: NodeSet, size: MessageSize, arrival: Arrival, phases: Vec<Phase>) -> Self {
        let gap = |phase: &Phase| {
            let load = phase.load.min(1.0);
            let probability = match arrival {
                Arrival::Bernoulli => (phase.load / size.mean()).min(1.0),
                Arrival::Bursts { messages_mean, cycles_per_flit, .. } => {
                    let rest_mean = messages_mean * size.mean() * (1.0 / load - f64::from(cycles_per_flit));
                    1.0 / (1.0 + rest_mean.max(0.0))
                }
                Arrival::Slots { .. } | Arrival::At(_) => return None,
            };
            (load > 0.0).then(|| Geometric::new(probability))
        };
        let gaps = phases.iter().map(gap).collect();
        Self { name, sources, size, arrival, count: None, saturates: false, job: None, phases, gaps }
    }

    /// A traffic of which each source sends a message in each of `cycles`, which ascend.
    ///
    /// # Panics
    /// When they do not.
    #[must_use]
    pub fn at(name: String, sources: NodeSet, size: MessageSize, pattern: Pattern, cycles: &[u64]) -> Self {
        assert!(cycles.is_sorted_by(|a, b| a < b), "a source sends one message per cycle at most");
        // How much that is depends on how long one looks at it. It is not nothing, which is all that matters.
        let phases = vec![Phase { from_cycle: 0, pattern, load: 1.0 }];
        Self { count: Some(cycles.len() as u64), ..Self::new(name, sources, size, Arrival::At(cycles.into()), phases) }
    }

    /// The messages of a program.
    #[must_use]
    pub fn of_job(name: String, job: Job) -> Self {
        let mut nodes: Vec<u64> = job.nodes().iter().copied().map(u64::from).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let count = nodes.last().map_or(0, |&last| last as u32 + 1);
        let sources = NodeSet::of(&nodes, count).expect("all nodes are below their number");
        let traffic = Self::new(name, sources, MessageSize::Fixed(1), Arrival::Bernoulli, Vec::new());
        Self { job: Some(job), ..traffic }
    }

    /// Whether the cycles are named in which it sends, so that it has no load.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        matches!(self.arrival, Arrival::At(_))
    }

    /// How many messages all sources send together, if that is ever over.
    #[must_use]
    pub fn messages(&self) -> Option<u64> {
        if let Some(job) = &self.job {
            return Some(job.messages());
        }
        self.count.map(|count| count.saturating_mul(self.sources.len().into()))
    }

    /// What happens over time.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The index of the phase of `cycle`, and the cycle in which the next one starts.
    #[inline]
    #[must_use]
    pub(crate) fn phase_index(&self, cycle: u64) -> (Option<usize>, Option<u64>) {
        // Most traffic has one phase, and most time is in the last.
        if self.phases.last().is_some_and(|last| last.from_cycle <= cycle) {
            return (Some(self.phases.len() - 1), None);
        }
        self.earlier_phase_index(cycle)
    }

    /// The same before the last phase.
    #[inline(never)]
    fn earlier_phase_index(&self, cycle: u64) -> (Option<usize>, Option<u64>) {
        let next = self.phases.partition_point(|phase| phase.from_cycle <= cycle);
        (next.checked_sub(1), self.phases.get(next).map(|phase| phase.from_cycle))
    }

    /// The gaps between messages of a phase, or those between bursts plus 1; none in silence.
    #[inline]
    pub(crate) fn gaps(&self, phase: usize) -> Option<&Geometric> {
        self.gaps[phase].as_ref()
    }

    /// Its load in `cycle`.
    pub(crate) fn load_at(&self, cycle: u64) -> f64 {
        self.phase_index(cycle).0.map_or(0.0, |phase| self.phases[phase].load)
    }

    /// Whether it begins, ends or changes in a cycle from `from` to before `until`. What holds from cycle 0 on has not
    /// begun at any time.
    #[must_use]
    pub fn changes_between(&self, from: u64, until: u64) -> bool {
        self.phases.iter().any(|phase| (from.max(1)..until).contains(&phase.from_cycle))
    }

    /// The nodes that it may send to, in ascending order, if all its patterns name them.
    #[must_use]
    pub fn destinations(&self) -> Option<NodeSet> {
        if self.job.is_some() {
            return None; // which of its ranks get anything, only the program knows
        }
        let sending = self.phases.iter().filter(|phase| phase.load > 0.0);
        let named: Vec<NodeSet> = sending.map(|phase| phase.pattern.destinations()).collect::<Option<_>>()?;
        Some(NodeSet::union(&named))
    }

    /// The mean load of a source from cycle `from` to before cycle `until`.
    #[must_use]
    pub fn mean_load(&self, from: u64, until: u64) -> f64 {
        let mut sum = 0.0;
        let mut cycle = from;
        while cycle < until {
            let (phase, next) = self.phase_index(cycle);
            let end = next.unwrap_or(until).min(until);
            sum += phase.map_or(0.0, |index| self.phases[index].load) * (end - cycle) as f64;
            cycle = end;
        }
        if until > from { sum / (until - from) as f64 } else { 0.0 }
    }
}

/// All flows of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// The flows, in an order that matters: a source's random stream depends on the place of its flow.
    pub flows: Vec<Traffic>,
}

impl Workload {
    /// The processes of `node`: one for each traffic that it is a source of.
    #[must_use]
    pub fn processes(&self, node: u32, seed: u64) -> Vec<Process> {
        let sends = |(_, traffic): &(usize, &Traffic)| traffic.job.is_none() && traffic.sources.contains(node);
        let start = |(index, traffic): (usize, &Traffic)| {
            let shares_slots = matches!(traffic.arrival, Arrival::Slots { .. });
            let slots = shares_slots.then(|| Slots::start(&self.flows, index, node, seed));
            // The first of a node's purposes are its flows.
            Process::start(traffic, index as u16, Stream::new(seed, node.into(), index as u64), slots)
        };
        self.flows.iter().enumerate().filter(sends).map(start).collect()
    }

    /// The programs, with the places of their messages among the flows.
    pub fn jobs(&self) -> impl Iterator<Item = (u16, &Job)> {
        (0..).zip(&self.flows).filter_map(|(place, flow)| Some((place, flow.job.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LOAD_MIN, MESSAGE_FLITS_MAX};

    #[test]
    fn mean_loads_weigh_phases_by_their_length() {
        let phase =
            |from_cycle, load| Phase { from_cycle, pattern: Pattern::shift(&NodeSet::all(4), 4, 1).unwrap(), load };
        let phases = vec![phase(10, 0.5), phase(20, 0.0), phase(30, 1.0)];
        let (name, sources) = ("t".to_owned(), NodeSet::all(4));
        let traffic = Traffic::new(name, sources, MessageSize::Fixed(8), Arrival::Bernoulli, phases);
        assert_eq!(traffic.mean_load(0, 10), 0.0);
        assert_eq!(traffic.mean_load(0, 20), 0.25);
        assert_eq!(traffic.mean_load(15, 35), (5.0 * 0.5 + 5.0) / 20.0);
        assert_eq!(traffic.mean_load(5, 5), 0.0);
    }

    #[test]
    fn changes_are_those_inside_of_a_span() {
        let phase =
            |from_cycle, load| Phase { from_cycle, pattern: Pattern::shift(&NodeSet::all(4), 4, 1).unwrap(), load };
        let (name, sources, size) = ("t".to_owned(), NodeSet::all(4), MessageSize::Fixed(8));
        let traffic = Traffic::new(name, sources, size, Arrival::Bernoulli, vec![phase(0, 0.5), phase(20, 0.1)]);
        let changes = [(0, 20), (0, 21), (20, 30), (21, 30)].map(|(from, until)| traffic.changes_between(from, until));
        assert_eq!(changes, [false, true, true, false]);
    }

    #[test]
    fn the_least_load_is_drawn_by_each_arrival_process() {
        let largest = MessageSize::Fixed(MESSAGE_FLITS_MAX as u32);
        let rarest = Arrival::Bursts { messages_mean: 1e6, same_destination: true, cycles_per_flit: 64 };
        for arrival in [Arrival::Bernoulli, rarest] {
            let pattern = Pattern::shift(&NodeSet::all(4), 4, 1).unwrap();
            let phases = vec![Phase { from_cycle: 0, pattern, load: LOAD_MIN }];
            let flow = Traffic::new("t".to_owned(), NodeSet::all(4), largest.clone(), arrival, phases);
            let workload = Workload { flows: vec![flow] };
            let first: Vec<_> = workload.processes(1, 5).iter().map(Process::next_cycle).collect();
            assert!(first.iter().all(|&cycle| cycle > Some(1 << 32)), "{first:?}");
        }
    }

    #[test]
    fn destinations_are_those_that_all_patterns_name() {
        let among = |nodes: &[u64]| Pattern::uniform(NodeSet::of(nodes, 9).unwrap(), true).unwrap();
        let of = |patterns: Vec<Pattern>| {
            let phases = (0..).zip(patterns).map(|(from_cycle, pattern)| Phase { from_cycle, pattern, load: 0.5 });
            let (name, sources, size) = ("t".to_owned(), NodeSet::all(9), MessageSize::Fixed(8));
            Traffic::new(name, sources, size, Arrival::Bernoulli, phases.collect()).destinations()
        };
        let mix = Pattern::mix(vec![among(&[7]), among(&[2])], &[1.0, 1.0]);
        assert_eq!(of(vec![among(&[3, 5]), mix]), NodeSet::of(&[2, 3, 5, 7], 9).ok());
        assert_eq!(of(vec![among(&[3]), Pattern::shift(&NodeSet::all(9), 9, 1).unwrap()]), None);
    }
}

//! What a run writes down while it goes on.
//!
//! A [`Record`] has one part per flow and a list of named counters. Each region of a simulation keeps its own; they
//! are merged at the end, in any order, with the same result. The methods that take notes are called for every packet.

use serde::{Deserialize, Serialize};

use crate::{
    CompletedMessage, CompletionRecord, Histogram, Interventions, ListedCompletion, Point, ProgramPlan, ProgramRecord,
    RecordPlan, Timeline,
};

/// What sources had to send during the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// Messages that were created, with the lost ones.
    pub messages: u64,
    /// Their flits.
    pub flits: u64,
    /// Messages that were lost at the source because too many were waiting.
    pub lost_messages: u64,
    /// Their flits.
    pub lost_flits: u64,
}

/// What arrived during the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Messages that became complete.
    pub messages: u64,
    /// Their flits.
    pub message_flits: u64,
    /// Packets.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Packets that took a path that is not minimal.
    pub nonminimal: u64,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivedPacket {
    /// The node that sent it.
    pub source: u32,
    /// When its message was created.
    pub created: u64,
    /// Ticks from leaving its source to the arrival of its last flit.
    pub network_latency: u64,
    /// Its hops.
    pub hops: u32,
    /// Its flits.
    pub flits: u32,
    /// Whether it took a path that is not minimal.
    pub nonminimal: bool,
}

/// What is written down about one flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// What its sources had to send.
    pub offered: Offered,
    /// What arrived.
    pub delivered: Delivered,
    /// The flits that arrived of each node, if they are counted by source.
    pub by_source: Vec<u64>,
    /// The latencies of messages, in ticks.
    pub message_latency: Histogram,
    /// The latencies of packets from leaving the source, in ticks.
    pub network_latency: Histogram,
    /// Ticks from the arrival of packets until they leave in order, where interfaces put them in order.
    pub resequencing: Histogram,
    /// The hops of packets.
    pub hops: Histogram,
    /// The run in intervals that suit the statistics, warm-up included.
    pub batches: Timeline,
    /// The run in intervals that the user wants, warm-up included.
    pub series: Option<Timeline>,
    /// What protocols and routing did to its packets.
    pub interventions: Interventions,
    /// How its messages were completed, if it ends.
    pub completions: Option<CompletionRecord>,
    /// How its ranks were done, if it is the messages of a program.
    pub program: Option<ProgramRecord>,
    /// Its messages that have arrived, in no particular order, if they are written down.
    pub messages: Vec<ListedCompletion>,
}

impl FlowRecord {
    fn new(plan: &RecordPlan, messages: Option<u64>) -> Self {
        Self {
            offered: Offered::default(),
            delivered: Delivered::default(),
            by_source: vec![0; plan.nodes.unwrap_or(0) as usize],
            message_latency: Histogram::new(),
            network_latency: Histogram::new(),
            resequencing: Histogram::new(),
            hops: Histogram::new(),
            batches: Timeline::new(plan.batches),
            series: plan.series.map(Timeline::new),
            interventions: Interventions::default(),
            completions: messages.map(CompletionRecord::new),
            program: None,
            messages: Vec::new(),
        }
    }

    /// The sum of the hops of all packets.
    #[must_use]
    pub fn hops_total(&self) -> u128 {
        self.hops.sum()
    }

    /// Adds everything of `other`.
    ///
    /// # Panics
    /// When it was written to another plan.
    pub fn merge(&mut self, other: &Self) {
        self.offered.messages += other.offered.messages;
        self.offered.flits += other.offered.flits;
        self.offered.lost_messages += other.offered.lost_messages;
        self.offered.lost_flits += other.offered.lost_flits;
        self.delivered.messages += other.delivered.messages;
        self.delivered.message_flits += other.delivered.message_flits;
        self.delivered.packets += other.delivered.packets;
        self.delivered.flits += other.delivered.flits;
        self.delivered.nonminimal += other.delivered.nonminimal;
        for (mine, theirs) in self.by_source.iter_mut().zip(&other.by_source) {
            *mine += theirs;
        }
        self.message_latency.merge(&other.message_latency);
        self.network_latency.merge(&other.network_latency);
        self.resequencing.merge(&other.resequencing);
        self.hops.merge(&other.hops);
        self.interventions.merge(&other.interventions);
        self.batches.merge(&other.batches);
        match (&mut self.series, &other.series) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, None) => {}
            _ => panic!("records that are merged have the same plan"),
        }
        if let (Some(mine), Some(theirs)) = (&mut self.completions, &other.completions) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.program, &other.program) {
            mine.merge(theirs);
        }
        self.messages.extend(&other.messages);
    }

    /// Notes the same on all timelines, perhaps at another tick on that of the user.
    #[inline(always)]
    fn note(&mut self, tick: u64, series_tick: u64, note: impl Fn(&mut Point)) {
        if let Some(point) = self.batches.at(tick) {
            note(point);
        }
        if let Some(point) = self.series.as_mut().and_then(|series| series.at(series_tick)) {
            note(point);
        }
    }
}

/// What a run, or a part of it, has written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    plan: RecordPlan,
    flows: Vec<FlowRecord>,
    /// The values of the counters that the plan names.
    counters: Vec<u64>,
    /// Control packets that arrived, and messages beside the data network, during the window. Results are not compared by it: what was one
    /// before it was counted is still the same.
    control_messages: u64,
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new(plan: RecordPlan) -> Self {
        let flow = |(&messages, program): (&Option<u64>, &Option<ProgramPlan>)| FlowRecord {
            program: program.as_ref().map(ProgramRecord::new),
            ..FlowRecord::new(&plan, messages)
        };
        let flows = plan.ending.iter().zip(&plan.programs).map(flow).collect();
        Self { flows, counters: vec![0; plan.counters.len()], control_messages: 0, plan }
    }

    /// A source of `flow` had a message of `flits` to send at `tick`; it was perhaps lost.
    #[inline(always)]
    pub fn offered(&mut self, flow: usize, tick: u64, flits: u32, lost: bool) {
        let measured = self.plan.window.contains(tick);
        let (record, flits) = (&mut self.flows[flow], u64::from(flits));
        if measured {
            record.offered.messages += 1;
            record.offered.flits += flits;
            if lost {
                record.offered.lost_messages += 1;
                record.offered.lost_flits += flits;
            }
        }
        record.note(tick, tick, |point| point.offered_flits += flits);
        if let Some(completions) = &mut record.completions {
            completions.created(tick, flits, lost);
        }
    }

    /// Whether `flow` ends.
    #[inline]
    #[must_use]
    pub fn ends(&self, flow: usize) -> bool {
        self.flows[flow].completions.is_some()
    }

    /// A message of `flow`, which ends, has become complete.
    ///
    /// # Panics
    /// When the plan does not say that it ends.
    pub fn completed(&mut self, flow: usize, message: CompletedMessage) {
        self.flows[flow].completions.as_mut().expect("it ends").completed(message);
    }

    /// The same message is written down as it is, if all are.
    pub fn list(&mut self, flow: usize, message: ListedCompletion) {
        if self.plan.messages {
            self.flows[flow].messages.push(message);
        }
    }

    /// A packet of `flow` left its destination's interface in order at `tick`, so many ticks after its arrival.
    pub fn packet_in_order(&mut self, flow: usize, tick: u64, waited: u64) {
        if self.plan.window.contains(tick) {
            self.flows[flow].resequencing.record(waited);
        }
    }

    /// A rank of the program whose messages are `flow` has come to the end of a phase, so many ticks after the start.
    ///
    /// # Panics
    /// When the plan does not say that it is a program.
    pub fn phase_reached(&mut self, flow: usize, phase: u16, ticks: u64) {
        self.flows[flow].program.as_mut().expect("it is a program").reached(phase, ticks);
    }

    /// The last flit of a packet of `flow` arrived at `tick`.
    #[inline(always)]
    pub fn packet_delivered(&mut self, flow: usize, tick: u64, packet: ArrivedPacket) {
        let ArrivedPacket { source, created, network_latency, hops, flits, nonminimal } = packet;
        let measured = self.plan.window.contains(tick);
        let series_tick = if self.plan.series_by_creation { created } else { tick };
        let (record, flits, nonminimal) = (&mut self.flows[flow], u64::from(flits), u64::from(nonminimal));
        if measured {
            record.delivered.packets += 1;
            record.delivered.flits += flits;
            record.delivered.nonminimal += nonminimal;
            if let Some(counted) = record.by_source.get_mut(source as usize) {
                *counted += flits;
            }
            record.network_latency.record(network_latency);
            record.hops.record(hops.into());
        }
        record.note(tick, series_tick, |point| {
            point.delivered_flits += flits;
            point.delivered_packets += 1;
            point.nonminimal_packets += nonminimal;
            point.network_latency_ticks += network_latency;
            point.network_latency_max = point.network_latency_max.max(network_latency);
        });
    }

    /// The last flit of a message of `flow` arrived at `tick`, `latency` ticks after the message was created.
    #[inline(always)]
    pub fn message_delivered(&mut self, flow: usize, tick: u64, latency: u64, flits: u32) {
        let measured = self.plan.window.contains(tick);
        let series_tick = if self.plan.series_by_creation { tick - latency } else { tick };
        let record = &mut self.flows[flow];
        if measured {
            record.delivered.messages += 1;
            record.delivered.message_flits += u64::from(flits);
            record.message_latency.record(latency);
        }
        record.note(tick, series_tick, |point| {
            point.delivered_messages += 1;
            point.message_latency_ticks += latency;
            point.message_latency_max = point.message_latency_max.max(latency);
        });
    }

    /// Something was done to a packet of `flow`, which shows at `tick`.
    pub fn intervened(&mut self, flow: usize, tick: u64, what: &Interventions) {
        if self.plan.window.contains(tick) {
            self.flows[flow].interventions.merge(what);
        }
    }

    /// Protocols have sent so many messages of their own, which shows at `tick`.
    #[inline]
    pub fn told(&mut self, tick: u64, messages: u64) {
        if self.plan.window.contains(tick) {
            self.control_messages += messages;
        }
    }

    /// Adds `amount` to the counter with the place `counter` in the plan, if `tick` is measured.
    #[inline]
    pub fn count(&mut self, counter: usize, tick: u64, amount: u64) {
        if self.plan.window.contains(tick) {
            self.counters[counter] += amount;
        }
    }

    /// Adds everything of `other`.
    ///
    /// # Panics
    /// When it was written to another plan.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.plan, other.plan, "records that are merged have the same plan");
        for (mine, theirs) in self.flows.iter_mut().zip(&other.flows) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.counters.iter_mut().zip(&other.counters) {
            *mine += theirs;
        }
        self.control_messages += other.control_messages;
    }

    /// What was to be written down.
    #[must_use]
    pub fn plan(&self) -> &RecordPlan {
        &self.plan
    }

    /// What was written down by flow.
    #[must_use]
    pub fn flows(&self) -> &[FlowRecord] {
        &self.flows
    }

    /// Control packets that arrived, and messages beside the data network.
    #[must_use]
    pub fn control_messages(&self) -> u64 {
        self.control_messages
    }

    /// The further counters with their names.
    pub fn counters(&self) -> impl Iterator<Item = (&str, u64)> {
        self.plan.counters.iter().map(String::as_str).zip(self.counters.iter().copied())
    }

    /// All flows taken together.
    #[must_use]
    pub fn total(&self) -> FlowRecord {
        self.together(|_| true)
    }

    /// Some flows taken together, chosen by their places.
    #[must_use]
    pub fn together(&self, chosen: impl Fn(usize) -> bool) -> FlowRecord {
        let chosen = || self.flows.iter().enumerate().filter(|(place, _)| chosen(*place)).map(|(_, flow)| flow);
        let ending = chosen().filter_map(|flow| Some(flow.completions.as_ref()?.count));
        let mut total = FlowRecord::new(&self.plan, ending.reduce(u64::saturating_add));
        chosen().for_each(|flow| total.merge(flow));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    fn record() -> Record {
        let mut plan = RecordPlan::new(2, Window { from: 100, until: 200 });
        plan.counters.push("dropped".to_owned());
        Record::new(plan)
    }

    #[test]
    fn totals_are_those_of_the_window_and_timelines_have_the_warm_up_too() {
        let mut record = record();
        for tick in [0, 99, 100, 199, 200] {
            record.offered(0, tick, 4, tick == 199);
            record.packet_delivered(
                1,
                tick,
                ArrivedPacket {
                    source: 0,
                    created: 0,
                    network_latency: 20,
                    hops: 3,
                    flits: 2,
                    nonminimal: tick == 199,
                },
            );
            record.message_delivered(1, tick, 30, 4);
            record.count(0, tick, 5);
        }
        let [first, second] = record.flows() else { panic!("there are two") };
        assert_eq!(first.offered, Offered { messages: 2, flits: 8, lost_messages: 1, lost_flits: 4 });
        assert_eq!(first.delivered, Delivered::default());
        assert_eq!(second.delivered, Delivered { messages: 2, message_flits: 8, packets: 2, flits: 4, nonminimal: 1 });
        assert_eq!((second.hops_total(), second.network_latency.sum(), second.message_latency.sum()), (6, 40, 60));
        // The batches end with the window.
        assert_eq!(first.batches.points().iter().map(|point| point.offered_flits).sum::<u64>(), 16);
        assert_eq!(record.counters().collect::<Vec<_>>(), [("dropped", 10)]);
        assert_eq!((record.total().offered, record.total().delivered), (first.offered, second.delivered));
    }

    #[test]
    #[should_panic(expected = "the same plan")]
    fn records_of_different_plans_do_not_mix() {
        record().merge(&Record::new(RecordPlan::new(2, Window { from: 100, until: 200 })));
    }
}

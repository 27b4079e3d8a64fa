//! Takes notes in a region.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_network::{MessageDelivery, Observer, Offer, Packet, PhaseReached};
use tailback_protocol::{Direction, PacketKind, Protocol};
use tailback_report::{
    ArrivedPacket, CompletedMessage, Intervals, Interventions, ListedCompletion, NonminimalPackets, ProgramPlan,
    Record, RecordPlan, Window,
};
use tailback_routing::Causes;
use tailback_scenario::Scenario;
use tailback_workload::{Job, Traffic};

use crate::unloaded::Unloaded;

/// The notes of one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recorder {
    pub record: Record,
    counters: Counters,
    /// What messages take in an empty network, if some flows end. It is no part of what is written down.
    #[serde(skip)]
    pub unloaded: Option<Arc<Unloaded>>,
}

/// Which counters of the record are about what.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Counters {
    /// By kind of packet: whether it carries data, and the counter of the flits that arrived, if there is one.
    kinds: Vec<(bool, Option<usize>)>,
    /// The first of those about packets that were dropped, if any are.
    losses: Option<usize>,
    /// Marks of data packets, and the first of the counters of packets that had them: one for each flow.
    marks: Vec<(u8, usize)>,
    /// Marks of congestion.
    congestion: u8,
}

/// What is counted about packets that are dropped, in this order.
const LOSSES: [&str; 3] = ["dropped_packets", "dropped_flits", "packets_sent_again"];

impl Recorder {
    pub fn new(plan: &RecordPlan, protocol: &dyn Protocol, unloaded: Option<Arc<Unloaded>>) -> Self {
        let place = |name: &str| plan.counters.iter().position(|counter| counter == name);
        let kinds = protocol.kinds().iter().map(|kind| (kind.direction.carries_data(), place(kind.name))).collect();
        let flows = plan.ending.len();
        let declared = protocol.marks();
        let first = plan.counters.len() - declared.len() * flows;
        let marks = declared.iter().enumerate().map(|(index, mark)| (mark.marks, first + index * flows)).collect();
        let counters = Counters { kinds, losses: place(LOSSES[0]), marks, congestion: protocol.congestion_marks() };
        Self { record: Record::new(plan.clone()), counters, unloaded }
    }

    /// Counts a data packet by its flow and its marks, if the protocol declares these.
    fn count_marks(&mut self, packet: &Packet, tick: Tick) {
        if let Some((_, first)) = self.counters.marks.iter().find(|(marks, _)| *marks == packet.marks()) {
            self.record.count(first + usize::from(packet.traffic), tick, 1);
        }
    }

    /// Counts a data packet that was marked or has left its minimal path.
    #[cold]
    fn note_interventions(&mut self, packet: &Packet, tick: Tick) {
        let causes = packet.header.nonminimal;
        let because = |cause| u64::from(causes.has(cause));
        let nonminimal = NonminimalPackets {
            drawn: because(Causes::DRAWN),
            queues: because(Causes::QUEUES),
            contention: because(Causes::CONTENTION),
            told: because(Causes::TOLD),
            local: because(Causes::LOCAL),
        };
        let marked_packets = u64::from(packet.marks() & self.counters.congestion != 0);
        let done = Interventions { marked_packets, nonminimal, ..Interventions::default() };
        self.record.intervened(packet.traffic.into(), tick, &done);
    }

    fn count_loss(&mut self, which: usize, tick: Tick, amount: u64) {
        let first = self.counters.losses.expect("a protocol that drops packets says so");
        self.record.count(first + which, tick, amount);
    }
}

/// What is written down about a scenario.
pub(crate) fn record_plan(scenario: &Scenario) -> RecordPlan {
    let ticks = u64::from(scenario.clock.ticks_per_cycle);
    let (warmup, cycles) = (scenario.measure.warmup, scenario.measure.cycles);
    let end = (warmup + cycles) * ticks;
    let mut plan = RecordPlan::new(scenario.workload.flows.len(), Window { from: warmup * ticks, until: end });
    plan.series = scenario.measure.series.map(|every| {
        let intervals = (warmup + cycles).div_ceil(every);
        Intervals::new(0, every * ticks, u32::try_from(intervals).unwrap_or(u32::MAX))
    });
    plan.nodes = scenario.measure.by_source.then(|| scenario.topology.built.graph().nodes());
    plan.series_by_creation = scenario.measure.series_by_creation;
    plan.ending = scenario.workload.flows.iter().map(Traffic::messages).collect();
    plan.messages = scenario.measure.messages;
    plan.programs = scenario.workload.flows.iter().map(|flow| flow.job.as_ref().map(program_plan)).collect();
    let protocol = &scenario.protocol.built;
    let kinds = protocol.kinds();
    plan.counters.extend(kinds[1..].iter().map(|kind| kind.name.to_owned()));
    if kinds.iter().any(|kind| kind.direction == Direction::LossyData) {
        plan.counters.extend(LOSSES.map(str::to_owned));
    }
    // They are the last: a recorder finds them by that.
    for mark in protocol.marks() {
        plan.counters.extend(scenario.workload.flows.iter().map(|flow| format!("{}.{}", flow.name, mark.name)));
    }
    plan
}

/// What is written down about a program.
fn program_plan(job: &Job) -> ProgramPlan {
    ProgramPlan { ranks: job.program.ranks(), phases: job.program.phases().len() as u16 }
}

impl Observer for Recorder {
    #[inline(always)]
    fn message_offered(&mut self, offer: &Offer) {
        self.record.offered(offer.traffic.into(), offer.tick, offer.flits, offer.lost);
    }

    #[inline(always)]
    fn packet_delivered(&mut self, packet: &Packet, tick: Tick) {
        // Lossless data, which is most packets, has no counter of its own.
        let (carries_data, counter) = match packet.kind {
            PacketKind::DATA => (true, None),
            kind => self.counters.kinds[kind.index()],
        };
        if let Some(counter) = counter {
            self.record.count(counter, tick, packet.flits.into());
        }
        if !carries_data {
            self.record.told(tick, 1);
        }
        if carries_data {
            self.count_marks(packet, tick);
            // Most packets are neither marked nor on paths that are not minimal.
            if packet.marks() | packet.header.nonminimal.byte() != 0 {
                self.note_interventions(packet, tick);
            }
            let arrived = ArrivedPacket {
                source: packet.source,
                created: packet.created(),
                network_latency: tick - packet.injected(),
                hops: packet.hops.into(),
                flits: packet.flits.into(),
                nonminimal: packet.header.nonminimal.is_nonminimal(),
            };
            self.record.packet_delivered(packet.traffic.into(), tick, arrived);
        }
    }

    fn packet_in_order(&mut self, packet: &Packet, arrived: Tick, tick: Tick) {
        self.record.packet_in_order(packet.traffic.into(), tick, tick - arrived);
    }

    fn control_messages_sent(&mut self, messages: u64, tick: Tick) {
        self.record.told(tick, messages);
    }

    fn packet_held(&mut self, packet: &Packet, since: Tick, tick: Tick) {
        let done = Interventions { held_packets: 1, held_ticks: tick - since, ..Interventions::default() };
        self.record.intervened(packet.traffic.into(), tick, &done);
    }

    fn packet_dropped(&mut self, packet: &Packet, tick: Tick) {
        self.count_loss(0, tick, 1);
        self.count_loss(1, tick, packet.flits.into());
    }

    fn packet_sent_again(&mut self, _packet: &Packet, tick: Tick) {
        self.count_loss(2, tick, 1);
    }

    fn phase_reached(&mut self, reached: &PhaseReached) {
        self.record.phase_reached(reached.traffic.into(), reached.phase, reached.after);
    }

    #[inline(always)]
    fn message_delivered(&mut self, delivery: &MessageDelivery) {
        let latency = delivery.tick - delivery.created;
        self.record.message_delivered(delivery.traffic.into(), delivery.tick, latency, delivery.flits);
        if let Some(unloaded) = &self.unloaded
            && self.record.ends(delivery.traffic.into())
        {
            let MessageDelivery { tick, created, source, destination, traffic, flits } = *delivery;
            let unloaded = unloaded.ticks(source, destination, flits);
            self.record.completed(
                traffic.into(),
                CompletedMessage { tick, latency, unloaded, flits, between: (source, destination) },
            );
            let completed = tick;
            let listed = ListedCompletion { created, source, destination, completed, unloaded, flits };
            self.record.list(traffic.into(), listed);
        }
    }
}

//! Takes notes in a region.

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;
use tailback_network::{MessageDelivery, Observer, Offer, Packet};
use tailback_protocol::PacketKind;
use tailback_report::{ArrivedPacket, Intervals, Record, RecordPlan, Window};
use tailback_scenario::Scenario;

/// Control packets by kind, as the record counts them.
const ACKNOWLEDGEMENTS: usize = 0;

/// The notes of one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Recorder(pub Record);

/// What is written down about a scenario.
pub(crate) fn record_plan(scenario: &Scenario) -> RecordPlan {
    let ticks = u64::from(scenario.clock.ticks_per_cycle);
    let (warmup, cycles) = (scenario.measure.warmup, scenario.measure.cycles);
    let end = (warmup + cycles) * ticks;
    let mut plan = RecordPlan::new(scenario.workload.traffics.len(), Window { from: warmup * ticks, until: end });
    plan.series = scenario.measure.series.map(|every| {
        let intervals = (warmup + cycles).div_ceil(every);
        Intervals::new(0, every * ticks, u32::try_from(intervals).unwrap_or(u32::MAX))
    });
    plan.series_by_creation = scenario.measure.series_by_creation;
    if scenario.network.acknowledgement_class.is_some() {
        plan.counters.push("acknowledgements".to_owned());
    }
    plan
}

impl Observer for Recorder {
    #[inline]
    fn message_offered(&mut self, offer: &Offer) {
        self.0.offered(offer.traffic.into(), offer.tick, offer.flits, offer.lost);
    }

    #[inline]
    fn packet_delivered(&mut self, packet: &Packet, tick: Tick) {
        match packet.kind {
            PacketKind::Data => {
                let arrived = ArrivedPacket {
                    created: packet.created(),
                    network_latency: tick - packet.injected(),
                    hops: packet.hops.into(),
                    flits: packet.flits.into(),
                    detoured: packet.header.detoured,
                };
                self.0.packet_delivered(packet.traffic.into(), tick, arrived);
            }
            PacketKind::Acknowledgement => self.0.count(ACKNOWLEDGEMENTS, tick, 1),
        }
    }

    #[inline]
    fn message_delivered(&mut self, delivery: &MessageDelivery) {
        let latency = delivery.tick - delivery.created;
        self.0.message_delivered(delivery.traffic.into(), delivery.tick, latency, delivery.flits);
    }
}

//! The figures of one flow, or of all of them together.

use serde::{Deserialize, Serialize};

use crate::{Completions, FlowRecord, Histogram, NonminimalPackets, Point, TreeFigures, Window, batch_means};

/// Accepting less than this share of what was offered counts as saturation.
pub const SATURATION_THRESHOLD: f64 = 0.95;

/// Of so many times the square root of the offered messages chance may keep the last from arriving in the window.
const CHANCE: f64 = 2.0;

/// Loads, latencies, hops and counts. What nothing was delivered for is absent (`null` in JSON), never NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Flits of messages created in the measured cycles, lost ones included, per source and cycle.
    ///
    /// Of all flows together: per node that is a source of any of them.
    pub offered_load: f64,
    /// Flits of packets delivered in the measured cycles, per source (not destination) and cycle, so that it compares
    /// with `offered_load`.
    pub accepted_load: f64,
    /// The same of the source of which least arrived, and the standard deviation between sources: where what arrives is
    /// counted by source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_load_least: Option<f64>,
    /// See [`Figures::accepted_load_least`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_load_deviation: Option<f64>,
    /// Whether less than [`SATURATION_THRESHOLD`] of the offered load was accepted, by more than chance, or messages were
    /// lost. False for a
    /// flow that is not judged, see [`LoadCourse`](crate::LoadCourse). Of all flows together: whether one of them is.
    pub saturated: bool,
    /// Latencies in link cycles.
    pub latency: Latencies,
    /// Latencies in nanoseconds, if it is known how long a cycle is.
    pub latency_ns: Option<Latencies>,
    /// Hops of packets.
    pub hops: Hops,
    /// Messages created and delivered in the measured cycles.
    pub messages: Amounts,
    /// Flits created and delivered in the measured cycles.
    pub flits: Amounts,
    /// Packets delivered in the measured cycles.
    pub packets_delivered: u64,
    /// Data flits that wait at their sources when the run ends: of all flows together only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog_flits: Option<u64>,
    /// Data packets that are in the network when the run ends: of all flows together only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_packets: Option<u64>,
    /// Congestion trees, if they were looked for: of all flows together only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trees: Option<Box<TreeFigures>>,
    /// The share of delivered packets that took a path that is not minimal.
    #[serde(alias = "detoured_share")]
    pub nonminimal_share: Option<f64>,
    /// Control packets that arrived, and messages that schedulers and interfaces sent beside the data network, in the measured cycles; of all
    /// flows together. Absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_messages: Option<u64>,
    /// Packets that arrived in the measured cycles with a mark of congestion. Absent, as the next ones, where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marked_packets: u64,
    /// Packets that left in the measured cycles after their protocol had not let them go when it was first asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_packets: u64,
    /// Cycles from there until they left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_cycles_mean: Option<f64>,
    /// Packets that arrived in the measured cycles after they had left their minimal path, by cause.
    #[serde(default, skip_serializing_if = "NonminimalPackets::is_none")]
    pub nonminimal_packets: NonminimalPackets,
    /// How flows have ended that end; of all flows together, of those that do.
    #[serde(flatten)]
    pub completions: Option<Completions>,
    /// Cycles from the start of the program whose messages these are until its last rank was done, once all are; of all flows
    /// together, of the program for which that took longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_cycles: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Latencies by what is timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Of messages: from creation to the arrival of the last flit.
    pub message: Distribution,
    /// Of packets: from the first flit's leaving the source queue to the arrival of the last flit.
    pub network: Distribution,
    /// Of packets: from the arrival of the last flit until it leaves the interface in order. Only where interfaces put data in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resequencing: Option<Distribution>,
}

/// A distribution in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The mean.
    pub mean: Option<f64>,
    /// Half the width of the mean's 95 % confidence interval, by batch means.
    pub ci95: Option<f64>,
    /// The smallest.
    pub min: Option<f64>,
    /// The median; like all percentiles to 0.4 %.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The 99.9th percentile.
    pub p999: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// How many there are.
    pub samples: u64,
}

/// Hops of packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hops {
    /// The mean.
    pub mean: Option<f64>,
    /// The most.
    pub max: Option<u64>,
}

/// How much was offered, delivered and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// What sources had to send.
    pub offered: u64,
    /// What arrived.
    pub delivered: u64,
    /// What was lost at its source because too much was waiting.
    pub lost: u64,
}

/// How ticks are turned into cycles and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    pub(crate) ticks_per_cycle: u64,
    pub(crate) cycle_ns: Option<f64>,
}

impl Figures {
    /// Messages of protocols for each data packet that arrived.
    #[must_use]
    pub fn control_messages_per_packet(&self) -> Option<f64> {
        (self.packets_delivered > 0).then_some(self.control_messages? as f64 / self.packets_delivered as f64)
    }

    /// The figures of a record, of which loads are per one of `sources` and cycle. Saturation is left to be judged.
    pub(crate) fn new(record: &FlowRecord, window: Window, sources: u64, cycles: u64, clock: Clock) -> Self {
        let (offered, delivered, interventions) = (record.offered, record.delivered, record.interventions);
        let load = |flits: u64| flits as f64 / (sources.max(1) as f64 * cycles.max(1) as f64);
        let cycle = clock.ticks_per_cycle as f64;
        Self {
            offered_load: load(offered.flits),
            accepted_load: load(delivered.flits),
            accepted_load_least: None,
            accepted_load_deviation: None,
            saturated: false,
            latency: Latencies::new(record, window, |ticks| ticks / cycle),
            latency_ns: clock.cycle_ns.map(|ns| Latencies::new(record, window, |ticks| ticks / cycle * ns)),
            hops: Hops { mean: record.hops.mean(), max: record.hops.max() },
            messages: Amounts { offered: offered.messages, delivered: delivered.messages, lost: offered.lost_messages },
            flits: Amounts { offered: offered.flits, delivered: delivered.flits, lost: offered.lost_flits },
            packets_delivered: delivered.packets,
            backlog_flits: None,
            in_flight_packets: None,
            trees: None,
            nonminimal_share: (delivered.packets > 0).then(|| delivered.nonminimal as f64 / delivered.packets as f64),
            control_messages: None,
            marked_packets: interventions.marked_packets,
            held_packets: interventions.held_packets,
            held_cycles_mean: (interventions.held_packets > 0)
                .then(|| interventions.held_ticks as f64 / interventions.held_packets as f64 / cycle),
            nonminimal_packets: interventions.nonminimal,
            completions: record.completions.as_ref().map(|completions| Completions::new(completions, clock)),
            program_cycles: None,
        }
    }

    /// The same with the figures of what arrived from each of some nodes, if it was counted.
    pub(crate) fn by_source(self, record: &FlowRecord, nodes: &[u32], cycles: u64) -> Self {
        let counted = |&node: &u32| record.by_source.get(node as usize);
        let loads: Vec<f64> =
            nodes.iter().filter_map(counted).map(|&flits| flits as f64 / cycles.max(1) as f64).collect();
        if loads.is_empty() {
            return self;
        }
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let variance = loads.iter().map(|load| (load - mean) * (load - mean)).sum::<f64>() / loads.len() as f64;
        Self {
            accepted_load_least: loads.iter().copied().reduce(f64::min),
            accepted_load_deviation: Some(libm::sqrt(variance)),
            ..self
        }
    }

    /// Whether less was accepted than counts as all of it, and not by chance: which of a few messages arrive before the
    /// window ends says nothing about the network.
    pub(crate) fn falls_short(&self) -> bool {
        let Amounts { offered, delivered, lost } = self.messages;
        let by_chance = CHANCE * libm::sqrt(offered as f64);
        let misses = self.accepted_load < SATURATION_THRESHOLD * self.offered_load;
        lost > 0 || misses && offered.saturating_sub(delivered) as f64 > by_chance
    }
}

impl Latencies {
    fn new(record: &FlowRecord, window: Window, convert: impl Fn(f64) -> f64) -> Self {
        let half_width =
            |measure: fn(&Point) -> (u64, u64)| batch_means(&record.batches, window, measure)?.half_width_95;
        Self {
            message: Distribution::new(&record.message_latency, half_width(Point::message_latency), &convert),
            network: Distribution::new(&record.network_latency, half_width(Point::network_latency), &convert),
            resequencing: (record.resequencing.count() > 0)
                .then(|| Distribution::new(&record.resequencing, None, &convert)),
        }
    }
}

impl Distribution {
    /// The figures of a histogram, converted from its units.
    pub(crate) fn new(histogram: &Histogram, half_width: Option<f64>, convert: impl Fn(f64) -> f64) -> Self {
        let whole = |ticks: Option<u64>| ticks.map(|ticks| convert(ticks as f64));
        Self {
            mean: histogram.mean().map(&convert),
            ci95: half_width.map(&convert),
            min: whole(histogram.min()),
            p50: whole(histogram.quantile(0.5)),
            p95: whole(histogram.quantile(0.95)),
            p99: whole(histogram.quantile(0.99)),
            p999: whole(histogram.quantile(0.999)),
            max: whole(histogram.max()),
            samples: histogram.count(),
        }
    }

    /// The figures of some values in ascending order.
    pub(crate) fn of_sorted(values: &[f64]) -> Self {
        let count = values.len();
        // As in histograms: the smallest value that so large a share does not exceed.
        let quantile = |share: f64| values.get(((share * count as f64).ceil() as usize).max(1) - 1).copied();
        Self {
            mean: (count > 0).then(|| values.iter().sum::<f64>() / count as f64),
            ci95: None,
            min: values.first().copied(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: values.last().copied(),
            samples: count as u64,
        }
    }
}

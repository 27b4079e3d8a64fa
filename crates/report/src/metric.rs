//! The figures that reports are compared by, under the names that they have in tables.

use crate::{Figures, Report};

/// A figure that is taken from every report.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in tables.
    pub name: &'static str,
    /// Its value, where there is one.
    pub value: fn(&Figures) -> Option<f64>,
    /// Half the width of the confidence interval from a single report, where it has one.
    pub ci95: fn(&Figures) -> Option<f64>,
    /// What has it.
    pub of: MetricOf,
}

/// What has a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricOf {
    /// All flows.
    All,
    /// Flows whose data interfaces put in order.
    OrderedData,
    /// Runs in which packets were marked.
    Marked,
    /// Runs in which protocols held packets.
    Held,
    /// Runs in which packets left their minimal paths.
    Nonminimal,
    /// The network: all flows together, and no single one.
    Network,
    /// Flows that end.
    FlowsThatEnd,
    /// Programs.
    Programs,
}

/// All of them, in the order of tables.
pub const METRICS: &[Metric] = &[
    Metric::new("offered_load", |f| Some(f.offered_load)),
    Metric::new("accepted_load", |f| Some(f.accepted_load)),
    Metric::new("accepted_load_least", |f| f.accepted_load_least),
    Metric::new("accepted_load_deviation", |f| f.accepted_load_deviation),
    Metric::new("latency_message_mean", |f| f.latency.message.mean).with_ci95(|f| f.latency.message.ci95),
    Metric::new("latency_message_p50", |f| f.latency.message.p50),
    Metric::new("latency_message_p99", |f| f.latency.message.p99),
    Metric::new("latency_message_max", |f| f.latency.message.max),
    Metric::new("latency_network_mean", |f| f.latency.network.mean).with_ci95(|f| f.latency.network.ci95),
    Metric::new("latency_network_p50", |f| f.latency.network.p50),
    Metric::new("latency_network_p99", |f| f.latency.network.p99),
    Metric::new("latency_network_max", |f| f.latency.network.max),
    Metric::new("resequencing_mean", |f| f.latency.resequencing.as_ref()?.mean).only_of(MetricOf::OrderedData),
    Metric::new("resequencing_max", |f| f.latency.resequencing.as_ref()?.max).only_of(MetricOf::OrderedData),
    Metric::new("hops_mean", |f| f.hops.mean),
    Metric::new("nonminimal_share", |f| f.nonminimal_share),
    Metric::new("marked_packets", |f| Some(f.marked_packets as f64)).only_of(MetricOf::Marked),
    Metric::new("held_packets", |f| Some(f.held_packets as f64)).only_of(MetricOf::Held),
    Metric::new("held_cycles_mean", |f| f.held_cycles_mean).only_of(MetricOf::Held),
    Metric::new("nonminimal_drawn", |f| Some(f.nonminimal_packets.drawn as f64)).only_of(MetricOf::Nonminimal),
    Metric::new("nonminimal_queues", |f| Some(f.nonminimal_packets.queues as f64)).only_of(MetricOf::Nonminimal),
    Metric::new("nonminimal_contention", |f| Some(f.nonminimal_packets.contention as f64))
        .only_of(MetricOf::Nonminimal),
    Metric::new("nonminimal_told", |f| Some(f.nonminimal_packets.told as f64)).only_of(MetricOf::Nonminimal),
    Metric::new("nonminimal_local", |f| Some(f.nonminimal_packets.local as f64)).only_of(MetricOf::Nonminimal),
    Metric::new("completion_mean", |f| f.completions.as_ref()?.completion.mean).only_of(MetricOf::FlowsThatEnd),
    Metric::new("completion_p50", |f| f.completions.as_ref()?.completion.p50).only_of(MetricOf::FlowsThatEnd),
    Metric::new("completion_p99", |f| f.completions.as_ref()?.completion.p99).only_of(MetricOf::FlowsThatEnd),
    Metric::new("completion_max", |f| f.completions.as_ref()?.completion.max).only_of(MetricOf::FlowsThatEnd),
    Metric::new("completion_cycles", |f| f.completions.as_ref()?.completion_cycles).only_of(MetricOf::FlowsThatEnd),
    Metric::new("slowdown_mean", |f| f.completions.as_ref()?.slowdown.mean).only_of(MetricOf::FlowsThatEnd),
    Metric::new("slowdown_p99", |f| f.completions.as_ref()?.slowdown.p99).only_of(MetricOf::FlowsThatEnd),
    Metric::new("pair_goodput_mean", |f| f.completions.as_ref()?.pair_goodput.as_ref()?.mean)
        .only_of(MetricOf::FlowsThatEnd),
    Metric::new("pair_goodput_min", |f| f.completions.as_ref()?.pair_goodput.as_ref()?.min)
        .only_of(MetricOf::FlowsThatEnd),
    Metric::new("pair_goodput_p50", |f| f.completions.as_ref()?.pair_goodput.as_ref()?.p50)
        .only_of(MetricOf::FlowsThatEnd),
    Metric::new("pair_goodput_max", |f| f.completions.as_ref()?.pair_goodput.as_ref()?.max)
        .only_of(MetricOf::FlowsThatEnd),
    Metric::new("jain", |f| f.completions.as_ref()?.jain).only_of(MetricOf::FlowsThatEnd),
    Metric::new("unfinished", |f| Some(f.completions.as_ref()?.unfinished as f64)).only_of(MetricOf::FlowsThatEnd),
    Metric::new("unfinished_flits", |f| Some(f.completions.as_ref()?.unfinished_flits? as f64))
        .only_of(MetricOf::FlowsThatEnd),
    Metric::new("program_cycles", |f| f.program_cycles).only_of(MetricOf::Programs),
    Metric::new("messages_lost", |f| Some(f.messages.lost as f64)),
    Metric::new("backlog_flits", |f| Some(f.backlog_flits? as f64)).only_of(MetricOf::Network),
    Metric::new("control_messages", |f| Some(f.control_messages? as f64)).only_of(MetricOf::Network),
    Metric::new("control_messages_per_packet", Figures::control_messages_per_packet).only_of(MetricOf::Network),
    Metric::new("in_flight_packets", |f| Some(f.in_flight_packets? as f64)).only_of(MetricOf::Network),
    Metric::new("trees_count", |f| Some(f.trees.as_ref()?.count as f64)).only_of(MetricOf::Network),
    Metric::new("trees_largest_flits", |f| Some(f.trees.as_ref()?.largest_flits as f64)).only_of(MetricOf::Network),
    Metric::new("trees_victim_share", |f| f.trees.as_ref()?.victim_share).only_of(MetricOf::Network),
    Metric::new("saturated", |f| Some(f64::from(u8::from(f.saturated)))),
];

impl Metric {
    const fn new(name: &'static str, value: fn(&Figures) -> Option<f64>) -> Self {
        Self { name, value, ci95: |_| None, of: MetricOf::All }
    }

    const fn with_ci95(self, ci95: fn(&Figures) -> Option<f64>) -> Self {
        Self { ci95, ..self }
    }

    const fn only_of(self, of: MetricOf) -> Self {
        Self { of, ..self }
    }

    /// Whether a single flow may have it.
    pub(crate) fn is_of_flows(&self) -> bool {
        self.of != MetricOf::Network
    }
}

impl Report {
    /// The figures of the flow with this name.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<&Figures> {
        self.flows.get(name).map(|flow| &flow.figures)
    }
}

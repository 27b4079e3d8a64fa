//! What a run has found.

use tailback_network::Holdings;
use tailback_report::{
    Cycles, Digest, FlowInput, HotNode, Interruption, LinkUtilisation, LoadCourse, Measured, Named, Performance,
    Record, Report, Table, histogram_table, messages_table, series_table,
};
use tailback_scenario::Scenario;
use tailback_workload::Traffic;

use crate::endpoints::endpoint_notes;
use crate::link_use::{ClassUse, LinkUse};
use crate::sampler::Samples;

/// What a run has found until its end, or until it was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// What was written down, of all regions.
    pub record: Record,
    /// What the sources and the network hold in the end. It is no part of the digest: it follows from what is.
    pub(crate) holdings: Holdings,
    /// What was looked at now and again. It is no part of the digest: looking changes nothing.
    pub(crate) samples: Samples,
    /// What links sent.
    pub(crate) links: LinkUse,
    /// Packets that have crossed a router, each counted once per router, warm-up included.
    pub packet_hops: u64,
    /// How many threads simulated.
    pub threads: u32,
    /// The link cycle before which all was simulated: the end of the run, unless it was stopped.
    pub reached: u64,
    /// Whether that was the end of the run.
    pub is_whole: bool,
    /// For each program whose ranks wait, what for, in a sentence.
    pub(crate) waiting: Vec<String>,
}

/// A node whose link is less busy is not hot.
const HOT_SHARE: f64 = 0.5;
/// The most nodes that are listed as hot.
const HOT_NODES_MAX: usize = 16;

/// What a run took, told by who timed it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Seconds from start to end.
    pub wall_s: f64,
    /// Seconds of all threads together.
    pub cpu_s: f64,
    /// The most memory that was in use, if it is known.
    pub peak_rss_bytes: Option<u64>,
}

impl Findings {
    /// The fingerprint of everything that was found.
    #[must_use]
    pub fn digest(&self) -> String {
        let digest = Digest::new().record(&self.record).number(self.packet_hops);
        self.links
            .classes
            .iter()
            .fold(digest, |digest, class| digest.number(class.total).number(class.max.into()))
            .hex()
    }

    /// The report of a run of `scenario`.
    #[must_use]
    pub fn report(&self, scenario: &Scenario, version: &str, timing: &Timing) -> Report {
        let measure = scenario.measure;
        let Timing { wall_s, cpu_s, peak_rss_bytes } = *timing;
        let end = measure.warmup + measure.cycles;
        let interrupted = (!self.is_whole).then_some(Interruption { cycle: self.reached, of: end });
        let mut report = Report::new(Measured {
            title: scenario.title.clone(),
            version: version.to_owned(),
            scenario_digest: scenario.digest.clone(),
            // What is no result has none.
            result_digest: if interrupted.is_some() { String::new() } else { self.digest() },
            seed: scenario.seed,
            nodes: scenario.topology.built.graph().nodes().into(),
            sources: sending_nodes(scenario),
            ticks_per_cycle: scenario.clock.ticks_per_cycle.into(),
            cycle_ns: scenario.clock.cycle_fs.map(|fs| fs as f64 / 1e6),
            cycles: Cycles { warmup: measure.warmup, measured: self.measured(scenario) },
            interrupted,
            flows: flows(scenario, self.reached),
            record: &self.record,
            links: self.link_utilisation(scenario),
            ejection: self.ejection(scenario),
            notes: endpoint_notes(self, scenario).into_iter().chain(self.waiting.clone()).collect(),
            performance: Performance::new(wall_s, cpu_s, self.packet_hops, peak_rss_bytes, self.threads),
        });
        report.total.backlog_flits = Some(self.holdings.waiting_flits);
        report.total.in_flight_packets = Some(self.holdings.packets_under_way);
        report.total.trees = measure.trees_every.map(|_| Box::new(self.samples.trees.figures(scenario)));
        report.hot_nodes = self.hot_nodes(scenario);
        report
    }

    /// The time series, if the scenario asks for one.
    #[must_use]
    pub fn series(&self, scenario: &Scenario) -> Option<Table> {
        let ticks_per_cycle = u64::from(scenario.clock.ticks_per_cycle);
        let end = self.reached * ticks_per_cycle;
        let table = series_table(&self.record, &flows(scenario, self.reached), ticks_per_cycle, end);
        table.map(|table| of_run(table, scenario))
    }

    /// The histograms of all flows.
    #[must_use]
    pub fn histograms(&self, scenario: &Scenario) -> Table {
        let ticks_per_cycle = scenario.clock.ticks_per_cycle.into();
        of_run(histogram_table(&self.record, &flows(scenario, self.reached), ticks_per_cycle), scenario)
    }

    /// The messages of flows that end, if the scenario asks for them.
    #[must_use]
    pub fn messages(&self, scenario: &Scenario) -> Option<Table> {
        let ticks_per_cycle = scenario.clock.ticks_per_cycle.into();
        let table = messages_table(&self.record, &flows(scenario, self.reached), ticks_per_cycle);
        table.map(|table| of_run(table, scenario))
    }

    /// The congestion trees over time, if the scenario asks for them.
    #[must_use]
    pub fn trees(&self, scenario: &Scenario) -> Option<Table> {
        scenario.measure.trees_every.map(|_| of_run(self.samples.trees.table(scenario), scenario))
    }

    /// The links over time, if the scenario asks for them.
    #[must_use]
    pub fn links(&self, scenario: &Scenario) -> Option<Table> {
        scenario.measure.links.map(|sampling| of_run(self.samples.links.table(scenario, sampling), scenario))
    }

    /// How many rows the tables of messages, trees and links have together.
    #[must_use]
    pub fn listed_rows(&self) -> u64 {
        let messages: usize = self.record.flows().iter().map(|flow| flow.messages.len()).sum();
        (messages + self.samples.trees.rows() + self.samples.links.rows()) as u64
    }

    /// Link cycles that were measured.
    pub(crate) fn measured(&self, scenario: &Scenario) -> u64 {
        self.reached.saturating_sub(scenario.measure.warmup)
    }

    /// The flits that a link to a node has room for in the measured cycles.
    pub(crate) fn ejection_room(&self, scenario: &Scenario) -> f64 {
        let ticks = self.measured(scenario) * u64::from(scenario.clock.ticks_per_cycle);
        ticks as f64 / f64::from(scenario.network.links[0].flit_ticks)
    }

    /// What the links to nodes were busy with, by kind of packet, if not with data alone.
    fn ejection(&self, scenario: &Scenario) -> Named<f64> {
        let kinds = scenario.protocol.built.kinds();
        if kinds.len() == 1 {
            return Named::default();
        }
        let room = f64::from(scenario.topology.built.graph().nodes()) * self.ejection_room(scenario);
        let counted = |name: &str| self.record.counters().find(|(counter, _)| *counter == name).map(|(_, count)| count);
        let control = kinds.iter().filter(|kind| !kind.direction.carries_data()).map(|kind| kind.name);
        let flits = control.filter_map(|name| counted(name).map(|count| (name, count)));
        let data = (kinds[0].name, self.record.total().delivered.flits);
        [data].into_iter().chain(flits).map(|(name, flits)| (name.to_owned(), flits as f64 / room)).collect()
    }

    /// The nodes whose links were busy for most of the time, and more than twice as busy as the mean of all.
    fn hot_nodes(&self, scenario: &Scenario) -> Vec<HotNode> {
        let room = self.ejection_room(scenario);
        let to_nodes = || self.links.nodes.iter().map(|&(node, flits)| (node, u64::from(flits)));
        let (count, total) = to_nodes().fold((0, 0), |(count, total), (_, flits)| (count + 1, total + flits));
        let hot = to_nodes().filter(|(_, flits)| *flits as f64 >= HOT_SHARE * room && flits * count > 2 * total);
        let mut nodes: Vec<HotNode> = hot.map(|(node, flits)| HotNode { node, share: flits as f64 / room }).collect();
        nodes.sort_by(|one, other| other.share.total_cmp(&one.share).then(one.node.cmp(&other.node)));
        nodes.truncate(HOT_NODES_MAX);
        nodes
    }

    fn link_utilisation(&self, scenario: &Scenario) -> Vec<LinkUtilisation> {
        let graph = scenario.topology.built.graph();
        let ticks = (self.measured(scenario) * u64::from(scenario.clock.ticks_per_cycle)) as f64;
        let busy = |(class, used): (usize, &ClassUse)| {
            let flit_ticks = f64::from(scenario.network.links[class].flit_ticks);
            let name = if class == 0 { "ejection" } else { graph.link_classes()[class] };
            LinkUtilisation {
                class: name.to_owned(),
                mean: used.total as f64 * flit_ticks / ticks / used.links as f64,
                max: f64::from(used.max) * flit_ticks / ticks,
            }
        };
        self.links.classes.iter().enumerate().filter(|(_, used)| used.links > 0).map(busy).collect()
    }
}

/// A table with what tells of which run it is, and how long a cycle is, if that is known.
fn of_run(table: Table, scenario: &Scenario) -> Table {
    let table = table.with_metadata("scenario_digest", &scenario.digest).with_metadata("seed", &scenario.seed);
    match scenario.clock.cycle_fs {
        Some(fs) => table.with_metadata("cycle_ns", &(fs as f64 / 1e6)),
        None => table,
    }
}

fn flows(scenario: &Scenario, until: u64) -> Vec<FlowInput> {
    let from = scenario.measure.warmup;
    let counts_sources = |flow: &Traffic| scenario.measure.by_source && sends(flow, scenario);
    let input = |flow: &Traffic| FlowInput {
        name: flow.name.clone(),
        sources: flow.sources.len().into(),
        // Loads of all flows together know no sources of flows that are silent: see `sending_nodes`.
        source_nodes: if counts_sources(flow) { flow.sources.iter().collect() } else { Vec::new() },
        offered_load_nominal: flow.messages().is_none().then(|| flow.mean_load(from, until)),
        course: course(flow, from, until),
        phases: flow.job.as_ref().map_or_else(Vec::new, |job| job.program.phases()),
    };
    scenario.workload.flows.iter().map(input).collect()
}

fn course(flow: &Traffic, from: u64, until: u64) -> LoadCourse {
    if flow.messages().is_some() || flow.changes_between(from, until) {
        LoadCourse::Changes
    } else if flow.mean_load(from, until) == 0.0 {
        LoadCourse::Silent
    } else if flow.saturates {
        LoadCourse::Saturates
    } else {
        LoadCourse::Steady
    }
}

/// How many nodes of a scenario send, in any flow: loads of all flows together are per one of these. Sources of a flow that has a load of 0 all
/// the time do not count; nodes that run ranks of a program do, as nobody knows before it ends which of them send.
#[must_use]
pub fn sending_nodes(scenario: &Scenario) -> u64 {
    let mut is_source = vec![false; scenario.topology.built.graph().nodes() as usize];
    let flows = scenario.workload.flows.iter().filter(|flow| sends(flow, scenario));
    flows.flat_map(|flow| flow.sources.iter()).for_each(|node| is_source[node as usize] = true);
    is_source.into_iter().filter(|&is_source| is_source).count() as u64
}

/// Whether a flow sends anything from the start of the run to its end, warm-up included, or is of a program.
fn sends(flow: &Traffic, scenario: &Scenario) -> bool {
    let end = scenario.measure.warmup + scenario.measure.cycles;
    flow.job.is_some() || flow.mean_load(0, end) > 0.0
}

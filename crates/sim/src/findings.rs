//! What a finished run has found.

use tailback_report::{
    Cycles, Digest, FlowInput, LinkUtilisation, Measured, Named, Performance, Record, Report, Table, series_table,
};
use tailback_scenario::Scenario;

/// What a finished run has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// What was written down, of all regions.
    pub record: Record,
    /// By link, in no particular order: its class, and the flits it carried while it was measured.
    pub(crate) links: Vec<(u8, u32)>,
    /// Packets that have crossed a router, each counted once per router, warm-up included.
    pub packet_hops: u64,
    /// How many threads simulated.
    pub threads: u32,
}

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

/// How busy the links of a class were, in flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ClassUtilisation {
    links: u64,
    total: u64,
    max: u32,
}

impl Findings {
    /// The fingerprint of everything that was found.
    #[must_use]
    pub fn digest(&self) -> String {
        let digest = Digest::new().record(&self.record).number(self.packet_hops);
        let classes = self.by_class();
        classes.iter().fold(digest, |digest, class| digest.number(class.total).number(class.max.into())).hex()
    }

    fn by_class(&self) -> Vec<ClassUtilisation> {
        let classes = self.links.iter().map(|&(class, _)| usize::from(class) + 1).max().unwrap_or(0);
        let mut utilisation = vec![ClassUtilisation::default(); classes];
        for &(class, flits) in &self.links {
            let used = &mut utilisation[usize::from(class)];
            used.links += 1;
            used.total += u64::from(flits);
            used.max = used.max.max(flits);
        }
        utilisation
    }

    /// The report of a run of `scenario`.
    #[must_use]
    pub fn report(&self, scenario: &Scenario, version: &str, timing: &Timing) -> Report {
        let measure = scenario.measure;
        let Timing { wall_s, cpu_s, peak_rss_bytes } = *timing;
        Report::new(Measured {
            title: scenario.title.clone(),
            version: version.to_owned(),
            scenario_digest: scenario.digest.clone(),
            result_digest: self.digest(),
            seed: scenario.seed,
            nodes: scenario.topology.built.graph().nodes().into(),
            ticks_per_cycle: scenario.clock.ticks_per_cycle.into(),
            cycle_ns: scenario.clock.cycle_fs.map(|fs| fs as f64 / 1e6),
            cycles: Cycles { warmup: measure.warmup, measured: measure.cycles },
            flows: flows(scenario),
            record: &self.record,
            links: self.link_utilisation(scenario),
            ejection: self.ejection(scenario),
            notes: Vec::new(),
            performance: Performance::new(wall_s, cpu_s, self.packet_hops, peak_rss_bytes, self.threads),
        })
    }

    /// The time series, if the scenario asks for one.
    #[must_use]
    pub fn series(&self, scenario: &Scenario) -> Option<Table> {
        let ticks_per_cycle = u64::from(scenario.clock.ticks_per_cycle);
        let end = (scenario.measure.warmup + scenario.measure.cycles) * ticks_per_cycle;
        series_table(&self.record, &flows(scenario), ticks_per_cycle, end)
    }

    /// What the links to nodes were busy with, by kind of packet, if not with data alone.
    fn ejection(&self, scenario: &Scenario) -> Named<f64> {
        let kinds = scenario.protocol.built.kinds();
        if kinds.len() == 1 {
            return Named::default();
        }
        let ticks = scenario.measure.cycles * u64::from(scenario.clock.ticks_per_cycle);
        let room = f64::from(scenario.topology.built.graph().nodes()) * ticks as f64
            / f64::from(scenario.network.links[0].flit_ticks);
        let counted = |name: &str| self.record.counters().find(|(counter, _)| *counter == name).map(|(_, count)| count);
        let control = kinds.iter().filter(|kind| !kind.direction.carries_data()).map(|kind| kind.name);
        let flits = control.filter_map(|name| counted(name).map(|count| (name, count)));
        let data = (kinds[0].name, self.record.total().delivered.flits);
        [data].into_iter().chain(flits).map(|(name, flits)| (name.to_owned(), flits as f64 / room)).collect()
    }

    fn link_utilisation(&self, scenario: &Scenario) -> Vec<LinkUtilisation> {
        let graph = scenario.topology.built.graph();
        let ticks = (scenario.measure.cycles * u64::from(scenario.clock.ticks_per_cycle)) as f64;
        let utilisation = self.by_class();
        let busy = |(class, used): (usize, &ClassUtilisation)| {
            let flit_ticks = f64::from(scenario.network.links[class].flit_ticks);
            let name = if class == 0 { "ejection" } else { graph.link_classes()[class] };
            LinkUtilisation {
                class: name.to_owned(),
                mean: used.total as f64 * flit_ticks / ticks / used.links as f64,
                max: f64::from(used.max) * flit_ticks / ticks,
            }
        };
        utilisation.iter().enumerate().filter(|(_, used)| used.links > 0).map(busy).collect()
    }
}

fn flows(scenario: &Scenario) -> Vec<FlowInput> {
    let (from, until) = (scenario.measure.warmup, scenario.measure.warmup + scenario.measure.cycles);
    let input = |flow: &tailback_workload::Traffic| FlowInput {
        name: flow.name.clone(),
        sources: flow.sources.len().into(),
        offered_load_nominal: Some(flow.mean_load(from, until)),
    };
    scenario.workload.flows.iter().map(input).collect()
}

//! What is told about a run when it is over: plain data, as in `report.json`.

use std::io;

use serde::{Deserialize, Serialize};

use crate::figures::Clock;
use crate::{Completions, Figures, FlowRecord, Named, ProgramFigures, Record, Window, warm_up_hint};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was simulated.
    pub title: String,
    /// The version of the program.
    pub version: String,
    /// The fingerprint of the part of the scenario that can change results.
    pub scenario_digest: String,
    /// The fingerprint of everything recorded.
    pub result_digest: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many nodes the network has.
    pub nodes: u64,
    /// How many of them send. Reports of earlier builds lack it (it is read as 0): their loads of all flows together are
    /// per node of the network.
    #[serde(default)]
    pub sources: u64,
    /// How long a link cycle is, if that is known.
    pub cycle_ns: Option<f64>,
    /// Where the run was interrupted, if it was: then it is no result, and what follows is what was measured until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    /// The figures of all flows together; loads are per node that sends.
    #[serde(flatten)]
    pub total: Figures,
    /// The figures of each flow; loads are per source of that flow.
    #[serde(alias = "traffics")]
    pub flows: Named<FlowFigures>,
    /// The programs; their messages are flows of the same names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFigures>,
    /// How long the simulated time was.
    pub cycles: Cycles,
    /// How busy the links were.
    pub links: Vec<LinkUtilisation>,
    /// The share of the links to nodes that packets of a kind took, over all nodes and measured cycles; empty where there
    /// is nothing but data.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub ejection: Named<f64>,
    /// The nodes whose links were by far the busiest, the busiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot_nodes: Vec<HotNode>,
    /// Further counters.
    pub counters: Named<u64>,
    /// What a reader should know, in whole sentences without a full stop.
    pub notes: Vec<String>,
    /// What the simulation itself took; the only part that differs between two runs of the same.
    pub performance: Performance,
}

/// The figures of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowFigures {
    /// How many nodes send.
    pub sources: u64,
    /// The load that sources were told to offer, if it is one number.
    pub offered_load_nominal: Option<f64>,
    /// Whether it is judged if the flow is saturated; see [`LoadCourse`].
    #[serde(default = "judged")]
    pub judged: bool,
    /// What came of it.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Reports of earlier builds judge all flows.
fn judged() -> bool {
    true
}

/// The place in a run where it was interrupted, in link cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// The cycle before which all is simulated.
    pub cycle: u64,
    /// The cycles that were to be simulated, with the warm-up.
    pub of: u64,
}

/// Simulated time in link cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycles {
    /// Before measuring.
    pub warmup: u64,
    /// Measured.
    pub measured: u64,
}

/// How busy the links of one class were, as shares of the measured cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUtilisation {
    /// The class.
    pub class: String,
    /// Their mean.
    pub mean: f64,
    /// The busiest one.
    pub max: f64,
}

/// A node whose link was much busier than those of most others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotNode {
    /// The node.
    pub node: u32,
    /// The share of the measured cycles in which its link was busy, with packets of any kind.
    pub share: f64,
}

/// What the simulation itself took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// Seconds from start to end.
    pub wall_s: f64,
    /// Seconds of all threads together.
    pub cpu_s: f64,
    /// Hops of packets that were simulated, warm-up included.
    pub packet_hops: u64,
    /// The same per second of CPU time.
    pub packet_hops_per_cpu_s: Option<f64>,
    /// The most memory that was in use, if it is known.
    pub peak_rss_bytes: Option<u64>,
    /// How many threads were used.
    pub threads: u32,
}

impl Performance {
    /// What a simulation took.
    #[must_use]
    pub fn new(wall_s: f64, cpu_s: f64, packet_hops: u64, peak_rss_bytes: Option<u64>, threads: u32) -> Self {
        let packet_hops_per_cpu_s = (cpu_s > 0.0).then(|| packet_hops as f64 / cpu_s);
        Self { wall_s, cpu_s, packet_hops, packet_hops_per_cpu_s, peak_rss_bytes, threads }
    }
}

/// Everything that a report is made of.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// What was simulated.
    pub title: String,
    /// The version of the program.
    pub version: String,
    /// The fingerprint of the scenario.
    pub scenario_digest: String,
    /// The fingerprint of the result; see [`Digest`](crate::Digest).
    pub result_digest: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many nodes the network has.
    pub nodes: u64,
    /// How many of them send, in any flow.
    pub sources: u64,
    /// How many ticks a link cycle has.
    pub ticks_per_cycle: u64,
    /// How long a link cycle is, if that is known.
    pub cycle_ns: Option<f64>,
    /// How long the simulated time was. What was measured may be less than the record's window when the run was ended
    /// early.
    pub cycles: Cycles,
    /// Where the run was interrupted, if it was.
    pub interrupted: Option<Interruption>,
    /// The flows, in the order of the record.
    pub flows: Vec<FlowInput>,
    /// What was recorded, merged.
    pub record: &'a Record,
    /// How busy the links were.
    pub links: Vec<LinkUtilisation>,
    /// What the links to nodes were busy with, if not with data alone.
    pub ejection: Named<f64>,
    /// What is to be noted first.
    pub notes: Vec<String>,
    /// What the simulation itself took.
    pub performance: Performance,
}

/// What the record does not tell about a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowInput {
    /// Its name.
    pub name: String,
    /// How many nodes send.
    pub sources: u64,
    /// Which they are, where what arrives is counted by source; none if none of them ever sends.
    pub source_nodes: Vec<u32>,
    /// The load that sources were told to offer, if it is one number.
    pub offered_load_nominal: Option<f64>,
    /// What its load does in the measured cycles.
    pub course: LoadCourse,
    /// The names of the phases, if it is the messages of a program.
    pub phases: Vec<String>,
}

/// What the load of a flow does in the measured cycles. Only of a steady flow can be told whether it is saturated, and
/// whether the warm-up was long enough for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadCourse {
    /// One load and one pattern throughout.
    #[default]
    Steady,
    /// The same, and declared to exceed what its destinations can take.
    Saturates,
    /// It begins, ends or changes: a transient.
    Changes,
    /// Nothing is sent.
    Silent,
}

impl Report {
    /// Takes all figures from what was measured, and notes what looks wrong.
    ///
    /// # Panics
    /// When the flows are not those of the record.
    #[must_use]
    pub fn new(measured: Measured<'_>) -> Self {
        let Measured { title, version, scenario_digest, result_digest, seed, nodes, sources, cycle_ns, .. } = measured;
        let Measured { cycles, interrupted, record, links, ejection, notes, performance, .. } = measured;
        assert_eq!(measured.flows.len(), record.flows().len(), "each flow of the record is described");
        let courses: Vec<LoadCourse> = measured.flows.iter().map(|flow| flow.course).collect();
        // What a run that was ended early has not reached of its window has no intervals that could make batches.
        let planned = record.plan().window;
        let reached = planned.from.saturating_add(cycles.measured.saturating_mul(measured.ticks_per_cycle));
        let window = Window { until: planned.until.min(reached), ..planned };
        let clock = Clock { ticks_per_cycle: measured.ticks_per_cycle, cycle_ns };
        let figures = |record, sources, nodes: &[u32]| {
            let figures = Figures::new(record, window, sources, cycles.measured, clock);
            figures.by_source(record, nodes, cycles.measured)
        };
        let mut all_nodes: Vec<u32> = measured.flows.iter().flat_map(|flow| flow.source_nodes.clone()).collect();
        all_nodes.sort_unstable();
        all_nodes.dedup();
        let program = |(input, record): (&FlowInput, &FlowRecord)| {
            let program = record.program.as_ref()?;
            let figures = ProgramFigures::new(&input.name, &input.phases, program, clock);
            Some(figures.with_backlog(record.completions.as_ref()))
        };
        let programs: Vec<ProgramFigures> = measured.flows.iter().zip(record.flows()).filter_map(program).collect();
        let took = |name: &str| programs.iter().find(|program| program.name == name)?.completion_cycles;
        let flow = |(input, record): (FlowInput, _)| {
            let FlowInput { name, sources, source_nodes, offered_load_nominal, course, .. } = input;
            let (judged, mut figures) = (course == LoadCourse::Steady, figures(record, sources, &source_nodes));
            figures.saturated = judged && figures.falls_short();
            figures.program_cycles = took(&name);
            (name, FlowFigures { sources, offered_load_nominal, judged, figures })
        };
        let mut report = Self {
            title,
            version,
            scenario_digest,
            result_digest,
            seed,
            nodes,
            sources,
            cycle_ns,
            interrupted,
            total: figures(&record.total(), sources, &all_nodes),
            flows: measured.flows.into_iter().zip(record.flows()).map(flow).collect(),
            programs,
            cycles,
            links,
            ejection,
            hot_nodes: Vec::new(),
            counters: record.counters().map(|(name, count)| (name.to_owned(), count)).collect(),
            notes,
            performance,
        };
        report.total.program_cycles =
            report.programs.iter().map(|program| program.completion_cycles).reduce(longer).flatten();
        report.total.control_messages = Some(record.control_messages()).filter(|&messages| messages > 0);
        report.total.saturated = report.flows.iter().any(|(_, flow)| flow.figures.saturated);
        report.note_saturation();
        report.note_unfinished();
        // Of a network in which something changes nothing is steady.
        if !courses.contains(&LoadCourse::Changes) {
            let steady = record.together(|flow| courses[flow] == LoadCourse::Steady);
            report.note_warm_up(&steady, window, clock);
        }
        report
    }

    fn note_saturation(&mut self) {
        let total = &self.total;
        if total.messages.delivered == 0 && total.messages.offered > 0 {
            self.notes.push("no message was delivered in the measured cycles".to_owned());
        }
        let single = self.flows.len() == 1;
        for (name, flow) in self.flows.iter().filter(|(_, flow)| flow.figures.saturated) {
            let what = if single { "the network".to_owned() } else { format!("flow `{name}`") };
            self.notes.push(format!("{what} {}", saturation(&flow.figures)));
        }
    }

    fn note_unfinished(&mut self) {
        let end = self.cycles.warmup + self.cycles.measured;
        for (name, flow) in self.flows.iter() {
            let Some(Completions { count, unfinished: unfinished @ 1.., unfinished_flits, .. }) =
                flow.figures.completions
            else {
                continue;
            };
            let backlog = unfinished_flits.map_or_else(String::new, |flits| format!(", a backlog of {flits} flits"));
            let note =
                format!("flow `{name}`: {unfinished} of {count} messages have not arrived before cycle {end}{backlog}");
            self.notes.push(note);
        }
        for program in self.programs.iter().filter(|program| !program.completed) {
            let ProgramFigures { name, ranks, unfinished, .. } = program;
            self.notes.push(format!("program `{name}`: {unfinished} of {ranks} ranks are not done before cycle {end}"));
        }
    }

    /// In saturation latencies grow without end, and no warm-up would be long enough.
    fn note_warm_up(&mut self, steady: &FlowRecord, window: Window, clock: Clock) {
        let hint = warm_up_hint(&steady.batches, window);
        if let Some(hint) = hint.filter(|hint| hint.looks_short && !self.total.saturated) {
            self.notes.push(format!(
                "the warm-up of {} cycles looks short: from cycle {} on, the mean message latency is {:.1} % {}",
                self.cycles.warmup,
                hint.steady_from / clock.ticks_per_cycle,
                hint.change.abs() * 100.0,
                if hint.change > 0.0 { "higher" } else { "lower" },
            ));
        }
    }

    /// Writes it as JSON, indented.
    ///
    /// # Errors
    /// When `writer` refuses.
    pub fn write_json(&self, mut writer: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut writer, self)?;
        writer.write_all(b"\n")
    }

    /// Reads what [`Report::write_json`] wrote, into an equal report.
    ///
    /// # Errors
    /// When it is something else, with line and column; when `reader` fails.
    pub fn read_json(mut reader: impl io::Read) -> io::Result<Self> {
        // As a whole, as the parser would otherwise ask for each byte.
        let mut text = Vec::new();
        reader.read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// The same as [`Report::write_json`], as a text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut bytes = Vec::new();
        self.write_json(&mut bytes).expect("a list of bytes takes everything, and a report has only keys of text");
        String::from_utf8(bytes).expect("JSON is text")
    }
}

/// The longer of two times, if both are known.
fn longer(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| one.max(other))
}

/// Why figures count as saturated.
fn saturation(figures: &Figures) -> String {
    let Figures { offered_load, accepted_load, messages, .. } = figures;
    let lost = match messages.lost {
        0 => String::new(),
        lost => format!(", and {lost} of {} messages were lost at their sources", messages.offered),
    };
    format!("looks saturated: it accepted {accepted_load:.4} of {offered_load:.4} flits per source and cycle{lost}")
}

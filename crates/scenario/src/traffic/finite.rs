//! How much a flow sends: at a rate, for ever or until each source has sent so many messages, or at times that are named.

use tailback_workload::{NodeSet, Pattern, Phase, Traffic};

use super::TrafficReader;
use super::declarations::{AT, COUNT, DESTINATION_LOAD, LOAD, RATE, RATE_KEYS, TIMES};
use crate::diagnostic::Diagnostic;
use crate::network::place_of;
use crate::parameters::read_parameters;
use crate::reader::{Reading, TableReader};
use crate::scenario::Measure;
use crate::tree::Table;

/// How much a flow sends.
pub(super) enum Amount {
    /// So much per source and cycle from some cycle on, and so many messages of each source if that is ever over.
    Rate { load: Load, start: u64, count: Option<u64> },
    /// A message of each source in each of these cycles, which ascend.
    At(Vec<u64>),
}

/// At which rate a flow sends.
#[derive(Clone, Copy)]
pub(super) enum Load {
    /// Flits per source and cycle.
    OfSources(f64),
    /// Flits per destination and cycle.
    OfDestinations(f64),
}

/// What a flow cannot say that says when it sends.
const NOT_BESIDE_AT: [&str; 6] = [LOAD.name, DESTINATION_LOAD.name, "start", COUNT, "arrival", "phases"];

impl TrafficReader<'_> {
    /// How much the flow of a table sends.
    pub(super) fn amount(&self, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Amount> {
        let is_timed = table.table.get(AT).is_some();
        let times = read_parameters(table, &[TIMES], &self.context(), reading);
        if is_timed {
            let is_alone = self.check_alone(table, reading);
            return self.cycles(table, times?.times(AT), reading).filter(|_| is_alone).map(Amount::At);
        }
        table.resolved.remove(AT);
        let load = self.load(table, reading);
        let values = read_parameters(table, RATE, &self.context(), reading)?;
        let count = values.integer_or(COUNT);
        if count.is_none() {
            table.resolved.remove(COUNT);
        }
        let start = table.whole_cycles("start", values.ticks("start"), self.scale.ticks_per_cycle, reading);
        Some(Amount::Rate { load: load?, start: start?, count })
    }

    /// At which rate the flow of a table sends.
    fn load(&self, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Load> {
        let [of_sources, of_destinations] = RATE_KEYS.map(|key| table.table.get(key).is_some());
        if of_sources && of_destinations {
            let entry = table.take(DESTINATION_LOAD.name)?;
            let message = format!("`{}` and `load` say the same of a flow", table.path_of(DESTINATION_LOAD.name));
            reading.blame(Diagnostic::at(entry.key_span, message).help("leave out one of them"));
        }
        let load = if of_destinations && !of_sources {
            let values = read_parameters(table, &[DESTINATION_LOAD], &self.context(), reading)?;
            Load::OfDestinations(values.number(DESTINATION_LOAD.name))
        } else {
            Load::OfSources(read_parameters(table, &[LOAD], &self.context(), reading)?.number(LOAD.name))
        };
        Some(load).filter(|_| !(of_sources && of_destinations))
    }

    /// Flits per source and cycle of a flow by this pattern.
    pub(super) fn load_of_sources(
        &self,
        load: Load,
        sources: &NodeSet,
        pattern: &Pattern,
        table: &TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<f64> {
        let load = match load {
            Load::OfSources(load) => return Some(load),
            Load::OfDestinations(load) => load,
        };
        let key = DESTINATION_LOAD.name;
        let span = table.table.get(key).map_or(table.span, |entry| entry.node.span);
        let Some(destinations) = pattern.destinations() else {
            let message = format!("`{}` needs a pattern that names its destinations", table.path_of(key));
            let help = "use `uniform` or `hot-spot`, or say the `load` of each source";
            reading.blame(Diagnostic::at(span, message).help(help));
            return None;
        };
        let of_sources = load * f64::from(destinations.len()) / f64::from(sources.len());
        if of_sources > 1.0 {
            let (to, from) = (destinations.len(), sources.len());
            let message = format!("{load} for each of {to} destinations is {of_sources:.4} for each of {from} sources");
            reading.blame(Diagnostic::at(span, message).help("a source sends one flit per cycle at most"));
            return None;
        }
        Some(of_sources)
    }

    /// Whether a flow that says when it sends says nothing else about that.
    fn check_alone(&self, table: &mut TableReader<'_>, reading: &mut Reading) -> bool {
        let mut is_alone = true;
        for key in NOT_BESIDE_AT {
            if let Some(entry) = table.take(key) {
                let message = format!("`{}` says nothing of a flow that says when it sends", table.path_of(key));
                reading.blame(Diagnostic::at(entry.key_span, message).help("leave out this or `at`"));
                is_alone = false;
            }
        }
        is_alone
    }

    /// The cycles in which a flow sends that names them.
    fn cycles(&self, table: &TableReader<'_>, ticks: &[u64], reading: &mut Reading) -> Option<Vec<u64>> {
        let span = table.table.get(AT).map_or(table.span, |entry| entry.node.span);
        let ticks_per_cycle = u64::from(self.scale.ticks_per_cycle);
        let problem = if ticks.is_empty() {
            Some(("this flow never sends", "name a cycle, as in `at = [0]`"))
        } else if ticks.iter().any(|ticks| !ticks.is_multiple_of(ticks_per_cycle)) {
            Some(("messages are created in whole link cycles", "round the times"))
        } else if !ticks.is_sorted_by(|a, b| a < b) {
            Some(("these times do not ascend", "name each once, in order; two messages at once are two flows"))
        } else {
            None
        };
        if let Some((message, help)) = problem {
            reading.blame(Diagnostic::at(span, message).help(help));
        }
        problem.is_none().then(|| ticks.iter().map(|ticks| ticks / ticks_per_cycle).collect())
    }

    /// Sources that have messages to send may not be silent for ever.
    pub(super) fn check_count(
        &self,
        table: &TableReader<'_>,
        count: Option<u64>,
        phases: &[Phase],
        reading: &mut Reading,
    ) -> Option<()> {
        let silent = phases.last().is_some_and(|phase| phase.load == 0.0);
        let Some(count) = count.filter(|_| silent) else { return Some(()) };
        let span = table.table.get(COUNT).map_or(table.span, |entry| entry.node.span);
        let message =
            format!("flow \"{}\" ends in silence, perhaps before its sources have sent {count} messages", self.name);
        reading.blame(Diagnostic::at(span, message).help("let its last phase have a load: it ends by itself"));
        None
    }
}

/// The most messages that are written down one by one.
const LISTED_MAX: u64 = 1 << 24;

/// What is written down of flows that end, needs such flows, and not too many messages of them.
pub(crate) fn check_listed(root: &Table, measure: &Measure, flows: &[Traffic], reading: &mut Reading) {
    let messages = flows.iter().filter_map(Traffic::messages).reduce(u64::saturating_add);
    let problem = match messages {
        _ if !measure.messages => return,
        None => ("no flow ever ends, so no message is written down".to_owned(), "leave out `messages`"),
        Some(messages) if messages > LISTED_MAX => {
            (format!("{messages} messages would be written down, the limit is {LISTED_MAX}"), "leave out `messages`")
        }
        Some(_) => return,
    };
    let span = place_of(root, "measure", "messages");
    reading.blame(Diagnostic { span, ..Diagnostic::new(problem.0).help(problem.1) });
}

/// What ends when flows have ended needs flows that end.
pub(crate) fn check_end(root: &Table, measure: &Measure, flows: &[Traffic], reading: &mut Reading) {
    if measure.until_drained && flows.iter().all(|flow| flow.messages().is_none()) {
        let message = "no flow ever ends, so the network is never drained".to_owned();
        let help = "say how much a flow sends, as in `count = 10` or `at = [0]`, or add a `[[program]]`";
        let span = place_of(root, "measure", "until");
        reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
    }
}

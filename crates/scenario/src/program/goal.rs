//! Programs that GOAL schedules describe: `goal = "FILE"`.

use tailback_programs::{GoalError, GoalProgram, Scale, Transport};
use tailback_workload::NodeSet;

use super::ProgramReader;
use super::declarations::{GOAL, NODES, OVERHEAD};
use super::source::{Said, Source};
use crate::diagnostic::Diagnostic;
use crate::files::Trace;
use crate::parameters::read_parameters;
use crate::reader::{Reading, TableReader};
use crate::tree::Entry;

impl ProgramReader<'_> {
    /// The program of a schedule, and the nodes that its ranks run on.
    pub(super) fn goal(
        &self,
        entry: &Entry,
        (transport, per_node): (Transport, u32),
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, GoalProgram)> {
        let values = read_parameters(table, &[NODES, OVERHEAD], &self.context, reading);
        let ranks_max = u64::from(self.book.count).saturating_mul(per_node.into()).min(reading.bounds.nodes) as u32;
        let trace = self.trace(entry, ranks_max, table, reading);
        let scale = self.scale(entry, reading);
        let (values, trace, scale) = (values?, trace?, scale?);
        let mut blame = |message: String, help: &str| {
            reading.blame(Diagnostic::at(entry.node.span, message).help(help));
        };
        let (nodes, ranks) = (values.nodes(NODES.name).clone(), trace.schedule.ranks());
        if u64::from(ranks) > u64::from(nodes.len()) * u64::from(per_node) {
            let each = if per_node > 1 { format!(" of {per_node} each") } else { String::new() };
            let message = format!("the schedule has {ranks} ranks, for which there are {} nodes{each}", nodes.len());
            blame(message, "take a larger network, name more `nodes`, or raise `ranks_per_node`");
            return None;
        }
        match GoalProgram::new(trace.schedule, scale, transport, values.ticks(OVERHEAD.name)) {
            Ok(program) => Some((nodes, program)),
            Err(error) => {
                let help = match error {
                    GoalError::TooLarge { .. } => "cut it into several",
                    GoalError::Read(_) => "leave the file as it is while it is read",
                };
                blame(error.to_string(), help);
                None
            }
        }
    }

    /// What the bytes and nanoseconds of a schedule are.
    fn scale(&self, entry: &Entry, reading: &mut Reading) -> Option<Scale> {
        let scale = self.context.scale;
        let known = scale.flit_bytes.zip(scale.cycle_fs);
        if known.is_none() {
            let message = "a schedule counts bytes and nanoseconds, and it is not known what they are here";
            let help = "add `[clock]` with `flit = \"64 B\"` and `link = \"400 Gb/s\"`";
            reading.blame(Diagnostic::at(entry.key_span, message).help(help));
        }
        let (flit_bytes, cycle_fs) = known?;
        Some(Scale { flit_bytes, cycle_fs, ticks_per_cycle: scale.ticks_per_cycle })
    }

    /// The schedule that `goal` names or is.
    fn trace(
        &self,
        entry: &Entry,
        ranks_max: u32,
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Trace> {
        let said = Said::read(&entry.node, &table.path_of(GOAL), reading)?;
        let found = match said.source {
            Source::File(file) => self.library.trace(file, ranks_max, reading.bounds.text_bytes),
            Source::Text(text) => self.library.trace_of_text(text, ranks_max),
        };
        let checked = found.and_then(|trace| said.check(&trace.sha256).map(|()| trace));
        match checked {
            Ok(trace) => {
                table.resolved.put(GOAL, said.resolved(&trace.sha256));
                Some(trace)
            }
            Err(problem) => {
                let help = "give the name of a file in the format GOAL, beside the scenario, or `{ text = \"…\" }`";
                reading.blame(Diagnostic::at(entry.node.span, problem).help(help));
                None
            }
        }
    }
}

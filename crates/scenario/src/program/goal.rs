//! Programs that GOAL schedules describe: `goal = "FILE"`.

use tailback_programs::{GoalError, GoalProgram, Scale, Transport};
use tailback_workload::NodeSet;

use super::ProgramReader;
use super::declarations::{GOAL, NODES, OVERHEAD};
use crate::diagnostic::Diagnostic;
use crate::files::Trace;
use crate::parameters::read_parameters;
use crate::reader::{Reading, TableReader};
use crate::tree::{Entry, Item, Node, Table};

/// Where the resolved text says which file it was.
pub(crate) const FILE: &str = "file";

/// Where it says what was in it, which is what results depend on.
const SHA256: &str = "sha256";

/// What `goal` says.
struct Said<'a> {
    /// The name of a file, or a schedule as it is.
    file: Option<&'a str>,
    text: Option<&'a str>,
    /// What must be in it.
    sha256: Option<&'a str>,
}

impl ProgramReader<'_> {
    /// The program of a schedule, and the nodes that its ranks run on.
    pub(super) fn goal(
        &self,
        entry: &Entry,
        transport: Transport,
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, GoalProgram)> {
        let values = read_parameters(table, &[NODES, OVERHEAD], &self.context, reading);
        let trace = self.trace(entry, table, reading);
        let scale = self.scale(entry, reading);
        let (values, trace, scale) = (values?, trace?, scale?);
        let mut blame = |message: String, help: &str| {
            reading.blame(Diagnostic::at(entry.node.span, message).help(help));
        };
        let (nodes, ranks) = (values.nodes(NODES.name).clone(), trace.schedule.ranks());
        if ranks > nodes.len() {
            let message = format!("the schedule has {ranks} ranks, for which there are {} nodes", nodes.len());
            blame(message, "each rank has a node of its own: take a larger network, or name more `nodes`");
            return None;
        }
        match GoalProgram::new(trace.schedule, scale, transport, values.ticks(OVERHEAD.name)) {
            Ok(program) => Some((nodes, program)),
            Err(error) => {
                let help = match error {
                    GoalError::TooLarge { .. } => "cut it into several",
                    GoalError::AnyTag { .. } => "give the message a tag",
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
    fn trace(&self, entry: &Entry, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Trace> {
        let said = said(&entry.node, &table.path_of(GOAL), reading)?;
        let found = match (said.file, said.text) {
            (Some(file), None) => self.library.trace(file),
            (None, Some(text)) => self.library.trace_of_text(text),
            _ => Err("say where the schedule is, or what it is".to_owned()),
        };
        let trace = match found {
            Ok(trace) => trace,
            Err(problem) => {
                let help = "give the name of a file in the format GOAL, beside the scenario, or `{ text = \"…\" }`";
                reading.blame(Diagnostic::at(entry.node.span, problem).help(help));
                return None;
            }
        };
        if said.sha256.is_some_and(|expected| expected != trace.sha256) {
            let message = format!("the schedule is another one: its SHA-256 is {}", trace.sha256);
            reading.blame(Diagnostic::at(entry.node.span, message).help("leave out `sha256` to take it as it is"));
            return None;
        }
        let mut resolved = Table::default();
        for (key, text) in [(FILE, said.file), ("text", said.text)] {
            if let Some(text) = text {
                resolved.put(key, Item::Text(text.to_owned()));
            }
        }
        resolved.put(SHA256, Item::Text(trace.sha256.clone()));
        table.resolved.put(GOAL, Item::Table(resolved));
        Some(trace)
    }
}

/// What `goal` says: the name of a file, or a table with it or the schedule.
fn said<'a>(node: &'a Node, path: &str, reading: &mut Reading) -> Option<Said<'a>> {
    if let Item::Text(file) = &node.item {
        return Some(Said { file: Some(file), text: None, sha256: None });
    }
    let Item::Table(_) = &node.item else {
        reading.mismatch(node, path, "the name of a file, or a table with `file` or `text`");
        return None;
    };
    let mut table = TableReader::of(node, path.to_owned(), reading);
    let mut get = |key| table.text(key, reading).map(|(text, _)| text);
    let said = Said { file: get(FILE), text: get("text"), sha256: get(SHA256) };
    table.close(reading);
    Some(said)
}

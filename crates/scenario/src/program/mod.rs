//! Programs: which nodes run what.

mod declarations;
mod goal;
mod messages;
mod parquet_page;
mod parquet_table;
mod place;
mod source;

use std::sync::Arc;

use tailback_programs::{COLLECTIVES, Repeated, Setting, SteppingProgram, Steps, Transport};
use tailback_workload::{Job, NodeSet, Program, Traffic, WithinNode};

use crate::bounds::Bounded;
use crate::choice::read_choice;
use crate::diagnostic::Diagnostic;
use crate::files::Library;
use crate::naming::{Called, path_of, read_name};
use crate::nodes::NodeBook;
use crate::parameters::{Context, read_parameters};
use crate::quantity::TimeScale;
use crate::reader::{Reading, TableReader};
use crate::tree::{Entry, Item, Node};
use declarations::{
    COLLECTIVE, EAGER, GOAL, LOCAL_LATENCY, LOCAL_RATE, MESSAGES, PROGRAM_PARAMETERS, RANKS_PER_NODE, REPEAT, START,
};
pub(crate) use declarations::{PROGRAM, PROGRAM_KEYS};
pub(crate) use source::FILE;

/// The most programs of a scenario.
const PROGRAMS_MAX: usize = 1024;

/// Reads all programs: each is a flow of its messages. `names` are those of the flows before.
pub(crate) fn read_programs(
    root: &mut TableReader<'_>,
    (scale, library): (TimeScale, &Library),
    book: &NodeBook,
    names: &mut Vec<String>,
    reading: &mut Reading,
) -> Option<Vec<Traffic>> {
    let Some(entry) = root.take("program") else { return Some(Vec::new()) };
    let single = std::slice::from_ref(&entry.node);
    let list = match &entry.node.item {
        Item::List(list) => list.as_slice(),
        Item::Table(_) => single,
        _ => {
            reading.mismatch(&entry.node, "program", "a list of tables, `[[program]]`");
            return None;
        }
    };
    if list.len() > PROGRAMS_MAX || list.is_empty() {
        let message = format!("there are {} programs, the limits are 1 and {PROGRAMS_MAX}", list.len());
        reading.blame(Diagnostic::at(entry.node.span, message));
        return None;
    }
    let mut programs: Vec<Option<Traffic>> = Vec::new();
    let mut resolved = Vec::new();
    for (index, node) in list.iter().enumerate() {
        let mut table = TableReader::of(node, "program".to_owned(), reading);
        let called = Called { otherwise: "program", index, count: list.len() };
        let name = read_name(&mut table, &called, names, reading);
        table.path = path_of(node, &called);
        let context = Context { scale, nodes: Some(book) };
        let place = index as u64;
        programs.push(ProgramReader { context, book, library, place }.read(name, &mut table, reading));
        resolved.push(Node::free(Item::Table(table.finish(reading))));
    }
    root.resolved.put("program", Item::List(resolved));
    programs.into_iter().collect()
}

/// Reads one program.
struct ProgramReader<'a> {
    context: Context<'a>,
    book: &'a NodeBook,
    library: &'a Library,
    /// Its place among the programs.
    place: u64,
}

impl ProgramReader<'_> {
    fn read(&self, name: String, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Traffic> {
        let values = read_parameters(table, PROGRAM_PARAMETERS, &self.context, reading);
        let eager_flits = values.as_ref().and_then(|values| values.integer_or(EAGER.name)).unwrap_or(u64::MAX);
        let transport = Transport { eager_flits, ..Transport::EAGER };
        let per_node = values.as_ref().map_or(1, |values| values.integer(RANKS_PER_NODE.name));
        let program = self.program((transport, per_node), table, reading);
        let (values, (nodes, program)) = (values?, program?);
        let nodes = self.map(&nodes, (program.ranks(), per_node), table, reading)?;
        let ticks_per_cycle = self.context.scale.ticks_per_cycle;
        let within_node = WithinNode {
            latency_ticks: values.ticks(LOCAL_LATENCY.name),
            flits_per_tick: values.number(LOCAL_RATE.name) / f64::from(ticks_per_cycle),
        };
        let start_cycle = table.whole_cycles(START.name, values.ticks(START.name), ticks_per_cycle, reading)?;
        let job = Job::new(program, nodes, start_cycle).with_messages_within_nodes(within_node);
        Some(Traffic::of_job(name, job))
    }

    /// How many ranks nodes run, unless there are too many.
    fn ranks(&self, nodes: &NodeSet, per_node: u32, entry: &Entry, reading: &mut Reading) -> Option<u32> {
        let ranks = u64::from(nodes.len()) * u64::from(per_node);
        let allowed = reading.bounds.nodes.min(u32::MAX.into());
        reading.bound(entry.node.span, Bounded::Ranks, ranks, allowed)?;
        Some(ranks as u32)
    }

    /// What the ranks do, and the nodes that they run on: exactly one thing says so.
    fn program(
        &self,
        (transport, per_node): (Transport, u32),
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, Arc<dyn Program>)> {
        match [COLLECTIVE, GOAL, MESSAGES].map(|key| table.take(key)) {
            [Some(entry), None, None] => self.collective(entry, (transport, per_node), table, reading),
            [None, Some(entry), None] => {
                let (nodes, program) = self.goal(entry, (transport, per_node), table, reading)?;
                Some((nodes, Arc::new(program)))
            }
            [None, None, Some(entry)] => {
                let (nodes, program) = self.messages(entry, per_node, table, reading)?;
                Some((nodes, Arc::new(program)))
            }
            [None, None, None] => {
                let message = "this program does nothing: it has neither `collective` nor `goal` nor `messages`";
                let help = "say what its ranks do, as in `collective.allreduce-ring.bytes = 4096`";
                reading.blame(Diagnostic::at(table.span, message).help(help));
                None
            }
            said => {
                let second = said.into_iter().flatten().nth(1).expect("two of them are there");
                let message = format!("`{}` says again what this program does", second.key);
                let help = "keep one of `collective`, `goal` and `messages`";
                reading.blame(Diagnostic::at(second.key_span, message).help(help));
                None
            }
        }
    }

    /// A collective, and the nodes that its ranks run on.
    fn collective(
        &self,
        entry: &Entry,
        (transport, per_node): (Transport, u32),
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, Arc<dyn Program>)> {
        let repeat = read_parameters(table, &[REPEAT], &self.context, reading);
        let (nodes, steps) = self.steps(entry, per_node, table, reading)?;
        if transport != Transport::EAGER || per_node > 1 {
            let allowed = reading.bounds.program_steps;
            reading.bound(entry.node.span, Bounded::ProgramSteps, steps.steps_of_all(), allowed)?;
        }
        let steps: Arc<dyn Steps> = match repeat?.integer(REPEAT.name) {
            1 => steps.into(),
            times => Arc::new(self.repeated(steps, times, table, reading)?),
        };
        let ticks_per_cycle = self.context.scale.ticks_per_cycle;
        Some((nodes, Arc::new(SteppingProgram::new(steps, transport, ticks_per_cycle))))
    }

    fn repeated(
        &self,
        steps: Box<dyn Steps>,
        times: u32,
        table: &TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Repeated> {
        let repeated = Repeated::new(steps, times);
        let span = table.table.get(REPEAT.name).map_or(table.span, |entry| entry.node.span);
        repeated.map_err(|error| reading.blame(Diagnostic::at(span, error.message).maybe_help(error.help))).ok()
    }

    /// What the ranks do, and the nodes that they run on.
    fn steps(
        &self,
        entry: &Entry,
        per_node: u32,
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, Box<dyn Steps>)> {
        let path = table.path_of(COLLECTIVE);
        let (choice, resolved) = read_choice(&entry.node, &path, "collective", COLLECTIVES, &self.context, reading)?;
        table.resolved.put(COLLECTIVE, resolved);
        if self.book.count == 0 {
            return None;
        }
        let nodes = choice.values.nodes("nodes").clone();
        let TimeScale { ticks_per_cycle, flit_bytes, .. } = self.context.scale;
        let ranks = self.ranks(&nodes, per_node, entry, reading)?;
        let setting = Setting { ranks, flit_bytes: flit_bytes.map(|bytes| bytes as f64), ticks_per_cycle };
        match (choice.model.build)(&choice.values, &setting) {
            Ok(steps) => Some((nodes, steps)),
            Err(error) => {
                choice.blame(error, &path, reading);
                None
            }
        }
    }
}

//! Lists of messages: `messages = "FILE"`, a table of comma-separated values or in Parquet.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tailback_goal::ReadAt;
use tailback_programs::{ListedMessage, MESSAGE_FLITS_MAX, MessageList};
use tailback_workload::{NodeSet, Program as _};

use super::ProgramReader;
use super::declarations::{MESSAGES, NODES};
use super::parquet_table::ParquetTable;
use super::source::{Said, Source};
use crate::diagnostic::Diagnostic;
use crate::files::List;
use crate::parameters::read_parameters;
use crate::quantity::{Complaint, TimeScale, parse_flits, parse_ticks};
use crate::reader::{Reading, TableReader};
use crate::tree::Entry;

/// The columns that a list may have. It says either how many bytes or how many flits; nobody looks at tags.
const COLUMNS: [&str; 6] = ["time", "source", "destination", "bytes", "flits", "tag"];

impl ProgramReader<'_> {
    /// The program of a list, and the nodes that its ranks run on.
    pub(super) fn messages(
        &self,
        entry: &Entry,
        per_node: u32,
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<(NodeSet, MessageList)> {
        let values = read_parameters(table, &[NODES], &self.context, reading);
        let said = Said::read(&entry.node, &table.path_of(MESSAGES), reading)?;
        let nodes = values?.nodes(NODES.name).clone();
        let ranks = self.ranks(&nodes, per_node, entry, reading)?;
        let (list, sha256) = match self.list(&said, ranks, reading.bounds.text_bytes) {
            Ok(found) => found,
            Err(problem) => {
                let help = "give a table with the columns time, source, destination and bytes or flits";
                reading.blame(Diagnostic::at(entry.node.span, problem).help(help));
                return None;
            }
        };
        table.resolved.put(MESSAGES, said.resolved(&sha256));
        Some((nodes, list))
    }

    fn list(&self, said: &Said<'_>, ranks: u32, bytes_max: u64) -> Result<(MessageList, String), String> {
        let (name, (list, sha256)) = match said.source {
            Source::File(file) => (file, self.library.list(file, bytes_max)?),
            Source::Text(text) => {
                let (text, sha256) = self.library.given(text);
                ("the text", (List::Text(text), sha256))
            }
        };
        said.check(&sha256)?;
        let scale = &self.context.scale;
        let messages = match list {
            List::Text(text) => read_list(&text, ranks, scale),
            List::Parquet(file) => read_parquet(&file, bytes_max, ranks, scale),
        };
        let messages = messages.map_err(|problem| format!("{name}: {problem}"))?;
        let program = MessageList::new(messages, 0);
        if program.messages() == 0 {
            return Err("there is no message in the list".to_owned());
        }
        Ok((program, sha256))
    }
}

/// Where the columns are that a list must have, and whether sizes are bytes.
struct Places {
    time: usize,
    source: usize,
    destination: usize,
    size: usize,
    in_bytes: bool,
}

impl Places {
    fn of(header: &csv::StringRecord) -> Result<Self, String> {
        if let Some(other) = header.iter().find(|name| !COLUMNS.contains(name)) {
            return Err(format!("a list of messages has no column \"{other}\""));
        }
        let twice = COLUMNS.into_iter().find(|name| header.iter().filter(|column| column == name).count() > 1);
        if let Some(name) = twice {
            return Err(format!("two columns are named \"{name}\""));
        }
        let place = |name: &str| header.iter().position(|column| column == name);
        let needed = |name: &str| place(name).ok_or_else(|| format!("there is no column \"{name}\""));
        let (size, in_bytes) = match (place("bytes"), place("flits")) {
            (Some(place), None) => (place, true),
            (None, Some(place)) => (place, false),
            _ => return Err("there must be either a column \"bytes\" or a column \"flits\"".to_owned()),
        };
        Ok(Self {
            time: needed("time")?,
            source: needed("source")?,
            destination: needed("destination")?,
            size,
            in_bytes,
        })
    }
}

fn read_list(text: &str, ranks: u32, scale: &TimeScale) -> Result<Vec<ListedMessage>, String> {
    let mut rows = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let at = |position: Option<&csv::Position>, problem: String| {
        let line = line_of_record(text, position.map_or(0, csv::Position::byte) as usize);
        format!("line {line}: {problem}")
    };
    let header = rows.headers().map_err(|error| error.to_string())?;
    let places = Places::of(header).map_err(|problem| at(None, problem))?;
    let mut messages = Vec::new();
    for row in rows.records() {
        let row = row.map_err(|error| match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                at(pos.as_ref(), format!("it has {len} fields, the header has {expected_len}"))
            }
            _ => error.to_string(),
        })?;
        messages.push(read_row(&row, &places, ranks, scale).map_err(|problem| at(row.position(), problem))?);
    }
    Ok(messages)
}

/// The line of a record, which is looked for from this byte on: its position is where the one before it ends, and comments and empty lines may
/// stand between the two.
fn line_of_record(text: &str, from: usize) -> usize {
    let (before, rest) = text.split_at(from);
    let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest); // which may stand before all text
    let is_left_out = |line: &&str| line.trim_end_matches(['\r', '\n']).is_empty() || line.starts_with('#');
    let left_out = rest.split_inclusive('\n').take_while(is_left_out).filter(|line| line.ends_with('\n')).count();
    1 + before.matches('\n').count() + left_out
}

/// The library panics at some of what is damaged: that is a mistake like any other.
fn read_parquet(
    file: &Arc<dyn ReadAt>,
    bytes_max: u64,
    ranks: u32,
    scale: &TimeScale,
) -> Result<Vec<ListedMessage>, String> {
    let read = AssertUnwindSafe(|| read_sound_parquet(file, bytes_max, ranks, scale));
    catch_unwind(read).unwrap_or_else(|_| Err("it is damaged".to_owned()))
}

fn read_sound_parquet(
    file: &Arc<dyn ReadAt>,
    bytes_max: u64,
    ranks: u32,
    scale: &TimeScale,
) -> Result<Vec<ListedMessage>, String> {
    let table = ParquetTable::open(file, bytes_max)?;
    let places = Places::of(&table.header())?;
    let mut messages = Vec::new();
    for (index, row) in table.rows()?.enumerate() {
        let message = row.and_then(|row| read_row(&row, &places, ranks, scale));
        messages.push(message.map_err(|problem| format!("row {}: {problem}", index + 1))?);
    }
    Ok(messages)
}

fn read_row(row: &csv::StringRecord, places: &Places, ranks: u32, scale: &TimeScale) -> Result<ListedMessage, String> {
    let rank = |place: usize| {
        let rank = row[place].parse().ok().filter(|&rank: &u32| rank < ranks);
        rank.ok_or_else(|| format!("\"{}\" is no rank: the nodes run {ranks}", &row[place]))
    };
    let (from, to) = (rank(places.source)?, rank(places.destination)?);
    if from == to {
        return Err(format!("rank {from} would send to itself"));
    }
    let with_unit = |place: usize, unit: &str| match row[place].parse::<f64>() {
        Ok(_) => format!("{} {unit}", &row[place]),
        Err(_) => row[place].to_owned(),
    };
    let say = |(problem, help): Complaint| format!("{problem}: {help}");
    let tick = parse_ticks(&with_unit(places.time, "cycles"), scale).map_err(say)?;
    let flits = if places.in_bytes {
        parse_flits(&with_unit(places.size, "B"), scale.flit_bytes).map_err(say)?
    } else {
        row[places.size].parse().map_err(|_| format!("\"{}\" is no number of flits", &row[places.size]))?
    };
    if !(1..=MESSAGE_FLITS_MAX).contains(&flits) {
        return Err(format!("a message has 1 to {MESSAGE_FLITS_MAX} flits, not {flits}"));
    }
    Ok(ListedMessage { tick, from, to, flits: flits as u32 })
}

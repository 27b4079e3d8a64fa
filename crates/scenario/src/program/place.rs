//! Where ranks run.

use tailback_random::Stream;
use tailback_workload::NodeSet;

use super::ProgramReader;
use super::declarations::{MAP, MAP_LIST};
use super::source::{Said, Source};
use crate::diagnostic::Diagnostic;
use crate::parameters::read_parameters;
use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Node};

/// The purpose of the random streams that draw where ranks run; entities are programs.
const RANKS: u64 = 1 << 37;

impl ProgramReader<'_> {
    /// By rank: its node. The first of the nodes run them, or the first that are drawn; the last of these may run fewer than the others.
    pub(super) fn map(
        &self,
        nodes: &NodeSet,
        (ranks, per_node): (u32, u32),
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Vec<u32>> {
        let entry = table.table.get(MAP.name);
        if let Some(Item::Table(_)) = entry.map(|entry| &entry.node.item) {
            let entry = table.take(MAP.name)?;
            let (list, resolved) = self.in_file(&entry.node, &table.path_of(MAP.name), reading)?;
            table.resolved.put(MAP.name, resolved);
            return self.listed(list, (nodes, ranks, per_node), table, reading);
        }
        if let Some(Item::List(_)) = entry.map(|entry| &entry.node.item) {
            let values = read_parameters(table, &[MAP_LIST], &self.context, reading)?;
            return self.listed(values.integers(MAP.name), (nodes, ranks, per_node), table, reading);
        }
        let values = read_parameters(table, &[MAP], &self.context, reading)?;
        let mut nodes: Vec<u32> = nodes.iter().collect();
        let order = values.text(MAP.name);
        if order == "random" {
            shuffle(&mut nodes, &mut Stream::new(self.book.seed, self.place, RANKS));
        }
        let node = |rank: u32| if order == "round-robin" { rank % nodes.len() as u32 } else { rank / per_node };
        Some((0..ranks).map(|rank| nodes[node(rank) as usize]).collect())
    }

    /// The nodes of a file or a text, one in each line; and what the resolved text says of it.
    fn in_file(&self, node: &Node, path: &str, reading: &mut Reading) -> Option<(Vec<u32>, Item)> {
        let said = Said::read(node, path, reading)?;
        let read = || {
            let (name, (text, sha256)) = match said.source {
                Source::File(file) => (file, self.library.text(file, reading.bounds.text_bytes)?),
                Source::Text(text) => ("the text", self.library.given(text)),
            };
            said.check(&sha256)?;
            let list = read_nodes(&text).map_err(|problem| format!("{name}: {problem}"))?;
            Ok((list, said.resolved(&sha256)))
        };
        let read: Result<_, String> = read();
        let help = "write the node of each rank into a line of its own, that of rank 0 first";
        read.map_err(|problem| reading.blame(Diagnostic::at(node.span, problem).help(help))).ok()
    }

    /// The nodes of a list: as many as there are ranks, none with more of them than it may run.
    fn listed(
        &self,
        list: Vec<u32>,
        (nodes, ranks, per_node): (&NodeSet, u32, u32),
        table: &TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Vec<u32>> {
        let span = table.table.get(MAP.name).map_or(table.span, |entry| entry.node.span);
        let mut sorted = list.clone();
        sorted.sort_unstable();
        let full = sorted.chunk_by(|one, other| one == other).find(|same| same.len() > per_node as usize);
        let other = sorted.iter().find(|&&node| !nodes.contains(node));
        let problem = match (full, other) {
            (Some(same), _) => {
                let (node, count) = (same[0], same.len());
                Some(format!("node {node} would run {count} ranks, `ranks_per_node` is {per_node}"))
            }
            (None, Some(node)) => Some(format!("node {node} does not take part")),
            (None, None) if list.len() != ranks as usize => {
                Some(format!("there are {} nodes in the list for {ranks} ranks", list.len()))
            }
            (None, None) => None,
        };
        if let Some(message) = problem {
            let help = "name the node of each rank, that of rank 0 first";
            reading.blame(Diagnostic::at(span, message).help(help));
            return None;
        }
        Some(list)
    }
}

/// Nodes, one in each line. What follows a `#` is for people, and lines without a node do not count.
fn read_nodes(text: &str) -> Result<Vec<u32>, String> {
    let lines = text
        .lines()
        .zip(1..)
        .map(|(line, number): (&str, usize)| (line.split('#').next().unwrap_or("").trim(), number));
    let nodes = lines.filter(|(line, _)| !line.is_empty());
    nodes.map(|(node, line)| node.parse().map_err(|_| format!("line {line}: \"{node}\" is no node"))).collect()
}

/// Puts nodes into any order, each as likely.
fn shuffle(nodes: &mut [u32], stream: &mut Stream) {
    for last in (1..nodes.len() as u32).rev() {
        nodes.swap(last as usize, stream.below(last + 1) as usize);
    }
}

//! Where ranks run.

use tailback_random::Stream;
use tailback_workload::NodeSet;

use super::ProgramReader;
use super::declarations::{MAP, MAP_LIST};
use crate::diagnostic::Diagnostic;
use crate::parameters::read_parameters;
use crate::reader::{Reading, TableReader};
use crate::tree::Item;

/// The purpose of the random streams that draw where ranks run; entities are programs.
const RANKS: u64 = 1 << 37;

impl ProgramReader<'_> {
    /// By rank: its node.
    pub(super) fn map(&self, nodes: &NodeSet, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Vec<u32>> {
        let entry = table.table.get(MAP.name);
        if let Some(Item::List(_)) = entry.map(|entry| &entry.node.item) {
            let values = read_parameters(table, &[MAP_LIST], &self.context, reading)?;
            return self.listed(values.integers(MAP.name), nodes, table, reading);
        }
        let values = read_parameters(table, &[MAP], &self.context, reading)?;
        let mut map: Vec<u32> = nodes.iter().collect();
        if values.text(MAP.name) == "random" {
            shuffle(&mut map, &mut Stream::new(self.book.seed, self.place, RANKS));
        }
        Some(map)
    }

    /// The nodes of a list: all that take part, each once.
    fn listed(
        &self,
        list: Vec<u32>,
        nodes: &NodeSet,
        table: &TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Vec<u32>> {
        let span = table.table.get(MAP.name).map_or(table.span, |entry| entry.node.span);
        let mut sorted = list.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(nodes.iter()) {
            let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
            let other = sorted.iter().find(|&&node| !nodes.contains(node));
            let missing = nodes.iter().find(|node| sorted.binary_search(node).is_err());
            let message = match (twice, other, missing) {
                (Some(node), _, _) => format!("node {node} would run two ranks"),
                (None, Some(node), _) => format!("node {node} does not take part"),
                (None, None, Some(node)) => format!("node {node} takes part and is not in the list"),
                (None, None, None) => unreachable!("lists of the same nodes are the same when they are sorted"),
            };
            let help = format!("name each of the {} nodes of the program once, that of rank 0 first", nodes.len());
            reading.blame(Diagnostic::at(span, message).help(help));
            return None;
        }
        Some(list)
    }
}

/// Puts nodes into any order, each as likely.
fn shuffle(nodes: &mut [u32], stream: &mut Stream) {
    for last in (1..nodes.len() as u32).rev() {
        nodes.swap(last as usize, stream.below(last + 1) as usize);
    }
}

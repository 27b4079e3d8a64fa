//! Congestion trees over time: what was seen of them, and what is told about it.
//!
//! **The invariant it keeps:** what is written down depends on the cycles at which it was looked and on the network, not on where
//! a run was stopped and resumed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_network::CongestionTree;
use tailback_report::{Cell, Column, Kind, LargestTree, Table, TreeFigures};
use tailback_scenario::Scenario;
use tailback_topology::{Peer, Port, RouterId, Topology};

/// The most rows that are written down. What comes later is in the figures, and not in the table.
const ROWS_MAX: usize = 1 << 20;

/// A tree at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TreeRow {
    cycle: u64,
    router: RouterId,
    port: Port,
    class: u8,
    node: Option<u32>,
    buffers: u32,
    flits: u64,
    depth: u32,
    /// Cycles since the root was first seen, if it was at all instants since.
    age: u64,
    victim_flits: u64,
}

/// What was seen of congestion trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeRecord {
    rows: Vec<TreeRow>,
    /// By root of the last instant: the cycle in which it was first seen.
    since: BTreeMap<(RouterId, Port), u64>,
    /// In the measured cycles: instants, trees, flits, those of victims, and the largest tree.
    instants: u64,
    count: u64,
    flits: u64,
    victim_flits: u64,
    largest: Option<TreeRow>,
}

impl TreeRecord {
    /// Notes what was seen at an instant, which is measured or not.
    pub fn note(&mut self, cycle: u64, measured: bool, trees: &[CongestionTree]) {
        let before = std::mem::take(&mut self.since);
        let is_first = measured && self.instants == 0;
        self.instants += u64::from(measured);
        for tree in trees {
            let &CongestionTree { router, port, class, node, buffers, flits, depth, victim_flits } = tree;
            let known = before.get(&(router, port)).copied();
            let since = known.unwrap_or(cycle);
            self.since.insert((router, port), since);
            let (class, age) = (class.0, cycle - since);
            let row = TreeRow { cycle, router, port, class, node, buffers, flits, depth, age, victim_flits };
            if self.rows.len() < ROWS_MAX {
                self.rows.push(row);
            }
            if measured {
                self.count += u64::from(is_first || known.is_none());
                self.flits += flits;
                self.victim_flits += victim_flits;
                if self.largest.is_none_or(|largest| flits > largest.flits) {
                    self.largest = Some(row);
                }
            }
        }
    }

    /// What reports say.
    pub fn figures(&self, scenario: &Scenario) -> TreeFigures {
        let (topology, clock) = (scenario.topology.built.graph(), scenario.clock);
        let largest = self.largest.map(|row| LargestTree {
            cycle: row.cycle,
            root: root(topology.as_ref(), &row),
            buffers: row.buffers.into(),
            flits: row.flits,
            bytes: clock.flit_bytes.map(|bytes| bytes * row.flits),
            depth: row.depth.into(),
            age_cycles: row.age,
            age_ns: clock.cycle_fs.map(|fs| row.age as f64 * fs as f64 / 1e6),
            victim_share: row.victim_flits as f64 / row.flits as f64,
        });
        TreeFigures {
            instants: self.instants,
            count: self.count,
            largest_flits: self.largest.map_or(0, |row| row.flits),
            victim_share: (self.flits > 0).then(|| self.victim_flits as f64 / self.flits as f64),
            largest,
        }
    }

    /// A row for each tree and instant, warm-up included.
    pub fn table(&self, scenario: &Scenario) -> Table {
        let topology = scenario.topology.built.graph();
        let whole = |name| Column::new(name, Kind::Integer);
        let mut columns = vec![whole("cycle"), Column::text("root"), Column::text("kind")];
        columns
            .extend(["router", "port", "node", "buffers", "flits", "depth", "age_cycles", "victim_flits"].map(whole));
        let mut table = Table::new(columns);
        for row in &self.rows {
            let kind = if row.node.is_some() { "ejection" } else { topology.link_classes()[usize::from(row.class)] };
            let mut cells: Vec<Cell> =
                vec![row.cycle.into(), root(topology.as_ref(), row).as_str().into(), kind.into()];
            cells.extend([u64::from(row.router).into(), u64::from(row.port).into(), row.node.map(u64::from).into()]);
            let counts = [row.buffers.into(), row.flits, row.depth.into(), row.age, row.victim_flits];
            cells.extend(counts.map(Cell::from));
            table.push(cells);
        }
        table
    }
}

/// A root in words.
fn root(topology: &dyn Topology, row: &TreeRow) -> String {
    link_name(topology, row.router, row.port)
}

/// The link that leaves a router by a port, in words.
pub(crate) fn link_name(topology: &dyn Topology, router: RouterId, port: Port) -> String {
    match topology.peer(router, port) {
        Peer::Node(node) => format!("ejection link of node {node}"),
        Peer::Router { router: far, .. } => {
            let kind = topology.link_classes()[topology.link_class(router, port).index()];
            let (from, to) = (topology.router_name(router), topology.router_name(far));
            format!("{kind} link from {from}, port {port}, to {to}")
        }
        Peer::Nothing => format!("port {port} of {}", topology.router_name(router)),
    }
}

#[cfg(test)]
mod tests {
    use tailback_topology::LinkClass;

    use super::*;

    fn tree(router: RouterId, flits: u64) -> CongestionTree {
        let (class, node) = (LinkClass(0), Some(router));
        CongestionTree { router, port: 3, class, node, buffers: 2, flits, depth: 1, victim_flits: flits / 4 }
    }

    #[test]
    fn ages_begin_anew_where_a_root_was_not_seen() {
        let mut record = TreeRecord::default();
        record.note(10, false, &[tree(1, 8), tree(2, 40)]);
        record.note(20, false, &[tree(1, 8)]);
        record.note(30, true, &[tree(1, 12), tree(2, 16)]);
        record.note(40, true, &[tree(2, 20), tree(5, 20)]);
        let ages: Vec<_> = record.rows.iter().map(|row| (row.cycle, row.router, row.age)).collect();
        assert_eq!(ages, [(10, 1, 0), (10, 2, 0), (20, 1, 10), (30, 1, 20), (30, 2, 0), (40, 2, 10), (40, 5, 0)]);
        // Two that were there when measuring began, and one that came later.
        assert_eq!((record.instants, record.count, record.flits, record.victim_flits), (2, 3, 68, 17));
        assert_eq!(record.largest.map(|row| (row.cycle, row.router, row.flits)), Some((40, 2, 20)));
    }
}

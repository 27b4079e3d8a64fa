//! Congestion trees over time: what was seen of them, and what is told about it.
//!
//! **The invariant it keeps:** what is written down depends on the cycles at which it was looked and on the network, not on where
//! a run was stopped and resumed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_network::{Cause, CongestionTree};
use tailback_report::{Cell, Column, Kind, LargestTree, Table, TreeFigures};
use tailback_scenario::Scenario;
use tailback_topology::{Peer, Port, RouterId, Topology};

/// The most rows that are written down. What comes later is in the figures, and not in the table.
pub(crate) const ROWS_MAX: usize = 1 << 20;

/// A tree at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TreeRow {
    cycle: u64,
    router: RouterId,
    port: Port,
    class: u8,
    node: Option<u32>,
    /// Whether the root lacks credits, and does not send all the time.
    lacks_credits: bool,
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
            let &CongestionTree { router, port, class, node, cause, buffers, flits, depth, victim_flits } = tree;
            let known = before.get(&(router, port)).copied();
            let since = known.unwrap_or(cycle);
            self.since.insert((router, port), since);
            let (class, age, lacks_credits) = (class.0, cycle - since, cause == Cause::Credits);
            let row =
                TreeRow { cycle, router, port, class, node, lacks_credits, buffers, flits, depth, age, victim_flits };
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
            root: link_name(topology.as_ref(), row.router, row.port)
                + if row.lacks_credits { ", which lacks credits," } else { "" },
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

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// A row for each tree and instant, warm-up included.
    pub fn table(&self, scenario: &Scenario) -> Table {
        let topology = scenario.topology.built.graph();
        let whole = |name| Column::new(name, Kind::Integer);
        let mut columns = vec![whole("cycle"), Column::text("root"), Column::text("kind"), Column::text("cause")];
        columns
            .extend(["router", "port", "node", "buffers", "flits", "depth", "age_cycles", "victim_flits"].map(whole));
        let mut table = Table::new(columns);
        for row in &self.rows {
            let kind = if row.node.is_some() { "ejection" } else { topology.link_classes()[usize::from(row.class)] };
            let cause = if row.lacks_credits { "credits" } else { "rate" };
            let root = link_name(topology.as_ref(), row.router, row.port);
            let mut cells: Vec<Cell> = vec![row.cycle.into(), root.as_str().into(), kind.into(), cause.into()];
            cells.extend([u64::from(row.router).into(), u64::from(row.port).into(), row.node.map(u64::from).into()]);
            let counts = [row.buffers.into(), row.flits, row.depth.into(), row.age, row.victim_flits];
            cells.extend(counts.map(Cell::from));
            table.push(cells);
        }
        table
    }
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
    use std::ops::ControlFlow;

    use tailback_scenario::Document;
    use tailback_topology::LinkClass;

    use super::*;
    use crate::{Findings, Run, Timing};

    fn tree(router: RouterId, flits: u64) -> CongestionTree {
        let (class, node) = (LinkClass(0), Some(router));
        let cause = Cause::Rate;
        CongestionTree { router, port: 3, class, node, cause, buffers: 2, flits, depth: 1, victim_flits: flits / 4 }
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

    /// Two leaves with a spine between them. Nodes 0, 1 and 4 send to node 3, so its link is the root of a tree that grows over the
    /// spine to the other leaf. What node 2 sends to node 5 waits in it.
    const LINE: &str = "
        routing.nearest-common-ancestor = { vcs = 1 }
        [topology.two-level-tree]
        nodes_per_leaf = 3
        leaves = 2
        spines = 1
        [links.level1]
        buffer = 64
        [[traffic]]
        name = \"hot\"
        from = [0, 1, 4]
        load = 0.9
        pattern.hot-spot.to = [3]
        [[traffic]]
        name = \"victim\"
        from = [2]
        load = 0.3
        pattern.hot-spot.to = [5]
        [[traffic]]
        name = \"back\"
        from = [5]
        load = 0.3
        pattern.hot-spot.to = [2]
        [measure]
        warmup = 500
        cycles = 1500
        ";

    fn scenario(overrides: &[&str]) -> Scenario {
        let document = Document::read("line.toml", LINE);
        let document = overrides.iter().fold(document, |document, set| document.with(set));
        document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    fn finish(run: &mut Run<'_>) -> Findings {
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        run.findings().expect("everything adds up")
    }

    fn findings(overrides: &[&str], threads: usize) -> Findings {
        finish(&mut Run::new(&scenario(overrides), threads).expect("threads start"))
    }

    const LOOK: &str = "measure.trees={ every = 125 }";

    #[test]
    fn a_tree_grows_over_a_line_and_has_victims() {
        let scenario = scenario(&[LOOK]);
        let found = finish(&mut Run::new(&scenario, 1).expect("there is nothing to start"));
        let report = found.report(&scenario, "0", &Timing::default());
        let table = found.trees(&scenario).expect("it is asked for");
        let mut csv = Vec::new();
        table.write_csv(&mut csv).expect("a list of bytes takes everything");
        let csv = String::from_utf8(csv).expect("it is text");
        let trees = report.total.trees.expect("it was looked");
        assert_eq!((trees.instants, trees.count), (13, 1), "{csv}");
        let largest = trees.largest.expect("there is one");
        assert_eq!((largest.root.as_str(), largest.bytes), ("ejection link of node 3", None));
        assert!(largest.depth == 3 && largest.buffers >= 5, "{csv}");
        // What waits on the way to the other leaf is of the victim in part, and most of it is not.
        assert!((0.02..0.3).contains(&largest.victim_share), "{csv}");
        assert!(largest.age_cycles > 0 && trees.largest_flits == largest.flits);
        let node = table.column("node").expect("there is one");
        assert!(table.rows.len() >= 13 && table.rows.iter().all(|row| row[node].number() == Some(3.0)), "{csv}");
    }

    #[test]
    fn there_is_none_at_low_load() {
        let scenario = scenario(&[LOOK, "traffic.hot.load=0.1"]);
        let found = finish(&mut Run::new(&scenario, 1).expect("there is nothing to start"));
        let trees = found.samples.trees.figures(&scenario);
        assert_eq!((trees.instants, trees.count, trees.largest_flits, trees.victim_share), (13, 0, 0, None));
    }

    #[test]
    fn looking_changes_no_result_and_sees_the_same_in_all_ways_to_run() {
        let expected = findings(&[LOOK], 1);
        assert_eq!(findings(&[], 1).digest(), expected.digest());
        for (partition, threads) in [("router", 0), ("router", 3), ("domain", 2), ("single", 1)] {
            let partition = format!("execution.partition={partition}");
            assert_eq!(findings(&[LOOK, &partition], threads).samples, expected.samples, "{partition}");
        }
        // Nor does a restart between two looks, or right after one, change what is seen.
        let scenario = scenario(&[LOOK]);
        for cycle in [124, 125, 700] {
            let mut first = Run::new(&scenario, 1).expect("there is nothing to start");
            first.advance(cycle, |_| ControlFlow::Continue(())).expect("nothing goes wrong");
            let bytes = first.save().expect("it can be written");
            let mut second = Run::new(&scenario, 1).expect("there is nothing to start");
            second.load(&bytes).expect("it can be read");
            assert_eq!(finish(&mut second).samples, expected.samples, "restored in cycle {cycle}");
        }
    }

    /// Three nodes of a leaf send to those of the other: their one link up is too slow for them.
    const NARROW: &str = "
        routing.nearest-common-ancestor = { vcs = 1 }
        [topology.two-level-tree]
        nodes_per_leaf = 3
        leaves = 2
        spines = 1
        [links.level1]
        buffer = 64
        [router]
        output_queue = 96
        [[traffic]]
        from = [0, 1, 2]
        load = 0.9
        pattern.hot-spot.to = [3, 4, 5]
        [measure]
        warmup = 500
        cycles = 1500
        trees = { every = 125 }
        ";

    /// The roots and their causes, each once.
    fn roots(overrides: &[&str]) -> Vec<(String, bool)> {
        let document = overrides.iter().fold(Document::read("narrow.toml", NARROW), |document, set| document.with(set));
        let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let found = finish(&mut Run::new(&scenario, 1).expect("there is nothing to start"));
        let topology = scenario.topology.built.graph();
        let name = |row: &TreeRow| (link_name(topology.as_ref(), row.router, row.port), row.lacks_credits);
        let mut roots: Vec<_> = found.samples.trees.rows.iter().map(name).collect();
        roots.sort();
        roots.dedup();
        roots
    }

    /// The output queue has all credits of the next buffer, which is empty: it is the link that they wait for.
    #[test]
    fn a_link_whose_output_queue_has_the_credits_is_too_slow() {
        let [(root, lacks_credits)] = &roots(&[])[..] else { panic!("there is one: {:?}", roots(&[])) };
        assert!(root.starts_with("level1 link from ") && !lacks_credits, "{root}");
    }

    /// The link is so long that the credits of all that fits into the buffer are on their way.
    #[test]
    fn a_link_whose_buffer_is_too_short_lacks_credits() {
        let found = roots(&["links.level1.latency=200", "links.level1.buffer=32"]);
        assert!(found.iter().any(|(root, lacks)| root.starts_with("level1 link from ") && *lacks), "{found:?}");
    }
}

//! Links over time: what was seen of them at some cycles.

use serde::{Deserialize, Serialize};
use tailback_network::{LinkStates, SelectedLinks};
use tailback_report::{Cell, Column, Kind, Table};
use tailback_scenario::{LinkSampling, Scenario};
use tailback_topology::{Peer, Topology};

/// What was seen of selected links. The lists go on by the links of one instant after those of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkRecord {
    /// The cycles of the instants.
    cycles: Vec<u64>,
    /// Flits that were sent since the instant before, while it was measured.
    sent: Vec<u32>,
    /// By link: those that were sent in all.
    sent_so_far: Vec<u32>,
    blocked_heads: Vec<u16>,
    stalled_heads: Vec<u16>,
    /// By link and virtual channel.
    taken: Vec<u16>,
    vcs: usize,
}

impl LinkRecord {
    /// Notes what was seen at an instant.
    pub fn note(&mut self, cycle: u64, states: &LinkStates) {
        self.cycles.push(cycle);
        self.sent_so_far.resize(states.sent.len(), 0);
        for (before, &sent) in self.sent_so_far.iter_mut().zip(&states.sent) {
            self.sent.push(sent.saturating_sub(*before));
            *before = sent.max(*before);
        }
        self.blocked_heads.extend(&states.blocked_heads);
        self.stalled_heads.extend(&states.stalled_heads);
        self.taken.extend(&states.taken);
        self.vcs = states.vcs;
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.sent.len()
    }

    /// A row for each link and instant, warm-up included.
    pub fn table(&self, scenario: &Scenario, sampling: LinkSampling) -> Table {
        let topology = scenario.topology.built.graph();
        let selected = SelectedLinks::of_classes(topology.as_ref(), sampling.classes);
        let whole = |name: &str| Column::new(name, Kind::Integer);
        let mut columns = vec![whole("cycle"), Column::text("kind")];
        columns.extend(["router", "port", "node", "to_router"].map(whole));
        columns.push(Column::new("utilisation", Kind::Number));
        columns.extend(["blocked_heads", "stalled_heads"].map(whole));
        columns.extend((0..self.vcs).map(|vc| whole(&format!("occupied_vc{vc}"))));
        let mut table = Table::new(columns);
        let links = selected.links();
        let places: Vec<Vec<Cell>> = links.iter().map(|&link| place(topology.as_ref(), link)).collect();
        for (row, (&cycle, place)) in
            self.cycles.iter().flat_map(|cycle| (0..links.len()).map(move |place| (cycle, place))).enumerate()
        {
            let (router, port) = links[place];
            let class = topology.link_class(router, port).index();
            // Flits are counted while it is measured only.
            let is_measured = cycle >= scenario.measure.warmup + sampling.every;
            let ticks = sampling.every * u64::from(scenario.clock.ticks_per_cycle);
            let busy = f64::from(self.sent[row]) * f64::from(scenario.network.links[class].flit_ticks) / ticks as f64;
            let mut cells: Vec<Cell> = vec![cycle.into()];
            cells.extend(places[place].iter().cloned());
            cells.push(is_measured.then_some(busy).into());
            cells.extend([self.blocked_heads[row], self.stalled_heads[row]].map(|count| Cell::from(u64::from(count))));
            let leads_to_router = matches!(topology.peer(router, port), Peer::Router { .. });
            let taken = &self.taken[row * self.vcs..][..self.vcs];
            cells.extend(taken.iter().map(|&flits| Cell::from(leads_to_router.then_some(u64::from(flits)))));
            table.push(cells);
        }
        table
    }
}

/// The cells that say which link it is: its kind, the router and the port that it leaves by, where it leads to.
fn place(topology: &dyn Topology, (router, port): (u32, u8)) -> Vec<Cell> {
    let class = topology.link_classes()[topology.link_class(router, port).index()];
    let (kind, node, far) = match topology.peer(router, port) {
        Peer::Node(node) => ("ejection", Some(u64::from(node)), None),
        Peer::Router { router, .. } => (class, None, Some(u64::from(router))),
        Peer::Nothing => (class, None, None),
    };
    vec![kind.into(), u64::from(router).into(), u64::from(port).into(), node.into(), far.into()]
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use tailback_scenario::Document;

    use super::*;
    use crate::{Findings, Run};

    const SWITCH: &str = "
        routing = \"direct\"
        [topology.single-switch]
        nodes = 4
        [[traffic]]
        from = [0, 1, 2]
        load = 0.8
        pattern.hot-spot.to = [3]
        [measure]
        warmup = 200
        cycles = 600
        ";

    fn found(overrides: &[&str], threads: usize) -> (Scenario, Findings) {
        let document = overrides.iter().fold(Document::read("switch.toml", SWITCH), |document, set| document.with(set));
        let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut run = Run::new(&scenario, threads).expect("threads start");
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        let findings = run.findings().expect("everything adds up");
        drop(run);
        (scenario, findings)
    }

    const LOOK: &str = "measure.links={ every = 100, select = \"ejection\" }";

    /// Only the link to node 3 sends, all the time; two or three heads wait for it.
    #[test]
    fn the_link_of_a_hot_node_is_busy_and_blocks_heads() {
        let (scenario, findings) = found(&[LOOK], 1);
        let table = findings.links(&scenario).expect("it is asked for");
        let at = |row: &[Cell], name: &str| row[table.column(name).expect("it is there")].number();
        assert_eq!(table.rows.len(), 4 * 8);
        for row in &table.rows {
            let (cycle, node) = (at(row, "cycle").expect("a number"), at(row, "node"));
            assert_eq!(at(row, "utilisation").is_some(), cycle >= 300.0);
            let busy = at(row, "utilisation").unwrap_or(0.0);
            if node == Some(3.0) {
                assert!(cycle < 300.0 || (0.98..=1.02).contains(&busy), "{row:?}");
                assert!(at(row, "blocked_heads") >= Some(1.0), "{row:?}");
            } else {
                assert_eq!((busy, at(row, "blocked_heads")), (0.0, Some(0.0)));
            }
            assert_eq!((at(row, "stalled_heads"), at(row, "occupied_vc0")), (Some(0.0), None));
        }
    }

    #[test]
    fn looking_changes_no_result() {
        let ((_, with), (_, without)) = (found(&[LOOK], 2), found(&[], 1));
        assert_eq!(with.digest(), without.digest());
        assert_eq!(found(&[LOOK], 1).1.samples, with.samples);
    }
}

//! Links over time: what was seen of them at some cycles, of each by itself or of those of a kind that leave a router together.
//!
//! **The invariant it keeps:** what is written down has at most as many rows as the scenario was checked for, however many links there are.

use serde::{Deserialize, Serialize};
use tailback_network::{LinkStates, SelectedLinks};
use tailback_report::{Cell, Column, Kind, Table};
use tailback_scenario::{LinkRows, LinkSampling, Scenario};
use tailback_topology::{Peer, Topology};

/// Which links are looked at, and in which row of an instant each is told of.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkLayout {
    pub selected: SelectedLinks,
    /// By link.
    rows: Vec<u32>,
    /// By row: its first link, and how many it has.
    firsts: Vec<usize>,
    counts: Vec<u32>,
}

impl LinkLayout {
    pub fn new(topology: &dyn Topology, sampling: LinkSampling) -> Self {
        let mut layout = Self { selected: SelectedLinks::of_classes(topology, sampling.classes), ..Self::default() };
        // By class: the last router that has links of it, and their row.
        let mut last = vec![None; topology.link_classes().len()];
        for (place, &(router, port)) in layout.selected.links().iter().enumerate() {
            let class = topology.link_class(router, port).index();
            let known = last[class].filter(|&(of, _)| of == router && sampling.rows == LinkRows::Routers);
            let row = known.map_or(layout.counts.len(), |(_, row)| row);
            if row == layout.counts.len() {
                layout.firsts.push(place);
                layout.counts.push(0);
            }
            layout.counts[row] += 1;
            layout.rows.push(row as u32);
            last[class] = Some((router, row));
        }
        layout
    }

    /// How many rows an instant has.
    pub fn count(&self) -> usize {
        self.counts.len()
    }
}

/// What was seen of selected links. The lists go on by the rows of one instant after those of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkRecord {
    /// The cycles of the instants.
    cycles: Vec<u64>,
    /// Flits that were sent since the instant before, while it was measured; of the links of a row together, and the most of one of them.
    sent: Vec<u32>,
    most_sent: Vec<u32>,
    /// By link: those that were sent in all.
    sent_so_far: Vec<u32>,
    blocked_heads: Vec<u16>,
    stalled_heads: Vec<u16>,
    /// By row and virtual channel.
    taken: Vec<u32>,
    vcs: usize,
}

impl LinkRecord {
    /// Notes what was seen at an instant.
    pub fn note(&mut self, cycle: u64, states: &LinkStates, layout: &LinkLayout) {
        let (first, vcs) = (self.sent.len(), states.vcs);
        let until = first + layout.count();
        self.cycles.push(cycle);
        self.vcs = vcs;
        self.sent_so_far.resize(states.sent.len(), 0);
        self.sent.resize(until, 0);
        self.most_sent.resize(until, 0);
        self.blocked_heads.resize(until, 0);
        self.stalled_heads.resize(until, 0);
        self.taken.resize(until * vcs, 0);
        for (link, &row) in layout.rows.iter().enumerate() {
            let row = first + row as usize;
            let (sent, before) = (states.sent[link], &mut self.sent_so_far[link]);
            let since = sent.saturating_sub(*before);
            *before = sent.max(*before);
            self.sent[row] += since;
            self.most_sent[row] = self.most_sent[row].max(since);
            for (all, heads) in
                [(&mut self.blocked_heads, &states.blocked_heads), (&mut self.stalled_heads, &states.stalled_heads)]
            {
                all[row] = all[row].saturating_add(heads[link]);
            }
            let taken = &mut self.taken[row * vcs..][..vcs];
            taken.iter_mut().zip(&states.taken[link * vcs..]).for_each(|(all, &flits)| *all += u32::from(flits));
        }
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.sent.len()
    }

    /// A row for each link, or for all links of a kind of a router, and instant, warm-up included.
    pub fn table(&self, scenario: &Scenario, sampling: LinkSampling) -> Table {
        let topology = scenario.topology.built.graph();
        let layout = LinkLayout::new(topology.as_ref(), sampling);
        let together = sampling.rows == LinkRows::Routers;
        let mut table = Table::new(self.columns(together));
        let links = layout.selected.links();
        let of_row = |&first: &usize| place(topology.as_ref(), links[first], together);
        let places: Vec<Vec<Cell>> = layout.firsts.iter().map(of_row).collect();
        let instants = self.cycles.iter().flat_map(|cycle| (0..layout.count()).map(move |place| (cycle, place)));
        for (row, (&cycle, place)) in instants.enumerate() {
            let (router, port) = links[layout.firsts[place]];
            let class = topology.link_class(router, port).index();
            // Flits are counted while it is measured only.
            let is_measured = cycle >= scenario.measure.warmup + sampling.every;
            let ticks = sampling.every * u64::from(scenario.clock.ticks_per_cycle);
            let flit_ticks = f64::from(scenario.network.links[class].flit_ticks);
            let busy = |flits: u32, links: u32| {
                let share = f64::from(flits) * flit_ticks / ticks as f64 / f64::from(links);
                Cell::from(is_measured.then_some(share))
            };
            let mut cells: Vec<Cell> = vec![cycle.into()];
            cells.extend(places[place].iter().cloned());
            cells.push(busy(self.sent[row], layout.counts[place]));
            cells.extend([self.blocked_heads[row], self.stalled_heads[row]].map(|count| Cell::from(u64::from(count))));
            let leads_to_router = matches!(topology.peer(router, port), Peer::Router { .. });
            let taken = &self.taken[row * self.vcs..][..self.vcs];
            cells.extend(taken.iter().map(|&flits| Cell::from(leads_to_router.then_some(u64::from(flits)))));
            if together {
                cells.extend([u64::from(layout.counts[place]).into(), busy(self.most_sent[row], 1)]);
            }
            table.push(cells);
        }
        table
    }

    fn columns(&self, together: bool) -> Vec<Column> {
        let whole = |name: &str| Column::new(name, Kind::Integer);
        let mut columns = vec![whole("cycle"), Column::text("kind")];
        columns.extend(["router", "port", "node", "to_router"].map(whole));
        columns.push(Column::new("utilisation", Kind::Number));
        columns.extend(["blocked_heads", "stalled_heads"].map(whole));
        columns.extend((0..self.vcs).map(|vc| whole(&format!("occupied_vc{vc}"))));
        if together {
            columns.extend([whole("links"), Column::new("utilisation_max", Kind::Number)]);
        }
        columns
    }
}

/// The cells that say which link it is: its kind, the router and the port that it leaves by, where it leads to. Of several links together only
/// the kind and the router.
fn place(topology: &dyn Topology, (router, port): (u32, u8), together: bool) -> Vec<Cell> {
    let class = topology.link_classes()[topology.link_class(router, port).index()];
    let (kind, node, far) = match topology.peer(router, port) {
        Peer::Node(node) => ("ejection", Some(u64::from(node)), None),
        Peer::Router { router, .. } => (class, None, Some(u64::from(router))),
        Peer::Nothing => (class, None, None),
    };
    let of_link = |number: Option<u64>| Cell::from(number.filter(|_| !together));
    vec![kind.into(), u64::from(router).into(), of_link(Some(port.into())), of_link(node), of_link(far)]
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use tailback_scenario::Document;

    use super::*;
    use crate::{Ending, Findings, Run};

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
        let known: Vec<&str> = table.metadata.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((known, &table.metadata[0].1), (vec!["scenario_digest", "seed"], &scenario.digest));
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

    /// What is told of a router is what is told of its links, added up.
    #[test]
    fn links_of_a_router_may_be_told_together() {
        let (scenario, findings) = found(&["measure.links={ every = 100, by = \"router\" }"], 1);
        let together = findings.links(&scenario).expect("it is asked for");
        let (scenario, findings) = found(&["measure.links={ every = 100 }"], 1);
        let links = findings.links(&scenario).expect("it is asked for");
        let sum = |table: &Table, rows: &[Vec<Cell>], name: &str| {
            let column = table.column(name).expect("it is there");
            rows.iter().filter_map(|row| row[column].number()).sum::<f64>()
        };
        assert_eq!((together.rows.len(), links.rows.len()), (8, 4 * 8));
        for (row, of_links) in together.rows.chunks(1).zip(links.rows.chunks(4)) {
            let column = |name: &str| sum(&together, row, name);
            assert_eq!([column("links"), column("router")], [4.0, 0.0]);
            assert_eq!(row[0][together.column("port").expect("it is there")], Cell::Empty);
            assert_eq!(column("cycle"), sum(&links, &of_links[..1], "cycle"));
            for name in ["blocked_heads", "stalled_heads", "occupied_vc0"] {
                assert_eq!(column(name), sum(&links, of_links, name), "{name}");
            }
            assert!((4.0 * column("utilisation") - sum(&links, of_links, "utilisation")).abs() < 1e-9);
            let busiest = (0..4).map(|link| sum(&links, &of_links[link..=link], "utilisation")).fold(0.0, f64::max);
            assert_eq!(column("utilisation_max"), busiest);
        }
    }

    /// It is asked to stop each time, also in the cycles in which it looks.
    #[test]
    fn nothing_is_missed_where_a_run_is_stopped_and_goes_on() {
        let (scenario, expected) = found(&[LOOK], 1);
        let mut run = Run::new(&scenario, 1).expect("there is nothing to start");
        let mut stops = 0;
        while run.finish(|_| ControlFlow::Break(())).expect("nothing goes wrong") == Ending::Stopped {
            stops += 1;
        }
        assert!(stops >= 8, "{stops}");
        assert_eq!(run.findings().expect("everything adds up").samples, expected.samples);
    }

    #[test]
    fn looking_changes_no_result() {
        let ((_, with), (_, without)) = (found(&[LOOK], 2), found(&[], 1));
        assert_eq!(with.digest(), without.digest());
        assert_eq!(found(&[LOOK], 1).1.samples, with.samples);
    }
}

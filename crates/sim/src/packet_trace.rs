//! The trace of packets from a node to another, for people: what happened to each, and where their time went.

use std::collections::BTreeMap;
use std::fmt;

use tailback_network::{TraceEvent, TracedPackets};
use tailback_scenario::Scenario;

use crate::message_trace::{TraceLine, write_table};
use crate::packet_path::packet_paths;
use crate::trace_words::Teller;

/// The trace of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketTrace {
    /// What happened, packet by packet in the order in which they left, and in order of time.
    pub lines: Vec<TraceLine>,
    /// How many packets are traced, and how many of them have arrived.
    pub packets: usize,
    /// Those of them that have arrived.
    pub arrived: usize,
    /// Packets that left later and are not told of, as enough are.
    pub left_out: u64,
    /// Of packets that have arrived, the mean cycles that they spent in a part of their way and for what; together their mean latency from the
    /// offer of their messages.
    pub parts: Vec<(&'static str, &'static str, f64)>,
}

impl PacketTrace {
    /// The trace of packets of a scenario, from what all regions have noted until `now`.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        regions: impl Iterator<Item = &'a [TraceEvent]>,
        left_out: u64,
        now: u64,
    ) -> Self {
        let (events, _) = TraceEvent::in_order(regions, usize::MAX);
        let (paths, about) = packet_paths(scenario, &events, now);
        let mut teller = Teller::new(scenario, None);
        let mut lines: Vec<(usize, TraceLine)> = Vec::new();
        for (event, packet) in events.iter().zip(about) {
            let packet = packet.expect("what is noted is about packets");
            let line = teller.line(event);
            lines.push((packet, TraceLine { packet: format!("{packet}: {}", line.packet), ..line }));
        }
        lines.sort_by_key(|&(packet, _)| packet);
        let arrived: Vec<_> = paths.iter().filter(|path| path.arrived).collect();
        let mut sums = BTreeMap::new();
        for stretch in arrived.iter().flat_map(|path| &path.stretches) {
            *sums.entry((order(stretch.track.part()), stretch.track.part(), stretch.what)).or_insert(0) +=
                stretch.to - stretch.from;
        }
        let all = arrived.len() as f64 * f64::from(scenario.clock.ticks_per_cycle);
        let parts = sums.into_iter().map(|((_, part, what), ticks)| (part, what, ticks as f64 / all)).collect();
        let lines = lines.into_iter().map(|(_, line)| line).collect();
        Self { lines, packets: paths.len(), arrived: arrived.len(), left_out, parts }
    }
}

/// The place of a part on the way.
fn order(part: &str) -> usize {
    const PARTS: [&str; 6] = ["send queue", "injection link", "input buffer", "output", "link", "delivery"];
    PARTS.iter().position(|&known| known == part).unwrap_or(PARTS.len())
}

impl fmt::Display for PacketTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, packets, arrived, left_out, parts } = self;
        if *packets == 0 {
            return writeln!(f, "No packet leaves.");
        }
        write_table(lines, f)?;
        if *left_out > 0 {
            writeln!(f, "The trace has the first {packets} packets: {left_out} that left later are left out.")?;
        }
        if *arrived == 0 {
            return writeln!(f, "\nNone of {packets} traced packets has arrived.");
        }
        let mean: f64 = parts.iter().map(|(.., cycles)| cycles).sum();
        writeln!(
            f,
            "\n{arrived} of {packets} traced packets have arrived, {mean:.2} cycles on average after their messages were offered:\n"
        )?;
        let width = parts.iter().map(|(part, ..)| part.len()).max().unwrap_or(0).max("where".len());
        writeln!(f, "{:>10}  {:width$}  for what", "cycles", "where")?;
        for (part, what, cycles) in parts {
            writeln!(f, "{cycles:>10.2}  {part:width$}  {what}")?;
        }
        Ok(())
    }
}

/// Which packets are to be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketChoice {
    /// The node that sends them.
    pub source: u32,
    /// The node that they are for.
    pub destination: u32,
    /// The most of them that are traced.
    pub most: u32,
    /// The first cycle in which they leave.
    pub from_cycle: u64,
}

/// Why such packets cannot be traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchPackets {
    /// A node does not exist.
    #[error("there is no node {node}: the network has {nodes} nodes, from 0 on")]
    NoNode {
        /// The node.
        node: u32,
        /// How many there are.
        nodes: u32,
    },
}

impl fmt::Display for PacketChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packets of node {} for node {}", self.source, self.destination)?;
        if self.from_cycle > 0 {
            write!(f, " from cycle {} on", self.from_cycle)?;
        }
        Ok(())
    }
}

impl PacketChoice {
    /// The packets of a scenario.
    ///
    /// # Errors
    /// When a node does not exist.
    pub fn find(self, scenario: &Scenario) -> Result<TracedPackets, NoSuchPackets> {
        let Self { source, destination, most, from_cycle } = self;
        let nodes = scenario.topology.built.graph().nodes();
        if let Some(node) = [source, destination].into_iter().find(|&node| node >= nodes) {
            return Err(NoSuchPackets::NoNode { node, nodes });
        }
        let from = from_cycle.saturating_mul(u64::from(scenario.clock.ticks_per_cycle));
        Ok(TracedPackets { source, destination, from, most })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use tailback_scenario::Document;

    use super::*;
    use crate::Run;

    /// Nodes 0 to 2 and 8 send to node 13 more than its link can take.
    const HOT: &str = "
        routing = \"minimal\"
        [topology.dragonfly]
        p = 2
        a = 4
        h = 2
        g = 9
        [links.injection]
        buffer = 16
        [[traffic]]
        from = [0, 1, 2, 8]
        load = 0.6
        size = 24
        pattern.hot-spot.to = [13]
        [measure]
        warmup = 100
        cycles = 900
        ";

    fn scenario(overrides: &[&str]) -> Scenario {
        let document = overrides.iter().fold(Document::read("hot.toml", HOT), |document, set| document.with(set));
        document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
    }

    fn traced(overrides: &[&str], threads: usize, most: u32) -> (String, PacketTrace) {
        let scenario = scenario(overrides);
        let choice = PacketChoice { source: 8, destination: 13, most, from_cycle: 0 };
        let packets = choice.find(&scenario).expect("the nodes exist");
        let mut run = Run::tracing(&scenario, threads, packets).expect("threads start");
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        (run.findings().expect("everything adds up").digest(), run.packet_trace().expect("packets are traced"))
    }

    /// What packets wait for is there, in the interface as well as in routers; enough is enough.
    #[test]
    fn packets_tell_what_they_wait_for_and_are_not_more_than_wanted() {
        let (digest, trace) = traced(&[], 1, 12);
        assert_eq!((trace.packets, trace.lines.iter().filter(|line| line.event.starts_with("sent")).count()), (12, 12));
        assert!(trace.left_out > 0 && trace.arrived > 3, "{trace}");
        for part in [("send queue", "packets before it"), ("input buffer", "crossbar output"), ("link", "on the link")]
        {
            assert!(trace.parts.iter().any(|&(where_it_is, what, _)| part == (where_it_is, what)), "{part:?}: {trace}");
        }
        let (plain, _) = traced(&[], 1, 1);
        assert_eq!(digest, plain, "a trace changes nothing");
        let text = trace.to_string();
        assert!(text.contains("The trace has the first 12 packets: ") && text.contains("have arrived, "), "{text}");
    }

    #[test]
    fn a_trace_is_the_same_however_it_is_run() {
        let expected = traced(&[], 0, 12);
        for (partition, threads) in [("router", 2), ("domain", 3), ("single", 1)] {
            assert_eq!(traced(&[&format!("execution.partition={partition}")], threads, 12), expected, "{partition}");
        }
    }

    /// What the parts say is the latency: from the offer of the message to the last flit.
    #[test]
    fn parts_add_up() {
        let scenario = scenario(&[]);
        let packets = PacketChoice { source: 8, destination: 13, most: 50, from_cycle: 200 };
        let packets = packets.find(&scenario).expect("the nodes exist");
        let mut run = Run::tracing(&scenario, 1, packets).expect("there is nothing to start");
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        let trace = run.packet_trace().expect("packets are traced");
        let number = |text: &str, after: &str| -> f64 {
            let end = text.split(after).next().and_then(|text| text.split_whitespace().last());
            end.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{text}"))
        };
        let (mut sums, mut latencies) = (BTreeMap::new(), Vec::new());
        for line in &trace.lines {
            if line.event.starts_with("sent") {
                assert!(line.cycle >= 200.0, "{line:?}");
                sums.insert(line.packet.clone(), number(&line.event, " cycle"));
            } else if line.event.starts_with("received") {
                latencies.push(sums[&line.packet] + number(&line.event, " cycle"));
            }
        }
        let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
        let parts: f64 = trace.parts.iter().map(|(.., cycles)| cycles).sum();
        assert_eq!(latencies.len(), trace.arrived);
        assert!((parts - mean).abs() < 1e-6, "{parts} is not {mean}");
    }

    #[test]
    fn nodes_that_do_not_exist_are_refused() {
        let choice = PacketChoice { source: 8, destination: 72, most: 1, from_cycle: 0 };
        assert_eq!(choice.find(&scenario(&[])), Err(NoSuchPackets::NoNode { node: 72, nodes: 72 }));
    }
}

//! Entropy values: a protocol that gives each packet another one, so that hashing spreads the packets of a flow over all paths.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, NetworkRegion, NicSpec, SourceQueues};
use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Hooks, KindDeclaration, Outgoing, PacketKind, Protocol, Sink,
    SinkAction, Source, SourceAction, Station, TrafficClass, Verdict, remember, write_down,
};
use tailback_topology::LinkClass;
use tailback_workload::{Arrival as Arrivals, MessageSize, NodeSet, Pattern, Phase, Traffic};

use crate::notes::NoteTaker;
use crate::sample::{Route, Sample, Topo, fixed};

const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);

/// Each packet has the next of so many entropy values; acknowledgements bring it back.
#[derive(Clone, Copy, Debug)]
pub struct Spray {
    pub values: u16,
}

impl Protocol for Spray {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![KindDeclaration::DATA, KindDeclaration::control("acknowledgements", Direction::Feedback, 1)]
    }

    fn hooks(&self) -> Hooks {
        Hooks { entropy: true, ..Hooks::default() }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(SpraySource { values: self.values, next: 0, missing: 0 }))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(*self))
    }

    fn describe(&self) -> String {
        format!("spray: {} entropy values in turn", self.values)
    }
}

impl Sink for Spray {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(arrival.acknowledgement(ACKNOWLEDGEMENT)));
    }
}

#[derive(Debug)]
struct SpraySource {
    values: u16,
    next: u16,
    /// The sum of all values that packets have left with and have not come back.
    missing: i64,
}

impl Source for SpraySource {
    fn may_send(&mut self, _: &Outgoing, _: u64, _: &mut Vec<SourceAction>) -> Verdict {
        Verdict::Send { kind: PacketKind::DATA, marks: 0 }
    }

    fn entropy(&mut self, _: &Outgoing, _: u64) -> u16 {
        self.next = (self.next + 1) % self.values;
        self.missing += i64::from(self.next);
        self.next
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, _: &mut Vec<SourceAction>) {
        self.missing -= i64::from(control.entropy);
        assert!(self.missing >= 0, "a value comes back that no packet had");
    }

    fn is_idle(&self) -> bool {
        self.missing == 0
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(self.next, self.missing), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.next, self.missing) = remember(bytes)?;
        Some(())
    }
}

/// Eight leaf switches with eight nodes and eight spines.
const TREE: Topo =
    ("two-level-tree", &[("nodes_per_leaf", &[8]), ("leaves", &[8]), ("spines", &[8]), ("parallel", &[1])]);
const CYCLES: u64 = 4000;

/// Each node sends to the node at the same place of the next leaf. Returns the flits that each link between switches has sent, fewest
/// first, and the data packets that have arrived.
fn run(values: u16) -> (Vec<u32>, usize) {
    let routing: Route = ("nearest-common-ancestor", &[("up", "hash"), ("vcs", "1")]);
    let sample = fixed(TREE);
    let nic = NicSpec { queues: SourceQueues::PerDestination, ..sample.nic };
    let protocol = Arc::new(Spray { values });
    let sample = Sample { routing, buffer_packets: vec![8, 8], protocol, nic, ..sample };
    let any = sample.topology();
    let nodes = any.graph().nodes();
    let pattern = Pattern::shift(&NodeSet::all(nodes), nodes, 8).expect("there are two leaves");
    let (sources, phases) = (NodeSet::all(nodes), vec![Phase { from_cycle: 0, pattern, load: 0.5 }]);
    let traffic = Traffic::new("all".to_owned(), sources, MessageSize::Fixed(4), Arrivals::Bernoulli, phases);
    let plan = sample.plan_with(&any, traffic);
    let end = CYCLES * u64::from(plan.spec.ticks_per_cycle);
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::of_packets());
    simulation.run_until(end, &Sequential, |_| ControlFlow::Continue(()));
    let region = simulation.regions().next().expect("there is one region");
    let mut loads = Vec::new();
    region.visit_links(end, |_, _, class, flits| loads.extend((class != LinkClass::TERMINAL).then_some(flits)));
    loads.sort_unstable();
    (loads, region.observer().packets().iter().filter(|(_, packet)| packet.kind == PacketKind::DATA).count())
}

/// With one value for all, flows collide: some links have several of them, and others none. With another value for each packet, all
/// links carry the same load, and more arrives.
#[test]
fn flows_collide_and_sprayed_packets_do_not() {
    let ((by_flow, few), (sprayed, many)) = (run(1), run(4096));
    let idle = by_flow.iter().filter(|&&flits| flits == 0).count();
    assert!(20 * idle >= by_flow.len(), "{idle} of {} links are idle: {by_flow:?}", by_flow.len());
    let busiest = f64::from(*by_flow.last().expect("there are links")) / CYCLES as f64;
    assert!(busiest > 0.95, "flows that collide want more than a link carries, and it carries {busiest}");
    let mean = f64::from(sprayed.iter().sum::<u32>()) / sprayed.len() as f64;
    let alike = |&flits: &u32| (0.85..1.15).contains(&(f64::from(flits) / mean));
    assert!(sprayed.iter().all(alike), "links carry {mean} flits on average: {sprayed:?}");
    assert!(10 * many > 11 * few, "{few} packets arrive with one value, {many} with many");
}

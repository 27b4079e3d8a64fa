//! Ports that have only an input or only an output, and nodes that inject into one router and eject from another.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, NetworkRegion, Plain, RouterSpec, ZeroLoad};
use tailback_random::Stream;
use tailback_routing::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};
use tailback_topology::{LinkClass, Locator, NodeId, Peer, Port, RouterId, Topology};
use tailback_workload::{Arrival, MessageSize, NodeSet, Pattern, Phase, Traffic};

use crate::conservation::{SILENT_FROM, conserves};
use crate::determinism::is_determined;
use crate::notes::NoteTaker;
use crate::sample::{Sample, fixed};

/// Three routers in a line of one-way links. Eight nodes inject into the first two and eject from the last two.
#[derive(Clone, Debug)]
struct Line;

const NODES: u32 = 8;
const ROUTERS: u32 = 3;
/// The first port that leads to a node, the port that comes from the router before, the port that leads to the next one.
const EJECTION: Port = 4;
const FROM_BEFORE: Port = 8;
const TO_NEXT: Port = 9;

impl Topology for Line {
    fn name(&self) -> &'static str {
        "line"
    }

    fn describe(&self) -> String {
        "a line".to_owned()
    }

    fn nodes(&self) -> u32 {
        NODES
    }

    fn routers(&self) -> u32 {
        ROUTERS
    }

    fn ports(&self, _router: RouterId) -> u32 {
        u32::from(TO_NEXT) + 1
    }

    fn radix(&self) -> u32 {
        self.ports(0)
    }

    fn peer(&self, router: RouterId, port: Port) -> Peer {
        let node = (0..NODES).find(|&node| self.attachment(node) == (router, port));
        match node {
            Some(node) => Peer::Node(node),
            None if port == TO_NEXT && router + 1 < ROUTERS => Peer::Router { router: router + 1, port: FROM_BEFORE },
            None => Peer::Nothing,
        }
    }

    fn feeder(&self, router: RouterId, port: Port) -> Peer {
        let node = (0..NODES).find(|&node| self.injection(node) == (router, port));
        match node {
            Some(node) => Peer::Node(node),
            None if port == FROM_BEFORE && router > 0 => Peer::Router { router: router - 1, port: TO_NEXT },
            None => Peer::Nothing,
        }
    }

    fn link_class(&self, _router: RouterId, port: Port) -> LinkClass {
        LinkClass(u8::from(port == TO_NEXT))
    }

    fn link_classes(&self) -> &[&'static str] {
        &["terminal", "line"]
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        (1 + node / 2 % 2, EJECTION + (node % 2 + node / 4 * 2) as Port)
    }

    fn injection(&self, node: NodeId) -> (RouterId, Port) {
        (node % 2, (node / 2) as Port)
    }

    fn routers_reach_all_nodes(&self) -> bool {
        false
    }

    fn locator(&self, node: NodeId) -> Locator {
        Locator(node)
    }

    fn distance(&self, from: RouterId, to: RouterId) -> u32 {
        to - from
    }

    fn domains(&self) -> u32 {
        ROUTERS
    }

    fn domain(&self, router: RouterId) -> u32 {
        router
    }

    fn channel_class(&self, router: RouterId, port: Port) -> u8 {
        if port == TO_NEXT { router as u8 + 1 } else { 0 }
    }

    fn channel_class_name(&self, class: u8) -> String {
        class.to_string()
    }
}

/// On along the line until the destination is there.
#[derive(Clone, Debug)]
struct Along(RouterId);

impl Along {
    fn step(router: RouterId, header: Header) -> Step {
        let (last, port) = Line.attachment(header.destination().0);
        Step { port: if router == last { port } else { TO_NEXT }, vc: 0, vcs: 1, validity: Validity::Always, header }
    }
}

impl Routing for Along {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::new(Line)
    }

    fn virtual_channels(&self) -> Vec<u8> {
        vec![1, 1]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(Self(router))
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        vec![(ChannelKind { class: 1, vc: 0 }, ChannelKind { class: 2, vc: 0 })]
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        steps.push(Self::step(router, header));
    }

    fn describe(&self) -> String {
        "along".to_owned()
    }
}

impl Agent for Along {
    fn route(&mut self, _entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        Self::step(self.0, *header)
    }

    fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
        false
    }
}

/// The plan of the line in which nodes send packets of 4 flits until some cycle.
fn plan(sample: &Sample, pattern: &Pattern, sources: NodeSet, load: f64, until: u64) -> tailback_network::NetworkPlan {
    let phases = vec![
        Phase { from_cycle: 0, pattern: pattern.clone(), load },
        Phase { from_cycle: until, pattern: pattern.clone(), load: 0.0 },
    ];
    let traffic = Traffic::new("all".to_owned(), sources, MessageSize::Fixed(4), Arrival::Bernoulli, phases);
    sample.plan_of(Arc::new(Line), vec![Arc::new(Along(0))], traffic)
}

fn line() -> Sample {
    Sample { latencies: vec![3, 5, 7], ..fixed(("single-switch", &[])) }
}

#[test]
fn everything_arrives_and_adds_up() {
    let voqs = RouterSpec { virtual_output_queues: true, ..line().router };
    for sample in [line(), Sample { router: voqs, ..line() }] {
        let uniform = Pattern::uniform(NodeSet::all(NODES), true).expect("there are nodes");
        let plan = plan(&sample, &uniform, NodeSet::all(NODES), 0.9, SILENT_FROM);
        conserves::<General>(plan.clone(), "destination-tag").unwrap();
        // With a region for each router half of the nodes inject in one region and eject from another.
        is_determined::<General>(&plan, &[0, 1, 2], 7).unwrap();
        if plan.suits::<Plain>() {
            conserves::<Plain>(plan.clone(), "destination-tag").unwrap();
            is_determined::<Plain>(&plan, &[2, 0, 1], 3).unwrap();
        }
    }
}

#[test]
fn alone_is_by_formula() {
    for (source, destination) in (0..NODES).flat_map(|source| (0..NODES).map(move |to| (source, to))) {
        let only = |node: u32| NodeSet::of(&[node.into()], NODES).expect("the node exists");
        let pattern = Pattern::uniform(only(destination), true).expect("one is enough");
        let plan = plan(&line(), &pattern, only(source), 4.0, 1);
        let links = Line.distance(Line.injection(source).0, Line.attachment(destination).0);
        let expected = ZeroLoad::new(&plan.spec, &vec![LinkClass(1); links as usize], 4).total();
        let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::of_packets());
        simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
        let region = simulation.regions().next().expect("there is one region");
        let latencies: Vec<u64> =
            region.observer().packets().iter().map(|(tick, packet)| tick - packet.created()).collect();
        assert_eq!(latencies, [expected], "from {source} to {destination}");
    }
}

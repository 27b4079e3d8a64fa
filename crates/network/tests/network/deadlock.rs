//! Packets that wait for each other in a circle are found, and the circle is named.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{FIGURES, InProcess, Notice, Ranks, Region, Sequential, Simulation, Tick, Watcher};
use tailback_network::{
    Abroad, Balance, General, Ledger, NetworkPlan, NetworkRegion, Partition, Plain, WaitGraph, audit, find_deadlock,
    last_hop, wait_graph,
};
use tailback_random::Stream;
use tailback_routing::{Agent, ChannelKind, Header, PortVc, Routing, Step, View, deadlock};
use tailback_topology::{Dragonfly, RouterId, Topology};

use crate::notes::NoteTaker;
use crate::sample;

/// Round a group of routers in one direction on one virtual channel: what every textbook warns of. The second decides anew at each
/// attempt.
#[derive(Clone, Debug)]
struct Ring(Arc<Dragonfly>, bool);

impl Ring {
    fn step(&self, router: RouterId, header: Header) -> Step {
        let (_, destination, port) = Dragonfly::locate(header.destination());
        let (_, in_group) = self.0.position(router);
        let port = if in_group == destination {
            port
        } else {
            self.0.local_port(in_group, (in_group + 1) % self.0.routers_per_group())
        };
        Step::by(PortVc { port, vc: 0 }, header).settled(!self.1)
    }
}

impl Routing for Ring {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.0) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        vec![1, 1, 1]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(RingAgent(router, self.clone()))
    }

    fn revises(&self) -> bool {
        self.1
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let local = ChannelKind { class: self.0.channel_class(0, self.0.local_port(0, 1)), vc: 0 };
        vec![(local, local)]
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        if header.is_anywhere() {
            let nodes = (0..self.0.nodes()).step_by(self.0.nodes_per_router() as usize);
            steps.extend(nodes.map(|node| self.step(router, header.towards(self.0.locator(node)))));
        } else {
            steps.push(self.step(router, header));
        }
    }

    fn describe(&self) -> String {
        "round the ring".to_owned()
    }
}

struct RingAgent(RouterId, Ring);

impl Agent for RingAgent {
    fn route(&mut self, _entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        self.1.step(self.0, *header)
    }

    fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
        false
    }
}

fn plan() -> NetworkPlan {
    plan_of(false)
}

fn plan_of(revises: bool) -> NetworkPlan {
    let topology = Arc::new(Dragonfly::new(2, 5, 1, 1, tailback_topology::Arrangement::Palmtree).expect("it exists"));
    let sample = sample::fixed(("dragonfly", &[("p", &[2]), ("a", &[5]), ("h", &[1]), ("g", &[1])]));
    let plan = sample.plan(u64::MAX);
    NetworkPlan { routings: vec![Arc::new(Ring(topology, revises))], ..plan }
}

fn finds_the_ring<M: tailback_network::Microarchitecture>(revises: bool) {
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan_of(revises).build(|_| NoteTaker::default());
    assert_eq!(find_deadlock(&simulation), None, "an empty network stands still for lack of packets");
    simulation.run_until(100_000, &Sequential, |_| ControlFlow::Continue(()));
    assert!(last_hop(&simulation) < 50_000, "packets move");
    assert!(audit(&simulation).expect("what stands still adds up").packets_under_way > 0);
    let deadlock = find_deadlock(&simulation).expect("the ring is closed");
    assert_eq!(deadlock.to_string(), "packets in 5 buffers wait for each other in a circle");
    let lines = deadlock.describe(plan().topology.as_ref());
    assert_eq!(lines.len(), 5);
    for router in 0..5 {
        let name = plan().topology.router_name(router);
        assert!(lines.iter().any(|line| line.starts_with(&name)), "{name} is missing in {lines:?}");
    }
}

#[test]
fn a_ring_without_a_dateline_is_named() {
    for revises in [false, true] {
        finds_the_ring::<General>(revises);
        finds_the_ring::<Plain>(revises);
    }
}

/// The watcher of a rank that nobody watches.
struct Nobody;

impl<R: Region> Watcher<R> for Nobody {
    fn figures(&mut self, _: &Simulation<R>) -> [u64; FIGURES] {
        [0; FIGURES]
    }

    fn watch(&mut self, _: Tick, _: &[Notice]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Ranks of which none has all routers of the ring find it together, and their buffers add up, although each feeds buffers of
/// the next.
#[test]
fn ranks_that_hold_parts_of_a_ring_find_it_together() {
    let (topology, end) = (plan().topology, 20_000);
    let plan = || NetworkPlan { partition: Partition::by_router(topology.as_ref()), ..plan() };
    let mut alone = plan().build::<_, Plain>(|_| NoteTaker::default());
    alone.run_until(end, &Sequential, |_| ControlFlow::Continue(()));
    let rank = |exchange: InProcess| {
        let mut ranks = Ranks::new(Box::new(exchange), &[1; 5]);
        let mut part = plan().build_part::<_, Plain>(ranks.mine(), |_| NoteTaker::default());
        assert_eq!(part.regions().len(), ranks.mine().len(), "a rank holds what is its own");
        part.run_until_together(end, &Sequential, &mut ranks, &mut Nobody).expect("all ranks are there");
        let mut ledger = Ledger::of(&part);
        let abroad: Vec<Abroad> = ledger.take_abroad().collect();
        let own = abroad.iter().all(|found| ranks.owner(found.router(topology.as_ref())) != ranks.rank());
        assert!(own && !abroad.is_empty());
        // In place of letters: each rank is told all, and takes what is about routers of its own.
        (wait_graph(&part), abroad, ranks.mine(), part)
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = InProcess::ranks(3).into_iter().map(|exchange| scope.spawn(|| rank(exchange))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("it does not panic")).collect()
    });
    let (mut graph, mut sum) = (WaitGraph::default(), Balance::default());
    for (own, _, mine, part) in &parts {
        assert_eq!(own.deadlock(), None, "a part of a ring is none");
        graph.merge(own.clone());
        let mut ledger = Ledger::of(part);
        ledger.take_abroad().for_each(drop);
        let abroad = parts.iter().flat_map(|(_, abroad, ..)| abroad);
        let about_own = abroad.filter(|found| mine.contains(&(found.router(topology.as_ref()) as usize)));
        about_own.for_each(|&found| ledger.add(found));
        sum.merge(&ledger.balance().expect("the buffers of each rank add up"));
        let mut cut = Ledger::of(part);
        cut.take_abroad().for_each(drop);
        assert!(cut.balance().is_err(), "what others hold is missing");
    }
    assert_eq!(graph.deadlock(), find_deadlock(&alone));
    assert!(graph.deadlock().is_some());
    assert_eq!(sum.holdings(), audit(&alone));
}

#[test]
fn and_the_proof_has_refused_it() {
    let refusal = deadlock::prove(plan().routings[0].as_ref()).expect_err("there is a cycle");
    assert!(matches!(refusal, deadlock::Unproven::Cycle(channels) if channels.len() == 5));
}

//! A group of routers that send all packets round in one direction, on one virtual channel. No scenario is accepted whose packets can wait for each other in
//! a circle, so this one is given another routing afterwards.

use std::sync::Arc;

use tailback_random::Stream;
use tailback_routing::{Agent, ChannelKind, Header, PortVc, Routing, Step, View};
use tailback_scenario::{Document, Scenario};
use tailback_topology::{Arrangement, Dragonfly, RouterId, Topology};

const GROUP: &str = "
    routing.minimal = {}
    [topology.dragonfly]
    p = 2
    a = 5
    h = 1
    g = 1
    arrangement = \"palmtree\"
    [execution]
    partition = \"router\"
    deadlock_after = 1000
    [[traffic]]
    pattern = \"uniform\"
    load = 0.9
    [measure]
    warmup = 0
    cycles = 1000000
    ";

/// All routers of a group in one direction, on one virtual channel.
#[derive(Clone, Debug)]
struct OneWay(Arc<Dragonfly>);

impl OneWay {
    fn step(&self, router: RouterId, header: Header) -> Step {
        let (_, destination, port) = Dragonfly::locate(header.destination());
        let (_, here) = self.0.position(router);
        let onwards = || self.0.local_port(here, (here + 1) % self.0.routers_per_group());
        Step::by(PortVc { port: if here == destination { port } else { onwards() }, vc: 0 }, header)
    }
}

impl Routing for OneWay {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.0) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        vec![1, 1, 1]
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(OneWayAgent(router, self.clone()))
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let local = ChannelKind { class: self.0.channel_class(0, self.0.local_port(0, 1)), vc: 0 };
        vec![(local, local)]
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        steps.push(self.step(router, header));
    }

    fn describe(&self) -> String {
        "one way round the group".to_owned()
    }
}

struct OneWayAgent(RouterId, OneWay);

impl Agent for OneWayAgent {
    fn route(&mut self, _entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        self.1.step(self.0, *header)
    }

    fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
        false
    }
}

/// What ends in a deadlock.
pub fn scenario() -> Scenario {
    let mut scenario = Document::read("group.toml", GROUP).resolve().unwrap_or_else(|why| panic!("{why}"));
    let group = Dragonfly::new(2, 5, 1, 1, Arrangement::Palmtree).expect("it exists");
    let one_way: Arc<dyn Routing> = Arc::new(OneWay(Arc::new(group)));
    scenario.routing.built = Arc::clone(&one_way);
    scenario.routings.chosen = one_way;
    scenario
}

//! Packets that wait for each other in a circle are found and named alike, however many ranks share the network. No scenario is
//! accepted whose packets can, so this one is given another routing afterwards.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_random::Stream;
use tailback_routing::{Agent, ChannelKind, Header, PortVc, Routing, Step, View};
use tailback_scenario::{Document, Scenario};
use tailback_sim::{Failure, InProcess, Run};
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

fn scenario() -> Scenario {
    let mut scenario = Document::read("group.toml", GROUP).resolve().unwrap_or_else(|why| panic!("{why}"));
    let group = Dragonfly::new(2, 5, 1, 1, Arrangement::Palmtree).expect("it exists");
    let one_way: Arc<dyn Routing> = Arc::new(OneWay(Arc::new(group)));
    scenario.routing.built = Arc::clone(&one_way);
    scenario.routings.chosen = one_way;
    scenario
}

fn finish(run: &mut Run<'_>) -> Failure {
    run.finish(|_| ControlFlow::Continue(())).expect_err("the ring is closed")
}

#[test]
fn all_ranks_end_and_the_first_one_names_the_circle() {
    let scenario = scenario();
    let alone = finish(&mut Run::new(&scenario, 0).expect("it starts"));
    let Failure::Deadlock { circle, .. } = &alone else { panic!("{alone:?}") };
    assert_eq!(circle.len(), 5, "{circle:?}");
    for ranks in 1..=4 {
        let rank =
            |exchange: InProcess| finish(&mut Run::together(&scenario, 1, Box::new(exchange)).expect("threads start"));
        let ended: Vec<Failure> = std::thread::scope(|scope| {
            let started: Vec<_> =
                InProcess::ranks(ranks).into_iter().map(|exchange| scope.spawn(move || rank(exchange))).collect();
            started.into_iter().map(|rank| rank.join().expect("it does not panic")).collect()
        });
        assert_eq!(format!("{:?}", ended[0]), format!("{alone:?}"), "on {ranks} ranks");
        assert!(ended[1..].iter().all(|failure| matches!(failure, Failure::Elsewhere)), "{ended:?}");
    }
}

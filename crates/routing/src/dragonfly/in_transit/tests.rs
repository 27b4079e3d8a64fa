//! A packet that has said until when it stays on its minimal path stays so long.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use tailback_parameters::{Value, Values};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Arrangement, Dragonfly, Port, Topology};

use super::super::sketch::Sketch;
use super::{HYBRID, OLM};
use crate::{Agent, Better, Header, PortSet, PortVc, Rivals, RoutingModel, Validity, View};

/// Two nodes, three local and two global links.
const PORTS: usize = 7;
/// Channels of a link.
const VCS: usize = 3;

/// What is at a router: flits behind each channel, and which ports admit nothing.
type Scene = (Vec<u32>, Vec<bool>);

/// The agent of a router, and the header of a packet for a node.
fn agent(model: &RoutingModel, parameters: [u64; 4], node: u32) -> (Box<dyn Agent>, Header) {
    let topology = Arc::new(Dragonfly::new(2, 4, 2, 9, Arrangement::Palmtree).expect("it exists"));
    let header = Header::new(topology.locator(node));
    let mut values = Values::default();
    for (name, value) in ["share", "minimum", "siblings", "siblings_margin"].into_iter().zip(parameters) {
        values.set(name, Value::Integer(value));
    }
    for (name, word) in [("occupancy", "channel"), ("candidates", "all"), ("counted_until", "tail")] {
        values.set(name, Value::Text(word.to_owned()));
    }
    values.set("threshold", Value::Integer(7));
    let routing = (model.build)(&AnyTopology::Dragonfly(topology), &values).expect("the values suit it");
    (routing.agent(0), header)
}

fn view((flits, shut): &Scene) -> Sketch {
    let channels = (0..PORTS as Port).flat_map(|port| (0..VCS as u8).map(move |vc| (port, vc)));
    let mut shut_ports = PortSet::default();
    (0..).zip(shut).filter(|(_, shut)| **shut).for_each(|(port, _)| shut_ports.insert(port));
    Sketch { used: channels.zip(flits.iter().copied()).collect(), shut: shut_ports, ..Sketch::new() }
}

fn scenes() -> impl Strategy<Value = Scene> {
    let flits = prop::collection::vec(0..=Sketch::CAPACITY, PORTS * VCS);
    (flits, prop::collection::vec(prop::bool::weighted(0.7), PORTS))
}

fn members(ports: u64) -> impl Iterator<Item = Port> {
    (0..PORTS as Port).filter(move |port| ports >> port & 1 != 0)
}

/// Whether a rival is better.
fn is_better(view: &Sketch, Rivals { ports, vc, better }: Rivals) -> bool {
    let mut ports = members(ports);
    match better {
        Better::Open { used_max, .. } => ports.any(|port| view.admits(port, vc) && view.used(port, vc) <= used_max),
        Better::Emptier { flits } => ports.map(|port| view.occupancy(port, vc)).sum::<u32>() < flits,
    }
}

proptest! {
    /// Whatever happens meanwhile, and without drawing.
    #[test]
    fn what_stays_until_rivaled_stays(
        model in select(&[&OLM, &HYBRID][..]),
        parameters in (0u64..=120, select(vec![0u64, 0, 40]), 0u64..=200, 0u64..=20),
        // To the next router, to the group behind a link of its own, and to one behind a link of another router.
        node in select(vec![2u32, 64, 9]),
        entry in select(vec![(0, 0), (3, 0), (3, 1), (6, 0), (6, 1)]),
        before in scenes(),
        later in prop::collection::vec(scenes(), 8),
    ) {
        let (share, minimum, siblings, margin) = parameters;
        let (mut agent, header) = agent(model, [share, minimum, siblings, margin], node);
        let entry = PortVc { port: entry.0, vc: entry.1 };
        let mut random = Stream::new(1, 0, 0);
        let before = view(&before);
        let step = agent.route(entry, &header, &before, &mut random);
        prop_assume!(step.validity == Validity::UntilRivaled);
        let rivals = agent.rivals();
        if let Better::Open { used_max, any_emptier } = rivals.better {
            let is_emptier = |port: Port| before.used(port, rivals.vc) <= used_max;
            prop_assert_eq!(any_emptier, members(rivals.ports).any(is_emptier), "whether only credits can open one");
        }
        let own = |view: &Sketch| view.occupancy(step.port, step.vc);
        for later in later.iter().map(view) {
            let leaves = later.admits(step.port, step.vc);
            if leaves || (own(&later) <= own(&before) && !is_better(&later, rivals)) {
                let undrawn = random.clone();
                let again = agent.route(entry, &header, &later, &mut random);
                let [again, step] = [again, step].map(|step| (step.port, step.vc, step.vcs, step.header));
                prop_assert_eq!(again, step);
                prop_assert_eq!(&random, &undrawn);
            }
        }
    }
}

#[test]
fn rivals_are_among_the_first_64_ports() {
    let better = Better::Open { used_max: 0, any_emptier: false };
    assert_eq!(Rivals::new(PortSet::from_range(60..64), 0, better).map(|rivals| rivals.ports), Some(0xf << 60));
    assert_eq!(Rivals::new(PortSet::from_range(60..65), 0, better), None);
}

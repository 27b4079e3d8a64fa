//! The parameters that schedulers share, and what they are read as.

use std::collections::BTreeMap;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_protocol::{Hooks, KindDeclaration, Station, TrafficClass};

use crate::output::{Order, OutputArbiter, OutputShape};
use crate::shares::Fairness;
use crate::words::REQUEST_PACKETS_MAX;

pub(crate) const fn time(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some(default), help }
}

pub(crate) const fn count(name: &'static str, max: u64, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 1, max }, default: Some(default), help }
}

pub(crate) const BUFFER: Parameter = count(
    "buffer",
    1 << 16,
    "12",
    "packets that a crosspoint in the last switch holds: one for each output and route (6)",
);

pub(crate) const REQUESTS: Parameter =
    count("requests", 1 << 20, "32", "packets of a flow that may be requested and not granted at most (6.4)");

pub(crate) const REQUEST_PACKETS: Parameter = count(
    "request_packets",
    REQUEST_PACKETS_MAX as u64,
    "1",
    "packets that a request asks for at most: of those that wait, as many as may be unanswered yet (5.1 does not say)",
);

pub(crate) const CREDIT_DELAY: Parameter = time(
    "credit_delay",
    "17",
    "what a credit takes from a node to the arbiter of its output (derived: 3 packet times of 8 cycles, less the 7 of a tail)",
);

pub(crate) const ORDER: Parameter = Parameter {
    name: "order",
    kind: Kind::Choice(&[
        Choice { word: "random", help: "each in an order of its own" },
        Choice { word: "common", help: "all in the order of the inputs" },
    ]),
    default: Some("\"random\""),
    help: "in which order output arbiters visit inputs (5.1)",
};

pub(crate) const RESEQUENCING: Parameter = count(
    "resequencing",
    1 << 24,
    "300",
    "packets that may wait at a node for others before them (6); routes times buffer less one at most do",
);

pub(crate) const ARBITER: Parameter = Parameter {
    name: "arbiter",
    kind: Kind::Choice(&[
        Choice { word: "round-robin", help: "one packet of each flow in turn" },
        Choice { word: "weighted", help: "as many packets of each flow as it has weight, spread out" },
        Choice { word: "weighted-blocks", help: "the same one after the other, flow by flow" },
        Choice {
            word: "max-min",
            help: "the flow that has had least by its weight: exactly weighted max-min fair where flows want less than that",
        },
    ]),
    default: Some("\"round-robin\""),
    help: "how an output arbiter chooses among flows (6.6)",
};

pub(crate) const WEIGHTS: Parameter = Parameter {
    name: "weights",
    kind: Kind::Integers { min: 0, max: 1 << 20 },
    default: Some("[]"),
    help: "for weighted and max-min arbiters: source, destination and weight of flows, one after the other; other flows have 1",
};

/// Places of a sender in queues of requests and grants, where nothing says otherwise.
pub(crate) const QUEUE_PLACES: u32 = 16;

/// Weights of flows, by source and destination.
type Weights = BTreeMap<(u32, u32), u32>;

/// What both schedulers have.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub buffer: u32,
    pub requests: u32,
    pub request_packets: u32,
    pub credit_delay: u64,
    pub order: Order,
    pub fairness: Fairness,
    /// Of flows that have other weights than 1.
    pub weights: Weights,
    pub resequencing: u32,
}

/// What a network has to be.
const SUITABLE: &str =
    "make it of as many spines as leaves, each leaf with as many nodes, and have packets take all spines in turn";

/// The most nodes that arbiters have numbers for.
pub(crate) const NODES_MAX: u32 = 1 << 16;

impl Terms {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        Ok(Self {
            buffer: values.integer("buffer"),
            requests: values.integer("requests"),
            request_packets: values.integer("request_packets"),
            credit_delay: delay(values, "credit_delay")?,
            order: if values.text("order") == "common" { Order::Common } else { Order::Random },
            fairness: fairness(values),
            weights: weights(values)?,
            resequencing: values.integer("resequencing"),
        })
    }

    pub fn hooks(&self) -> Hooks {
        Hooks { departures: true, offers: true, resequencing: Some(self.resequencing), ..Hooks::default() }
    }

    pub fn fits(&self, station: &Station) -> Result<(), BuildError> {
        let (nodes, routes) = (station.nodes, station.routes.count);
        if routes < 2 || u64::from(routes) * u64::from(routes) != u64::from(nodes) {
            let message = format!(
                "buffers are reserved on the routes of a Clos network with as many nodes as the square of its routes, and here are {nodes} nodes and {routes} routes"
            );
            return Err(BuildError::new(message).help(SUITABLE));
        }
        // Schedulers reckon leaves, spines and nodes of a leaf by the number of routes.
        let (routers, of_leaf) = (station.routers, station.nodes_per_router);
        if of_leaf != routes || u64::from(routers) != 2 * u64::from(routes) {
            let message = format!(
                "a Clos network with {routes} routes has {routes} spines and {routes} leaves of {routes} nodes, and here are {routers} routers, \
                 the first with {of_leaf} nodes"
            );
            return Err(BuildError::new(message).help(SUITABLE));
        }
        if nodes > NODES_MAX {
            return Err(BuildError::new(format!("there are {nodes} nodes, and arbiters have numbers for {NODES_MAX}")));
        }
        let waiting = u64::from(routes) * u64::from(self.buffer) - 1;
        if waiting > self.resequencing.into() {
            let message = format!(
                "{routes} routes with a buffer of {} packets let {waiting} packets wait for their order, and {} may",
                self.buffer, self.resequencing
            );
            return Err(BuildError::at("resequencing", message).help("raise resequencing, or make buffer smaller"));
        }
        let outside = self.weights.iter().find(|((from, to), _)| *from.max(to) >= nodes);
        if let Some(((from, to), _)) = outside {
            let message = format!("the flow from {from} to {to} has a weight, and nodes are 0..={}", nodes - 1);
            return Err(BuildError::at("weights", message).help("weigh flows between nodes that there are"));
        }
        Ok(())
    }

    /// The arbiter of an output, whose grants have `room` places on each route.
    pub fn output(&self, output: u32, room: u32, station: &Station) -> OutputArbiter {
        let &Station { nodes, routes, .. } = station;
        let (buffer, order, packet_ticks) = (self.buffer, self.order, packet_ticks(station));
        let shape = OutputShape { output, nodes, routes, buffer, room, order, packet_ticks };
        OutputArbiter::new(shape, self.fairness, &|input| self.weights.get(&(input, output)).copied().unwrap_or(1))
    }

    /// What both schedulers tell people about what they are.
    pub fn describe(&self) -> String {
        let arbiters = match self.fairness {
            Fairness::RoundRobin => "",
            Fairness::Weighted => ", weighted",
            Fairness::WeightedBlocks => ", weighted in blocks",
            Fairness::MaxMin => ", max-min fair",
        };
        let order = if self.order == Order::Common { ", visiting inputs in a common order" } else { "" };
        let requests = match self.request_packets {
            1 => format!("{} requests of a flow", self.requests),
            packets => format!("{} packets of a flow requested, up to {packets} at once", self.requests),
        };
        format!("buffers of {} packets are reserved, {requests}{arbiters}{order}", self.buffer)
    }
}

/// A delay of the control network, which nothing crosses at once.
pub(crate) fn delay(values: &Values, name: &'static str) -> Result<u64, BuildError> {
    match values.ticks(name) {
        0 => Err(BuildError::at(name, "messages cannot take no time").help("give them a cycle or more")),
        ticks => Ok(ticks),
    }
}

fn fairness(values: &Values) -> Fairness {
    match values.text("arbiter") {
        "weighted" => Fairness::Weighted,
        "weighted-blocks" => Fairness::WeightedBlocks,
        "max-min" => Fairness::MaxMin,
        _ => Fairness::RoundRobin,
    }
}

fn weights(values: &Values) -> Result<Weights, BuildError> {
    let list = values.integers("weights");
    if fairness(values) == Fairness::RoundRobin && !list.is_empty() {
        let complaint = BuildError::at("weights", "there are weights, and arbiters do not go by them");
        return Err(complaint.help("say arbiter = \"weighted\", \"weighted-blocks\" or \"max-min\""));
    }
    let (flows, rest) = list.as_chunks::<3>();
    if !rest.is_empty() {
        let message =
            format!("weights are source, destination and weight of flows, and {} numbers are no threes", list.len());
        return Err(BuildError::at("weights", message).help("give three numbers for each flow"));
    }
    let mut weights = Weights::new();
    for &[from, to, weight] in flows {
        if weight == 0 {
            let message = format!("the flow from {from} to {to} has the weight 0 and would never be served");
            return Err(BuildError::at("weights", message).help("give it 1 or more"));
        }
        if weights.insert((from, to), weight).is_some() {
            let message = format!("the flow from {from} to {to} has two weights");
            return Err(BuildError::at("weights", message).help("give it one"));
        }
    }
    Ok(weights)
}

/// Ticks that a packet takes: all links carry one in that time.
pub(crate) fn packet_ticks(station: &Station) -> u64 {
    u64::from(station.packet_flits_max) * station.flit_ticks
}

/// The one class and the one kind of packets: all else is on the control network.
pub(crate) fn classes() -> Vec<TrafficClass> {
    vec![TrafficClass::data(0)]
}

pub(crate) fn kinds() -> Vec<KindDeclaration> {
    vec![KindDeclaration::DATA]
}

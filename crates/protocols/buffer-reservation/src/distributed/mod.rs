//! The distributed scheduler: the arbiters of outputs are in the switches of the last stage, and requests and grants pass the others.
//!
//! Controllers are the schedulers in the switches of the first, the second and the last stage, in this order.

mod line;
mod outputs;
mod relay;

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter, Values};
use tailback_protocol::{
    ControlNetwork, Controller, ControllerAction, Hooks, KindDeclaration, Party, Protocol, ProtocolModel, Sink, Source,
    Station, TrafficClass,
};

use crate::adapter::{Adapter, Asking, Way};
use crate::egress::{Egress, Returns};
use crate::explain;
use crate::pace::Pace;
use crate::parameters::{self as shared, Terms, count, packet_ticks, time};
use crate::words::Word;

#[cfg(test)]
pub(crate) use line::Line;
pub(crate) use outputs::Outputs;
pub(crate) use relay::{Relay, Stage};

/// The distributed scheduler.
pub const DISTRIBUTED_SCHEDULER: ProtocolModel = ProtocolModel {
    name: "distributed-scheduler",
    summary: "the arbiters of a central scheduler in the switches of their outputs: requests and grants pass the other switches, \
              through queues with credits",
    parameters: &[
        shared::BUFFER,
        shared::REQUESTS,
        shared::REQUEST_PACKETS,
        count(
            "queue",
            1 << 20,
            "16",
            "places in queues of requests and grants for each that sends there (5.2, not given)",
        ),
        Parameter {
            name: "request_rate",
            kind: Kind::Number { min: 0.125, max: 64.0 },
            default: Some("1.1"),
            help: "requests that the link from a middle to a last switch takes in the time of a packet (6.4)",
        },
        time(
            "hop_delay",
            "8",
            "what a request or a grant takes from one switch to the next (5.2; a packet time of 8 cycles)",
        ),
        shared::CREDIT_DELAY,
        shared::ORDER,
        shared::ARBITER,
        shared::WEIGHTS,
        shared::RESEQUENCING,
    ],
    control_kinds: &[],
    build: |values| Ok(Arc::new(Distributed::of(values)?)),
};

/// The stages of the network.
const STAGES: u32 = 3;

/// The distributed scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Distributed {
    terms: Terms,
    queue: u32,
    request_rate: f64,
    hop_delay: u64,
}

/// What all its parts know of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Switches of a stage, and ports of each on one side.
    pub routes: u32,
    /// Places of a queue for each that sends there.
    pub places: u32,
    /// Ticks that a packet takes: a link takes a message in that time.
    packet_ticks: u64,
    request_rate: f64,
    /// Ticks that a hop takes beyond the latency of the control network.
    after: u64,
}

impl Shape {
    pub fn pace(self) -> Pace {
        Pace::every(self.packet_ticks)
    }

    /// That of requests on links from the second to the last stage.
    pub fn request_pace(self) -> Pace {
        Pace::rate(self.request_rate, self.packet_ticks)
    }

    /// The switch that a node is attached to, and its port there.
    pub fn leaf(self, node: u32) -> u32 {
        node / self.routes
    }

    pub fn port(self, node: u32) -> u32 {
        node % self.routes
    }

    pub fn first(self, leaf: u32) -> Party {
        Party::Controller(leaf)
    }

    pub fn second(self, route: u32) -> Party {
        Party::Controller(self.routes + route)
    }

    pub fn third(self, leaf: u32) -> Party {
        Party::Controller(2 * self.routes + leaf)
    }

    /// The number that a switch has in its stage; of a node that of its port.
    pub fn switch(self, party: Party) -> u32 {
        let (Party::Controller(number) | Party::Source(number) | Party::Sink(number)) = party;
        number % self.routes
    }

    pub fn tell(self, to: Party, word: Word) -> ControllerAction {
        ControllerAction::Tell { to, words: word.words(), after: self.after }
    }
}

impl Distributed {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        Ok(Self {
            terms: Terms::of(values)?,
            queue: values.integer("queue"),
            request_rate: values.number("request_rate"),
            hop_delay: shared::delay(values, "hop_delay")?,
        })
    }

    fn latency(&self) -> u64 {
        self.hop_delay.min(self.terms.credit_delay)
    }

    pub fn shape(&self, station: &Station) -> Shape {
        let &Self { queue: places, request_rate, hop_delay, .. } = self;
        let after = hop_delay - self.latency();
        Shape { routes: station.routes.count, places, packet_ticks: packet_ticks(station), request_rate, after }
    }

    pub fn adapter(&self, station: &Station) -> Adapter {
        let asking = Asking {
            requests: self.terms.requests,
            request_packets: self.terms.request_packets,
            packet_flits: station.packet_flits_max.into(),
            packet_ticks: packet_ticks(station),
            after: self.hop_delay - self.latency(),
            way: Way::Leaf { routes: station.routes, room: self.queue },
        };
        Adapter::new(asking, station.nodes)
    }

    pub fn relay(&self, stage: Stage, station: &Station) -> Relay {
        Relay::new(self.shape(station), stage)
    }

    pub fn outputs(&self, leaf: u32, station: &Station) -> Outputs {
        let nodes = leaf * station.routes.count..(leaf + 1) * station.routes.count;
        let arbiters = nodes.map(|output| self.terms.output(output, self.queue, station)).collect();
        Outputs::new(self.shape(station), leaf, arbiters)
    }
}

impl Protocol for Distributed {
    fn classes(&self) -> Vec<TrafficClass> {
        shared::classes()
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        shared::kinds()
    }

    fn hooks(&self) -> Hooks {
        self.terms.hooks()
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(self.adapter(station)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        let &Station { nodes, routes, .. } = station;
        let after = self.terms.credit_delay - self.latency();
        Some(Box::new(Egress::new(
            Returns::ToLeaf { routes: routes.count },
            after,
            nodes,
            routes,
            packet_ticks(station),
        )))
    }

    fn control_network(&self, station: &Station) -> Option<ControlNetwork> {
        Some(ControlNetwork { latency: self.latency(), controllers: STAGES * station.routes.count })
    }

    fn controller(&self, number: u32, station: &Station) -> Option<Box<dyn Controller>> {
        match number / station.routes.count {
            0 => Some(Box::new(self.relay(Stage::First, station))),
            1 => Some(Box::new(self.relay(Stage::Second, station))),
            _ => Some(Box::new(self.outputs(number % station.routes.count, station))),
        }
    }

    fn fits(&self, station: &Station) -> Result<(), BuildError> {
        self.terms.fits(station)
    }

    fn describe(&self) -> String {
        format!("distributed scheduler: {}, queues of {} messages", self.terms.describe(), self.queue)
    }

    fn explain(&self, station: &Station) -> Vec<String> {
        let way = u64::from(STAGES) * self.hop_delay;
        let mut lines = explain::loops(&self.terms, (way, way), station);
        lines.extend(explain::costs(&self.terms, self.queue, station));
        lines
    }
}

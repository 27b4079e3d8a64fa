//! The arbiter of an output: it gives room in front of the output, on the route that the packet will take, to one input at a time.

use serde::{Deserialize, Serialize};
use tailback_protocol::Routes;
use tailback_random::Stream;

use crate::pace::Pace;
use crate::shares::{Fairness, Scores};
use crate::turns::Gated;

/// In which order output arbiters visit inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Each in an order of its own, drawn once.
    Random,
    /// All in the order of the inputs.
    Common,
}

/// What an output arbiter is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputShape {
    /// Its output, of so many.
    pub output: u32,
    pub nodes: u32,
    pub routes: Routes,
    /// Packets that a crosspoint in front of it holds: one for each route.
    pub buffer: u32,
    /// Places that it has in the queue of each route for its grants, if they wait there.
    pub room: u32,
    pub order: Order,
    /// Ticks that a packet takes.
    pub packet_ticks: u64,
}

/// The purpose of the streams that orders are drawn from.
const ORDER: u64 = 0x6f72_6465_7273;

/// An output arbiter.
#[derive(Clone, Debug)]
pub(crate) struct OutputArbiter {
    shape: OutputShape,
    /// The inputs in its order.
    inputs: Vec<u16>,
    /// By place: the weights of flows, where it goes by them.
    weights: Vec<u32>,
    state: OutputState,
}

/// What it knows of an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Flow {
    /// Packets that are requested and not granted.
    requests: u32,
    /// The route of its next packet.
    route: u16,
    /// The place of the input in the order of the arbiter.
    place: u16,
}

/// What it knows of a route.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Route {
    /// Packets for which there is room.
    credits: u32,
    /// Grants for which there is.
    rooms: u32,
}

/// What of it changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OutputState {
    /// By input.
    flows: Vec<Flow>,
    /// By route.
    routes: Vec<Route>,
    /// The places of inputs with requests, by route.
    waiting: Gated,
    /// The place that comes first at the next turn.
    next: usize,
    /// What flows have had, where that matters.
    scores: Scores,
    pub pace: Pace,
}

impl OutputArbiter {
    /// One that chooses among flows like this; they have weights by input.
    pub fn new(shape: OutputShape, fairness: Fairness, weight: &dyn Fn(u32) -> u32) -> Self {
        let OutputShape { output, nodes, routes, buffer, room, order, packet_ticks } = shape;
        let mut inputs: Vec<u16> = (0..nodes).map(|input| input as u16).collect();
        if order == Order::Random {
            let mut stream = Stream::new(0, output.into(), ORDER);
            (1..nodes).rev().for_each(|last| inputs.swap(last as usize, stream.below(last + 1) as usize));
        }
        let flow = |input| Flow { requests: 0, route: routes.first(input, output) as u16, place: 0 };
        let mut flows: Vec<_> = (0..nodes).map(flow).collect();
        inputs.iter().enumerate().for_each(|(place, &input)| flows[usize::from(input)].place = place as u16);
        let state = OutputState {
            flows,
            routes: vec![Route { credits: buffer, rooms: room }; routes.count as usize],
            waiting: Gated::below(nodes as usize, routes.count as usize),
            next: 0,
            scores: Scores::new(fairness, nodes as usize),
            pace: Pace::every(packet_ticks),
        };
        let weights = match fairness {
            Fairness::RoundRobin => Vec::new(),
            Fairness::Weighted | Fairness::WeightedBlocks | Fairness::MaxMin => {
                inputs.iter().map(|&input| weight(input.into())).collect()
            }
        };
        Self { shape, inputs, weights, state }
    }

    /// An input asks for some more packets.
    pub fn request(&mut self, input: u32, packets: u32) {
        let flow = &mut self.state.flows[input as usize];
        let before = flow.requests;
        flow.requests += packets;
        if before == 0 {
            let place = flow.place.into();
            self.state.waiting.insert(place, flow.route.into());
            self.state.scores.begin(place);
        }
    }

    /// There is room for one more packet in front of the output.
    pub fn credit(&mut self, route: u32) {
        let credits = &mut self.state.routes[route as usize].credits;
        *credits += 1;
        assert!(*credits <= self.shape.buffer, "more room comes back than there is at output {}", self.shape.output);
        self.gate(route as usize);
    }

    /// There is room for one more grant.
    pub fn room(&mut self, route: u32) {
        self.state.routes[route as usize].rooms += 1;
        self.gate(route as usize);
    }

    fn gate(&mut self, route: usize) {
        let Route { credits, rooms } = self.state.routes[route];
        self.state.waiting.set_open(route, credits > 0 && rooms > 0);
    }

    /// Whether a request can be granted.
    pub fn is_ready(&self) -> bool {
        !self.state.waiting.ready().is_empty()
    }

    pub fn pace(&mut self) -> &mut Pace {
        &mut self.state.pace
    }

    /// Grants one request, if one can be granted. Returns its input and the route of the packet.
    pub fn grant(&mut self) -> Option<(u32, u32)> {
        let ready = self.state.waiting.ready();
        let place = match &mut self.state.scores {
            Scores::None => ready.next_from(self.state.next)?,
            Scores::Credits(scores) => scores.serve(&self.weights, ready)?,
            Scores::Service(service) => service.serve(&self.weights, ready)?,
            Scores::Block(block) => block.serve(&self.weights, ready)?,
        };
        self.state.next = place + 1;
        let (input, routes) = (self.inputs[place], self.state.routes.len() as u16);
        let flow = &mut self.state.flows[usize::from(input)];
        let route = usize::from(flow.route);
        self.state.waiting.remove(place, route);
        flow.requests -= 1;
        flow.route = (flow.route + 1) % routes;
        let (next_route, asks_again) = (flow.route.into(), flow.requests > 0);
        let Route { credits, rooms } = &mut self.state.routes[route];
        *credits -= 1;
        *rooms -= 1;
        self.gate(route);
        if asks_again {
            self.state.waiting.insert(place, next_route);
        }
        Some((input.into(), route as u32))
    }

    pub fn state(&self) -> &OutputState {
        &self.state
    }

    pub fn set_state(&mut self, state: OutputState) {
        self.state = state;
    }

    /// Requests that are not granted.
    #[cfg(test)]
    pub fn unanswered(&self) -> usize {
        self.state.flows.iter().map(|flow| flow.requests as usize).sum()
    }

    /// Credits by route.
    #[cfg(test)]
    pub fn credits(&self) -> Vec<u32> {
        self.state.routes.iter().map(|route| route.credits).collect()
    }
}

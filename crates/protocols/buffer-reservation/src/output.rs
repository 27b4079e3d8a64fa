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
    /// The inputs in its order, and the place of each in it.
    inputs: Vec<u16>,
    places: Vec<u16>,
    /// By place: the weights of flows, where it goes by them.
    weights: Vec<u32>,
    state: OutputState,
}

/// What of it changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OutputState {
    /// By input: packets that are requested and not granted.
    requests: Vec<u32>,
    /// By input: the route of its next packet.
    routes: Vec<u16>,
    /// By route: packets for which there is room, and grants.
    credits: Vec<u32>,
    rooms: Vec<u32>,
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
        let mut places = vec![0; nodes as usize];
        inputs.iter().enumerate().for_each(|(place, &input)| places[usize::from(input)] = place as u16);
        let state = OutputState {
            requests: vec![0; nodes as usize],
            routes: (0..nodes).map(|input| routes.first(input, output) as u16).collect(),
            credits: vec![buffer; routes.count as usize],
            rooms: vec![room; routes.count as usize],
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
        Self { shape, inputs, places, weights, state }
    }

    /// An input asks for some more packets.
    pub fn request(&mut self, input: u32, packets: u32) {
        let input = input as usize;
        let before = self.state.requests[input];
        self.state.requests[input] += packets;
        if before == 0 {
            let place = self.places[input].into();
            self.state.waiting.insert(place, self.state.routes[input].into());
            self.state.scores.begin(place);
        }
    }

    /// There is room for one more packet in front of the output.
    pub fn credit(&mut self, route: u32) {
        let credits = &mut self.state.credits[route as usize];
        *credits += 1;
        assert!(*credits <= self.shape.buffer, "more room comes back than there is at output {}", self.shape.output);
        self.gate(route as usize);
    }

    /// There is room for one more grant.
    pub fn room(&mut self, route: u32) {
        self.state.rooms[route as usize] += 1;
        self.gate(route as usize);
    }

    fn gate(&mut self, route: usize) {
        let open = self.state.credits[route] > 0 && self.state.rooms[route] > 0;
        self.state.waiting.set_open(route, open);
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
        let input = usize::from(self.inputs[place]);
        let route = usize::from(self.state.routes[input]);
        self.state.waiting.remove(place, route);
        self.state.requests[input] -= 1;
        self.state.credits[route] -= 1;
        self.state.rooms[route] -= 1;
        self.gate(route);
        self.state.routes[input] = ((route + 1) % self.state.credits.len()) as u16;
        if self.state.requests[input] > 0 {
            self.state.waiting.insert(place, self.state.routes[input].into());
        }
        Some((input as u32, route as u32))
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
        self.state.requests.iter().map(|&requests| requests as usize).sum()
    }

    /// Credits by route.
    #[cfg(test)]
    pub fn credits(&self) -> &[u32] {
        &self.state.credits
    }
}

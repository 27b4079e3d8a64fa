//! The ingress adapter: it asks for room for packets, and holds packets until they are granted.

use serde::{Deserialize, Serialize};
use tailback_protocol::{
    Control, Offered, Outgoing, PacketKind, Party, Routes, Source, SourceAction, Verdict, remember, write_down,
};

use crate::pace::Pace;
use crate::turns::Gated;
use crate::words::Word;

/// How an adapter asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    /// Packets of a flow that may be requested and not granted, and those that one request asks for at most.
    pub requests: u32,
    pub request_packets: u32,
    /// Flits of the largest packet.
    pub packet_flits: u32,
    /// Ticks that a packet takes.
    pub packet_ticks: u64,
    /// Ticks that a request takes beyond the latency of the control network.
    pub after: u64,
    pub way: Way,
}

/// Whom an adapter asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The bank of all arbiters.
    Bank,
    /// The switch of its leaf, which has so many routes, each with a queue that has room for so many of its requests. Requests of a flow take them in turn.
    Leaf { routes: Routes, room: u32 },
}

/// What waits for one destination, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Flow {
    unrequested: u32,
    requested: u32,
    granted: u32,
    /// How many requests, modulo the routes.
    turn: u16,
}

/// The source of a node.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    asking: Asking,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// Its node, once it is told.
    node: u32,
    flows: Vec<Flow>,
    /// The flows that may ask, by the route of their next request.
    asks: Gated,
    /// By route: room for requests in its queue.
    room: Vec<u32>,
    /// The flow that comes first at the next turn.
    next: usize,
    pace: Pace,
    /// Packets that have not left.
    packets: u64,
}

const ASK: u32 = 0;

impl Adapter {
    /// One in a network of so many nodes.
    pub fn new(asking: Asking, nodes: u32) -> Self {
        let (routes, room) = match asking.way {
            Way::Bank => (1, u32::MAX),
            Way::Leaf { routes, room } => (routes.count, room),
        };
        let state = State {
            node: 0,
            flows: vec![Flow::default(); nodes as usize],
            asks: Gated::below(nodes as usize, routes as usize),
            room: vec![room; routes as usize],
            next: 0,
            pace: Pace::every(asking.packet_ticks),
            packets: 0,
        };
        Self { asking, state }
    }

    /// Packets of a flow that are requested and not granted.
    #[cfg(test)]
    pub fn requested(&self, destination: u32) -> u32 {
        self.state.flows[destination as usize].requested
    }

    /// Whether there is so much room for its requests in all queues.
    #[cfg(test)]
    pub fn room_is_back(&self, room: u32) -> bool {
        self.state.room.iter().all(|&left| left == room)
    }

    /// The route of a flow's next request.
    fn route(&self, destination: usize) -> usize {
        match self.asking.way {
            Way::Bank => 0,
            Way::Leaf { routes, .. } => {
                let first = routes.first(self.state.node, destination as u32);
                ((first + u32::from(self.state.flows[destination].turn)) % routes.count) as usize
            }
        }
    }

    /// Lets a flow ask that has come to be able to, if it has.
    fn let_ask(&mut self, destination: usize) {
        let Flow { unrequested, requested, .. } = self.state.flows[destination];
        if unrequested > 0 && requested < self.asking.requests {
            self.state.asks.insert(destination, self.route(destination));
        }
    }

    /// Asks for as long as it is free and there is something to ask for.
    #[inline]
    fn ask(&mut self, now: u64, actions: &mut Vec<SourceAction>) {
        while let Some(destination) = self.state.asks.ready().next_from(self.state.next) {
            if !self.ask_for(destination, now, actions) {
                return;
            }
        }
    }

    /// Asks for a destination, if it is free; else later. A function of its own, as there is nothing to ask for two times out of three.
    #[inline(never)]
    fn ask_for(&mut self, destination: usize, now: u64, actions: &mut Vec<SourceAction>) -> bool {
        let is_free = self.state.pace.is_free(now);
        if is_free {
            self.state.pace.serve(now);
            self.request(destination, actions);
        } else {
            actions.extend(self.state.pace.alarm().map(|at| SourceAction::Timer { at, token: ASK }));
        }
        is_free
    }

    fn request(&mut self, destination: usize, actions: &mut Vec<SourceAction>) {
        let route = self.route(destination);
        self.state.asks.remove(destination, route);
        let to = match self.asking.way {
            Way::Bank => 0,
            Way::Leaf { routes, .. } => {
                self.state.room[route] -= 1;
                self.state.asks.set_open(route, self.state.room[route] > 0);
                self.state.node / routes.count
            }
        };
        let routes = self.state.room.len() as u16;
        let flow = &mut self.state.flows[destination];
        let packets = flow.unrequested.min(self.asking.requests - flow.requested).min(self.asking.request_packets);
        flow.unrequested -= packets;
        flow.requested += packets;
        flow.turn = (flow.turn + 1) % routes;
        self.state.next = destination + 1;
        self.let_ask(destination);
        let request =
            Word::Request { input: self.state.node, output: destination as u32, route: route as u32, packets };
        let (to, after) = (Party::Controller(to), self.asking.after);
        actions.push(SourceAction::Tell { to, words: request.words(), after });
    }

    fn take_grant(&mut self, destination: u32, actions: &mut Vec<SourceAction>) {
        let flow = &mut self.state.flows[destination as usize];
        assert!(flow.requested > 0, "nothing is granted for node {destination} that was not asked for");
        flow.requested -= 1;
        flow.granted += 1;
        if flow.granted == 1 {
            actions.push(SourceAction::Open { destination });
        }
        self.let_ask(destination as usize);
    }
}

impl Source for Adapter {
    fn offered(&mut self, message: &Offered, now: u64, actions: &mut Vec<SourceAction>) {
        let packets = message.flits.div_ceil(self.asking.packet_flits);
        self.state.node = message.source;
        self.state.packets += u64::from(packets);
        self.state.flows[message.destination as usize].unrequested += packets;
        self.let_ask(message.destination as usize);
        self.ask(now, actions);
    }

    fn may_send(&mut self, packet: &Outgoing, _now: u64, _actions: &mut Vec<SourceAction>) -> Verdict {
        if self.state.flows[packet.destination as usize].granted > 0 {
            Verdict::Send { kind: PacketKind::DATA, marks: 0 }
        } else {
            Verdict::Hold
        }
    }

    fn sent(&mut self, packet: &Outgoing, _now: u64) {
        self.state.flows[packet.destination as usize].granted -= 1;
        self.state.packets -= 1;
    }

    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<SourceAction>) {
        match Word::of(words) {
            Word::Grant { output, .. } => self.take_grant(output, actions),
            Word::RequestRoom { queue } => {
                self.state.room[queue as usize] += 1;
                self.state.asks.set_open(queue as usize, true);
            }
            word => panic!("{from:?} tells a source {word:?}"),
        }
        self.ask(now, actions);
    }

    fn on_timer(&mut self, _token: u32, now: u64, actions: &mut Vec<SourceAction>) {
        self.state.pace.alarmed();
        self.ask(now, actions);
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, _: &mut Vec<SourceAction>) {
        panic!("nobody sends {control:?}");
    }

    fn is_idle(&self) -> bool {
        self.state.packets == 0
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.state, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.state = remember(bytes)?;
        Some(())
    }
}

//! A network of one delay to try schedulers on: links of sources, a crosspoint for each output and route, lines of outputs.

use std::collections::BTreeMap;

use tailback_protocol::{
    Arrival, ControlNetwork, Controller, ControllerAction, Offered, Outgoing, PacketKind, PacketRef, Party, Protocol,
    Sink, SinkAction, Source, SourceAction, Station, Verdict, Words,
};

use super::PACKET;
use crate::adapter::Adapter;
use crate::words::Word;

/// What packets take from the link of their source to the line of their output, if nothing is in their way.
const DATA: u64 = 6 * PACKET;

/// The controllers of a protocol.
pub trait Scheduler {
    fn controller(&mut self, number: u32) -> &mut dyn Controller;

    /// Requests and grants that wait in it.
    fn unanswered(&self) -> usize;
}

/// A packet of a flow, by its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet {
    pub from: u32,
    pub to: u32,
    pub number: u64,
}

#[derive(Debug)]
enum Due {
    Words(Words),
    Timer(u32),
}

pub struct World<S> {
    pub station: Station,
    pub now: u64,
    network: ControlNetwork,
    pub adapters: Vec<Adapter>,
    sinks: Vec<Box<dyn Sink>>,
    pub scheduler: S,
    due: BTreeMap<(u64, Party, bool, Option<Party>, u64), Due>,
    serial: u64,
    /// By source and destination: packets that wait, that have left, and that are in order.
    waiting: BTreeMap<(u32, u32), u64>,
    sent: BTreeMap<(u32, u32), u64>,
    ordered: BTreeMap<(u32, u32), u64>,
    held: Vec<Vec<bool>>,
    turn: Vec<u32>,
    link_free: Vec<u64>,
    /// What comes to crosspoints, what to lines, and what waits for its order.
    to_output: BTreeMap<(u64, u64), Packet>,
    to_line: BTreeMap<(u64, u64), Packet>,
    early: BTreeMap<Packet, ()>,
    output_free: Vec<u64>,
    line_free: Vec<u64>,
    /// By output and route: packets that are on their way and not in order.
    on_way: BTreeMap<(u32, u32), u32>,
    /// The most of them, and the most that waited for their order at one node.
    pub most_on_way: u32,
    pub most_early: usize,
    /// Ticks that data takes longer, by route and by the number of packets sent so far.
    pub detour: fn(u32, u64) -> u64,
    /// Ticks that messages from a party to another take longer.
    pub late: fn(Party, Party) -> u64,
    /// When packets have left by the line of their output.
    pub departures: Vec<(u64, Packet)>,
    /// How many messages of a name there were.
    pub told: BTreeMap<&'static str, u64>,
    /// When credits have arrived or will, and their routes.
    pub credits: Vec<(u64, u32)>,
}

impl<S: Scheduler> World<S> {
    pub fn new(protocol: &dyn Protocol, station: Station, adapters: Vec<Adapter>, scheduler: S) -> Self {
        protocol.fits(&station).unwrap();
        let nodes = station.nodes as usize;
        Self {
            network: protocol.control_network(&station).unwrap(),
            adapters,
            sinks: (0..nodes).map(|_| protocol.sink(&station).unwrap()).collect(),
            scheduler,
            station,
            now: 0,
            due: BTreeMap::new(),
            serial: 0,
            waiting: BTreeMap::new(),
            sent: BTreeMap::new(),
            ordered: BTreeMap::new(),
            held: vec![vec![false; nodes]; nodes],
            turn: vec![0; nodes],
            link_free: vec![0; nodes],
            to_output: BTreeMap::new(),
            to_line: BTreeMap::new(),
            early: BTreeMap::new(),
            output_free: vec![0; nodes],
            line_free: vec![0; nodes],
            on_way: BTreeMap::new(),
            most_on_way: 0,
            most_early: 0,
            detour: |_, _| 0,
            late: |_, _| 0,
            departures: Vec::new(),
            told: BTreeMap::new(),
            credits: Vec::new(),
        }
    }

    pub fn offer(&mut self, from: u32, to: u32, packets: u32) {
        *self.waiting.entry((from, to)).or_default() += u64::from(packets);
        let message = Offered { source: from, destination: to, flits: packets * PACKET as u32 };
        let mut actions = Vec::new();
        self.adapters[from as usize].offered(&message, self.now, &mut actions);
        self.act(from, actions);
    }

    /// Lets so many packet times pass.
    pub fn pass(&mut self, packets: u64) {
        for _ in 0..packets * PACKET {
            self.tick();
        }
    }

    /// Until all that was offered has left and nothing is told any more.
    pub fn drain(&mut self) {
        let busy = |world: &Self| {
            world.waiting.values().any(|&packets| packets > 0)
                || !(world.due.is_empty() && world.to_output.is_empty() && world.to_line.is_empty())
        };
        let limit = self.now + 1_000_000;
        while busy(self) {
            assert!(self.now < limit, "it does not drain");
            self.tick();
        }
        assert!(self.early.is_empty() && self.adapters.iter().all(Source::is_idle));
    }

    pub fn tick(&mut self) {
        self.hear();
        while let Some(((_, serial), packet)) = pop_due(&mut self.to_output, self.now) {
            let free = &mut self.output_free[packet.to as usize];
            *free = (*free).max(self.now) + PACKET;
            self.to_line.insert((*free, serial), packet);
        }
        while let Some((_, packet)) = pop_due(&mut self.to_line, self.now) {
            self.arrive(packet);
        }
        (0..self.station.nodes).for_each(|node| self.send(node));
        self.now += 1;
    }

    fn hear(&mut self) {
        while self.due.first_key_value().is_some_and(|(key, _)| key.0 <= self.now) {
            let ((_, to, _, from, _), due) = self.due.pop_first().unwrap();
            match to {
                Party::Source(node) => {
                    let (mut actions, source) = (Vec::new(), &mut self.adapters[node as usize]);
                    match due {
                        Due::Words(words) => source.on_message(from.unwrap(), &words, self.now, &mut actions),
                        Due::Timer(token) => source.on_timer(token, self.now, &mut actions),
                    }
                    self.act(node, actions);
                }
                Party::Controller(number) => {
                    let (mut actions, controller) = (Vec::new(), self.scheduler.controller(number));
                    match due {
                        Due::Words(words) => controller.on_message(from.unwrap(), &words, self.now, &mut actions),
                        Due::Timer(token) => controller.on_timer(token, self.now, &mut actions),
                    }
                    for action in actions {
                        match action {
                            ControllerAction::Tell { to: other, words, after } => self.tell(to, other, words, after),
                            ControllerAction::Timer { at, token } => self.set_timer(to, at, token),
                        }
                    }
                }
                Party::Sink(_) => panic!("nobody tells sinks anything"),
            }
        }
    }

    fn act(&mut self, node: u32, actions: Vec<SourceAction>) {
        for action in actions {
            match action {
                SourceAction::Tell { to, words, after } => self.tell(Party::Source(node), to, words, after),
                SourceAction::Timer { at, token } => self.set_timer(Party::Source(node), at, token),
                SourceAction::Open { destination } => self.held[node as usize][destination as usize] = false,
                other => panic!("{other:?} is not what a source here wants"),
            }
        }
    }

    fn tell(&mut self, from: Party, to: Party, words: Words, after: u64) {
        *self.told.entry(name(&words)).or_default() += 1;
        if let (Party::Source(_), "grants") = (to, name(&words)) {
            *self.told.entry("grants to sources").or_default() += 1;
        }
        let at = self.now + self.network.latency + after + (self.late)(from, to);
        if let Word::Credit { route } = Word::of(&words) {
            self.credits.push((at, route));
        }
        self.due.insert((at, to, false, Some(from), self.serial), Due::Words(words));
        self.serial += 1;
    }

    fn set_timer(&mut self, to: Party, at: u64, token: u32) {
        assert!(at > self.now, "timers lie ahead");
        self.due.insert((at, to, true, None, self.serial), Due::Timer(token));
        self.serial += 1;
    }

    /// The link of a source takes a packet, if it is free and one may leave.
    fn send(&mut self, node: u32) {
        if self.link_free[node as usize] > self.now {
            return;
        }
        let nodes = self.station.nodes;
        for destination in (0..nodes).map(|place| (self.turn[node as usize] + place) % nodes) {
            let Some(waiting) = self.waiting.get_mut(&(node, destination)).filter(|waiting| **waiting > 0) else {
                continue;
            };
            let held = &mut self.held[node as usize][destination as usize];
            if *held {
                continue;
            }
            let (packet, flits) = (PacketRef { message: 0, index: 0 }, PACKET as u16);
            let outgoing = Outgoing { packet, source: node, destination, flits, message_flits: flits.into() };
            let (mut actions, source) = (Vec::new(), &mut self.adapters[node as usize]);
            match source.may_send(&outgoing, self.now, &mut actions) {
                Verdict::Hold => *held = true,
                Verdict::NotBefore(_) => panic!("a source here waits for grants and not for times"),
                Verdict::Send { .. } => {
                    source.sent(&outgoing, self.now);
                    *waiting -= 1;
                    self.turn[node as usize] = destination + 1;
                    self.link_free[node as usize] = self.now + PACKET;
                    self.leave(node, destination);
                    return;
                }
            }
        }
    }

    fn leave(&mut self, from: u32, to: u32) {
        let sent = self.sent.entry((from, to)).or_default();
        let packet = Packet { from, to, number: *sent };
        *sent += 1;
        let route = self.route(packet);
        let on_way = self.on_way.entry((to, route)).or_default();
        *on_way += 1;
        self.most_on_way = self.most_on_way.max(*on_way);
        let at = self.now + DATA - PACKET + (self.detour)(route, self.serial);
        self.to_output.insert((at, self.serial), packet);
        self.serial += 1;
    }

    fn route(&self, packet: Packet) -> u32 {
        let routes = self.station.routes;
        ((u64::from(routes.first(packet.from, packet.to)) + packet.number) % u64::from(routes.count)) as u32
    }

    fn arrive(&mut self, packet: Packet) {
        let Packet { from, to, .. } = packet;
        self.early.insert(packet, ());
        loop {
            let next = self.ordered.entry((from, to)).or_default();
            let packet = Packet { number: *next, ..packet };
            if self.early.remove(&packet).is_none() {
                break;
            }
            *next += 1;
            let route = self.route(packet);
            *self.on_way.get_mut(&(to, route)).unwrap() -= 1;
            let line = &mut self.line_free[to as usize];
            let leaves = (*line).max(self.now);
            *line = leaves + PACKET;
            self.departures.push((leaves, packet));
            self.tell_sink(packet);
        }
        let early = self.early.keys().filter(|packet| packet.to == to).count();
        self.most_early = self.most_early.max(early);
    }

    fn tell_sink(&mut self, Packet { from, to, .. }: Packet) {
        let arrival = Arrival {
            kind: PacketKind::DATA,
            from,
            to,
            packet: PacketRef { message: 0, index: 0 },
            flits: PACKET as u16,
            marks: 0,
            entropy: 0,
            sent_at: 0,
            hops: 2,
            payload: &[],
        };
        let mut actions = Vec::new();
        self.sinks[to as usize].on_data(&arrival, self.now, &mut actions);
        for action in actions {
            let SinkAction::Tell { to: other, words, after } = action else { panic!("{action:?}") };
            // A credit takes 3 packet times; the 7 ticks that a tail takes longer than a head are not simulated here.
            self.tell(Party::Sink(to), other, words, after);
        }
    }

    /// The packets that requests and grants on their way are for.
    pub fn asked_and_granted_now(&self) -> usize {
        let packets = |due: &Due| match due {
            Due::Words(words) => match Word::of(words) {
                Word::Request { packets, .. } => packets as usize,
                Word::Grant { .. } => 1,
                _ => 0,
            },
            _ => 0,
        };
        self.due.values().map(packets).sum()
    }

    /// When packets have left by lines, in packet times.
    pub fn departure_times(&self) -> Vec<u64> {
        self.departures.iter().map(|(at, _)| at / PACKET).collect()
    }

    /// Packets of a flow that have left by the line of their output since a tick, per packet time.
    pub fn rate(&self, from: u32, to: u32, since: u64) -> f64 {
        let of_flow = |(at, packet): &&(u64, Packet)| *at >= since && (packet.from, packet.to) == (from, to);
        self.departures.iter().filter(of_flow).count() as f64 * PACKET as f64 / (self.now - since) as f64
    }
}

/// What several messages are called.
fn name(words: &[u64]) -> &'static str {
    match Word::of(words) {
        Word::Request { .. } => "requests",
        Word::Grant { .. } => "grants",
        Word::Credit { .. } => "credits",
        Word::RequestRoom { .. } => "room for requests",
        Word::GrantRoom { .. } => "room for grants",
        Word::Acknowledgement => "acknowledgements",
    }
}

fn pop_due<T>(queue: &mut BTreeMap<(u64, u64), T>, now: u64) -> Option<((u64, u64), T)> {
    let entry = queue.first_entry().filter(|entry| entry.key().0 <= now)?;
    Some(entry.remove_entry())
}

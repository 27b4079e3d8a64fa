//! A node with send queues, and a network that answers each packet after some time: it obeys verdicts to the letter, so
//! whoever is not opened again never sends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tailback_protocol::{
    Control, InjectionTime, Offered, Outgoing, PacketKind, PacketRef, Protocol, Routes, Source, SourceAction, Station,
    Verdict,
};

const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);
/// The node itself.
const SELF: u32 = 1000;

/// A packet of the paper: 256 bytes and a header.
pub const PACKET: u16 = 278;
pub const STATION: Station = Station {
    flit_ticks: 1,
    injection: InjectionTime::of_link(1),
    packet_flits_max: PACKET,
    ports: 8,
    routers: 500,
    nodes_per_router: 4,
    nodes: 2000,
    routes: Routes::ONE,
};

/// How the network treats a packet.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// From its first flit to its acknowledgement.
    pub after: u64,
    pub marks: u8,
}

pub struct Node<'a> {
    protocol: &'a dyn Protocol,
    pub source: Box<dyn Source>,
    pub now: u64,
    link_free: u64,
    queues: BTreeMap<u32, VecDeque<u16>>,
    held: BTreeSet<u32>,
    not_before: BTreeMap<u32, u64>,
    timers: BTreeSet<(u64, u32)>,
    /// By time and number: from whom, and marks.
    acknowledgements: BTreeMap<(u64, usize), (u32, u8)>,
    offers: VecDeque<(u64, u32, u16)>,
    /// When what left for whom.
    pub departures: Vec<(u64, u32)>,
    /// Packets that are not acknowledged, by destination.
    pub outstanding: BTreeMap<u32, u32>,
    /// The most there ever were for one, and in all.
    pub most: (u32, u32),
    turn: u32,
}

impl<'a> Node<'a> {
    pub fn new(protocol: &'a dyn Protocol) -> Self {
        let source = protocol.source(&STATION).unwrap();
        Self {
            protocol,
            source,
            now: 0,
            link_free: 0,
            queues: BTreeMap::new(),
            held: BTreeSet::new(),
            not_before: BTreeMap::new(),
            timers: BTreeSet::new(),
            acknowledgements: BTreeMap::new(),
            offers: VecDeque::new(),
            departures: Vec::new(),
            outstanding: BTreeMap::new(),
            most: (0, 0),
            turn: 0,
        }
    }

    /// Messages of one packet, by the times at which they are offered.
    pub fn offer(&mut self, offers: impl IntoIterator<Item = (u64, u32)>) {
        self.offers.extend(offers.into_iter().map(|(at, to)| (at, to, PACKET)));
    }

    /// The source goes on as another one that remembers what this one has written down.
    pub fn replace_source(&mut self) {
        let (mut bytes, mut other) = (Vec::new(), self.protocol.source(&STATION).unwrap());
        self.source.save(&mut bytes);
        let mut rest = bytes.as_slice();
        other.load(&mut rest).unwrap();
        assert!(rest.is_empty());
        self.source = other;
    }

    /// Does what happens next. Returns whether anything did.
    pub fn step(&mut self, answer: &mut impl FnMut(usize, u32) -> Answer) -> bool {
        self.take_offers();
        while let Some(entry) = self.acknowledgements.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (from, marks) = entry.remove();
            *self.outstanding.get_mut(&from).unwrap() -= 1;
            let about = PacketRef { message: 0, index: 0 };
            let control = Control { marks, ..Control::new(ACKNOWLEDGEMENT, from, SELF, about) };
            self.tell(|source, now, actions| source.on_control(&control, 0, now, actions));
        }
        while let Some(&timer) = self.timers.first().filter(|(at, _)| *at <= self.now) {
            self.timers.remove(&timer);
            self.tell(|source, now, actions| source.on_timer(timer.1, now, actions));
        }
        if self.link_free <= self.now {
            self.transmit(answer);
        }
        let busy = Some(self.link_free).filter(|&free| free > self.now);
        let parked = self.not_before.iter().filter(|(to, _)| !self.queues[to].is_empty()).map(|(_, &at)| at);
        let offers = self.offers.front().map(|offer| offer.0);
        let heard = self.acknowledgements.keys().next().map(|key| key.0);
        let timer = self.timers.first().map(|timer| timer.0);
        let ahead = [busy, offers, heard, timer].into_iter().flatten().chain(parked);
        let next = ahead.filter(|&at| at > self.now).min();
        self.now = next.unwrap_or(self.now);
        next.is_some()
    }

    /// Runs until nothing happens any more, and everything has left and is acknowledged.
    pub fn run(&mut self, mut answer: impl FnMut(usize, u32) -> Answer) {
        let mut steps = 0;
        while self.step(&mut answer) {
            steps += 1;
            assert!(steps < 1_000_000, "it does not end");
        }
        self.assert_done();
    }

    pub fn assert_done(&self) {
        assert!(self.queues.values().all(VecDeque::is_empty), "held for ever: {:?} {:?}", self.held, self.queues);
        assert!(self.outstanding.values().all(|&count| count == 0) && self.source.is_idle());
    }

    fn take_offers(&mut self) {
        while let Some((_, to, flits)) = self.offers.pop_front_if(|offer| offer.0 <= self.now) {
            if self.protocol.hooks().offers {
                let message = Offered { source: SELF, destination: to, flits: flits.into() };
                self.source.offered(&message, self.now, &mut Vec::new());
            }
            self.queues.entry(to).or_default().push_back(flits);
        }
    }

    fn tell(&mut self, tell: impl FnOnce(&mut dyn Source, u64, &mut Vec<SourceAction>)) {
        let mut actions = Vec::new();
        tell(self.source.as_mut(), self.now, &mut actions);
        self.act(actions);
    }

    fn act(&mut self, actions: Vec<SourceAction>) {
        for action in actions {
            match action {
                SourceAction::Open { destination } => _ = self.held.remove(&destination),
                SourceAction::OpenAll => self.held.clear(),
                SourceAction::Timer { at, token } => {
                    assert!(at > self.now);
                    self.timers.insert((at, token));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next queue in turn that may sends a packet.
    fn transmit(&mut self, answer: &mut impl FnMut(usize, u32) -> Answer) {
        self.not_before.retain(|_, at| *at > self.now);
        let ready = |to: &u32| !self.held.contains(to) && !self.not_before.contains_key(to);
        let mut queues: Vec<u32> = self.queues.iter().filter(|(_, q)| !q.is_empty()).map(|(&to, _)| to).collect();
        queues.retain(ready);
        queues.sort_by_key(|&to| (to <= self.turn, to));
        for to in queues {
            let flits = self.queues[&to][0];
            let packet = PacketRef { message: self.departures.len() as u32, index: 0 };
            let outgoing = Outgoing { packet, source: SELF, destination: to, flits, message_flits: flits.into() };
            let mut actions = Vec::new();
            let verdict = self.source.may_send(&outgoing, self.now, &mut actions);
            self.act(actions);
            match verdict {
                Verdict::Hold => _ = self.held.insert(to),
                Verdict::NotBefore(at) => {
                    assert!(at > self.now);
                    self.not_before.insert(to, at);
                }
                Verdict::Send { .. } => return self.leave(&outgoing, answer),
            }
        }
    }

    fn leave(&mut self, packet: &Outgoing, answer: &mut impl FnMut(usize, u32) -> Answer) {
        let (to, number) = (packet.destination, self.departures.len());
        self.source.sent(packet, self.now);
        self.queues.get_mut(&to).unwrap().pop_front();
        self.departures.push((self.now, to));
        self.turn = to;
        self.link_free = self.now + u64::from(packet.flits);
        let Answer { after, marks } = answer(number, to);
        self.acknowledgements.insert((self.now + after, number), (to, marks));
        *self.outstanding.entry(to).or_default() += 1;
        let all = self.outstanding.values().sum();
        self.most = (self.most.0.max(self.outstanding[&to]), self.most.1.max(all));
    }
}

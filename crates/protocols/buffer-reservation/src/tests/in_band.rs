//! Reservations over the data network: an example by hand, and what holds whatever packets do on their way.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailback_protocol::{
    Arrival, Clock, Control, Offered, Outgoing, PacketKind, PacketRef, Protocol, Sink, SinkAction, Source,
    SourceAction, Verdict,
};

use super::{PACKET, station, try_in_band};
use crate::in_band::{Asker, GRANT, Granter, InBand, REQUEST, packets};

/// What control packets and data take on their way, unless something holds up data.
const WAY: u64 = 32;

#[derive(Debug)]
enum Due {
    Control(Control),
    /// By source, destination and number in its flow.
    Data(u32, u32, u64),
}

/// Nodes, and links from them: what leaves one arrives after a while.
struct World {
    protocol: InBand,
    now: u64,
    askers: Vec<Asker>,
    granters: Vec<Granter>,
    due: BTreeMap<(u64, u64), Due>,
    serial: u64,
    /// By source and destination: packets that wait, and that have left, are in order and have come too early.
    waiting: BTreeMap<(u32, u32), u64>,
    sent: BTreeMap<(u32, u32), u64>,
    ordered: BTreeMap<(u32, u32), u64>,
    early: BTreeMap<(u32, u32), Vec<u64>>,
    link_free: Vec<u64>,
    /// Ticks that a packet is held up, by the number of packets sent so far.
    detours: Vec<u64>,
    /// When control packets and data in order have arrived.
    log: Vec<(u64, PacketKind, u32, u32, u32)>,
}

impl World {
    fn new(protocol: InBand, detours: &[u64]) -> Self {
        let station = station(2);
        let nodes = station.nodes as usize;
        Self {
            now: 0,
            askers: (0..nodes).map(|_| protocol.asker(&station)).collect(),
            granters: (0..nodes).map(|_| protocol.granter(&station)).collect(),
            protocol,
            due: BTreeMap::new(),
            serial: 0,
            waiting: BTreeMap::new(),
            sent: BTreeMap::new(),
            ordered: BTreeMap::new(),
            early: BTreeMap::new(),
            link_free: vec![0; nodes],
            detours: detours.to_vec(),
            log: Vec::new(),
        }
    }

    fn offer(&mut self, from: u32, to: u32, packets: u32) {
        *self.waiting.entry((from, to)).or_default() += u64::from(packets);
        let (mut actions, message) = (Vec::new(), offered(from, to, packets));
        self.askers[from as usize].offered(&message, self.now, &mut actions);
        self.act(actions);
    }

    fn act(&mut self, actions: Vec<SourceAction>) {
        for action in actions {
            match action {
                SourceAction::Control(control) => self.launch(control),
                SourceAction::Open { .. } => {}
                other => panic!("{other:?} is not what a source here wants"),
            }
        }
    }

    fn launch(&mut self, control: Control) {
        self.due.insert((self.now + WAY, self.serial), Due::Control(control));
        self.serial += 1;
    }

    /// Until nothing waits and nothing is under way.
    fn drain(&mut self) {
        while self.waiting.values().any(|&packets| packets > 0) || !self.due.is_empty() {
            assert!(self.now < 1_000_000, "it does not drain");
            self.tick();
        }
        assert!(self.askers.iter().all(Source::is_idle) && self.early.values().all(Vec::is_empty));
    }

    fn tick(&mut self) {
        while self.due.first_key_value().is_some_and(|((at, _), _)| *at <= self.now) {
            match self.due.pop_first().unwrap().1 {
                Due::Control(control) => self.hear(&control),
                Due::Data(from, to, number) => self.arrive(from, to, number),
            }
        }
        let nodes = self.askers.len() as u32;
        (0..nodes).for_each(|node| (0..nodes).for_each(|to| self.send(node, to)));
        self.now += 1;
    }

    fn hear(&mut self, control: &Control) {
        self.log.push((self.now, control.kind, control.from, control.to, packets(control)));
        if control.kind == REQUEST {
            self.ask_sink(control.to, |sink, now, actions| sink.on_request(control, now, actions));
        } else {
            let (mut actions, asker) = (Vec::new(), &mut self.askers[control.to as usize]);
            asker.on_control(control, WAY, self.now, &mut actions);
            self.act(actions);
        }
    }

    fn ask_sink(&mut self, node: u32, ask: impl FnOnce(&mut Granter, u64, &mut Vec<SinkAction>)) {
        let mut actions = Vec::new();
        ask(&mut self.granters[node as usize], self.now, &mut actions);
        for action in actions {
            let SinkAction::Control(grant) = action else { panic!("{action:?} is not what a sink here wants") };
            assert_eq!((grant.kind, grant.from), (GRANT, node));
            self.launch(grant);
        }
    }

    fn send(&mut self, from: u32, to: u32) {
        let waiting = self.waiting.entry((from, to)).or_default();
        let asker = &mut self.askers[from as usize];
        if *waiting == 0 || self.link_free[from as usize] > self.now {
            return;
        }
        let outgoing = outgoing(from, to);
        if asker.may_send(&outgoing, self.now, &mut Vec::new()) == Verdict::Hold {
            return;
        }
        asker.sent(&outgoing, self.now);
        *waiting -= 1;
        self.link_free[from as usize] = self.now + PACKET;
        let number = self.sent.entry((from, to)).or_default();
        let detour = self.detours.get(self.serial as usize % self.detours.len().max(1)).copied().unwrap_or(0);
        self.due.insert((self.now + WAY + PACKET - 1 + detour, self.serial), Due::Data(from, to, *number));
        *number += 1;
        self.serial += 1;
    }

    fn arrive(&mut self, from: u32, to: u32, number: u64) {
        let arrival = arrival(from, to);
        self.ask_sink(to, |sink, now, actions| sink.on_arrival(&arrival, now, actions));
        self.early.entry((from, to)).or_default().push(number);
        while let Some(place) = self.early[&(from, to)].iter().position(|&number| number == self.ordered(from, to)) {
            self.early.get_mut(&(from, to)).unwrap().swap_remove(place);
            *self.ordered.entry((from, to)).or_default() += 1;
            self.log.push((self.now, PacketKind::DATA, from, to, 1));
            self.ask_sink(to, |sink, now, actions| sink.on_data(&arrival, now, actions));
        }
    }

    fn ordered(&self, from: u32, to: u32) -> u64 {
        self.ordered.get(&(from, to)).copied().unwrap_or(0)
    }

    /// For each node: of a buffer of so many packets, what it has left, what is granted and not there or not in order, adds up.
    fn check(&self, requests: u32, output: u32, reorder: u32, in_order: bool) {
        let nodes = self.askers.len() as u32;
        for to in 0..nodes {
            let (mut granted, mut early) = (0, 0);
            for from in 0..nodes {
                let (requested, may_leave) = self.askers[from as usize].requested_and_granted(to);
                assert!(requested <= requests, "{requested} packets from {from} to {to} are requested");
                granted += may_leave;
                early += self.early.get(&(from, to)).map_or(0, |early| early.len() as u32);
            }
            for due in self.due.values() {
                granted += match due {
                    Due::Control(grant) if grant.kind == GRANT && grant.from == to => packets(grant),
                    Due::Data(_, destination, _) if *destination == to => 1,
                    _ => 0,
                };
            }
            let left = self.granters[to as usize].left();
            let held_before = granted + if in_order { early } else { 0 };
            assert_eq!(left, (output - held_before, reorder - granted - early), "{granted} granted, {early} early");
        }
    }
}

fn offered(source: u32, destination: u32, packets: u32) -> Offered {
    Offered { source, destination, flits: packets * PACKET as u32 }
}

fn outgoing(source: u32, destination: u32) -> Outgoing {
    let packet = PacketRef { message: 0, index: 0 };
    Outgoing { packet, source, destination, flits: PACKET as u16, message_flits: PACKET as u32 }
}

fn arrival(from: u32, to: u32) -> Arrival<'static> {
    Arrival {
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
    }
}

#[test]
fn a_message_takes_a_request_and_a_grant_more() {
    let mut world = World::new(try_in_band(&[]).unwrap(), &[]);
    world.offer(0, 3, 8);
    world.drain();
    let words: Vec<_> = world.log.iter().filter(|entry| entry.1 != PacketKind::DATA).copied().collect();
    assert_eq!(words, [(32, REQUEST, 0, 3, 8), (64, GRANT, 3, 0, 8)]);
    // The last flit of eight packets is there 64 ticks of flits after the first could leave.
    assert_eq!(world.log.last().unwrap().0, 32 + 32 + 32 + 8 * PACKET - 1);
}

#[test]
fn a_flow_asks_for_twenty_packets_at_once_and_for_more_when_some_are_granted() {
    let protocol = try_in_band(&[("output_buffer", "6")]).unwrap();
    let (mut asker, mut actions) = (protocol.asker(&station(2)), Vec::new());
    let request =
        |packets| SourceAction::Control(Control { payload: vec![packets], ..Control::new(REQUEST, 1, 2, NOTHING) });
    let grant = |packets| Control { payload: vec![packets], ..Control::new(GRANT, 2, 1, NOTHING) };
    asker.offered(&offered(1, 2, 8), 0, &mut actions);
    asker.offered(&offered(1, 2, 30), 0, &mut actions);
    asker.offered(&offered(1, 2, 1), 0, &mut actions);
    assert_eq!(actions, [request(8), request(12)]);
    assert_eq!(asker.may_send(&outgoing(1, 2), 0, &mut actions), Verdict::Hold);
    actions.clear();
    asker.on_control(&grant(6), WAY, 64, &mut actions);
    asker.on_control(&grant(14), WAY, 64, &mut actions);
    assert_eq!(actions, [SourceAction::Open { destination: 2 }, request(6), request(13)], "it is opened once");
    assert_eq!(asker.requested_and_granted(2), (19, 20));
    assert_eq!(
        asker.foretell(&grant(1), 64, CLOCK).unwrap(),
        "may send 21 packets to node 2 now, 0 more are not requested yet"
    );
    assert_eq!(protocol.describe_control(&grant(1), &station(2), CLOCK), "for 1 packet");
    for _ in 0..20 {
        assert!(matches!(asker.may_send(&outgoing(1, 2), 64, &mut actions), Verdict::Send { .. }));
        asker.sent(&outgoing(1, 2), 64);
    }
    assert_eq!(asker.may_send(&outgoing(1, 2), 64, &mut actions), Verdict::Hold);
    assert!(!asker.is_idle(), "19 packets wait for a grant");
}

#[test]
fn sources_have_their_turns_and_both_buffers_are_limits() {
    let protocol =
        try_in_band(&[("grant", "4"), ("output_buffer", "6"), ("reorder_buffer", "7"), ("grant_min", "2")]).unwrap();
    let mut granter = protocol.granter(&station(2));
    let request = |from, packets| Control { payload: vec![packets], ..Control::new(REQUEST, from, 3, NOTHING) };
    let take = |actions: &mut Vec<SinkAction>| {
        let grant = |action| {
            let SinkAction::Control(grant) = action else { panic!("{action:?}") };
            (grant.to, packets(&grant))
        };
        actions.drain(..).map(grant).collect::<Vec<_>>()
    };
    let mut actions = Vec::new();
    granter.on_request(&request(0, 9), 0, &mut actions);
    assert_eq!(take(&mut actions), [(0, 4), (0, 2)], "first as much as may be, then what there is");
    granter.on_request(&request(2, 1), 0, &mut actions);
    granter.on_request(&request(1, 5), 0, &mut actions);
    assert!(actions.is_empty() && granter.left() == (0, 1));
    // The next one is 1, who is to have two at least, so a third and fourth place are needed, of either kind.
    granter.on_arrival(&arrival(0, 3), 50, &mut actions);
    granter.on_data(&arrival(0, 3), 50, &mut actions);
    assert!(actions.is_empty() && granter.left() == (1, 2));
    granter.on_arrival(&arrival(0, 3), 58, &mut actions);
    assert_eq!(take(&mut actions), [(1, 2)]);
    assert_eq!(granter.left(), (0, 0));
    // 2 wants one and gets it; then it is the turn of 0.
    granter.on_arrival(&arrival(0, 3), 66, &mut actions);
    granter.on_arrival(&arrival(0, 3), 66, &mut actions);
    granter.on_arrival(&arrival(0, 3), 66, &mut actions);
    assert!(actions.is_empty(), "there is room in front of the node and none in it");
    granter.on_data(&arrival(0, 3), 66, &mut actions);
    assert_eq!(take(&mut actions), [(2, 1)]);
    assert!(granter.foretell(&request(1, 1), 66, CLOCK).unwrap().ends_with("1 other sources wait for grants"));
    granter.on_data(&arrival(0, 3), 66, &mut actions);
    granter.on_data(&arrival(0, 3), 66, &mut actions);
    assert_eq!(take(&mut actions), [(0, 2)]);
}

const NOTHING: PacketRef = PacketRef { message: u32::MAX, index: 0 };
const CLOCK: Clock = Clock { ticks_per_cycle: 1 };

proptest! {
    /// Whatever packets do on their way, buffers are never promised twice, nothing is lost, and a run that is taken up again goes on.
    #[test]
    fn rooms_and_packets_add_up(
        offers in prop::collection::vec((0..4u32, 0..4u32, 1..40u32, 0..200u64), 1..30),
        detours in prop::collection::vec(0..300u64, 0..20),
        [requests, grant, grant_min] in [1..21u32, 3..21u32, 1..4u32],
        [output, reorder] in [3..30u32, 3..30u32],
        in_order in any::<bool>(),
        saved in 0..1000u64,
    ) {
        let given = [
            ("requests", requests), ("grant", grant), ("grant_min", grant_min), ("output_buffer", output),
            ("reorder_buffer", reorder),
        ];
        let given = given.map(|(name, number)| (name, number.to_string()));
        let returns = ("output_returns", if in_order { "in-order" } else { "arrival" });
        let given = given.iter().map(|(name, text)| (*name, text.as_str())).chain([returns]);
        let protocol = try_in_band(&given.collect::<Vec<_>>()).unwrap();
        let mut world = World::new(protocol, &detours);
        for &(from, to, packets, pause) in &offers {
            world.offer(from, to, packets);
            for _ in 0..pause {
                world.tick();
                world.check(requests, output, reorder, in_order);
                if world.now == saved {
                    reload(&mut world);
                }
            }
        }
        world.drain();
        world.check(requests, output, reorder, in_order);
        prop_assert!(world.granters.iter().all(|granter| granter.left() == (output, reorder)));
        let offered: u32 = offers.iter().map(|offer| offer.2).sum();
        let total = |kind| world.log.iter().filter(|entry| entry.1 == kind).map(|entry| entry.4).sum::<u32>();
        prop_assert_eq!([REQUEST, GRANT, PacketKind::DATA].map(total), [offered; 3]);
        prop_assert!(world.log.iter().all(|entry| entry.1 != GRANT || entry.4 <= grant));
    }
}

/// Writes all down, and goes on with what is read back.
fn reload(world: &mut World) {
    let station = station(2);
    let mut bytes = Vec::new();
    world.askers.iter().for_each(|asker| asker.save(&mut bytes));
    world.granters.iter().for_each(|granter| granter.save(&mut bytes));
    let mut rest = bytes.as_slice();
    for asker in &mut world.askers {
        *asker = world.protocol.asker(&station);
        asker.load(&mut rest).unwrap();
    }
    for granter in &mut world.granters {
        *granter = world.protocol.granter(&station);
        granter.load(&mut rest).unwrap();
    }
    assert!(rest.is_empty());
}

//! A protocol that uses what no real one here does: sources hold each packet until the first router lets it go, which thinks
//! for a while; data counts the routers that it crosses in its payload, and the answer brings that back.

use std::collections::{BTreeMap, BTreeSet};

use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Fate, Here, Hooks, KindDeclaration, Moment, Offered, Outgoing,
    PacketKind, Passing, Ports, Protocol, Sink, SinkAction, Source, SourceAction, Station, Switch, SwitchAction,
    SwitchNeeds, TrafficClass, Verdict, WaitsUntil, Watch, remember, write_down,
};

const ASK: PacketKind = PacketKind::new(1);
const LET_GO: PacketKind = PacketKind::new(2);
const ECHO: PacketKind = PacketKind::new(3);

/// How long a router thinks.
const THINKS_TICKS: u64 = 5;
/// How often a source looks whether it still waits.
const LOOKS_TICKS: u64 = 40;
/// What each ask carries.
const WORD: u64 = 77;

#[derive(Debug)]
pub struct Relay;

impl Protocol for Relay {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![
            KindDeclaration::DATA.with_payload(2),
            KindDeclaration::control("asks", Direction::Request, 1).with_payload(1),
            KindDeclaration::control("let_go", Direction::Feedback, 1),
            KindDeclaration::control("echoes", Direction::Feedback, 1).with_payload(2),
        ]
    }

    fn hooks(&self) -> Hooks {
        Hooks { offers: true, ..Hooks::default() }
    }

    fn watches(&self) -> Vec<Watch> {
        vec![
            Watch::new(Moment::Arrives, ASK, Ports::All),
            Watch::new(Moment::Crosses, PacketKind::DATA, Ports::All),
            Watch::new(Moment::Arrives, LET_GO, Ports::Links("terminal")),
        ]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds {
            sends: true,
            input_buffers: true,
            output_queues: true,
            waiting_for_nodes: Some(WaitsUntil::Departure),
            random: true,
            ..SwitchNeeds::default()
        }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(RelaySource::default()))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(RelaySink))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(RelaySwitch::default()))
    }

    fn describe(&self) -> String {
        "relay: routers let packets go".to_owned()
    }
}

#[derive(Debug, Default)]
struct RelaySource {
    /// Destinations that are asked for, and those that one packet may go to.
    asked: BTreeSet<u32>,
    granted: BTreeSet<u32>,
    /// Messages that were offered, packets that have left and that have come back, and whether a timer runs.
    counts: [u64; 3],
    looks: bool,
}

impl Source for RelaySource {
    fn offered(&mut self, _message: &Offered, _now: u64, _actions: &mut Vec<SourceAction>) {
        self.counts[0] += 1;
    }

    fn may_send(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        assert!(self.counts[0] > 0, "messages are offered before they are sent");
        if self.granted.contains(&packet.destination) {
            return Verdict::Send { kind: PacketKind::DATA, marks: 0 };
        }
        if self.asked.insert(packet.destination) {
            let ask = Control::new(ASK, packet.source, packet.destination, packet.packet).payload(&[WORD]);
            actions.push(SourceAction::Control(ask));
        }
        if !self.looks {
            self.looks = true;
            actions.push(SourceAction::Timer { at: now + LOOKS_TICKS, token: 3 });
        }
        Verdict::Hold
    }

    fn write_payload(&mut self, packet: &Outgoing, now: u64, payload: &mut [u64]) {
        assert_eq!(payload, [0, 0], "payload begins with nothing in it");
        assert!(self.granted.remove(&packet.destination), "only what was let go leaves");
        self.counts[1] += 1;
        payload[1] = now;
    }

    fn on_control(&mut self, control: &Control, _latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        if control.kind == ECHO {
            assert!(control.payload[0] > 0 && control.payload[1] < now, "{control:?}");
            self.counts[2] += 1;
            return;
        }
        assert!(self.asked.remove(&control.from), "nothing is let go that was not asked for");
        self.granted.insert(control.from);
        // Both ways to open.
        actions.push(if control.from.is_multiple_of(2) {
            SourceAction::Open { destination: control.from }
        } else {
            SourceAction::OpenAll
        });
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<SourceAction>) {
        assert_eq!(token, 3);
        self.looks = !self.asked.is_empty();
        if self.looks {
            actions.push(SourceAction::Timer { at: now + LOOKS_TICKS, token });
        }
    }

    fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.granted.is_empty() && self.counts[1] == self.counts[2]
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.asked, &self.granted, self.counts, self.looks), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.asked, self.granted, self.counts, self.looks) = remember(bytes)?;
        Some(())
    }
}

struct RelaySink;

impl Sink for RelaySink {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        assert_eq!(arrival.payload, [u64::from(arrival.hops) + 1, arrival.sent_at], "{arrival:?}");
        actions.push(SinkAction::Control(arrival.acknowledgement(ECHO).payload(arrival.payload)));
    }
}

#[derive(Debug, Default)]
struct RelaySwitch {
    /// By token: whom to let go, and about what.
    asks: BTreeMap<u32, Control>,
    next: u32,
    /// What has been drawn, added up: marks depend on it, so draws must not depend on who simulates what.
    drawn: u64,
}

impl Switch for RelaySwitch {
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        assert_eq!(packet.kind, ASK, "nodes let nothing go");
        assert_eq!(packet.payload, [WORD]);
        self.asks.insert(self.next, packet.control.take().expect("an ask is a control packet"));
        here.actions.push(SwitchAction::Timer { at: here.now + THINKS_TICKS, token: self.next });
        self.next += 1;
        Fate::Absorb(None)
    }

    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let output = here.output.expect("a packet that crosses has an output");
        self.drawn = self.drawn.wrapping_add(here.random().below(1000).into());
        let input = here.view.input(here.input);
        assert!(input.flits >= packet.flits.into() && input.flits <= input.capacity, "{input:?}");
        for fill in [here.view.output(output), here.view.downstream(output)] {
            assert!(fill.flits <= fill.capacity, "{fill:?}");
        }
        packet.payload[0] += 1;
        *packet.marks = (self.drawn % 4) as u8;
    }

    fn on_timer(&mut self, token: u32, _now: u64, actions: &mut Vec<SwitchAction>) {
        let Control { from, to, about, .. } = self.asks.remove(&token).expect("an ask waits for each timer");
        actions.push(SwitchAction::Send(Control::new(LET_GO, to, from, about)));
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.asks, self.next, self.drawn), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.asks, self.next, self.drawn) = remember(bytes)?;
        Some(())
    }
}

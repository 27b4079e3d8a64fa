//! A protocol with controllers: each packet needs a credit of its destination, which a controller gives out, and comes back when
//! the packet is in order. Of what no real protocol here does it uses the control network, timers of controllers and sinks, and
//! a bounded number of packets that wait for their order.

use std::collections::{BTreeMap, VecDeque};

use tailback_protocol::{
    Arrival, Control, ControlNetwork, Controller, ControllerAction, Hooks, KindDeclaration, Outgoing, PacketKind,
    Party, Protocol, Sink, SinkAction, Source, SourceAction, Station, TrafficClass, Verdict, remember, write_down,
};

/// How many controllers share the destinations.
const CONTROLLERS: u32 = 2;
/// How long a controller thinks, and how long a sink waits before it returns a credit.
pub const THINKS_TICKS: u64 = 3;
pub const KEEPS_TICKS: u64 = 2;

/// What is told: words of messages.
const REQUEST: u64 = 0;
const CREDIT: u64 = 1;

#[derive(Debug)]
pub struct Scheduler {
    pub latency: u64,
    /// Packets for a destination that may be in flight.
    pub credits: u32,
}

impl Protocol for Scheduler {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![KindDeclaration::DATA.with_payload(1)]
    }

    fn hooks(&self) -> Hooks {
        // The last packet in order waits for nobody.
        Hooks { resequencing: Some(self.credits - 1), ..Hooks::default() }
    }

    fn control_network(&self, _: &Station) -> Option<ControlNetwork> {
        Some(ControlNetwork { latency: self.latency, controllers: CONTROLLERS })
    }

    fn controller(&self, _: u32, _: &Station) -> Option<Box<dyn Controller>> {
        Some(Box::new(Arbiter { credits: self.credits, ..Arbiter::default() }))
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(Adapter::default()))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(Egress::default()))
    }

    fn describe(&self) -> String {
        format!("scheduler: {} credits, latency {}", self.credits, self.latency)
    }
}

/// The controller of a destination.
fn controller_of(destination: u32) -> Party {
    Party::Controller(destination % CONTROLLERS)
}

/// Ticks that a request for a destination takes longer than other messages.
pub fn asks_late(destination: u32) -> u64 {
    u64::from(destination % 3)
}

#[derive(Debug, Default)]
struct Adapter {
    /// By destination: whether a packet is granted, or only asked for.
    asked: BTreeMap<u32, bool>,
    /// By destination: packets that have left.
    sent: BTreeMap<u32, u64>,
}

impl Source for Adapter {
    fn may_send(&mut self, packet: &Outgoing, _now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        match self.asked.get(&packet.destination) {
            Some(true) => return Verdict::Send { kind: PacketKind::DATA, marks: 0 },
            Some(false) => {}
            None => {
                self.asked.insert(packet.destination, false);
                let (words, after) = ([REQUEST, packet.destination.into()].into(), asks_late(packet.destination));
                actions.push(SourceAction::Tell { to: controller_of(packet.destination), words, after });
            }
        }
        Verdict::Hold
    }

    fn write_payload(&mut self, packet: &Outgoing, _now: u64, payload: &mut [u64]) {
        assert_eq!(self.asked.remove(&packet.destination), Some(true), "only what was granted leaves");
        let sent = self.sent.entry(packet.destination).or_default();
        payload[0] = *sent;
        *sent += 1;
    }

    fn on_message(&mut self, from: Party, words: &[u64], _now: u64, actions: &mut Vec<SourceAction>) {
        let destination = words[0] as u32;
        assert_eq!(from, controller_of(destination));
        assert_eq!(self.asked.insert(destination, true), Some(false), "nothing is granted that was not asked for");
        actions.push(SourceAction::Open { destination });
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, _: &mut Vec<SourceAction>) {
        panic!("nobody sends {control:?}");
    }

    fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.asked, &self.sent), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.asked, self.sent) = remember(bytes)?;
        Some(())
    }
}

#[derive(Debug, Default)]
struct Egress {
    /// By source: packets that have come in order.
    received: BTreeMap<u32, u64>,
    /// Packets that have arrived less those in order: those that wait.
    waiting: u64,
}

impl Sink for Egress {
    fn on_arrival(&mut self, _arrival: &Arrival<'_>, _now: u64, _actions: &mut Vec<SinkAction>) {
        self.waiting += 1;
    }

    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>) {
        let received = self.received.entry(arrival.from).or_default();
        assert_eq!(arrival.payload, [*received], "data comes in order: {arrival:?}");
        *received += 1;
        self.waiting -= 1;
        actions.push(SinkAction::Timer { at: now + KEEPS_TICKS, token: arrival.to });
    }

    fn on_timer(&mut self, token: u32, _now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Tell { to: controller_of(token), words: [CREDIT, token.into()].into(), after: 0 });
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.received, self.waiting), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.received, self.waiting) = remember(bytes)?;
        Some(())
    }
}

#[derive(Debug, Default)]
struct Arbiter {
    credits: u32,
    /// By destination: credits in use, and who waits for one.
    destinations: BTreeMap<u32, (u32, VecDeque<Party>)>,
}

impl Controller for Arbiter {
    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>) {
        let destination = words[1] as u32;
        let (used, waiting) = self.destinations.entry(destination).or_default();
        match (words[0], from) {
            (REQUEST, Party::Source(_)) => waiting.push_back(from),
            (CREDIT, Party::Sink(node)) if node == destination => *used -= 1,
            _ => panic!("{from:?} says {words:?}"),
        }
        actions.push(ControllerAction::Timer { at: now + THINKS_TICKS, token: destination });
    }

    fn on_timer(&mut self, token: u32, _now: u64, actions: &mut Vec<ControllerAction>) {
        let (used, waiting) = self.destinations.get_mut(&token).expect("somebody has said something about it");
        while *used < self.credits
            && let Some(to) = waiting.pop_front()
        {
            *used += 1;
            actions.push(ControllerAction::Tell { to, words: [token.into()].into(), after: 0 });
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.destinations, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.destinations = remember(bytes)?;
        Some(())
    }
}

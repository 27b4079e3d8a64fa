//! The protocol and its machines.

use std::collections::BTreeMap;

use tailback_protocol::{
    Arrival, ClassRouting, Clock, Control, Direction, Fill, Here, Hooks, InjectionTime, KindDeclaration, Moment,
    Outgoing, PacketKind, Passing, Ports, Protocol, Sink, SinkAction, Source, SourceAction, Station, Switch,
    SwitchNeeds, TrafficClass, Verdict, Watch, remember, write_down,
};

use crate::pause::{Pacing, Pause};

/// What tells sources of marks.
const FEEDBACK: PacketKind = PacketKind::new(1);

/// The names of that in reports, by its carrier.
pub const ACKNOWLEDGEMENTS: &str = "acknowledgements";
pub const NOTIFICATIONS: &str = "notifications";

/// The mark of congestion.
const CONGESTED: u8 = 1;

/// What tells sources of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The acknowledgement that each data packet has anyway.
    Acknowledgement,
    /// A packet of its own for each marked one; there are no acknowledgements.
    Notification,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ecn {
    /// How pauses grow and shrink.
    pub pacing: Pacing,
    /// From what share of an input buffer on packets that leave it are marked.
    pub threshold: f64,
    /// Packets are marked only if less than this share of the next buffer is in use: there the queue begins.
    pub root_below: f64,
    /// What tells sources.
    pub carrier: Carrier,
    /// How control packets are routed.
    pub routing: ClassRouting,
}

impl Protocol for Ecn {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, self.routing)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let name = match self.carrier {
            Carrier::Acknowledgement => ACKNOWLEDGEMENTS,
            Carrier::Notification => NOTIFICATIONS,
        };
        vec![KindDeclaration::DATA, KindDeclaration::control(name, Direction::Feedback, 1)]
    }

    fn hooks(&self) -> Hooks {
        Hooks { departures: true, ..Hooks::default() }
    }

    fn congestion_marks(&self) -> u8 {
        CONGESTED
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::new(Moment::Crosses, PacketKind::DATA, Ports::All)]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { input_buffers: true, ..SwitchNeeds::default() }
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(Pacer { pacing: self.pacing, injection: station.injection, pauses: BTreeMap::new() }))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(Messenger { carrier: self.carrier }))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Marker { threshold: self.threshold, root_below: self.root_below }))
    }

    fn describe(&self) -> String {
        let Pacing { increment, timer, .. } = self.pacing;
        let share = self.threshold * 100.0;
        format!(
            "ECN: packets that leave a buffer {share} % full are marked; pauses grow by {increment} ticks, \
             shrink every {timer}"
        )
    }
}

/// The source: a pause for each destination that has one.
#[derive(Clone, Debug)]
struct Pacer {
    pacing: Pacing,
    injection: InjectionTime,
    /// By destination. They last longer than the queues. One that is over goes, with the departure that it has noted, when
    /// the next packet asks.
    pauses: BTreeMap<u32, Pause>,
}

impl Source for Pacer {
    fn may_send(&mut self, packet: &Outgoing, now: u64, _actions: &mut Vec<SourceAction>) -> Verdict {
        if let Some(pause) = self.pauses.get(&packet.destination) {
            let open_at = pause.open_at(now, &self.pacing);
            if open_at > now {
                return Verdict::NotBefore(open_at);
            }
            if pause.is_over(now, &self.pacing) {
                self.pauses.remove(&packet.destination);
            }
        }
        Verdict::Send { kind: PacketKind::DATA, marks: 0 }
    }

    fn sent(&mut self, packet: &Outgoing, now: u64) {
        if let Some(pause) = self.pauses.get_mut(&packet.destination) {
            pause.leaves(now + self.injection.of(packet.flits));
        }
    }

    fn on_control(&mut self, control: &Control, _latency: u64, now: u64, _actions: &mut Vec<SourceAction>) {
        if control.marks & CONGESTED != 0 {
            self.pauses.entry(control.from).or_default().lengthen(now, &self.pacing);
        }
    }

    fn foretell(&self, control: &Control, now: u64, clock: Clock) -> Option<String> {
        let mut pause = self.pauses.get(&control.from).copied().unwrap_or_default();
        let before = pause.at(now, &self.pacing);
        pause.lengthen(now, &self.pacing);
        let [before, after] = [before, pause.at(now, &self.pacing)].map(|ticks| clock.cycles(ticks));
        let node = control.from;
        (control.marks & CONGESTED != 0)
            .then(|| format!("the pause between packets for node {node} grows from {before} to {after} cycles"))
    }

    fn is_idle(&self) -> bool {
        true // a pause holds up only what there is to send
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.pauses, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.pauses = remember(bytes)?;
        Some(())
    }
}

/// The sink: it passes marks on.
#[derive(Clone, Copy, Debug)]
struct Messenger {
    carrier: Carrier,
}

impl Sink for Messenger {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        if self.carrier == Carrier::Acknowledgement || arrival.marks & CONGESTED != 0 {
            actions.push(SinkAction::Control(arrival.acknowledgement(FEEDBACK)));
        }
    }
}

/// The router: it marks.
#[derive(Clone, Copy, Debug)]
struct Marker {
    threshold: f64,
    root_below: f64,
}

impl Marker {
    /// Whether a packet is marked that leaves a buffer this full for another.
    fn marks(self, from: Fill, to: Fill) -> bool {
        let full = f64::from(from.flits) >= self.threshold * f64::from(from.capacity);
        let root = to.flits == 0 || f64::from(to.flits) < self.root_below * f64::from(to.capacity);
        full && root
    }
}

impl Switch for Marker {
    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let output = here.output.expect("a packet that crosses has an output");
        if self.marks(here.view.input(here.input), here.view.downstream(output)) {
            *packet.marks |= CONGESTED;
        }
    }

    fn foretell(&self, _: Moment, _: &Passing<'_>, here: &Here<'_>, _: Clock) -> Option<String> {
        let (from, to) = (here.view.input(here.input), here.view.downstream(here.output?));
        let full = |fill: Fill| format!("{} of {} flits", fill.flits, fill.capacity);
        let (here, next) = (full(from), full(to));
        self.marks(from, to).then(|| format!("the buffer holds {here}, the next one {next}: the packet is marked"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailback_protocol::{PacketRef, Routes};

    use super::*;

    fn ecn(carrier: Carrier) -> Ecn {
        let pacing = Pacing { increment: 24, longest: 4096, timer: 96, decrement: 1 };
        Ecn { pacing, threshold: 0.5, root_below: 0.125, carrier, routing: ClassRouting::Minimal }
    }

    const STATION: Station = Station {
        flit_ticks: 1,
        injection: InjectionTime::of_link(1),
        packet_flits_max: 24,
        ports: 1,
        routers: 1,
        nodes_per_router: 2,
        nodes: 2,
        routes: Routes::ONE,
    };
    const PACKET: PacketRef = PacketRef { message: 0, index: 0 };

    #[test]
    fn marks_are_set_where_the_queue_begins() {
        let marker = Marker { threshold: 0.5, root_below: 0.125 };
        let marks = |here, next| marker.marks(Fill { flits: here, capacity: 256 }, Fill { flits: next, capacity: 256 });
        assert_eq!([marks(127, 0), marks(128, 0), marks(256, 31), marks(256, 32)], [false, true, true, false]);
    }

    #[test]
    fn marks_go_back_by_acknowledgement_or_by_a_packet_of_their_own() {
        let replies = |carrier, marks| {
            let mut actions = Vec::new();
            let kind = PacketKind::DATA;
            let arrival = Arrival {
                kind,
                from: 3,
                to: 4,
                packet: PACKET,
                flits: 4,
                marks,
                entropy: 0,
                sent_at: 0,
                hops: 1,
                payload: &[],
            };
            ecn(carrier).sink(&STATION).unwrap().on_data(&arrival, 0, &mut actions);
            let reply = |action| match action {
                SinkAction::Control(reply) => (reply.kind, reply.to, reply.marks),
                other => panic!("{other:?}"),
            };
            actions.into_iter().map(reply).collect::<Vec<_>>()
        };
        for marks in [0, CONGESTED] {
            assert_eq!(replies(Carrier::Acknowledgement, marks), [(FEEDBACK, 3, marks)]);
        }
        assert_eq!(replies(Carrier::Notification, 0), []);
        assert_eq!(replies(Carrier::Notification, CONGESTED), [(FEEDBACK, 3, CONGESTED)]);
    }

    #[test]
    fn a_flow_that_is_marked_at_every_packet_slows_down_by_the_increment_each_time() {
        let mut source = ecn(Carrier::Acknowledgement).source(&STATION).unwrap();
        let packet = Outgoing { packet: PACKET, source: 3, destination: 4, flits: 4, message_flits: 4 };
        let other = Outgoing { destination: 5, ..packet };
        let marked = Control { marks: CONGESTED, ..Control::new(FEEDBACK, 4, 3, PACKET) };
        let mut now = 1000;
        let mut departures = Vec::new();
        for _ in 0..4 {
            let mut actions = Vec::new();
            if let Verdict::NotBefore(at) = source.may_send(&packet, now, &mut actions) {
                assert!(matches!(source.may_send(&other, now, &mut actions), Verdict::Send { .. }));
                now = at;
            }
            assert!(matches!(source.may_send(&packet, now, &mut actions), Verdict::Send { .. }));
            source.sent(&packet, now);
            departures.push(now);
            source.on_control(&marked, 0, now, &mut actions);
        }
        // The first packet was sent before there was a pause, so the second is not held up. Then 4 flits and pauses of
        // 48, and of 72 less what the timer took at 1096.
        assert_eq!(departures, [1000, 1000, 1052, 1052 + 4 + 71]);
    }

    proptest! {
        #[test]
        fn packets_keep_the_pause_from_the_first_one_on_that_leaves_while_there_is_one(
            steps in prop::collection::vec((0u64..150, any::<bool>()), 1..100), timer in 1u64..100,
        ) {
            let pacing = Pacing { increment: 24, longest: 200, timer, decrement: 1 };
            let ecn = Ecn { pacing, ..ecn(Carrier::Acknowledgement) };
            let mut source = ecn.source(&STATION).unwrap();
            let packet = Outgoing { packet: PACKET, source: 3, destination: 4, flits: 4, message_flits: 4 };
            let marked = Control { marks: CONGESTED, ..Control::new(FEEDBACK, 4, 3, PACKET) };
            let (mut pause, mut actions) = (Pause::default(), Vec::new());
            // The end of the packet before, if there was a pause when it left.
            let mut kept_from: Option<u64> = None;
            let mut now = 1000;
            for (gap, is_mark) in steps {
                now += gap;
                if is_mark {
                    source.on_control(&marked, 0, now, &mut actions);
                    pause.lengthen(now, &pacing);
                    continue;
                }
                let keeps = |tick: u64| kept_from.is_none_or(|end| tick >= end + pause.at(tick, &pacing));
                let expected = (now..).find(|&tick| pause.is_over(tick, &pacing) || keeps(tick)).unwrap();
                if let Verdict::NotBefore(at) = source.may_send(&packet, now, &mut actions) {
                    now = at;
                }
                prop_assert_eq!(now, expected);
                prop_assert_eq!(
                    source.may_send(&packet, now, &mut actions),
                    Verdict::Send { kind: PacketKind::DATA, marks: 0 }
                );
                source.sent(&packet, now);
                kept_from = (!pause.is_over(now, &pacing)).then_some(now + 4);
            }
        }
    }
}

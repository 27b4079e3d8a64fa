//! That the suite lets through what is right, and finds out what is wrong.

use proptest::prelude::*;

use super::{Obstacle, Script, Step, run};
use crate::{
    Arrival, Baseline, ClassRouting, Control, Direction, Fate, Here, Hooks, KindDeclaration, Moment, Outgoing,
    PacketKind, Passing, Ports, Protocol, QueueingTimeout, Sink, SinkAction, Source, SourceAction, Station, Switch,
    SwitchAction, SwitchNeeds, TrafficClass, Verdict, Watch,
};

/// A protocol that sends lossy data and may be broken in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// It sends data as a kind that carries none.
    WrongKind,
    /// It does not send again what was dropped.
    Forgetful,
    /// It sends again what was not dropped.
    Nervous,
    /// It waits until a tick that has passed.
    Backward,
    /// It forgets nothing.
    Hoarder,
    /// It declares lossy data in the class of lossless data.
    Careless,
    /// It trims packets to a kind for sources, or has not declared that it trims.
    Cutter,
    Surprise,
    /// Its sinks send what only trimming makes.
    Forger,
    /// Its acknowledgements take recorded paths, of which there are none; or data records them.
    Wanderer,
    Recorder,
}

const LOSSY: PacketKind = PacketKind::new(1);
const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(2);
const NACK: PacketKind = PacketKind::new(3);
const HEADER: PacketKind = PacketKind::new(4);

impl Protocol for Broken {
    fn classes(&self) -> Vec<TrafficClass> {
        let speculative =
            TrafficClass { queueing_timeout: Some(QueueingTimeout::at_inputs(5)), ..TrafficClass::data(0) };
        vec![TrafficClass::data(1), speculative, TrafficClass::control("control", 2, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let lossy = KindDeclaration::lossy_data("lossy_data", if *self == Self::Careless { 0 } else { 1 });
        let acknowledgements = KindDeclaration::control("acknowledgements", Direction::Feedback, 2);
        vec![
            KindDeclaration::DATA,
            if *self == Self::Recorder { lossy.recording_path() } else { lossy },
            if *self == Self::Wanderer { acknowledgements.on_recorded_path() } else { acknowledgements },
            KindDeclaration::control("nacks", Direction::Nack, 2),
            KindDeclaration::control("headers", Direction::Trimmed, 2),
        ]
    }

    fn hooks(&self) -> Hooks {
        Hooks { copies: true, ..Hooks::default() }
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::new(Moment::Expires, LOSSY, Ports::All)]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { sends: true, trims: *self == Self::Cutter, ..SwitchNeeds::default() }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(*self))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(*self))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(*self))
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl Source for Broken {
    fn may_send(&mut self, _: &Outgoing, now: u64, _: &mut Vec<SourceAction>) -> Verdict {
        match self {
            Self::Backward => Verdict::NotBefore(now),
            Self::WrongKind => Verdict::Send { kind: NACK, marks: 0 },
            _ => Verdict::Send { kind: LOSSY, marks: 0 },
        }
    }

    fn on_control(&mut self, control: &Control, _: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let packet = control.about;
        let again = SourceAction::Resend { packet, kind: PacketKind::DATA, at: now };
        match (self, control.kind) {
            (Self::Nervous, ACKNOWLEDGEMENT) | (Self::Nothing, NACK) => actions.push(again),
            (Self::Nothing | Self::Forgetful, ACKNOWLEDGEMENT) => actions.push(SourceAction::Forget(packet)),
            _ => {}
        }
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

impl Sink for Broken {
    fn on_data(&mut self, arrival: &Arrival<'_>, _: u64, actions: &mut Vec<SinkAction>) {
        let kind = if *self == Self::Forger { HEADER } else { ACKNOWLEDGEMENT };
        actions.push(SinkAction::Control(arrival.acknowledgement(kind)));
    }
}

impl Switch for Broken {
    fn expires(&mut self, packet: &mut Passing<'_>, _: &mut Here<'_>) -> Fate {
        match self {
            Self::Cutter => Fate::Trim(ACKNOWLEDGEMENT),
            Self::Surprise => Fate::Trim(HEADER),
            _ => Fate::Drop(packet.nack(NACK)),
        }
    }
}

fn verdict(broken: Broken, obstacles: &[Obstacle]) -> Result<(), String> {
    let mut steps = vec![Step::Offer { node: 0, destination: 1, flits: 3 }];
    for &obstacle in obstacles {
        steps.extend([Step::Transmit { node: 0 }, Step::Hop { which: 0, obstacle }]);
    }
    run(&broken, &Script { nodes: 2, routers: 1, packet_flits_max: 2, routes: 1, steps }).map(|_| ())
}

#[test]
fn what_is_wrong_is_found_out() {
    let dropped = [Obstacle::Expiry, Obstacle::Queued(0)];
    assert_eq!(verdict(Broken::Nothing, &dropped), Ok(()));
    let complaint = |broken| verdict(broken, &dropped).unwrap_err();
    assert!(complaint(Broken::WrongKind).contains("carries no data"));
    assert!(complaint(Broken::Forgetful).contains("not idle"));
    assert!(complaint(Broken::Nervous).contains("was not dropped"));
    assert!(complaint(Broken::Backward).contains("is to wait until"));
    assert!(complaint(Broken::Hoarder).contains("not idle"));
    assert!(complaint(Broken::Careless).contains("shares a class"));
    assert!(complaint(Broken::Cutter).contains("is trimmed to"));
    assert!(complaint(Broken::Surprise).contains("has not declared that it trims"));
    assert!(complaint(Broken::Forger).contains("before it was trimmed"));
    assert!(complaint(Broken::Wanderer).contains("and has none from its destination"));
    assert!(complaint(Broken::Recorder).contains("the paths of requests are recorded"));
}

/// A protocol whose sources send nothing before a router has let them: each message asks, the router of the source
/// answers some ticks later, and one message of a node is let go at a time.
#[derive(Clone, Copy, Debug)]
struct Gate;

const ASK: PacketKind = PacketKind::new(1);
const LET_GO: PacketKind = PacketKind::new(2);

/// How long a router thinks.
const THINKS_TICKS: u64 = 20;

impl Protocol for Gate {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![
            KindDeclaration::DATA,
            KindDeclaration::control("asks", Direction::Request, 1).of_flits(2),
            KindDeclaration::control("let_go", Direction::Feedback, 1),
        ]
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::new(Moment::Arrives, ASK, Ports::All)]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { sends: true, ..SwitchNeeds::default() }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(GateSource::default()))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(GateSwitch::default()))
    }

    fn describe(&self) -> String {
        "gate".to_owned()
    }
}

#[derive(Debug, Default)]
struct GateSource {
    /// Destinations that are asked for, and packets that may go.
    asked: std::collections::BTreeSet<u32>,
    granted: std::collections::BTreeSet<u32>,
}

impl Source for GateSource {
    fn may_send(&mut self, packet: &Outgoing, _: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        if self.granted.remove(&packet.destination) {
            return Verdict::Send { kind: PacketKind::DATA, marks: 0 };
        }
        if self.asked.insert(packet.destination) {
            let ask = Control::new(ASK, packet.source, packet.destination, packet.packet);
            actions.push(SourceAction::Control(ask));
        }
        Verdict::Hold
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, actions: &mut Vec<SourceAction>) {
        self.asked.remove(&control.from);
        self.granted.insert(control.from);
        actions.push(SourceAction::Open { destination: control.from });
    }

    fn is_idle(&self) -> bool {
        self.asked.is_empty() && self.granted.is_empty()
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

#[derive(Debug, Default)]
struct GateSwitch {
    asks: Vec<Control>,
}

impl Switch for GateSwitch {
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        let token = self.asks.len() as u32;
        self.asks.push(packet.control.take().expect("an ask is a control packet"));
        here.actions.push(SwitchAction::Timer { at: here.now + THINKS_TICKS, token });
        Fate::Absorb(None)
    }

    fn on_timer(&mut self, token: u32, _: u64, actions: &mut Vec<SwitchAction>) {
        let &Control { from, to, about, .. } = &self.asks[token as usize];
        actions.push(SwitchAction::Send(Control::new(LET_GO, to, from, about)));
    }
}

#[test]
fn routers_absorb_and_answer_later_and_sources_hold_until_then() {
    let steps = vec![
        Step::Offer { node: 0, destination: 2, flits: 4 },
        Step::Transmit { node: 0 },
        Step::Hop { which: 0, obstacle: Obstacle::Queued(0) },
    ];
    let trace = run(&Gate, &Script { nodes: 3, routers: 3, packet_flits_max: 2, routes: 1, steps }).unwrap();
    let arrived = |event: &super::Event| match *event {
        super::Event::Arrived { at, index, .. } => Some((at, index)),
        _ => None,
    };
    let arrivals: Vec<_> = trace.events.iter().filter_map(arrived).collect();
    assert!(arrivals.len() == 2 && arrivals[0].0 >= THINKS_TICKS && arrivals[1].0 >= 2 * THINKS_TICKS, "{arrivals:?}");
}

proptest! {
    #[test]
    fn the_baseline_and_simple_protocols_conform(numbers in prop::collection::vec(any::<u64>(), 1..300)) {
        let script = Script::from_numbers(&numbers);
        for acknowledge in [false, true] {
            let protocol = Baseline { acknowledge, control_routing: ClassRouting::Minimal };
            prop_assert_eq!(run(&protocol, &script).err(), None);
        }
        prop_assert_eq!(run(&Broken::Nothing, &script).err(), None);
    }
}

//! Recorded paths: a protocol whose sources ask for each packet, and whose routers see each answer come by where its request has
//! gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tailback_protocol::conformance::{Script, run};
use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Fate, Here, KindDeclaration, Moment, Outgoing, PacketKind, Passing,
    PathUse, Ports, Protocol, RecordedPath, Sink, SinkAction, Source, SourceAction, Station, Switch, SwitchNeeds,
    TrafficClass, Verdict, Watch, remember, write_down,
};
use tailback_routing::reverse::ReverseChannels;

use crate::by_hand::{deliveries, latencies, plan};
use crate::sample::Sample;

const REQUEST: PacketKind = PacketKind::new(1);
const GRANT: PacketKind = PacketKind::new(2);
const RETRY: PacketKind = PacketKind::new(3);

/// Requests are answered by sinks, or by the last router where it answers them. Any router may turn a grant into a retry, which is as
/// good.
#[derive(Clone, Copy, Debug)]
pub struct Reverse {
    pub routing: ClassRouting,
    pub routers_answer: bool,
}

impl Protocol for Reverse {
    fn classes(&self) -> Vec<TrafficClass> {
        let control = |name, priority| TrafficClass::control(name, priority, self.routing);
        vec![TrafficClass::data(0), control("requests", 1), control("answers", 2)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let answers = |name| KindDeclaration::control(name, Direction::Feedback, 2).on_recorded_path();
        vec![
            KindDeclaration::DATA,
            KindDeclaration::control("requests", Direction::Request, 1).with_payload(1).recording_path(),
            answers("grants").with_payload(1),
            answers("retries"),
        ]
    }

    fn watches(&self) -> Vec<Watch> {
        let mut watches: Vec<_> =
            [REQUEST, GRANT, RETRY].map(|kind| Watch::new(Moment::Crosses, kind, Ports::All)).to_vec();
        watches.push(Watch::new(Moment::Arrives, GRANT, Ports::All));
        if self.routers_answer {
            watches.push(Watch::new(Moment::Arrives, REQUEST, Ports::LastHop));
        }
        watches
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { sends: true, ..SwitchNeeds::default() }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(Asker::default()))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(*self))
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Witness { ports: station.ports, ..Witness::default() }))
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

/// Whether a protocol's answers can take the paths of its requests in reverse, if that is what they are to do.
pub fn is_reversible(protocol: &dyn Protocol, sample: &Sample) -> bool {
    if protocol.kinds().iter().all(|kind| kind.path == PathUse::None) {
        return true;
    }
    let plan = sample.plan(0);
    let of = |class: usize| plan.routings[class].as_ref();
    ReverseChannels::new(of(1), of(2), RecordedPath::ROUTERS_MAX).is_ok()
}

#[derive(Debug, Default)]
struct Asker {
    asked: BTreeSet<u32>,
    granted: BTreeSet<u32>,
}

impl Source for Asker {
    fn may_send(&mut self, packet: &Outgoing, _: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        let Outgoing { packet, source, destination, .. } = *packet;
        if self.granted.remove(&destination) {
            return Verdict::Send { kind: PacketKind::DATA, marks: 0 };
        }
        if self.asked.insert(destination) {
            actions.push(SourceAction::Control(Control::new(REQUEST, source, destination, packet).payload(&[5])));
        }
        Verdict::Hold
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, actions: &mut Vec<SourceAction>) {
        assert!(self.asked.remove(&control.from), "nothing is granted that was not asked for: {control:?}");
        self.granted.insert(control.from);
        actions.push(SourceAction::Open { destination: control.from });
    }

    fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.asked, &self.granted), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.asked, self.granted) = remember(bytes)?;
        Some(())
    }
}

/// The answer to a request.
fn grant(request: &Control) -> Control {
    Control::new(GRANT, request.to, request.from, request.about).payload(&request.payload).along(request)
}

impl Sink for Reverse {
    fn on_data(&mut self, _: &Arrival<'_>, _: u64, _: &mut Vec<SinkAction>) {}

    fn on_request(&mut self, request: &Control, _: u64, actions: &mut Vec<SinkAction>) {
        assert_eq!(request.payload, [5], "the path is none of the payload");
        actions.push(SinkAction::Control(grant(request)));
    }
}

/// A router that remembers by which ports requests have gone.
#[derive(Debug, Default)]
struct Witness {
    /// Its ports, with the internal one, which is the last.
    ports: u32,
    /// By source and destination of requests that have crossed and not been answered: the ports that they came in by and left by. A
    /// path that is not minimal can pass a router twice.
    crossed: BTreeMap<(u32, u32), Vec<(u8, u8)>>,
    /// Grants that it has seen: each fifth becomes a retry.
    grants: u64,
}

impl Witness {
    /// A request has gone by some ports.
    fn cross(&mut self, request: &Passing<'_>, ports: (u8, u8)) {
        self.crossed.entry((request.source, request.destination)).or_default().push(ports);
    }
}

impl Switch for Witness {
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        let control = packet.control.take().expect("only control packets are watched");
        if packet.kind == REQUEST {
            self.cross(packet, (here.input.port, here.input.port));
            return Fate::Absorb(Some(grant(&control)));
        }
        self.grants += 1;
        if !self.grants.is_multiple_of(5) {
            return Fate::Forward;
        }
        let retry = Control::new(RETRY, control.from, control.to, control.about).along(&control);
        Fate::Absorb(Some(retry))
    }

    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let output = here.output.expect("a packet that crosses has an output").port;
        if packet.kind == REQUEST {
            return self.cross(packet, (here.input.port, output));
        }
        // What the router itself sends comes in by its internal port.
        let input = here.input.port;
        let crossed = self.crossed.get_mut(&(packet.destination, packet.source)).and_then(Vec::pop);
        let (came_by, left_by) = crossed.expect("the request has been here");
        assert_eq!(output, came_by, "an answer leaves by the port that its request has come by");
        assert!(
            input == left_by || u32::from(input) == self.ports - 1,
            "an answer comes by where its request has gone"
        );
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let crossed: Vec<_> = self.crossed.iter().collect();
        write_down(&(self.ports, crossed, self.grants), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let crossed: Vec<_>;
        (self.ports, crossed, self.grants) = remember(bytes)?;
        self.crossed = crossed.into_iter().collect();
        Some(())
    }
}

#[test]
fn a_source_that_holds_its_packets_sends_its_request_and_is_answered() {
    for routers_answer in [false, true] {
        let plan = plan(Arc::new(Reverse { routing: ClassRouting::Minimal, routers_answer }), 1, 1);
        let (data, control, from_router) = latencies(&plan);
        let granted_at =
            if routers_answer { u64::from(plan.spec.injection.latency) + from_router } else { 2 * control };
        let found: Vec<_> = deliveries(plan).iter().map(|found| (found.tick, found.from, found.kind)).collect();
        let mut expected = vec![(granted_at, 1, GRANT), (granted_at + data, 0, PacketKind::DATA)];
        if !routers_answer {
            expected.insert(0, (control, 0, REQUEST));
        }
        assert_eq!(found, expected);
    }
}

proptest! {
    #[test]
    fn they_conform(numbers in prop::collection::vec(any::<u64>(), 1..300), routers_answer in any::<bool>()) {
        let protocol = Reverse { routing: ClassRouting::Minimal, routers_answer };
        let found = run(&protocol, &Script::from_numbers(&numbers));
        prop_assert!(found.is_ok(), "{:?}", found.err());
    }
}

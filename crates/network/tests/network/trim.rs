//! Trimming: a protocol whose switches cut the data off packets that would wait for long, and let their headers go on. Sinks
//! tell sources what has been cut, and these send it again as lossless data.

use std::sync::Arc;

use proptest::prelude::*;
use tailback_protocol::conformance::{Event, Script, run};
use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Fate, Here, Hooks, KindDeclaration, Moment, Outgoing, PacketKind,
    PacketRef, Passing, Ports, Protocol, QueueingTimeout, Sink, SinkAction, Source, SourceAction, Station, Switch,
    SwitchNeeds, TrafficClass, Verdict, WaitsUntil, Watch,
};

use crate::by_hand::{Delivery, deliveries, latencies, plan};

const LOSSY: PacketKind = PacketKind::new(1);
const HEADER: PacketKind = PacketKind::new(2);
const PULL: PacketKind = PacketKind::new(3);
const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(4);

/// The mark of a packet that was trimmed in its last router.
const LAST_HOP: u8 = 1;

/// Packets are trimmed where at least so many flits wait for their node, or when they have waited for so many ticks.
#[derive(Clone, Copy, Debug)]
pub struct Trimmer {
    pub threshold: u32,
    pub timeout: u64,
}

impl Protocol for Trimmer {
    fn classes(&self) -> Vec<TrafficClass> {
        let lossy =
            TrafficClass { queueing_timeout: Some(QueueingTimeout::at_inputs(self.timeout)), ..TrafficClass::data(0) };
        vec![TrafficClass::data(1), lossy, TrafficClass::control("control", 2, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![
            KindDeclaration::DATA,
            KindDeclaration::lossy_data("lossy_data", 1).with_payload(2),
            KindDeclaration::control("headers", Direction::Trimmed, 2).with_payload(1),
            KindDeclaration::control("pulls", Direction::Feedback, 2),
            KindDeclaration::control("acknowledgements", Direction::Feedback, 2),
        ]
    }

    fn hooks(&self) -> Hooks {
        Hooks { copies: true, ..Hooks::default() }
    }

    fn watches(&self) -> Vec<Watch> {
        vec![
            Watch::new(Moment::Arrives, LOSSY, Ports::LastHop),
            Watch::new(Moment::Requests, LOSSY, Ports::LastHop),
            Watch::new(Moment::Expires, LOSSY, Ports::All),
        ]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { trims: true, waiting_for_nodes: Some(WaitsUntil::Departure), ..SwitchNeeds::default() }
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

/// What a packet carries, of which a header keeps the first word.
fn payload_of(packet: PacketRef) -> [u64; 2] {
    [u64::from(packet.index) + 7, 9]
}

impl Source for Trimmer {
    fn may_send(&mut self, _: &Outgoing, _: u64, _: &mut Vec<SourceAction>) -> Verdict {
        Verdict::Send { kind: LOSSY, marks: 0 }
    }

    fn write_payload(&mut self, packet: &Outgoing, _: u64, payload: &mut [u64]) {
        payload.copy_from_slice(&payload_of(packet.packet));
    }

    fn on_control(&mut self, control: &Control, _: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let packet = control.about;
        actions.push(match control.kind {
            PULL => SourceAction::Resend { packet, kind: PacketKind::DATA, at: now },
            _ => SourceAction::Forget(packet),
        });
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

impl Sink for Trimmer {
    fn on_data(&mut self, arrival: &Arrival<'_>, _: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(arrival.acknowledgement(ACKNOWLEDGEMENT)));
    }

    fn on_request(&mut self, header: &Control, _: u64, actions: &mut Vec<SinkAction>) {
        assert_eq!((header.kind, header.payload[..].first()), (HEADER, payload_of(header.about).first()));
        assert!(header.flits > 0, "it says how many flits were cut off");
        actions.push(SinkAction::Control(Control::new(PULL, header.to, header.from, header.about).flits(header.flits)));
    }
}

impl Switch for Trimmer {
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        if here.view.waiting_for_node(here.node_port()) < self.threshold {
            return Fate::Forward;
        }
        *packet.marks |= LAST_HOP;
        Fate::Trim(HEADER)
    }

    fn requests(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        // The other packets that wait leave it less to wait for.
        if here.view.waiting_for_node(here.node_port()) < 2 * self.threshold {
            return Fate::Forward;
        }
        *packet.marks |= LAST_HOP;
        Fate::Trim(HEADER)
    }

    fn expires(&mut self, _: &mut Passing<'_>, _: &mut Here<'_>) -> Fate {
        Fate::Trim(HEADER)
    }
}

#[test]
fn the_header_goes_on_and_the_sink_pulls() {
    let plan = plan(Arc::new(Trimmer { threshold: 1, timeout: 1000 }), 2, 1);
    let (data, control, from_router) = latencies(&plan);
    let arrived_at_router = u64::from(plan.spec.injection.latency);
    let found = deliveries(plan);
    // Node 0's packet is first; node 1's finds 4 flits waiting. Its header goes first, as it is of a higher class.
    let header_at = arrived_at_router + from_router;
    let pulled_at = header_at + control;
    let of_kind = |wanted| found.iter().filter(move |found| found.kind == wanted).copied().collect::<Vec<_>>();
    let delivery = |tick, from, kind, sent_at| Delivery { tick, from, kind, sent_at, flits: 4 };
    assert_eq!(of_kind(HEADER), [Delivery { flits: 1, ..delivery(header_at, 1, HEADER, 0) }]);
    assert_eq!(of_kind(PULL), [Delivery { flits: 1, ..delivery(pulled_at, 2, PULL, header_at) }]);
    assert_eq!(of_kind(LOSSY), [delivery(data + 1, 0, LOSSY, 0)]);
    assert_eq!(of_kind(PacketKind::DATA), [delivery(pulled_at + data, 1, PacketKind::DATA, pulled_at)]);
    assert_eq!(of_kind(ACKNOWLEDGEMENT).len(), 2);
}

proptest! {
    #[test]
    fn it_conforms(numbers in prop::collection::vec(any::<u64>(), 1..300)) {
        let trace = run(&Trimmer { threshold: 500, timeout: 10 }, &Script::from_numbers(&numbers));
        prop_assert!(trace.is_ok(), "{:?}", trace.err());
        let trace = trace.expect("it is");
        let dropped = trace.events.iter().filter(|event| matches!(event, Event::Dropped { .. })).count();
        let heard = |kind| trace.events.iter().filter(move |event| matches!(event, Event::Heard { control, .. } if control.kind == kind));
        prop_assert_eq!((heard(HEADER).count(), heard(PULL).count()), (dropped, dropped));
    }
}

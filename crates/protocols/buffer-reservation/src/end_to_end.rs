//! End-to-end acknowledgements, with which the paper compares: a window for each flow, and no reservation.

use std::sync::Arc;

use tailback_protocol::{
    Arrival, Control, ControlNetwork, Hooks, KindDeclaration, Outgoing, PacketKind, Party, Protocol, ProtocolModel,
    Sink, SinkAction, Source, SourceAction, Station, TrafficClass, Verdict, remember, write_down,
};

use crate::parameters::{self as shared, count};
use crate::words::Word;

/// End-to-end acknowledgements.
pub const END_TO_END_ACKNOWLEDGEMENT: ProtocolModel = ProtocolModel {
    name: "end-to-end-acknowledgement",
    summary: "a flow has a window of packets that are not acknowledged; a node acknowledges each as soon as it is in order, \
              outside the network, a tick later",
    parameters: &[count("window", u16::MAX as u64, "16", "packets of a flow that may be unacknowledged at most (6.4)")],
    control_kinds: &[],
    build: |values| Ok(Arc::new(EndToEnd { window: values.integer("window") as u16 })),
};

/// What an acknowledgement takes. It takes no time in the paper; messages take a tick at least.
const LATENCY: u64 = 1;

/// End-to-end acknowledgements.
#[derive(Clone, Copy, Debug)]
struct EndToEnd {
    window: u16,
}

impl Protocol for EndToEnd {
    fn classes(&self) -> Vec<TrafficClass> {
        shared::classes()
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        shared::kinds()
    }

    fn hooks(&self) -> Hooks {
        // Windows bound what waits, and the memory for it is not limited.
        Hooks { departures: true, resequencing: Some(u32::MAX), ..Hooks::default() }
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(Windows { window: self.window, outstanding: vec![0; station.nodes as usize], sum: 0 }))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(Acknowledger))
    }

    fn control_network(&self, _: &Station) -> Option<ControlNetwork> {
        Some(ControlNetwork { latency: LATENCY, controllers: 0 })
    }

    fn describe(&self) -> String {
        format!("end-to-end acknowledgements: windows of {} packets, nothing is reserved", self.window)
    }

    fn explain(&self, station: &Station) -> Vec<String> {
        let packets = u64::from(station.nodes) * u64::from(self.window);
        vec![
            format!("a flow has {} packets on their way at most, all flows to one node {packets}", self.window),
            "an acknowledgement takes a tick, and no place in the network".to_owned(),
        ]
    }
}

/// The source: a window for each destination.
struct Windows {
    window: u16,
    /// By destination: packets that are not acknowledged.
    outstanding: Vec<u16>,
    sum: u64,
}

impl Source for Windows {
    fn may_send(&mut self, packet: &Outgoing, _now: u64, _actions: &mut Vec<SourceAction>) -> Verdict {
        if self.outstanding[packet.destination as usize] < self.window {
            Verdict::Send { kind: PacketKind::DATA, marks: 0 }
        } else {
            Verdict::Hold
        }
    }

    fn sent(&mut self, packet: &Outgoing, _now: u64) {
        self.outstanding[packet.destination as usize] += 1;
        self.sum += 1;
    }

    fn on_message(&mut self, from: Party, words: &[u64], _now: u64, actions: &mut Vec<SourceAction>) {
        let (Party::Sink(destination), Word::Acknowledgement) = (from, Word::of(words)) else {
            panic!("{from:?} tells a source {words:?}");
        };
        let outstanding = &mut self.outstanding[destination as usize];
        if *outstanding == self.window {
            actions.push(SourceAction::Open { destination });
        }
        *outstanding -= 1;
        self.sum -= 1;
    }

    fn on_control(&mut self, control: &Control, _: u64, _: u64, _: &mut Vec<SourceAction>) {
        panic!("nobody sends {control:?}");
    }

    fn is_idle(&self) -> bool {
        self.sum == 0
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.outstanding, self.sum), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.outstanding, self.sum) = remember(bytes)?;
        Some(())
    }
}

/// The sink: it acknowledges whatever is in order.
struct Acknowledger;

impl Sink for Acknowledger {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        let words = Word::Acknowledgement.words();
        actions.push(SinkAction::Tell { to: Party::Source(arrival.from), words, after: 0 });
    }
}

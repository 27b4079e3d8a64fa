//! Any protocol, with data in order: what is dropped and sent again takes its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailback_network::General;
use tailback_protocol::{
    Arrival, ClassRouting, Control, Hooks, KindDeclaration, Protocol, QueueingTimeout, Sink, SinkAction, Source,
    Station, Switch, SwitchNeeds, TrafficClass, Watch, remember, write_down,
};
use tailback_reservation::{Lead, Smsrp, Terms};
use tailback_workload::MessageSize;

use crate::conservation::{SILENT_FROM, conserves};
use crate::sample::{Sample, fixed, queued};

#[derive(Debug)]
pub struct Resequenced(pub Arc<dyn Protocol>);

impl Protocol for Resequenced {
    fn classes(&self) -> Vec<TrafficClass> {
        self.0.classes()
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        self.0.kinds()
    }

    fn hooks(&self) -> Hooks {
        Hooks { resequencing: Some(u32::MAX), ..self.0.hooks() }
    }

    fn watches(&self) -> Vec<Watch> {
        self.0.watches()
    }

    fn switch_needs(&self) -> SwitchNeeds {
        self.0.switch_needs()
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        self.0.source(station)
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(InOrder { sink: self.0.sink(station)?, last: BTreeMap::new() }))
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        self.0.switch(station)
    }

    fn describe(&self) -> String {
        format!("{}, in order", self.0.describe())
    }
}

/// A sink that sees whether data comes in order.
struct InOrder {
    sink: Box<dyn Sink>,
    /// By source: the message and the place in it of the packet before.
    last: BTreeMap<u32, (u32, u32)>,
}

impl Sink for InOrder {
    fn on_arrival(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>) {
        // Acknowledged at once: a control packet is sent while the packet is not yet in order.
        self.sink.on_data(arrival, now, actions);
    }

    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, _actions: &mut Vec<SinkAction>) {
        let last = self.last.insert(arrival.from, (arrival.packet.message, arrival.packet.index));
        let follows =
            last.is_some_and(|(message, index)| (arrival.packet.message, arrival.packet.index) == (message, index + 1));
        assert!(follows || arrival.packet.index == 0, "{:?} follows {last:?}", arrival.packet);
    }

    fn on_request(&mut self, request: &Control, now: u64, actions: &mut Vec<SinkAction>) {
        self.sink.on_request(request, now, actions);
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.sink.save(bytes);
        write_down(&self.last, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.sink.load(bytes)?;
        self.last = remember(bytes)?;
        Some(())
    }
}

/// A packet is acknowledged when it arrives and may wait for its order after that. A message to another node that is sent meanwhile must
/// not have the name of its message, or the two are put together as one.
#[test]
fn messages_that_wait_for_their_order_are_not_taken_for_others() {
    let terms = Terms {
        routing: ClassRouting::Chosen,
        lead: Lead::Latency,
        overhead: 0.3,
        control_overhead: 0,
        minimum_grant_delay: 37,
    };
    let sample = fixed(("k-ary-n-tree", &[("k", &[2]), ("n", &[3])]));
    let nic = queued(sample.nic);
    let sample = Sample {
        routing: ("nearest-common-ancestor", &[("up", "random"), ("vcs", "1")]),
        buffer_packets: vec![2, 2, 2],
        protocol: Arc::new(Resequenced(Arc::new(Smsrp { terms, timeout: QueueingTimeout::at_inputs(40) }))),
        load: 0.8,
        pattern: 1,
        seed: 4,
        size: MessageSize::Uniform { min: 1, max: 12 },
        nic,
        ..sample
    };
    conserves::<General>(sample.plan(SILENT_FROM), sample.routing.0).expect("all messages arrive as they were sent");
}

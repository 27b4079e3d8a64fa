//! Any protocol, with data in order: what is dropped and sent again takes its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailback_protocol::{
    Arrival, Control, Hooks, KindDeclaration, Protocol, Sink, SinkAction, Source, Station, Switch, SwitchNeeds,
    TrafficClass, Watch, remember, write_down,
};

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
    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>) {
        let last = self.last.insert(arrival.from, (arrival.packet.message, arrival.packet.index));
        let follows =
            last.is_some_and(|(message, index)| (arrival.packet.message, arrival.packet.index) == (message, index + 1));
        assert!(follows || arrival.packet.index == 0, "{:?} follows {last:?}", arrival.packet);
        self.sink.on_data(arrival, now, actions);
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

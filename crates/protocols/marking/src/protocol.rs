//! What all three protocols are put together from: a rule of marks, a response to them, and acknowledgements between.

use std::sync::Arc;

use tailback_parameters::Values;
use tailback_protocol::{
    Arrival, ClassRouting, Clock, Control, Direction, Hooks, InjectionTime, KindDeclaration, MarkDeclaration,
    PacketKind, Protocol, Sink, SinkAction, Source, Station, Switch, SwitchNeeds, TrafficClass, Watch, control_routing,
};

use crate::marks::{MARKED, Marker, Rule, Thresholds, VALIDATED};
use crate::parameters::{self as shared, ACKNOWLEDGEMENTS};
use crate::response::Response;
use crate::sender::{Reset, Scope, Sender};

const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);

/// A protocol of marks.
#[derive(Clone, Debug)]
pub(crate) struct Marked<R> {
    pub response: R,
    pub rule: Rule,
    pub thresholds: Thresholds,
    pub scope: Scope,
    pub reset: Reset,
    /// Flits of an acknowledgement.
    pub acknowledgement: u16,
    pub routing: ClassRouting,
}

impl<R: Response> Marked<R> {
    /// With what the shared parameters say.
    pub fn of(values: &Values, response: R, thresholds: Thresholds, reset: Reset) -> Arc<dyn Protocol> {
        Arc::new(Self {
            response,
            rule: shared::rule(values),
            thresholds,
            scope: shared::scope(values),
            reset,
            acknowledgement: values.integer("acknowledgement") as u16,
            routing: control_routing(values),
        })
    }

    pub fn sender(&self, injection: InjectionTime) -> Sender<R> {
        Sender::new(self.response.clone(), self.rule, self.scope, self.reset, injection)
    }

    pub fn marker(&self, packet_flits: u16) -> Marker {
        Marker { rule: self.rule, thresholds: self.thresholds, packet_flits: packet_flits.into() }
    }
}

impl<R: Response> Protocol for Marked<R> {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, self.routing)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let acknowledgements = KindDeclaration::control(ACKNOWLEDGEMENTS, Direction::Feedback, 1);
        vec![KindDeclaration::DATA, acknowledgements.of_flits(self.acknowledgement)]
    }

    fn hooks(&self) -> Hooks {
        Hooks { departures: true, offers: self.reset != Reset::Never, ..Hooks::default() }
    }

    fn marks(&self) -> Vec<MarkDeclaration> {
        self.rule.marks()
    }

    fn congestion_marks(&self) -> u8 {
        MARKED
    }

    fn watches(&self) -> Vec<Watch> {
        self.rule.watches()
    }

    fn switch_needs(&self) -> SwitchNeeds {
        self.rule.needs()
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(self.sender(station.injection)))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(Acknowledger))
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(self.marker(station.packet_flits_max)))
    }

    fn describe(&self) -> String {
        self.response.describe()
    }

    fn describe_control(&self, control: &Control, _: &Station, _: Clock) -> String {
        let says = match (control.marks & MARKED != 0, control.marks & VALIDATED != 0) {
            (false, _) => "unmarked",
            (true, false) => "marked",
            (true, true) => "marked and validated",
        };
        says.to_owned()
    }
}

/// The sink: it acknowledges each packet, and sends its marks back.
struct Acknowledger;

impl Sink for Acknowledger {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(arrival.acknowledgement(ACKNOWLEDGEMENT)));
    }
}

//! No congestion control.

use std::sync::Arc;

use tailback_parameters::{Kind, Parameter};

use crate::{
    Arrival, ClassRouting, Direction, KindDeclaration, PacketKind, Protocol, ProtocolModel, Sink, SinkAction, Station,
    TrafficClass, control_routing, control_routing_parameter,
};

/// The protocol that does nothing about congestion.
pub const BASELINE: ProtocolModel = ProtocolModel {
    name: "baseline",
    summary: "no congestion control: sources send what they have",
    parameters: &[
        Parameter {
            name: "acknowledge",
            kind: Kind::Flag,
            default: Some("false"),
            help: "whether destinations acknowledge each data packet by one flit of a class with priority",
        },
        control_routing_parameter("\"as-data\""),
    ],
    control_kinds: &[ACKNOWLEDGEMENTS],
    build: |values| {
        Ok(Arc::new(Baseline { acknowledge: values.flag("acknowledge"), control_routing: control_routing(values) }))
    },
};

/// No congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// Whether destinations acknowledge each data packet.
    pub acknowledge: bool,
    /// How acknowledgements are routed.
    pub control_routing: ClassRouting,
}

/// Acknowledgements: their name, and their kind.
const ACKNOWLEDGEMENTS: &str = "acknowledgements";
const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);

impl Protocol for Baseline {
    fn classes(&self) -> Vec<TrafficClass> {
        let data = TrafficClass::data(0);
        let control = TrafficClass::control("control", 1, self.control_routing);
        if self.acknowledge { vec![data, control] } else { vec![data] }
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let acknowledgement = KindDeclaration::control(ACKNOWLEDGEMENTS, Direction::Feedback, 1);
        if self.acknowledge { vec![KindDeclaration::DATA, acknowledgement] } else { vec![KindDeclaration::DATA] }
    }

    fn sink(&self, _station: &Station) -> Option<Box<dyn Sink>> {
        self.acknowledge.then(|| Box::new(Acknowledger) as _)
    }

    fn describe(&self) -> String {
        let acknowledged = if self.acknowledge { "each data packet is acknowledged" } else { "no acknowledgements" };
        format!("no congestion control, {acknowledged}")
    }
}

/// Acknowledges whatever arrives.
struct Acknowledger;

impl Sink for Acknowledger {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(arrival.acknowledgement(ACKNOWLEDGEMENT)));
    }
}

#[cfg(test)]
mod tests {
    use tailback_parameters::{Value, Values};

    use super::*;
    use crate::{InjectionTime, Routes};

    #[test]
    fn a_baseline_has_a_class_and_a_sink_for_acknowledgements_when_it_sends_any() {
        for acknowledge in [false, true] {
            let mut values = Values::default();
            values.set("acknowledge", Value::Flag(acknowledge));
            values.set("control_routing", Value::Text("minimal".to_owned()));
            let protocol = (BASELINE.build)(&values).unwrap();
            let station = Station {
                flit_ticks: 1,
                injection: InjectionTime::of_link(1),
                packet_flits_max: 8,
                ports: 1,
                routers: 1,
                nodes_per_router: 2,
                nodes: 2,
                routes: Routes::ONE,
            };
            let classes = protocol.classes();
            assert_eq!(protocol.sink(&station).is_some(), acknowledge);
            assert_eq!(classes.len(), 1 + usize::from(acknowledge));
            assert!(classes[1..].iter().all(|class| class.priority > classes[0].priority));
            assert!(classes[1..].iter().all(|class| class.routing == ClassRouting::Minimal));
        }
    }
}

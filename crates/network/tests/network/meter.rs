//! What links have sent: a protocol whose switches write it into each packet that crosses, as telemetry does.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, NetworkRegion};
use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Here, KindDeclaration, Moment, PacketKind, PacketRef, Passing, Ports,
    Protocol, Sink, SinkAction, Station, Switch, SwitchNeeds, TrafficClass, Watch,
};

use crate::by_hand::plan;
use crate::notes::NoteTaker;

const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);

/// Sinks write the marks down, and acknowledge with them.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<Vec<u8>>>);

impl Protocol for Meter {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![KindDeclaration::DATA, KindDeclaration::control("acknowledgements", Direction::Feedback, 1)]
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::new(Moment::Crosses, PacketKind::DATA, Ports::All)]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { flits_sent: true, ..SwitchNeeds::default() }
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Reader))
    }

    fn describe(&self) -> String {
        "meter: packets are told what links have sent".to_owned()
    }
}

impl Sink for Meter {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        self.0.lock().expect("no test has failed").push(arrival.marks);
        // Whoever compares runs sees the marks by the packet that is named.
        let about = PacketRef { index: arrival.marks.into(), ..arrival.packet };
        actions.push(SinkAction::Control(Control { about, ..arrival.acknowledgement(ACKNOWLEDGEMENT) }));
    }
}

struct Reader;

impl Switch for Reader {
    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let output = here.output.expect("a packet that crosses leaves by some port");
        *packet.marks = here.view.sent(output.port) as u8;
    }
}

/// A packet of 4 flits starts to cross every 4 ticks, and its link two ticks later: each sees all packets before it.
#[test]
fn links_count_what_they_have_sent() {
    let meter = Meter::default();
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> =
        plan(Arc::new(meter.clone()), 1, 10).build(|_| NoteTaker::of_packets());
    simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
    let expected: Vec<u8> = (0..10).map(|packet| 4 * packet).collect();
    assert_eq!(*meter.0.lock().expect("no test has failed"), expected);
}

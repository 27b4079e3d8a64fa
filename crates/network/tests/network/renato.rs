//! Marks of queued packets: a protocol whose switches mark, when an input buffer becomes full, all that waits for the same outputs.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, NetworkPlan, NetworkRegion, RouterSpec};
use tailback_protocol::{
    Arrival, ClassRouting, Control, Direction, Fate, Here, KindDeclaration, Moment, PacketKind, PacketRef, Passing,
    Ports, Protocol, Sink, SinkAction, Station, Switch, SwitchAction, SwitchNeeds, TrafficClass, Watch,
};
use tailback_workload::{Arrival as Arrivals, MessageSize, NodeSet, Pattern, Phase, Traffic};

use crate::notes::NoteTaker;
use crate::sample::{Route, Sample, fixed};

const ACKNOWLEDGEMENT: PacketKind = PacketKind::new(1);
const FULL: u8 = 1;

/// What has arrived: source, destination, and marks.
type Marked = Arc<Mutex<Vec<(u32, u32, u8)>>>;

/// Sinks acknowledge with the marks, and write them down.
#[derive(Clone, Debug, Default)]
pub struct Renato(Marked);

impl Protocol for Renato {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", 1, ClassRouting::Chosen)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![KindDeclaration::DATA, KindDeclaration::control("acknowledgements", Direction::Feedback, 1)]
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::new(Moment::Arrives, PacketKind::DATA, Ports::All)]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds { input_buffers: true, ..SwitchNeeds::default() }
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.clone()))
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Marker { packet_flits: station.packet_flits_max.into() }))
    }

    fn describe(&self) -> String {
        "renato: full buffers mark what is queued".to_owned()
    }
}

impl Sink for Renato {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        self.0.lock().expect("no test has failed").push((arrival.from, arrival.to, arrival.marks));
        // Whoever compares runs sees the marks by the packet that is named.
        let about = PacketRef { index: arrival.marks.into(), ..arrival.packet };
        actions.push(SinkAction::Control(Control { about, ..arrival.acknowledgement(ACKNOWLEDGEMENT) }));
    }
}

struct Marker {
    packet_flits: u32,
}

impl Switch for Marker {
    fn arrives(&mut self, _packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        let buffer = here.view.input(here.input);
        if buffer.capacity - buffer.flits < self.packet_flits {
            here.actions.push(SwitchAction::MarkQueued { like: here.input, marks: FULL });
        }
        Fate::Forward
    }
}

/// A message of one packet: from whom, to whom, in which cycle.
type Message = (u64, u64, u64);

/// A single switch of six nodes with buffers of three packets, in which nothing may leave a buffer before a thousand ticks.
fn plan(protocol: &Renato, messages: &[Message], voqs: bool) -> NetworkPlan {
    let sample = fixed(("single-switch", &[("nodes", &[6])]));
    let router = RouterSpec { head_delay: 1000, virtual_output_queues: voqs, ..sample.router.clone() };
    let protocol = Arc::new(protocol.clone());
    let routing: Route = ("direct", &[("vcs", "1")]);
    let sample = Sample { routing, ticks_per_cycle: 1, buffer_packets: vec![3], protocol, router, ..sample };
    let any = sample.topology();
    let set = |node: u64| NodeSet::of(&[node], 6).expect("the node exists");
    let flows = messages.iter().map(|&(source, destination, cycle)| {
        let pattern = Pattern::uniform(set(destination), true).expect("one is enough");
        let phase = |from_cycle, load| Phase { from_cycle, pattern: pattern.clone(), load };
        let phases = vec![phase(0, 0.0), phase(cycle, 4.0), phase(cycle + 1, 0.0)];
        Traffic::new(cycle.to_string(), set(source), MessageSize::Fixed(4), Arrivals::Bernoulli, phases)
    });
    let mut plan = sample.plan_with(&any, flows.clone().next().expect("somebody sends"));
    plan.workload.flows = flows.collect();
    plan
}

/// What arrives: source, destination, marks.
fn run(messages: &[Message], voqs: bool) -> Vec<(u32, u32, u8)> {
    let protocol = Renato::default();
    let plan = plan(&protocol, messages, voqs);
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::of_packets());
    simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
    let mut found = protocol.0.lock().expect("no test has failed").clone();
    found.sort_unstable();
    found
}

/// The example of the sheet: the full buffer holds packets for 2, 2 and 3, the other one for 2 and 5.
#[test]
fn a_full_buffer_marks_what_waits_for_the_same_outputs() {
    // The last one comes when all others are marked.
    let messages = [(0, 2, 1), (0, 2, 2), (0, 3, 3), (1, 2, 1), (1, 5, 2), (4, 2, 30)];
    for voqs in [false, true] {
        let expected = [(0, 2, FULL), (0, 2, FULL), (0, 3, FULL), (1, 2, FULL), (1, 5, 0), (4, 2, 0)];
        assert_eq!(run(&messages, voqs), expected, "VOQs: {voqs}");
        // One packet less, and no buffer is full.
        assert!(run(&messages[1..], voqs).iter().all(|&(_, _, marks)| marks == 0), "VOQs: {voqs}");
    }
}

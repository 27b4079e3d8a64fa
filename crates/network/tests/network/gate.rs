//! A protocol that lets packets go only in some ticks, so that who is held, and for how long, is worked out by hand.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, NetworkRegion};
use tailback_protocol::{
    Control, KindDeclaration, Outgoing, PacketKind, Protocol, Source, SourceAction, Station, TrafficClass, Verdict,
};

use crate::by_hand::plan;
use crate::notes::{NoteTaker, Tally};

/// A packet may leave in one tick of so many, that with this remainder.
const EVERY: u64 = 30;
const OPEN: u64 = 7;

#[derive(Clone, Copy, Debug)]
struct Gate;

impl Protocol for Gate {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        vec![KindDeclaration::DATA]
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(*self))
    }

    fn describe(&self) -> String {
        "gate".to_owned()
    }
}

impl Source for Gate {
    fn may_send(&mut self, _: &Outgoing, now: u64, _: &mut Vec<SourceAction>) -> Verdict {
        match (OPEN + EVERY - now % EVERY) % EVERY {
            0 => Verdict::Send { kind: PacketKind::DATA, marks: 0 },
            // Half way it is asked again, and says no again: that is the same pause.
            left => Verdict::NotBefore(now + left.div_ceil(2)),
        }
    }

    fn on_control(&mut self, _: &Control, _: u64, _: u64, _: &mut Vec<SourceAction>) {}

    fn is_idle(&self) -> bool {
        true
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

#[test]
fn each_packet_is_held_once_from_the_first_refusal_until_it_leaves() {
    // Messages of one packet are created in the ticks 0, 1 and 2.
    let plan = plan(Arc::new(Gate), 1, 3);
    let busy = 4 * u64::from(plan.spec.injection.flit_ticks);
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::default());
    simulation.run_until(1 << 10, &Sequential, |_| ControlFlow::Continue(()));
    let tally = Tally::of(&simulation);
    assert_eq!(tally.packets[PacketKind::DATA.index()], 3);
    // The first is asked about in tick 0, each next one when the link is free.
    assert_eq!((tally.held, tally.held_ticks), (3, OPEN + 2 * (EVERY - busy)));
}

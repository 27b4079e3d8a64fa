//! Where there is one path and one channel, packets of a pair arrive in the order in which they were sent.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Sequential, Simulation};
use tailback_network::{General, InjectionVc, NetworkRegion, NicSpec};
use tailback_protocol::PacketKind;
use tailback_routing::Routing;

use crate::notes::NoteTaker;
use crate::sample::{Sample, samples};

/// Whether routing leaves no choice: of paths, or of channels.
fn is_deterministic(sample: &Sample) -> bool {
    let channels = |routing: &dyn Routing| routing.virtual_channels();
    match sample.routing.0 {
        // Minimal routing has a choice where groups are joined by several links.
        "minimal" => sample.topology.1.contains(&("g", &[9])) || sample.topology.1.contains(&("g", &[3])),
        "direct" | "nearest-common-ancestor" => {
            let channels = channels(sample.routing(&sample.topology()).as_ref());
            let parallel = sample.topology.1.contains(&("parallel", &[2]));
            channels.iter().all(|&vcs| vcs == 1) && sample.routing.1.iter().all(|pair| pair.1 != "random") && !parallel
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn pairs_keep_their_order(sample in samples().prop_filter("routing leaves a choice", is_deterministic)) {
        // A source must not deal out packets to several channels either.
        let nic = NicSpec { vc_choice: InjectionVc::ByDestination, ..sample.nic };
        let plan = Sample { nic, ..sample }.plan(300);
        let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::of_packets());
        simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
        let mut last = BTreeMap::new();
        for (_, packet) in simulation.regions().next().expect("there is one region").observer().packets() {
            if packet.kind == PacketKind::DATA {
                let place = (packet.message, packet.index());
                let before = last.insert((packet.source, packet.destination), place);
                prop_assert!(before < Some(place), "{before:?} arrived before {place:?}");
            }
        }
        prop_assume!(!last.is_empty(), "nobody sent anything");
    }
}

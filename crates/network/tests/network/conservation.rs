//! Nothing is lost, whatever the network: credits and flits add up at each window boundary, and when sources fall
//! silent everything arrives.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{NEVER, Sequential, Simulation};
use tailback_network::{
    Crosspoints, Delivery, General, Holdings, Microarchitecture, NetworkPlan, NetworkRegion, NicSpec, Plain, audit,
};
use tailback_protocol::KindDeclaration;

use crate::notes::{NoteTaker, Tally};
use crate::sample::{Sample, crosspoint_samples, fixed, plain_samples, samples};

/// Cycles after which sources fall silent, and after which all must have arrived: one node may have to acknowledge all
/// packets, with an injection buffer of two flits behind a long link.
pub const SILENT_FROM: u64 = 300;
const QUIET_AT: u64 = 2_000_000;

/// The most hops that a packet may make, by its routing.
fn hops_bound(routing: &str) -> u8 {
    match routing {
        "direct" => 0,
        "destination-tag" | "clos" => 2,
        "minimal" => 3,
        "valiant" | "ugal-l" | "ugal-g" | "piggyback" => 6,
        "par" => 7,
        // Two local hops in each of three groups, and the two global ones between them.
        "par6-2" | "olm" | "base" | "hybrid" | "ectn" | "statistical" => 8,
        "nearest-common-ancestor" => 4,
        other => panic!("say how long paths by {other} may be"),
    }
}

pub fn conserves<M: Microarchitecture>(plan: NetworkPlan, routing: &str) -> Result<(), TestCaseError> {
    let (kinds, trims) = (plan.protocol.kinds(), plan.protocol.switch_needs().trims);
    let ticks = u64::from(plan.spec.ticks_per_cycle);
    let broadcasts = plan.routings[0].interests().broadcast_cycles.is_some();
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan.build(|_| NoteTaker::default());
    simulation = simulation.with_longest_window(37);
    let mut found = Ok(Holdings::default());
    simulation.run_until(QUIET_AT * ticks, &Sequential, |simulation| {
        found = audit(simulation);
        // Broadcasts never end.
        let quiet = broadcasts && simulation.now() > SILENT_FROM * ticks && found.as_ref().is_ok_and(is_empty);
        if found.is_err() || quiet { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    prop_assert!(found.is_ok(), "{}", found.unwrap_err());
    let holdings = audit(&simulation).expect("it has just added up");
    let tally = Tally::of(&simulation);
    if !broadcasts {
        prop_assert_eq!(simulation.next_tick(), NEVER, "something still goes on: {:?}", holdings);
    }
    prop_assert!(is_empty(&holdings), "{:?}", holdings);
    prop_assert_eq!(tally.messages, tally.offered);
    let packets = |of: &dyn Fn(&KindDeclaration) -> bool| {
        kinds.iter().zip(tally.packets).filter(|(kind, _)| of(kind)).map(|(_, count)| count).sum::<u64>()
    };
    let data = packets(&|kind| kind.direction.carries_data());
    prop_assert!(data >= tally.messages);
    // What is trimmed starts anew where that is done.
    let paths = if trims { 2 } else { 1 };
    prop_assert!(tally.hops_max <= paths * hops_bound(routing), "{} hops", tally.hops_max);
    if kinds.iter().any(|kind| kind.name == "acknowledgements") {
        prop_assert_eq!(packets(&|kind| kind.name == "acknowledgements"), data);
    }
    Ok(())
}

/// Whether nothing is left of what was offered.
fn is_empty(holdings: &Holdings) -> bool {
    let Holdings { waiting_flits, flits_under_way, dropped_flits, control_packets, packets_held_at_nodes, .. } =
        holdings;
    waiting_flits + flits_under_way + dropped_flits + control_packets + packets_held_at_nodes == 0
}

proptest! {
    #[test]
    fn everything_arrives(sample in samples()) {
        conserves::<General>(sample.plan(SILENT_FROM), sample.routing.0)?;
    }

    #[test]
    fn everything_arrives_through_plain_routers(sample in plain_samples()) {
        let plan = sample.plan(SILENT_FROM);
        prop_assert!(plan.suits::<Plain>());
        conserves::<Plain>(plan, sample.routing.0)?;
    }

    #[test]
    fn everything_arrives_through_crosspoints(sample in crosspoint_samples()) {
        conserves::<Crosspoints>(sample.plan(SILENT_FROM), sample.routing.0)?;
    }
}

/// Packets that are in order at once leave one after the other: meanwhile they are in no router and have not been told.
#[test]
fn what_waits_at_its_node_is_held_there() {
    let sample = fixed(("k-ary-n-tree", &[("k", &[2]), ("n", &[3])]));
    let nic = NicSpec { delivery: Delivery::InOrder, ..sample.nic };
    let routing = ("nearest-common-ancestor", &[("up", "random"), ("vcs", "1")][..]);
    let sample = Sample { routing, buffer_packets: vec![2, 2, 2], load: 0.6, pattern: 1, nic, ..sample };
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> =
        sample.plan(SILENT_FROM).build(|_| NoteTaker::default());
    simulation = simulation.with_longest_window(1);
    let mut most = 0;
    simulation.run_until(QUIET_AT, &Sequential, |simulation| {
        let held = audit(simulation).expect("it adds up").packets_held_at_nodes;
        most = most.max(held);
        ControlFlow::Continue(())
    });
    assert!(most > 1, "some have to wait");
    assert!(is_empty(&audit(&simulation).expect("it adds up")));
}

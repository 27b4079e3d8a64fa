//! Congestion trees are the same whatever the partition, the executor and the microarchitecture are, and add up.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Executor, Rayon, Sequential};
use tailback_network::{
    Cause, CongestionTree, General, LinkStates, Microarchitecture, NetworkPlan, Partition, Paths, Plain, SelectedLinks,
    congestion_trees, link_states,
};

use crate::notes::NoteTaker;
use crate::sample::{fixed, plain_samples, samples};

/// Where it is looked, in cycles.
const AT_CYCLES: [u64; 4] = [20, 81, 150, 300];

type Looks = Vec<(Vec<CongestionTree>, LinkStates)>;

/// The trees and all links at some times, of a network that is dealt out in some way.
fn looks<M: Microarchitecture>(plan: &NetworkPlan, partition: Partition, by: &impl Executor) -> Looks {
    let (plan, mut paths) = (NetworkPlan { partition, ..plan.clone() }, Paths::default());
    let selected = SelectedLinks::of_classes(plan.topology.as_ref(), u64::MAX);
    let cycle = u64::from(plan.spec.ticks_per_cycle);
    let mut simulation = plan.build::<_, M>(|_| NoteTaker::default());
    let look = |at: u64| {
        simulation.run_until(at * cycle, by, |_| ControlFlow::Continue(()));
        (congestion_trees(&simulation, &mut paths), link_states(&simulation, &selected))
    };
    AT_CYCLES.map(look).to_vec()
}

fn trees<M: Microarchitecture>(plan: &NetworkPlan) -> Vec<Vec<CongestionTree>> {
    let looks = looks::<M>(plan, Partition::single(plan.topology.as_ref()), &Sequential);
    looks.into_iter().map(|(trees, _)| trees).collect()
}

fn are_the_same<M: Microarchitecture>(plan: &NetworkPlan) -> Result<Looks, TestCaseError> {
    let topology = plan.topology.as_ref();
    let expected = looks::<M>(plan, Partition::single(topology), &Sequential);
    prop_assert_eq!(&looks::<M>(plan, Partition::by_router(topology), &Sequential), &expected);
    let threads = Rayon::new(2).expect("threads start");
    prop_assert_eq!(&looks::<M>(plan, Partition::by_domain(topology, u32::MAX), &threads), &expected);
    for tree in expected.iter().flat_map(|(trees, _)| trees) {
        prop_assert!(tree.buffers > 0 && tree.depth > 0 && tree.depth <= tree.buffers, "{:?}", tree);
        prop_assert!(tree.flits >= u64::from(tree.buffers) && tree.victim_flits <= tree.flits, "{:?}", tree);
    }
    // A link sends a flit per cycle at most,.
    for (at, (_, links)) in AT_CYCLES.iter().zip(&expected) {
        let most = u32::try_from(*at).expect("it is short");
        prop_assert!(links.sent.iter().all(|&sent| sent <= most), "{:?}", links);
        prop_assert!(links.stalled_heads.iter().zip(&links.blocked_heads).all(|(stalled, blocked)| stalled <= blocked));
    }
    Ok(expected)
}

proptest! {
    #[test]
    fn of_general_routers(sample in samples()) {
        are_the_same::<General>(&sample.plan(250))?;
    }

    #[test]
    fn of_plain_routers_as_of_general_ones(sample in plain_samples()) {
        let plan = sample.plan(250);
        let plain = are_the_same::<Plain>(&plan)?;
        prop_assert_eq!(plain, looks::<General>(&plan, Partition::single(plan.topology.as_ref()), &Sequential));
    }
}

/// All nodes of a switch send to one: all their buffers wait for its link, and nothing in them goes elsewhere.
#[test]
fn an_incast_on_a_switch_has_one_tree_without_victims() {
    let numbers: &'static [(&str, &[u64])] = &[("nodes", &[9])];
    let sample = fixed(("single-switch", numbers));
    let sample =
        crate::sample::Sample { routing: ("direct", &[("vcs", "1")]), pattern: 4, buffer_packets: vec![4], ..sample };
    let plan = sample.plan(1000);
    let samples = trees::<Plain>(&plan);
    for trees in &samples[1..] {
        let [tree] = trees.as_slice() else { panic!("there is one: {trees:?}") };
        let CongestionTree { router, node, cause, buffers, flits, depth, victim_flits, .. } = *tree;
        assert_eq!((router, node, cause, depth, victim_flits), (0, Some(0), Cause::Rate, 1, 0));
        // Nodes that have just sent, or wait for credits, may have less in their buffers.
        assert!((8..=9).contains(&buffers), "{buffers}");
        assert!((9 * 8..=9 * 16).contains(&flits), "{flits}");
    }
}

#[test]
fn there_is_none_at_low_load() {
    let sample = fixed(("dragonfly", &[("p", &[2]), ("a", &[4]), ("h", &[2]), ("g", &[9])]));
    let plan = crate::sample::Sample { load: 0.1, buffer_packets: vec![8, 8, 8], ..sample }.plan(1000);
    let samples = trees::<Plain>(&plan);
    assert!(samples.iter().all(Vec::is_empty), "{samples:?}");
}

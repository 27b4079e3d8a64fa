//! Congestion trees are the same whatever the partition, the executor and the microarchitecture are, and add up.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Executor, Rayon, Sequential};
use tailback_network::{
    CongestionTree, General, Microarchitecture, NetworkPlan, Partition, Paths, Plain, Unobserved, congestion_trees,
};

use crate::sample::{fixed, plain_samples, samples};

/// Where it is looked, in cycles.
const AT_CYCLES: [u64; 4] = [20, 81, 150, 300];

/// The trees at some times, of a network that is dealt out in some way.
fn trees<M: Microarchitecture>(
    plan: &NetworkPlan,
    partition: Partition,
    by: &impl Executor,
) -> Vec<Vec<CongestionTree>> {
    let (plan, mut paths) = (NetworkPlan { partition, ..plan.clone() }, Paths::default());
    let cycle = u64::from(plan.spec.ticks_per_cycle);
    let mut simulation = plan.build::<_, M>(|_| Unobserved);
    let look = |at: u64| {
        simulation.run_until(at * cycle, by, |_| ControlFlow::Continue(()));
        congestion_trees(&simulation, &mut paths)
    };
    AT_CYCLES.map(look).to_vec()
}

fn are_the_same<M: Microarchitecture>(plan: &NetworkPlan) -> Result<Vec<Vec<CongestionTree>>, TestCaseError> {
    let topology = plan.topology.as_ref();
    let expected = trees::<M>(plan, Partition::single(topology), &Sequential);
    prop_assert_eq!(&trees::<M>(plan, Partition::by_router(topology), &Sequential), &expected);
    let threads = Rayon::new(2).expect("threads start");
    prop_assert_eq!(&trees::<M>(plan, Partition::by_domain(topology, u32::MAX), &threads), &expected);
    for tree in expected.iter().flatten() {
        prop_assert!(tree.buffers > 0 && tree.depth > 0 && tree.depth <= tree.buffers, "{:?}", tree);
        prop_assert!(tree.flits >= u64::from(tree.buffers) && tree.victim_flits <= tree.flits, "{:?}", tree);
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
        prop_assert_eq!(plain, trees::<General>(&plan, Partition::single(plan.topology.as_ref()), &Sequential));
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
    let samples = trees::<Plain>(&plan, Partition::single(plan.topology.as_ref()), &Sequential);
    for trees in &samples[1..] {
        let [tree] = trees.as_slice() else { panic!("there is one: {trees:?}") };
        let CongestionTree { router, node, buffers, flits, depth, victim_flits, .. } = *tree;
        assert_eq!((router, node, depth, victim_flits), (0, Some(0), 1, 0));
        // Nodes that have just sent, or wait for credits, may have less in their buffers.
        assert!((8..=9).contains(&buffers), "{buffers}");
        assert!((9 * 8..=9 * 16).contains(&flits), "{flits}");
    }
}

#[test]
fn there_is_none_at_low_load() {
    let sample = fixed(("dragonfly", &[("p", &[2]), ("a", &[4]), ("h", &[2]), ("g", &[9])]));
    let plan = crate::sample::Sample { load: 0.1, buffer_packets: vec![8, 8, 8], ..sample }.plan(1000);
    let samples = trees::<Plain>(&plan, Partition::single(plan.topology.as_ref()), &Sequential);
    assert!(samples.iter().all(Vec::is_empty), "{samples:?}");
}

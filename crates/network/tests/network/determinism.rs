//! Results do not depend on the partition, the executor, the order in which events of a kind are handled, or a stop and
//! restart in between; and all microarchitectures agree.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Rayon, Sequential, Simulation, Snapshot};
use tailback_network::{
    Basic, Crosspoints, General, Microarchitecture, NetworkPlan, NetworkRegion, Partition, Plain, Sorting, Traced,
};

use crate::notes::{NoteTaker, Tally};
use crate::sample::{
    Sample, basic_samples, crosspoint_samples, fixed, node_queue_samples, output_first_samples, own_connection_samples,
    plain_samples, samples, sorting_samples,
};

const SILENT_FROM: u64 = 250;
const END_CYCLE: u64 = 400;

fn end_tick(plan: &NetworkPlan) -> u64 {
    END_CYCLE * u64::from(plan.spec.ticks_per_cycle)
}

fn build<M: Microarchitecture>(plan: &NetworkPlan, partition: Partition) -> Simulation<NetworkRegion<NoteTaker, M>> {
    NetworkPlan { partition, ..plan.clone() }.build(|_| NoteTaker::default())
}

fn run<M: Microarchitecture>(plan: &NetworkPlan, partition: Partition) -> Tally {
    let mut simulation = build::<M>(plan, partition);
    simulation.run_until(end_tick(plan), &Sequential, |_| ControlFlow::Continue(()));
    Tally::of(&simulation)
}

fn partitions(plan: &NetworkPlan, random: &[u32]) -> Vec<Partition> {
    let topology = plan.topology.as_ref();
    let random: Vec<u32> = (0..topology.routers() as usize).map(|router| random[router % random.len()]).collect();
    vec![
        Partition::by_domain(topology, u32::MAX),
        Partition::by_domain(topology, 2),
        Partition::by_router(topology),
        Partition::custom(&random),
        Partition::custom(&random).with_controllers_from(random[0] + 1),
    ]
}

/// The same on three threads, stopped in window `stop`, written down, and read into a new simulation of the same plan.
fn run_in_two_parts<M: Microarchitecture>(plan: &NetworkPlan, partition: &Partition, mut stop: u32) -> Tally {
    let mut first = build::<M>(plan, partition.clone()).with_longest_window(50);
    let threads = Rayon::new(3).expect("threads start");
    first.run_until(end_tick(plan), &threads, |_| {
        stop = stop.saturating_sub(1);
        if stop > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let mut bytes = Vec::new();
    first.save(&mut bytes).expect("a simulation can be written");
    let mut second = build::<M>(plan, partition.clone());
    second.load(&mut bytes.as_slice()).expect("and read");
    second.run_until(end_tick(plan), &Sequential, |_| ControlFlow::Continue(()));
    Tally::of(&second)
}

pub fn is_determined<M: Microarchitecture>(
    plan: &NetworkPlan,
    random: &[u32],
    stop: u32,
) -> Result<Tally, TestCaseError> {
    let expected = run::<M>(plan, Partition::single(plan.topology.as_ref()));
    for partition in partitions(plan, random) {
        prop_assert_eq!(&run::<M>(plan, partition.clone()), &expected, "{:?}", partition);
        prop_assert_eq!(&run_in_two_parts::<M>(plan, &partition, stop), &expected, "restarted, {:?}", partition);
    }
    Ok(expected)
}

/// One microarchitecture is determined, and finds what another one does.
fn agree<M: Microarchitecture, Other: Microarchitecture>(
    plan: &NetworkPlan,
    random: &[u32],
    stop: u32,
) -> Result<Tally, TestCaseError> {
    let found = is_determined::<M>(plan, random, stop)?;
    prop_assert_eq!(&found, &run::<Other>(plan, Partition::single(plan.topology.as_ref())));
    Ok(found)
}

/// Sets of the ports of a plain router are one word: with more ports it is a basic one, which takes several.
#[test]
fn routers_are_plain_with_as_many_ports_as_a_word_has_bits() {
    let switches = [
        (fixed(("single-switch", &[("nodes", &[64])])), true),
        (fixed(("single-switch", &[("nodes", &[65])])), false),
        (fixed(("single-switch", &[("nodes", &[130])])), false),
    ];
    for (switch, is_plain) in switches {
        let plan = Sample { routing: ("direct", &[("vcs", "2")]), ..switch }.plan(SILENT_FROM);
        let size = plan.topology.nodes();
        assert_eq!(plan.suits::<Plain>(), is_plain, "{size} ports");
        let single = || Partition::single(plan.topology.as_ref());
        let general = run::<General>(&plan, single());
        assert!(general.messages > 0, "{size} ports");
        if is_plain {
            assert_eq!(run::<Plain>(&plan, single()), general, "{size} ports");
        }
        assert_eq!(run::<Basic>(&plan, single()), general, "{size} ports");
    }
}

proptest! {
    #[test]
    fn general_routers(sample in samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12) {
        is_determined::<General>(&sample.plan(SILENT_FROM), &random, stop)?;
    }

    #[test]
    fn plain_routers_do_what_general_ones_do(
        sample in plain_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        agree::<Plain, General>(&sample.plan(SILENT_FROM), &random, stop)?;
    }

    #[test]
    fn sorting_routers_do_what_general_ones_do(
        sample in sorting_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        agree::<Sorting, General>(&sample.plan(SILENT_FROM), &random, stop)?;
    }

    #[test]
    fn basic_routers_do_what_general_ones_do(
        sample in basic_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        let plan = sample.plan(SILENT_FROM);
        prop_assert!(plan.suits::<Basic>());
        agree::<Basic, General>(&plan, &random, stop)?;
    }

    /// Routers that note what happens wake all heads that sleep at an output, the others only the next.
    #[test]
    fn crosspoints_do_what_general_routers_do_and_those_that_wake_all(
        sample in crosspoint_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        let plan = sample.plan(SILENT_FROM);
        prop_assert!(plan.suits::<Crosspoints>());
        let crosspoints = agree::<Crosspoints, General>(&plan, &random, stop)?;
        prop_assert_eq!(crosspoints, run::<Traced>(&plan, Partition::single(plan.topology.as_ref())));
    }

    #[test]
    fn of_heads_with_connections_of_their_own_the_next_is_woken_or_all(sample in own_connection_samples()) {
        let plan = sample.plan(SILENT_FROM);
        let single = || Partition::single(plan.topology.as_ref());
        prop_assert_eq!(run::<General>(&plan, single()), run::<Traced>(&plan, single()));
    }

    #[test]
    fn where_nodes_have_queues_those_that_could_leave_are_woken_or_all(
        sample in node_queue_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        agree::<General, Traced>(&sample.plan(SILENT_FROM), &random, stop)?;
    }

    /// Routers that note what happens collect all requests for an output, the others the first by turns.
    #[test]
    fn outputs_that_choose_first_hear_the_first_in_turn_or_all(
        sample in output_first_samples(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        agree::<General, Traced>(&sample.plan(SILENT_FROM), &random, stop)?;
    }
}

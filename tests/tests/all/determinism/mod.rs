//! The digest matrix: a scenario has one result, however it is run.
//!
//! Each file of `scenarios/` is a test here. It is run in all ways of [`matrix`], which must give one digest, and it
//! must show what it is there for, as [`meaning`] says. The digests themselves are in `golden/digests.txt`.

mod clos;
mod clusters;
mod marking;
pub mod matrix;
mod meaning;
mod programs;
mod protocols;
mod ranks;

use std::fmt::Write as _;

use crate::scenarios::{here, names, resolve};

/// A test for each scenario, so that they run beside each other and are told apart when they fail.
macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            check(&stringify!($name).replace('_', "-"));
        })+

        const TESTED: &[&str] = &[$(stringify!($name)),+];
    };
}

scenarios![
    clos_central,
    clos_distributed,
    clos_end_to_end,
    clos_fast_fabric,
    clos_in_band,
    clos_in_band_in_order,
    clos_in_step,
    clos_inputs,
    clos_max_min,
    clos_network_voqs,
    clos_requests_for_all,
    clos_slots,
    clos_unbalanced,
    clos_weighted,
    clos_weighted_blocks,
    cluster_long_ring,
    cluster_mixed,
    cluster_ring,
    dragonfly_absolute_valiant,
    dragonfly_acknowledged,
    dragonfly_base,
    dragonfly_counted_in_order,
    dragonfly_ectn,
    dragonfly_hybrid,
    dragonfly_incast,
    dragonfly_interrupted,
    dragonfly_like_destination,
    dragonfly_long_links,
    dragonfly_minimal,
    dragonfly_olm,
    dragonfly_olm_parallel,
    dragonfly_par,
    dragonfly_par6_2,
    dragonfly_par6_2_voqs,
    dragonfly_parallel_links,
    dragonfly_piggyback,
    dragonfly_statistical,
    dragonfly_tailback,
    dragonfly_ugal,
    dragonfly_ugal_global,
    dragonfly_ugal_ports,
    dragonfly_valiant_node,
    fly_both_ways,
    fly_ecn,
    fly_pauses,
    fly_plain,
    program_adaptive,
    program_collectives,
    program_schedules,
    program_shared_nodes,
    program_training,
    protocol_comprehensive,
    protocol_comprehensive_inputs,
    protocol_crp,
    protocol_crp_global,
    protocol_crp_long_ring,
    protocol_crp_parallel,
    protocol_crp_ring,
    protocol_crp_tree,
    protocol_ecn,
    protocol_ecn_notified,
    protocol_lhrp,
    protocol_lhrp_fabric,
    protocol_lhrp_inputs,
    protocol_mvcm,
    protocol_mvcm_cold,
    protocol_mvcm_source,
    protocol_mvcm_waits,
    protocol_pfister,
    protocol_pfister_validated,
    protocol_renato,
    protocol_renato_additive,
    protocol_renato_fast,
    protocol_renato_window,
    protocol_smsrp,
    protocol_smsrp_counted,
    protocol_smsrp_queues,
    protocol_srp,
    protocol_srp_limited,
    switch_bursts,
    switch_idle_ejection,
    switch_islip,
    switch_overload,
    switch_wide,
    tree_hash,
    tree_nearest_ancestor,
    tree_parallel_links,
    tree_plain,
    tree_tapered,
    tree_wide,
    turns_by_priority,
];

fn check(name: &str) {
    let digest = matrix::one_digest(name);
    meaning::check(name, &digest);
}

#[test]
fn each_scenario_has_a_test() {
    let tested: Vec<String> = TESTED.iter().map(|name| name.replace('_', "-")).collect();
    assert_eq!(names(), tested, "the files of tests/scenarios, and the list in tests/tests/all/determinism/mod.rs");
}

/// Without this, all ways of running could become wrong together.
#[test]
fn results_are_those_of_before() {
    let mut text = String::from("# scenario, digest of the scenario (its first half), digest of the result\n");
    for name in names() {
        let scenario = resolve(&name, &[]);
        let result = matrix::digest(&scenario, 0);
        let _ = writeln!(text, "{name:<28} {} {result}", &scenario.digest[..32]);
    }
    tailback_tests::compare(&here("golden/digests.txt"), &text);
}

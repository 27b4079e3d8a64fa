//! What the scenarios with programs are there for.

use serde_json::Value;

use super::meaning::Seen;

/// All programs of a scenario have come to their end, so the run ends soon after the last.
fn all_are_done(seen: &Seen) -> Vec<&Value> {
    let programs: Vec<&Value> = seen.value("/programs").as_array().expect("there are programs").iter().collect();
    for program in &programs {
        assert_eq!((&program["completed"], &program["unfinished"]), (&Value::Bool(true), &Value::from(0)), "{program}");
    }
    programs
}

/// The cycles that a program took, by its place.
fn took(program: &Value) -> f64 {
    program["completion_cycles"].as_f64().expect("it is complete")
}

pub fn all_collectives(seen: &Seen) {
    let programs = all_are_done(seen);
    assert_eq!(programs.len(), 14, "all but those with a clock or a grid, and two kinds of reductions");
    let longest = programs.iter().map(|program| took(program)).fold(0.0, f64::max);
    assert!((longest..=longest + 100.0).contains(&(seen.cycles() as f64)), "{longest}");
    // Of messages of 16 or 17 flits that are announced from 16 on three cross for one.
    assert_eq!(seen.count("/flows/ring/count"), 3 * 12 * 22);
    assert!(programs.iter().any(|program| program["phases"].as_array().is_some_and(|phases| phases.len() == 2)));
}

pub fn jobs_under_a_hot_spot(seen: &Seen) {
    let programs = all_are_done(seen);
    let phases = programs[0]["phases"].as_array().expect("training has phases");
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["forward", "backward", "gradients"]);
    assert!(took(&phases[0]) < took(&phases[1]) && took(&phases[1]) < took(&phases[2]));
    assert!(seen.count("/counters/dropped_packets") > 20, "packets are dropped, and sent again");
    let calm = seen.with(&["traffic.hot.load=0", "traffic.hot.count=\"endless\""]);
    assert!(took(all_are_done(&calm)[0]) < took(programs[0]), "a hot spot holds the training up");
}

pub fn schedules(seen: &Seen) {
    let programs = all_are_done(seen);
    assert_eq!(
        programs.iter().map(|program| program["ranks"].as_u64()).collect::<Vec<_>>(),
        [Some(5), Some(4), Some(20)]
    );
    assert!(seen.count("/counters/dropped_packets") > 0, "lossy packets compete");
    let at_once = seen.with(&["program.gather.overhead=0"]);
    assert!(took(all_are_done(&at_once)[0]) < took(programs[0]), "processors take their time for messages");
}

pub fn ranks_that_share_nodes(seen: &Seen) {
    let programs = all_are_done(seen);
    // In each of 2 x 30 steps one rank of each of 4 nodes sends to another node, what is announced, so that three messages cross.
    assert_eq!(seen.count("/flows/sums/count"), 2 * 30 * 4 * 3);
    assert_eq!(seen.count("/flows/pairs/count"), 2, "the first of its messages stays within a node");
    let at_once = seen.with(&["program.sums.local_latency=0"]);
    assert!(took(all_are_done(&at_once)[0]) < took(programs[0]), "messages within a node take their time");
}

pub fn ring_with_detours(seen: &Seen) {
    let ring = all_are_done(seen)[0];
    assert!(seen.number("/flows/ring/nonminimal_share") > 0.05, "its packets detour");
    assert!(seen.cycles() < 30_000, "others would go on");
    let calm = seen.with(&["traffic.around.load=0"]);
    assert!(took(all_are_done(&calm)[0]) < took(ring), "it is held up by others");
}

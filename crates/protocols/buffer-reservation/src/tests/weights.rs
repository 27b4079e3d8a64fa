//! Weighted round robin (section 6.6 of the paper).

use super::central::world;
use super::{station, try_central};

const WEIGHTS: &str = "[1, 0, 20, 2, 0, 9, 9, 0, 1]";
const WEIGHTED: [(&str, &str); 2] = [("arbiter", "weighted"), ("weights", WEIGHTS)];

/// The inputs that are granted one packet each, one after the other, while three of them ask all the time for the first output.
fn granted(arbiter: &str, grants: usize) -> Vec<u32> {
    let central = try_central(&[("arbiter", arbiter), ("weights", WEIGHTS)]).unwrap();
    let mut output = central.bank(&station(4)).output(0).clone();
    for input in [1, 2, 9] {
        (0..grants).for_each(|_| output.request(input, 1));
    }
    let grant = |_| {
        let (input, route) = output.grant().unwrap();
        output.credit(route);
        input
    };
    (0..grants).map(grant).collect()
}

#[test]
fn thirty_grants_are_shared_by_weights() {
    for arbiter in ["weighted", "weighted-blocks", "max-min"] {
        for (round, inputs) in granted(arbiter, 120).chunks(30).enumerate() {
            let counts = [1, 2, 9].map(|input| inputs.iter().filter(|&&granted| granted == input).count());
            assert_eq!(counts, [20, 9, 1], "{arbiter}, round {round}");
        }
    }
}

#[test]
fn the_weight_of_1_has_one_turn_in_30() {
    let grants = granted("weighted", 120);
    let turns: Vec<usize> = (0..120).filter(|&grant| grants[grant] == 9).collect();
    assert!(turns.windows(2).all(|pair| pair[1] - pair[0] == 30), "{turns:?}");
}

#[test]
fn turns_in_blocks_are_as_long_as_flows_are_heavy() {
    let grants = granted("weighted-blocks", 120);
    let mut blocks: Vec<(u32, usize)> = grants.chunk_by(|a, b| a == b).map(|block| (block[0], block.len())).collect();
    // The last turn is not over.
    blocks.pop();
    let lengths = |(input, length): &(u32, usize)| {
        *length == [(1, 20), (2, 9), (9, 1)].iter().find(|of| of.0 == *input).unwrap().1
    };
    assert!(blocks.len() > 9 && blocks.iter().all(lengths), "{blocks:?}");
}

/// Who does not ask any more loses the rest of a turn, and nobody waits for it.
#[test]
fn a_block_ends_with_what_a_flow_asks_for() {
    let central = try_central(&[("arbiter", "weighted-blocks"), ("weights", WEIGHTS)]).unwrap();
    let mut output = central.bank(&station(4)).output(0).clone();
    (0..3).for_each(|_| output.request(1, 1));
    (0..2).for_each(|_| output.request(9, 1));
    let inputs: Vec<u32> = std::iter::from_fn(|| output.grant().map(|(input, _)| input)).collect();
    assert!([[1, 1, 1, 9, 9], [9, 1, 1, 1, 9]].contains(&inputs[..].try_into().unwrap()), "{inputs:?}");
}

/// Three flows offer as much each; what one does not want the others get by their weights.
#[test]
fn what_a_flow_does_not_want_others_get_by_weight() {
    for (load, expected) in [(0.2, [0.2, 0.2, 0.2]), (0.4, [0.4, 0.4, 0.2]), (0.5, [0.5, 0.45, 0.05])] {
        let mut world = world(4, &WEIGHTED);
        let (mut state, mut since) = (1u64, 0);
        for slot in 0..6000 {
            for from in [1, 2, 9] {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if ((state >> 33) as f64) < load * (1u64 << 31) as f64 {
                    world.offer(from, 0, 1);
                }
            }
            world.pass(1);
            if slot == 1000 {
                since = world.now;
            }
        }
        for (from, expected) in [1, 2, 9].into_iter().zip(expected) {
            let found = world.rate(from, 0, since);
            assert!((found - expected).abs() < 0.02, "{load}: {found} of flow {from}, {expected} expected");
        }
    }
}

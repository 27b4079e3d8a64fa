//! Weighted round robin (section 6.6 of the paper).

use super::central::world;
use super::{station, try_central};

const WEIGHTED: [(&str, &str); 2] = [("arbiter", "weighted"), ("weights", "[1, 0, 20, 2, 0, 9, 9, 0, 1]")];

#[test]
fn thirty_grants_are_shared_by_weights() {
    let (central, station) = (try_central(&WEIGHTED).unwrap(), station(4));
    let mut arbiter = central.bank(&station).output(0).clone();
    for input in [1, 2, 9] {
        (0..200).for_each(|_| arbiter.request(input));
    }
    let mut last = 0;
    for round in 0..4 {
        let mut counts = [0; 16];
        for slot in 0..30 {
            let (input, route) = arbiter.grant().unwrap();
            arbiter.credit(route);
            counts[input as usize] += 1;
            if input == 9 {
                assert!(round == 0 || 30 * round + slot - last == 30, "the weight of 1 has one turn in 30");
                last = 30 * round + slot;
            }
        }
        assert_eq!([counts[1], counts[2], counts[9]], [20, 9, 1]);
    }
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

//! MVCM's source against the sheet's tables.

use proptest::prelude::*;

use super::{H, U, X, values};
use crate::MVCM;
use crate::marks::Rule;
use crate::mvcm::{Mvcm, State};
use crate::response::Response;

/// States after each of some acknowledgements, as window and slots.
fn states(given: &[(&str, &str)], marks: &[u8]) -> Vec<(u32, u64)> {
    let mvcm = Mvcm::of(&values(&MVCM, given));
    let mut state = mvcm.begin();
    let hear = |&marks: &u8| {
        mvcm.heard(&mut state, Rule::Validated.signal(marks), 0);
        (state.window, state.slots)
    };
    marks.iter().map(hear).collect()
}

/// Section 2.4: k = 4, n = 5.
#[test]
fn the_sequence_of_the_sheet() {
    let marks = [H, H, H, X, H, U, U, X, X, H, U];
    let expected = [(1, 0), (1, 1), (1, 4), (1, 4), (1, 16), (1, 0), (2, 0), (1, 0), (1, 0), (1, 1), (1, 0)];
    assert_eq!(states(&[], &marks), expected);
}

#[test]
fn a_wait_of_sixteen_slots_lets_the_next_packet_go_at_15664() {
    let mvcm = Mvcm::of(&values(&MVCM, &[]));
    let mut state = mvcm.begin();
    for (at, marks) in [(1, H), (2, H), (3, H), (10_000, H)] {
        mvcm.heard(&mut state, Rule::Validated.signal(marks), at);
    }
    assert_eq!((state.slots, mvcm.open_at(&state, 10_000), mvcm.open_at(&state, 20_000)), (16, 15_664, 20_000));
}

#[test]
fn slots_grow_by_the_radix_up_to_the_cap() {
    let slots =
        |given: &[(&str, &str)], count| states(given, &vec![H; count]).iter().map(|state| state.1).collect::<Vec<_>>();
    assert_eq!(slots(&[], 7), [0, 1, 4, 16, 64, 256, 256]);
    assert_eq!(slots(&[("factor", "8"), ("slots_most", "64")], 5), [0, 1, 8, 64, 64]);
    assert_eq!(slots(&[("slots_most", "unlimited")], 8)[5..], [256, 1024, 4096]);
    assert_eq!(slots(&[("slots_most", "0")], 3), [0, 0, 0], "only a window");
    assert_eq!(slots(&[("window", "unlimited")], 3), [1, 4, 16], "only waits");
}

#[test]
fn what_warm_packets_do_can_be_chosen() {
    let marks = [H, H, X, X, X];
    assert_eq!(states(&[], &marks)[2..], [(1, 1), (1, 1), (1, 1)]);
    assert_eq!(states(&[("warm", "as-unmarked")], &marks)[2..], [(1, 0), (2, 0), (2, 0)]);
    assert_eq!(states(&[("warm", "ignore")], &marks)[2..], [(1, 1), (1, 1), (1, 1)]);
    assert_eq!([states(&[], &[X]), states(&[("warm", "ignore")], &[X])], [[(1, 0)], [(2, 0)]]);
    // Without validation each marked packet counts as a cause, whatever else it is marked with.
    assert_eq!([X, H].map(|marks| Rule::Input.signal(marks)), [Rule::Validated.signal(H); 2]);
}

/// The paper's table of actions, written down once more: what a state becomes.
fn by_the_table((window, slots): (u32, u64), marks: u8, most: u32, factor: u64, cap: u64) -> (u32, u64) {
    match marks {
        U if slots > 0 => (window, 0),
        U => (most.min(window + 1), 0),
        _ if window > 1 => (window - 1, slots),
        H if slots == 0 => (1, cap.min(1)),
        H => (1, cap.min(factor * slots)),
        _ => (window, slots),
    }
}

proptest! {
    #[test]
    fn any_acknowledgements_act_as_the_table_says(
        marks in prop::collection::vec(prop::sample::select(vec![U, X, H]), 0..60),
        most in 1u32..8, factor in 1u64..9, cap in 0u64..600,
    ) {
        let [window, by, slots] = [most.to_string(), factor.to_string(), cap.to_string()];
        let seen = states(&[("window", &window), ("factor", &by), ("slots_most", &slots)], &marks);
        let mut expected = (most, 0);
        for (&marks, &seen) in marks.iter().zip(&seen) {
            expected = by_the_table(expected, marks, most, factor, cap);
            prop_assert_eq!(seen, expected);
            let (window, slots) = seen;
            prop_assert!((1..=most).contains(&window) && slots <= cap && (slots == 0 || window == 1));
            let power = std::iter::successors(Some(1), |power| Some(power * factor)).take(10).any(|power| power == slots);
            prop_assert!(slots == 0 || slots == cap || power, "{} slots", slots);
        }
        // One unmarked packet ends waits, and each further one widens the window: as many as the window restore it.
        let mut all = marks.clone();
        all.extend(vec![U; most as usize]);
        let recovered = states(&[("window", &window), ("factor", &by), ("slots_most", &slots)], &all);
        prop_assert_eq!(*recovered.last().unwrap(), (most, 0));
    }
}

/// What a flow begins with is what it comes back to.
#[test]
fn a_flow_that_has_recovered_is_as_new() {
    let mvcm = Mvcm::of(&values(&MVCM, &[]));
    let mut state: State = mvcm.begin();
    let recovered: Vec<bool> = [H, H, U, U]
        .map(|marks| {
            mvcm.heard(&mut state, Rule::Validated.signal(marks), 5);
            mvcm.is_recovered(&state, 5)
        })
        .to_vec();
    assert_eq!(recovered, [false, false, false, true]);
}

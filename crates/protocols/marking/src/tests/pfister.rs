//! Pfister's table and timer.

use super::{try_build, values};
use crate::PFISTER;
use crate::marks::Signal;
use crate::pfister::{Pfister, State};
use crate::response::Response;

fn flow(given: &[(&str, &str)]) -> (Pfister, State) {
    let pfister = Pfister::of(&values(&PFISTER, given)).unwrap();
    let state = pfister.begin();
    (pfister, state)
}

/// Section 2.3: marks at 0, 5,000 and 7,000.
#[test]
fn the_index_rises_with_marks_and_falls_when_none_come() {
    let (pfister, mut state) = flow(&[]);
    let risen = [0, 5000, 7000].map(|at| {
        pfister.heard(&mut state, Signal::Hot, at);
        pfister.index_at(&state, at)
    });
    assert_eq!(risen, [4, 8, 12]);
    let fallen = [15_899, 15_900, 24_799, 24_800].map(|at| pfister.index_at(&state, at));
    assert_eq!(fallen, [12, 11, 11, 10]);
    assert_eq!(
        pfister.tell(&state, 7000, tailback_protocol::Clock { ticks_per_cycle: 1 }),
        "index 12, a pause of 3336 cycles"
    );
    // Pauses follow the end of the packet before. At 15,900 the pause becomes shorter by 278.
    pfister.left(&mut state, 0, 12_700);
    assert_eq!(pfister.open_at(&state, 12_700), 15_900);
    pfister.left(&mut state, 0, 12_000);
    assert_eq!(pfister.open_at(&state, 12_000), 15_336);
    (0..100).for_each(|_| pfister.heard(&mut state, Signal::Hot, 20_000));
    assert_eq!(pfister.index_at(&state, 20_000), 127, "the limit");
    let recovered = [20_000 + 127 * 8900 - 1, 20_000 + 127 * 8900].map(|at| pfister.is_recovered(&state, at));
    assert_eq!(recovered, [false, true]);
}

#[test]
fn pauses_beyond_the_end_of_time_are_as_long_as_can_be() {
    let (pfister, mut state) = flow(&[("step", "1000000000000000000")]);
    (0..100).for_each(|_| pfister.heard(&mut state, Signal::Hot, 0));
    pfister.left(&mut state, 0, 278);
    // That is, until the index has fallen from its limit.
    assert_eq!(pfister.open_at(&state, 278), 127 * 8900);
}

#[test]
fn unmarked_packets_and_warm_ones_change_nothing() {
    let (pfister, mut state) = flow(&[]);
    pfister.heard(&mut state, Signal::Hot, 100);
    for signal in [Signal::Unmarked, Signal::Warm] {
        pfister.heard(&mut state, signal, 5000);
    }
    assert_eq!([8999, 9000].map(|at| pfister.index_at(&state, at)), [4, 3]);
}

#[test]
fn a_timer_that_runs_freely_is_not_restarted() {
    let (pfister, mut state) = flow(&[("timer_runs", "freely"), ("timer", "1000"), ("increment", "2")]);
    pfister.heard(&mut state, Signal::Hot, 950);
    assert_eq!([999, 1000, 1999, 2000].map(|at| pfister.index_at(&state, at)), [2, 1, 1, 0]);
    pfister.heard(&mut state, Signal::Hot, 1950);
    assert_eq!([1950, 2000, 3000, 5000].map(|at| pfister.index_at(&state, at)), [3, 2, 1, 0]);
}

#[test]
fn a_table_says_the_pauses() {
    let (pfister, mut state) = flow(&[("table", "[0, 10, 100]"), ("increment", "1")]);
    let pauses: Vec<u64> = (0..4)
        .map(|_| {
            pfister.heard(&mut state, Signal::Hot, 0);
            pfister.open_at(&state, 0)
        })
        .collect();
    assert_eq!(pauses, [10, 100, 100, 100]);
    for wrong in ["[5, 10]", "[0, 20, 10]"] {
        assert_eq!(try_build(&PFISTER, &[("table", wrong)]).unwrap_err().parameter, Some("table"));
    }
    assert_eq!(try_build(&PFISTER, &[("timer", "0")]).unwrap_err().parameter, Some("timer"));
}

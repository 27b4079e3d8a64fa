//! Renato's functions of the injection rate.

use super::{build, values};
use crate::RENATO;
use crate::marks::Signal;
use crate::renato::{Renato, State};
use crate::response::Response;

const FULL: u64 = 1 << 16;

fn flow(given: &[(&str, &str)]) -> (Renato, State) {
    let renato = Renato::of(&values(&RENATO, given)).unwrap();
    let state = renato.begin();
    (renato, state)
}

/// Section 2.2: acknowledgements M M M U give 1 2 3 2 slots.
#[test]
fn the_delay_grows_and_shrinks_by_slots() {
    let (renato, mut state) = flow(&[]);
    let slots = [Signal::Hot, Signal::Hot, Signal::Hot, Signal::Unmarked].map(|signal| {
        renato.heard(&mut state, signal, 1000);
        (state.slots, renato.open_at(&state, 1000) - 1000)
    });
    assert_eq!(slots, [(1, 354), (2, 708), (3, 1062), (2, 708)]);
    (0..300).for_each(|_| renato.heard(&mut state, Signal::Hot, 1000));
    assert_eq!(state.slots, 255, "the cap");
    (0..300).for_each(|_| renato.heard(&mut state, Signal::Unmarked, 1000));
    assert!(state.slots == 0 && renato.is_recovered(&state, 1000));
}

#[test]
fn the_rate_is_halved_and_grows_by_steps() {
    let (renato, mut state) = flow(&[("response", "aimd")]);
    renato.left(&mut state, 0, 278);
    let rates = [Signal::Hot, Signal::Hot, Signal::Unmarked, Signal::Unmarked].map(|signal| {
        renato.heard(&mut state, signal, 300);
        state.rate * 256 / FULL
    });
    assert_eq!(rates, [128, 64, 65, 66]);
    // 278 flits at 66 / 256 of a flit per tick.
    assert_eq!(renato.open_at(&state, 300), 1079);
    assert_eq!((278u64 * 256).div_ceil(66), 1079);
    (0..20).for_each(|_| renato.heard(&mut state, Signal::Hot, 300));
    assert_eq!((state.rate * 256 / FULL, renato.open_at(&state, 300)), (1, 278 * 256), "the least rate");
    (0..255).for_each(|_| renato.heard(&mut state, Signal::Unmarked, 300));
    assert!(renato.is_recovered(&state, 300));
}

#[test]
fn a_rate_that_does_not_grow_stays() {
    let (renato, mut state) = flow(&[("response", "aimd"), ("increase", "0.0"), ("least_rate", "0.0")]);
    renato.heard(&mut state, Signal::Hot, 300);
    (0..100).for_each(|_| renato.heard(&mut state, Signal::Unmarked, 300));
    assert_eq!(state.rate, FULL / 2);
    (0..100).for_each(|_| renato.heard(&mut state, Signal::Hot, 300));
    assert_eq!(state.rate, 1, "a rate of 0 would never send again");
}

#[test]
fn rates_below_the_smallest_are_refused() {
    for name in ["increase", "least_rate"] {
        let refused = super::try_build(&RENATO, &[("response", "aimd"), (name, "0.000001")]).unwrap_err();
        assert_eq!(refused.parameter, Some(name));
        assert_eq!(refused.message, "rates are 65,536ths of the full one, and 1e-6 is less than half of one");
        assert_eq!(refused.help.as_deref(), Some("give it 0.0000152587890625 or more, or 0.0"));
    }
    // What rounds to the smallest one is taken for it.
    let smallest = [("response", "aimd"), ("increase", "0.000008"), ("least_rate", "0.0000152587890625")];
    let (renato, mut state) = flow(&smallest);
    (0..20).for_each(|_| renato.heard(&mut state, Signal::Hot, 300));
    renato.heard(&mut state, Signal::Unmarked, 300);
    assert_eq!(state.rate, 2);
}

#[test]
fn the_rate_is_halved_and_doubles_with_time() {
    let (renato, mut state) = flow(&[("response", "fimd"), ("recovery", "1000")]);
    for at in [0, 0, 500] {
        renato.heard(&mut state, Signal::Hot, at);
    }
    let rates = [500, 1499, 1500, 2500, 3499, 3500].map(|at| FULL / renato.rate_at(&state, at));
    assert_eq!(rates, [8, 8, 4, 2, 2, 1], "the last mark was at 500");
    // At 1,500 the packet may be 4 lengths after the one before, sooner than 8 lengths, which end at 2,724.
    renato.left(&mut state, 500, 778);
    assert_eq!(renato.open_at(&state, 800), 500 + 4 * 278);
    assert_eq!(renato.open_at(&state, 2000), 2000);
    // An unmarked packet changes nothing: it is time that does.
    renato.heard(&mut state, Signal::Unmarked, 800);
    assert_eq!(FULL / renato.rate_at(&state, 800), 8);
    assert!(!renato.is_recovered(&state, 3499) && renato.is_recovered(&state, 3500));
    assert!(super::try_build(&RENATO, &[("response", "fimd"), ("recovery", "0")]).is_err());
}

#[test]
fn only_the_window_is_left_without_a_function() {
    let (renato, mut state) = flow(&[("response", "none"), ("window", "5")]);
    renato.heard(&mut state, Signal::Hot, 10);
    assert_eq!((renato.window(&state), renato.open_at(&state, 10)), (Some(5), 10));
    assert_eq!(build(&RENATO, &[("response", "none")]).describe(), "Renato: windows of 1; marks change nothing");
}

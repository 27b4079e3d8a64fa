//! All three keep what any protocol must keep, and their windows along a line of routers.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailback_protocol::conformance::{Event, Script, Trace, run, undocumented};

use super::build;
use super::properties::any_protocol;
use crate::{MVCM, PFISTER, RENATO};

/// The most packets of a source to a destination that were not acknowledged, and how often marks were heard of.
fn look(trace: &Trace) -> (u32, usize) {
    let (mut outstanding, mut most) = (BTreeMap::<(u32, u32), u32>::new(), 0);
    for event in &trace.events {
        match event {
            Event::Sent { message, .. } => {
                let (source, destination, _) = trace.messages[*message];
                let count = outstanding.entry((source, destination)).or_default();
                *count += 1;
                most = most.max(*count);
            }
            Event::Heard { control, .. } => *outstanding.get_mut(&(control.to, control.from)).unwrap() -= 1,
            _ => {}
        }
    }
    let marked = |event: &&Event| matches!(event, Event::Heard { control, .. } if control.marks != 0);
    (most, trace.events.iter().filter(marked).count())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn they_conform(chosen in any_protocol(), numbers in prop::collection::vec(any::<u64>(), 1..400)) {
        let trace = run(chosen.build().as_ref(), &Script::from_numbers(&numbers));
        prop_assert!(trace.is_ok(), "{chosen:?}: {}", trace.unwrap_err());
    }

    #[test]
    fn they_conform_with_their_defaults(numbers in prop::collection::vec(any::<u64>(), 1..400)) {
        for (model, window) in [(&RENATO, 1), (&MVCM, 2), (&PFISTER, u32::MAX)] {
            let trace = run(build(model, &[]).as_ref(), &Script::from_numbers(&numbers));
            prop_assert!(trace.is_ok(), "{}: {}", model.name, trace.unwrap_err());
            prop_assert!(look(&trace.unwrap()).0 <= window);
        }
    }
}

/// Crowded buffers are met, and sources hear of it: the suite has tried more than silence.
#[test]
fn marks_are_heard_of_along_a_line_of_routers() {
    let step = |state: &mut u64, _| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(*state >> 8)
    };
    for model in [&RENATO, &MVCM, &PFISTER] {
        let heard = |seed| {
            let numbers: Vec<u64> = (0..300).scan(seed, step).collect();
            look(&run(build(model, &[]).as_ref(), &Script::from_numbers(&numbers)).unwrap()).1
        };
        assert!((0..50).map(heard).sum::<usize>() > 20, "{}", model.name);
    }
}

#[test]
fn the_readme_lists_all_parameters() {
    let missing = undocumented(include_str!("../../README.md"), &[RENATO, PFISTER, MVCM]);
    assert!(missing.is_empty(), "{missing:?}");
}

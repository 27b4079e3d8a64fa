//! Schedulers keep what any protocol must keep.

use proptest::prelude::*;
use tailback_protocol::conformance::{Script, run, undocumented};

use super::{try_central, try_distributed, try_in_band, values};
use crate::{CENTRAL_SCHEDULER, DISTRIBUTED_SCHEDULER, END_TO_END_ACKNOWLEDGEMENT, IN_BAND_RESERVATION};

fn script(numbers: &[u64], routes: u32) -> Script {
    Script { nodes: routes * routes, routes, ..Script::from_numbers(numbers) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_central_scheduler_conforms(
        numbers in prop::collection::vec(any::<u64>(), 1..400),
        routes in 2..4u32,
        buffer in 1..13u32,
    ) {
        let central = try_central(&[("buffer", &buffer.to_string())]).unwrap();
        let outcome = run(&central, &script(&numbers, routes));
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }

    #[test]
    fn the_distributed_scheduler_conforms(
        numbers in prop::collection::vec(any::<u64>(), 1..400),
        routes in 2..4u32,
        buffer in 1..13u32,
        queue in 1..5u32,
    ) {
        let distributed = try_distributed(&[("buffer", &buffer.to_string()), ("queue", &queue.to_string())]).unwrap();
        let outcome = run(&distributed, &script(&numbers, routes));
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }

    #[test]
    fn in_band_reservations_conform(
        numbers in prop::collection::vec(any::<u64>(), 1..400),
        [requests, grant, grant_min] in [1..21u32, 4..21u32, 1..5u32],
        [output, reorder] in [4..30u32, 4..30u32],
    ) {
        let given = [
            ("requests", requests),
            ("grant", grant),
            ("grant_min", grant_min),
            ("output_buffer", output),
            ("reorder_buffer", reorder),
        ];
        let given = given.map(|(name, number)| (name, number.to_string()));
        let in_band = try_in_band(&given.each_ref().map(|(name, text)| (*name, text.as_str()))).unwrap();
        let outcome = run(&in_band, &Script::from_numbers(&numbers));
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }

    #[test]
    fn end_to_end_acknowledgements_conform(numbers in prop::collection::vec(any::<u64>(), 1..400), window in 1..17u32) {
        let protocol =
            (END_TO_END_ACKNOWLEDGEMENT.build)(&values(&END_TO_END_ACKNOWLEDGEMENT, &[("window", &window.to_string())]));
        let outcome = run(protocol.unwrap().as_ref(), &Script::from_numbers(&numbers));
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

#[test]
fn the_readme_lists_all_parameters() {
    let models = [CENTRAL_SCHEDULER, DISTRIBUTED_SCHEDULER, IN_BAND_RESERVATION, END_TO_END_ACKNOWLEDGEMENT];
    let missing = undocumented(include_str!("../../README.md"), &models);
    assert!(missing.is_empty(), "{missing:?}");
}

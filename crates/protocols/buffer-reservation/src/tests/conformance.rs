//! Schedulers keep what any protocol must keep.

use proptest::prelude::*;
use tailback_protocol::conformance::{Script, run};

use super::try_central;

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
}

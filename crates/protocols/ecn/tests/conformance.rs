//! ECN keeps what any protocol must keep.

use proptest::prelude::*;
use tailback_ecn::{Carrier, ECN, Ecn, Pacing};
use tailback_protocol::ClassRouting;
use tailback_protocol::conformance::{Script, run, undocumented};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn it_conforms(
        increment in 0u64..100, timer in 1u64..200, threshold in 0.0f64..1.0, by_packet in any::<bool>(),
        numbers in prop::collection::vec(any::<u64>(), 1..400),
    ) {
        let pacing = Pacing { increment, longest: 500, timer, decrement: 1 };
        let carrier = if by_packet { Carrier::Notification } else { Carrier::Acknowledgement };
        let protocol = Ecn { pacing, threshold, root_below: 0.125, carrier, routing: ClassRouting::Minimal };
        let trace = run(&protocol, &Script::from_numbers(&numbers));
        prop_assert!(trace.is_ok(), "{protocol:?}: {}", trace.unwrap_err());
    }
}

#[test]
fn the_readme_lists_all_parameters() {
    let missing = undocumented(include_str!("../README.md"), &[ECN]);
    assert!(missing.is_empty(), "{missing:?}");
}

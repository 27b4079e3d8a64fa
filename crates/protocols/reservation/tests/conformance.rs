//! All reservation protocols keep what any protocol must keep, and their own promise: lossless data only after word of a
//! time, and not before that time less what the word took, but for messages below `bypass_below`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailback_protocol::conformance::{Event, Script, Trace, run, undocumented};
use tailback_protocol::{ClassRouting, PacketKind, Protocol, QueueingTimeout};
use tailback_reservation::{
    COMPREHENSIVE, Comprehensive, FabricDrop, LHRP, Lead, Lhrp, SMSRP, SRP, Smsrp, Srp, Terms, Threshold,
};

fn terms() -> impl Strategy<Value = Terms> {
    let leads = prop_oneof![Just(Lead::Latency), Just(Lead::None)];
    (leads, prop_oneof![Just(0.0), 0.0f64..0.5], 0u32..9, 0u64..500).prop_map(
        |(lead, overhead, control_overhead, minimum_grant_delay)| Terms {
            routing: ClassRouting::Minimal,
            lead,
            overhead,
            control_overhead,
            minimum_grant_delay,
        },
    )
}

/// A protocol, and the size below which messages go without a reservation.
fn protocols() -> impl Strategy<Value = (Box<dyn Protocol>, u32)> {
    let fabric = (1u64..2000, 1u32..4)
        .prop_map(|(ticks, nacks)| FabricDrop { timeout: QueueingTimeout::at_inputs(ticks), nacks });
    (terms(), 0usize..4, 1u32..2000, prop::option::of(fabric), 0u32..30).prop_map(
        |(terms, which, threshold, fabric_drop, size)| -> (Box<dyn Protocol>, u32) {
            let threshold = Threshold::of_flits(threshold);
            let protocol: Box<dyn Protocol> = match which {
                0 => Box::new(Srp { terms, timeout: QueueingTimeout::at_inputs(1000), bypass_below: size }),
                1 => Box::new(Smsrp { terms, timeout: QueueingTimeout::at_inputs(1000) }),
                2 => Box::new(Lhrp { terms, threshold, fabric_drop }),
                _ => Box::new(Comprehensive { terms, threshold, large_from: size.max(1) }),
            };
            (protocol, if which == 0 { size } else { 0 })
        },
    )
}

/// Lossless data of messages that do not bypass is sent only after word of a time for some message to the same destination,
/// and no sooner than the earliest time that a source of that pair was told of.
fn keeps_its_promise(trace: &Trace, bypass_below: u32) -> Result<(), TestCaseError> {
    let mut earliest: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for event in &trace.events {
        match event.clone() {
            Event::Heard { control, latency, .. } => {
                if let Some(time) = control.time {
                    let start = time.saturating_sub(latency);
                    let known = earliest.entry((control.to, control.from)).or_insert(start);
                    *known = start.min(*known);
                }
            }
            Event::Sent { at, message, kind: PacketKind::DATA, .. } => {
                let (source, destination, flits) = trace.messages[message];
                if flits >= bypass_below {
                    let told = earliest.get(&(source, destination)).copied();
                    prop_assert!(told.is_some_and(|told| at >= told), "sent at {at}, told {told:?}");
                }
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn they_conform((protocol, bypass_below) in protocols(), numbers in prop::collection::vec(any::<u64>(), 1..400)) {
        let trace = run(protocol.as_ref(), &Script::from_numbers(&numbers));
        prop_assert!(trace.is_ok(), "{protocol:?}: {}", trace.unwrap_err());
        keeps_its_promise(&trace.unwrap(), bypass_below)?;
    }
}

#[test]
fn the_readme_lists_all_parameters() {
    let missing = undocumented(include_str!("../README.md"), &[SRP, SMSRP, LHRP, COMPREHENSIVE]);
    assert!(missing.is_empty(), "{missing:?}");
}

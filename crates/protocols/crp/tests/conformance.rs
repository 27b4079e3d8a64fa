//! CRP keeps what any protocol must keep, and its own promise: lossless data that reserves is sent only after a grant, and not before the
//! time that it names less the time that it took.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailback_crp::{AskWhen, Asking, CRP, Crp, SlotChoice, kind};
use tailback_protocol::conformance::{Event, Script, Trace, run, undocumented};
use tailback_protocol::{ClassRouting, PacketKind};
use tailback_reservation::Lead;

fn asking() -> impl Strategy<Value = Asking> {
    let when = prop_oneof![Just(AskWhen::AtOnce), Just(AskWhen::OnNack)];
    let lead = prop_oneof![Just(Lead::Latency), Just(Lead::None)];
    (0u32..15, 8u32..40, when, 0u8..4, prop::option::of(0u32..3), 0u64..100, 0u64..50, lead).prop_map(
        |(smallest, largest, when, eager, more_eager_after, retry_after, retry_spread, lead)| Asking {
            smallest,
            largest,
            when,
            eager,
            more_eager_after,
            retry_after,
            retry_spread,
            lead,
        },
    )
}

fn protocols() -> impl Strategy<Value = Crp> {
    let slot = prop_oneof![Just(SlotChoice::Earliest), Just(SlotChoice::Random)];
    let links = prop_oneof![Just(Some("inter-cluster")), Just(None)];
    (asking(), 1u32..33, 1u32..40, prop_oneof![Just(0.0), 0.0f64..0.5], 1u64..500, slot, links).prop_filter_map(
        "the largest segment fits into two cells, or into the only one",
        |(asking, cells, cell, overhead, timeout, slot, links)| {
            let routing = ClassRouting::Minimal;
            let crp = Crp { cells, cell, overhead, timeout, asking, slot, links, routing };
            crp.check().is_ok().then_some(crp)
        },
    )
}

/// Lossless data of messages that reserve is sent only after a grant to the same destination, and no sooner than the earliest time
/// that the source was told of for it.
fn keeps_its_promise(trace: &Trace, asking: Asking, packet_flits: u32) -> Result<(), TestCaseError> {
    // Segments are whole packets.
    let largest = asking.largest / packet_flits * packet_flits;
    let mut earliest: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for event in &trace.events {
        match event.clone() {
            Event::Heard { control, latency, .. } if control.kind == kind::GRANT => {
                let start = control.time.expect("a grant names a time").saturating_sub(latency);
                let known = earliest.entry((control.to, control.from)).or_insert(start);
                *known = start.min(*known);
            }
            Event::Sent { at, message, index: 0, kind: PacketKind::DATA, .. } => {
                let (source, destination, flits) = trace.messages[message];
                // A first packet whose message, or segment, is not too small.
                if flits.min(largest) >= asking.smallest {
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
    fn it_conforms(crp in protocols(), numbers in prop::collection::vec(any::<u64>(), 1..400)) {
        let script = Script::from_numbers(&numbers);
        let packet = u32::from(script.packet_flits_max);
        prop_assume!(packet <= crp.cell.min(crp.asking.largest), "packets fit into cells and segments");
        let trace = run(&crp, &script);
        prop_assert!(trace.is_ok(), "{crp:?}: {}", trace.unwrap_err());
        keeps_its_promise(&trace.unwrap(), crp.asking, script.packet_flits_max.into())?;
    }
}

/// The scripts that the property is tested by come to all that the protocol does: grants, retries and drops among them.
#[test]
fn scripts_come_to_grants_retries_and_drops() {
    let asking = Asking {
        smallest: 4,
        largest: 16,
        when: AskWhen::AtOnce,
        eager: 1,
        more_eager_after: None,
        retry_after: 20,
        retry_spread: 0,
        lead: Lead::Latency,
    };
    let crp = Crp {
        cells: 8,
        cell: 16,
        overhead: 0.0,
        timeout: 100,
        asking,
        slot: SlotChoice::Earliest,
        links: Some("inter-cluster"),
        routing: ClassRouting::Minimal,
    };
    let mut heard: BTreeMap<PacketKind, usize> = BTreeMap::new();
    for seed in 0..200u64 {
        let step = |state: &mut u64, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some(*state >> 8)
        };
        let numbers: Vec<u64> = (0..300).scan(seed, step).collect();
        for event in run(&crp, &Script::from_numbers(&numbers)).unwrap().events {
            if let Event::Heard { control, .. } = event {
                *heard.entry(control.kind).or_default() += 1;
            }
        }
    }
    for kind in [kind::GRANT, kind::RETRY, kind::NACK, kind::ACKNOWLEDGEMENT] {
        assert!(heard.get(&kind).is_some_and(|&count| count > 50), "{kind:?}: {heard:?}");
    }
}

#[test]
fn the_readme_lists_all_parameters() {
    let missing = undocumented(include_str!("../README.md"), &[CRP]);
    assert!(missing.is_empty(), "{missing:?}");
}

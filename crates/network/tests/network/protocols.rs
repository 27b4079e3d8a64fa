//! Protocols that drop, hold back and send again keep what networks keep: everything arrives exactly once, all flits and
//! credits add up, and results do not depend on the partition, the executor, or a stop in between.

use std::sync::Arc;

use proptest::prelude::*;
use tailback_ecn::{Carrier, Ecn, Pacing};
use tailback_network::{General, RouterSpec};
use tailback_protocol::conformance::{Script, run};
use tailback_protocol::{ClassRouting, Protocol, QueueingTimeout, WaitsUntil};
use tailback_reservation::{Comprehensive, FabricDrop, Lead, Lhrp, Smsrp, Srp, Terms, Threshold};

use crate::conservation::{SILENT_FROM, conserves};
use crate::determinism::is_determined;
use crate::entropy::Spray;
use crate::meter::Meter;
use crate::relay::Relay;
use crate::renato::Renato;
use crate::resequenced::Resequenced;
use crate::reverse::{Reverse, is_reversible};
use crate::sample::{Sample, queued, samples};
use crate::scheduler::Scheduler;
use crate::trim::Trimmer;

/// Of every other number of ticks waiting in output queues counts, too.
fn queueing(ticks: u64) -> QueueingTimeout {
    QueueingTimeout { ticks, in_output_queues: ticks.is_multiple_of(2) }
}

/// Protocols that have much to do in small networks.
fn protocols() -> impl Strategy<Value = Arc<dyn Protocol>> {
    let terms =
        (any::<bool>(), any::<bool>(), prop_oneof![Just(0.0), Just(0.3)]).prop_map(|(minimal, early, overhead)| {
            Terms {
                routing: if minimal { ClassRouting::Minimal } else { ClassRouting::Chosen },
                lead: if early { Lead::Latency } else { Lead::None },
                overhead,
                control_overhead: if early { 0 } else { 3 },
                minimum_grant_delay: if minimal { 0 } else { 37 },
            }
        });
    let fabric = (0u64..60, 1u32..4).prop_map(|(ticks, nacks)| FabricDrop { timeout: queueing(ticks), nacks });
    let numbers = (0u64..100, 1u32..30, 0u32..20, prop::option::of(fabric));
    (0usize..14, terms, numbers).prop_map(|(which, terms, (timeout, threshold, size, fabric_drop))| {
        let counted_until = if timeout % 2 == 0 { WaitsUntil::Departure } else { WaitsUntil::Crossing };
        let at_last_hop = Threshold { flits: threshold, counted_until };
        let protocol: Arc<dyn Protocol> = match which {
            0 => Arc::new(Srp { terms, timeout: queueing(timeout), bypass_below: size }),
            1 => Arc::new(Smsrp { terms, timeout: queueing(timeout) }),
            2 => Arc::new(Lhrp { terms, threshold: at_last_hop, fabric_drop }),
            3 => Arc::new(Comprehensive { terms, threshold: at_last_hop, large_from: size.max(1) }),
            4 => Arc::new(Relay),
            5 => Arc::new(Scheduler { latency: 1 + timeout, credits: threshold }),
            6 => Arc::new(Resequenced(Arc::new(Srp { terms, timeout: queueing(timeout), bypass_below: size }))),
            7 => Arc::new(Resequenced(Arc::new(Smsrp { terms, timeout: queueing(timeout) }))),
            8 => Arc::new(Renato::default()),
            9 => Arc::new(Trimmer { threshold, timeout }),
            10 => Arc::new(Spray { values: 1 + size as u16 }),
            11 => Arc::new(Reverse { routing: terms.routing, routers_answer: timeout % 2 == 0 }),
            12 => Arc::new(Meter::default()),
            _ => Arc::new(Ecn {
                pacing: Pacing { increment: timeout, longest: 400, timer: u64::from(threshold) * 7, decrement: 1 },
                threshold: f64::from(size) / 20.0,
                root_below: 0.5,
                carrier: if timeout % 2 == 0 { Carrier::Acknowledgement } else { Carrier::Notification },
                routing: terms.routing,
            }),
        };
        protocol
    })
}

/// Networks in which such protocols can be at work.
fn networks() -> impl Strategy<Value = Sample> {
    let pairs = (samples(), protocols())
        .prop_filter("routers reach the nodes that they send to", |(sample, protocol)| {
            !protocol.switch_needs().sends || sample.topology().graph().routers_reach_all_nodes()
        });
    (pairs, 0usize..5)
        .prop_map(|((sample, protocol), pattern)| {
            let router = RouterSpec { vc_allocation: false, ..sample.router };
            let nic = queued(sample.nic);
            // Half of them overload one node.
            Sample { protocol, router, nic, pattern: if pattern < 2 { sample.pattern } else { 4 }, ..sample }
        })
        .prop_filter("answers can take the paths of requests in reverse", |sample| {
            is_reversible(sample.protocol.as_ref(), sample)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn everything_arrives(sample in networks()) {
        let acknowledged = conserves::<General>(sample.plan(SILENT_FROM), sample.routing.0);
        prop_assert!(acknowledged.is_ok(), "{}: {:?}", sample.protocol.describe(), acknowledged);
    }

    #[test]
    fn protocols_of_tests_keep_what_all_must(
        numbers in prop::collection::vec(any::<u64>(), 1..150), latency in 1u64..200, credits in 1u32..6,
    ) {
        let script = Script::from_numbers(&numbers);
        let scheduled = run(&Scheduler { latency, credits }, &script);
        prop_assert!(scheduled.is_ok(), "{scheduled:?}");
        let terms = Terms { routing: ClassRouting::Minimal, lead: Lead::None, overhead: 0.0, control_overhead: 0, minimum_grant_delay: 0 };
        let resequenced = run(&Resequenced(Arc::new(Smsrp { terms, timeout: QueueingTimeout::at_inputs(latency) })), &script);
        prop_assert!(resequenced.is_ok(), "{resequenced:?}");
    }

    #[test]
    fn nothing_depends_on_who_simulates_what(
        sample in networks(), random in prop::collection::vec(0u32..5, 1..9), stop in 1u32..12,
    ) {
        is_determined::<General>(&sample.plan(SILENT_FROM), &random, stop)?;
    }
}

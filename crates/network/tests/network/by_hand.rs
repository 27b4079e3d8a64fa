//! Protocols in networks so small that everything can be worked out by hand. With one tick per cycle nothing has to wait for
//! a link to be in step.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Sequential, Simulation};
use tailback_network::{
    General, NetworkPlan, NetworkRegion, NicSpec, OutputQueueSpec, Packet, QueuePer, RouterSpec, SourceQueues, ZeroLoad,
};
use tailback_protocol::{ClassRouting, PacketKind, Protocol, QueueingTimeout, WaitsUntil};
use tailback_reservation::{Lead, Lhrp, Smsrp, Srp, Terms, Threshold, kind};
use tailback_workload::{Arrival, MessageSize, NodeSet, Pattern, Phase, Traffic};

use crate::notes::NoteTaker;
use crate::sample::{Sample, fixed};
use crate::scheduler::{KEEPS_TICKS, Scheduler, THINKS_TICKS, asks_late};

const TERMS: Terms = Terms {
    routing: ClassRouting::Minimal,
    lead: Lead::Latency,
    overhead: 0.0,
    control_overhead: 0,
    minimum_grant_delay: 0,
};

/// A single switch on which `sources` nodes send packets of 4 flits to the last one, at full rate until cycle `until`.
pub fn plan(protocol: Arc<dyn Protocol>, sources: u64, until: u64) -> NetworkPlan {
    plan_with_speedup(protocol, sources, until, 1)
}

/// The same, with a crossbar that is so many times as fast as links.
fn plan_with_speedup(protocol: Arc<dyn Protocol>, sources: u64, until: u64, speedup: u32) -> NetworkPlan {
    let numbers: &'static [(&str, &[u64])] = if sources == 1 { &[("nodes", &[2])] } else { &[("nodes", &[3])] };
    let nodes = sources as u32 + 1;
    let sample = fixed(("single-switch", numbers));
    let output_queues = OutputQueueSpec { flits: Some(16), per: QueuePer::Channel, ..sample.router.output_queues };
    let router = RouterSpec { virtual_output_queues: true, output_queues, ..sample.router.clone() };
    let nic = NicSpec { queues: SourceQueues::PerDestination, ..sample.nic };
    let sample = Sample {
        routing: ("direct", &[("vcs", "1")]),
        ticks_per_cycle: speedup,
        buffer_packets: vec![4],
        protocol,
        router,
        nic,
        ..sample
    };
    let set = |list: &[u64]| NodeSet::of(list, nodes).expect("the nodes exist");
    let to_last = Pattern::uniform(set(&[u64::from(nodes) - 1]), true).expect("one is enough");
    let phases = vec![
        Phase { from_cycle: 0, pattern: to_last.clone(), load: 4.0 },
        Phase { from_cycle: until, pattern: to_last, load: 0.0 },
    ];
    let list: Vec<u64> = (0..sources).collect();
    let traffic = Traffic::new("all".to_owned(), set(&list), MessageSize::Fixed(4), Arrival::Bernoulli, phases);
    sample.plan_with(&sample.topology(), traffic)
}

/// Whether packets of a kind carry data: as all reservation protocols have it.
fn carries_data(kind: PacketKind) -> bool {
    kind == PacketKind::DATA || kind == kind::SPECULATIVE
}

/// A packet that arrives at its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub tick: u64,
    pub from: u32,
    pub kind: PacketKind,
    /// When it left its source.
    pub sent_at: u64,
    pub flits: u16,
}

/// What arrives and when, until nothing happens any more.
pub fn deliveries(plan: NetworkPlan) -> Vec<Delivery> {
    let mut simulation: Simulation<NetworkRegion<NoteTaker, General>> = plan.build(|_| NoteTaker::of_packets());
    simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
    let region = simulation.regions().next().expect("there is one region");
    let delivery = |(tick, packet): &(u64, Packet)| {
        let &Packet { source: from, kind, flits, .. } = packet;
        Delivery { tick: *tick, from, kind, sent_at: packet.injected(), flits }
    };
    region.observer().packets().iter().map(delivery).collect()
}

/// The same by time, source and kind.
fn arrivals(plan: NetworkPlan) -> Vec<(u64, u32, PacketKind)> {
    deliveries(plan).into_iter().map(|delivery| (delivery.tick, delivery.from, delivery.kind)).collect()
}

/// How long a packet takes that is alone, and how long one that the router sends itself.
pub fn latencies(plan: &NetworkPlan) -> (u64, u64, u64) {
    let of = |flits| ZeroLoad::new(&plan.spec, &[], flits).total();
    (of(4), of(1), of(1) - u64::from(plan.spec.injection.latency))
}

#[test]
fn lhrp_sends_again_as_soon_as_the_refusal_is_back() {
    let plan = plan(Arc::new(Lhrp { terms: TERMS, threshold: Threshold::of_flits(1), fabric_drop: None }), 2, 1);
    let (data, _, from_router) = latencies(&plan);
    let arrived_at_router = u64::from(plan.spec.injection.latency);
    let arrivals = arrivals(plan);
    // Node 0's packet is first; node 1's finds 4 flits waiting, is dropped, and may come at once: the schedule is free.
    let refused_at = arrived_at_router + from_router;
    let of_kind = |wanted| arrivals.iter().filter(move |arrival| arrival.2 == wanted).copied().collect::<Vec<_>>();
    assert_eq!(of_kind(kind::SPECULATIVE), [(data, 0, kind::SPECULATIVE)]);
    assert_eq!(of_kind(kind::NACK), [(refused_at, 2, kind::NACK)]);
    assert_eq!(of_kind(PacketKind::DATA), [(refused_at + data, 1, PacketKind::DATA)]);
    assert_eq!(of_kind(kind::ACKNOWLEDGEMENT).len(), 2);
}

/// What output queues hold does not count towards a threshold at the inputs, so fewer packets are dropped, and throughput is the same.
#[test]
fn lhrp_may_leave_output_queues_uncounted() {
    const CYCLES: u64 = 500;
    let found = [WaitsUntil::Departure, WaitsUntil::Crossing].map(|counted_until| {
        let threshold = Threshold { flits: 12, counted_until };
        arrivals(plan_with_speedup(Arc::new(Lhrp { terms: TERMS, threshold, fabric_drop: None }), 2, CYCLES, 2))
    });
    let [departure, crossing] = found.map(|arrivals| {
        let of_kind = |wanted| arrivals.iter().filter(|arrival| arrival.2 == wanted).count();
        (of_kind(kind::NACK), of_kind(kind::SPECULATIVE) + of_kind(PacketKind::DATA))
    });
    assert_eq!(departure.1, crossing.1, "all messages arrive");
    assert!(0 < crossing.0 && crossing.0 < departure.0, "{crossing:?} and {departure:?} NACKs and messages");
}

#[test]
fn smsrp_asks_for_a_time_after_a_drop() {
    let plan = plan(Arc::new(Smsrp { terms: TERMS, timeout: QueueingTimeout::at_inputs(0) }), 2, 1);
    let (data, control, from_router) = latencies(&plan);
    let arrived_at_router = u64::from(plan.spec.injection.latency);
    let arrivals = arrivals(plan);
    // Node 0's packet loses, by turns, has lost patience one tick later, and the refusal asks for the crossbar in the next.
    let refused_at = arrived_at_router + 2 + from_router;
    let (asked_at, granted_at) = (refused_at + control, refused_at + 2 * control);
    let expected = [
        (refused_at, 2, kind::NACK),
        (asked_at, 0, kind::RESERVATION),
        (granted_at, 2, kind::GRANT),
        (granted_at + data, 0, PacketKind::DATA),
    ];
    let found: Vec<_> = arrivals.into_iter().filter(|arrival| expected.iter().any(|e| e.2 == arrival.2)).collect();
    assert_eq!(found, expected);
}

#[test]
fn srp_asks_first_and_speculates_meanwhile() {
    let plan = plan(Arc::new(Srp { terms: TERMS, timeout: QueueingTimeout::at_inputs(100), bypass_below: 0 }), 1, 1);
    let (data, control, _) = latencies(&plan);
    let expected = [
        (control, 0, kind::RESERVATION),
        (data + 1, 0, kind::SPECULATIVE),
        (2 * control, 1, kind::GRANT),
        (data + 1 + control, 1, kind::ACKNOWLEDGEMENT),
    ];
    let mut found = arrivals(plan);
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// Two sources at full rate for one node: it gets all that it can take, and nothing is lost.
#[test]
fn a_controller_is_asked_thinks_and_grants_one_credit_after_the_other() {
    const LATENCY: u64 = 11;
    let plan = plan(Arc::new(Scheduler { latency: LATENCY, credits: 1 }), 2, 1);
    let (data, ..) = latencies(&plan);
    // Both ask node 2's controller at once. The second packet waits for the credit of the first, which its sink keeps for a while.
    let first = LATENCY + asks_late(2) + THINKS_TICKS + LATENCY + data;
    let second = first + KEEPS_TICKS + LATENCY + THINKS_TICKS + LATENCY + data;
    assert_eq!(arrivals(plan), [(first, 0, PacketKind::DATA), (second, 1, PacketKind::DATA)]);
}

#[test]
fn an_overloaded_node_gets_all_that_it_can_take() {
    const CYCLES: u64 = 2000;
    let lhrp = Arc::new(Lhrp { terms: TERMS, threshold: Threshold::of_flits(12), fabric_drop: None });
    for protocol in
        [lhrp as Arc<dyn Protocol>, Arc::new(Smsrp { terms: TERMS, timeout: QueueingTimeout::at_inputs(20) })]
    {
        let name = protocol.describe();
        let plan = plan(protocol, 2, CYCLES);
        let arrivals = arrivals(plan);
        let data = |until: u64| arrivals.iter().filter(|a| carries_data(a.2) && a.0 < until).count() as u64 * 4;
        // At a rate of 4 flits per cycle and source, each sends a message per cycle: one after the other.
        assert_eq!(data(u64::MAX), 2 * CYCLES * 4, "{name}");
        // Reservations come by the same link, so the node cannot take quite as much data with SMSRP.
        let share = data(CYCLES) as f64 / CYCLES as f64;
        let (least, most) = if name.starts_with("LHRP") { (0.97, 1.0) } else { (0.75, 1.0) };
        assert!((least..=most).contains(&share), "{name}: {share}");
    }
}

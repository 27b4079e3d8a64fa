//! A packet that is alone takes exactly as long as the formula says.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::{Sequential, Simulation};
use tailback_network::{
    General, Microarchitecture, NetworkPlan, NetworkRegion, NicSpec, OutputQueueSpec, Plain, RouterSpec, ZeroLoad,
};
use tailback_topology::LinkClass;
use tailback_workload::{Arrival, MessageSize, NodeSet, Pattern, Phase, Traffic};

use crate::notes::NoteTaker;
use crate::sample::{Sample, baseline, fixed, samples};

/// The plan of a network in which one node sends one message, in cycle 0.
fn one_message(sample: &Sample, source: u32, destination: u32, flits: u32) -> NetworkPlan {
    let any = sample.topology();
    let nodes = any.graph().nodes();
    let only = |node: u32| NodeSet::of(&[u64::from(node % nodes)], nodes).expect("the node exists");
    let pattern = Pattern::uniform(only(destination), true).expect("one is enough");
    let phases = vec![
        Phase { from_cycle: 0, pattern: pattern.clone(), load: f64::from(flits) },
        Phase { from_cycle: 1, pattern, load: 0.0 },
    ];
    let size = MessageSize::Fixed(flits);
    let traffic = Traffic::new("one".to_owned(), only(source), size, Arrival::Bernoulli, phases);
    sample.plan_with(&any, traffic)
}

/// Runs until nothing happens any more; returns the latency in ticks of the last packet, and the links it took.
fn run<M: Microarchitecture>(plan: NetworkPlan) -> (u64, Vec<LinkClass>) {
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan.build(|_| NoteTaker::of_packets());
    simulation.run_until(1 << 20, &Sequential, |_| ControlFlow::Continue(()));
    let region = simulation.regions().next().expect("there is one region");
    let (tick, packet) =
        region.observer().packets().iter().rfind(|(_, packet)| packet.is_last()).expect("the message arrives");
    let total = region.observer().packets().iter().map(|(_, packet)| u32::from(packet.flits)).sum::<u32>();
    let mut path = Vec::new();
    region.visit_links(simulation.now(), |_, _, class, flits| {
        if class != LinkClass::TERMINAL {
            path.extend(std::iter::repeat_n(class, (flits / total) as usize));
        }
    });
    (tick - packet.created(), path)
}

/// Two packets that come in one after the other by different channels: the second seeks its channel of the output while
/// the first crosses.
#[test]
fn channels_are_allocated_while_others_cross() {
    let sample = fixed(("single-switch", &[("nodes", &[3])]));
    let router = RouterSpec { vc_allocation: true, ..sample.router.clone() };
    let sample = Sample { routing: ("direct", &[("vcs", "2")]), ticks_per_cycle: 1, packet_flits: 1, router, ..sample };
    let plan = one_message(&sample, 0, 1, 2);
    let alone = ZeroLoad::new(&plan.spec, &[], 1).total();
    assert_eq!(run::<General>(plan).0, alone + 1);
}

/// What all links have sent in some ticks, in a network in which one node sends one message.
fn sent<M: Microarchitecture>(plan: &NetworkPlan, measured: std::ops::Range<u64>) -> u32 {
    sent_before::<M>(1 << 20, plan, measured)
}

/// The same if the run ends at tick `end`.
fn sent_before<M: Microarchitecture>(end: u64, plan: &NetworkPlan, measured: std::ops::Range<u64>) -> u32 {
    let plan = NetworkPlan { measured, ..plan.clone() };
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan.build(|_| NoteTaker::of_packets());
    simulation.run_until(end, &Sequential, |_| ControlFlow::Continue(()));
    let (now, mut sum) = (simulation.now(), 0);
    simulation.regions().for_each(|region| region.visit_links(now, |_, _, _, flits| sum += flits));
    sum
}

/// A link sends at most a flit per cycle, also while a packet is in flight when measuring begins or ends.
#[test]
fn links_count_the_flits_of_the_time_in_which_they_are_measured() {
    let sample = fixed(("single-switch", &[("nodes", &[3])]));
    let output_queues = OutputQueueSpec { flits: Some(8), ..sample.router.output_queues };
    let router = RouterSpec { output_queues, ..sample.router.clone() };
    let sample = Sample { routing: ("direct", &[("vcs", "1")]), packet_flits: 8, router, ..sample };
    let plan = one_message(&sample, 0, 1, 8);
    let end = 1 << 20;
    assert_eq!((sent::<Plain>(&plan, 0..end), sent::<General>(&plan, 0..end)), (8, 8));
    let cycle = u64::from(plan.spec.ticks_per_cycle);
    for at in 0..100 {
        let parts = [0..at, at..at + cycle, at + cycle..end].map(|measured| sent::<Plain>(&plan, measured));
        assert_eq!(parts.iter().sum::<u32>(), 8, "cut at tick {at}");
        assert!(parts[1] <= 1, "{} flits in a cycle from tick {at} on", parts[1]);
    }
}

/// A run that ends while a packet is in flight counts the flits until then, and not until when it was to end.
#[test]
fn links_of_a_run_that_ends_early_count_no_flit_that_comes_later() {
    let sample = fixed(("single-switch", &[("nodes", &[3])]));
    let output_queues = OutputQueueSpec { flits: Some(8), ..sample.router.output_queues };
    let router = RouterSpec { output_queues, ..sample.router.clone() };
    let sample = Sample { routing: ("direct", &[("vcs", "1")]), packet_flits: 8, router, ..sample };
    let plan = one_message(&sample, 0, 1, 8);
    for from in [1, 5, 20] {
        for at in (0..100).filter(|&at| at > from) {
            let expected = (sent::<Plain>(&plan, from..at), sent::<General>(&plan, from..at));
            let early = |measured: std::ops::Range<u64>| {
                (sent_before::<Plain>(at, &plan, measured.clone()), sent_before::<General>(at, &plan, measured))
            };
            assert_eq!(early(from..1 << 20), expected, "measured from tick {from}, ended at {at}");
        }
        assert_eq!(sent_before::<Plain>(from, &plan, from..1 << 20), 0, "nothing was measured before tick {from}");
    }
}

/// Whether routers' broadcasts take links away from packets: then none is alone.
fn broadcasts_on_links(sample: &Sample) -> bool {
    sample.routing.1.iter().any(|&(name, _)| name == "overhead")
}

proptest! {
    /// On every topology and path, with every router: by formula.
    #[test]
    fn alone_is_by_formula(
        sample in samples().prop_filter("broadcasts take links", |sample| !broadcasts_on_links(sample)),
        source in any::<u16>(), destination in any::<u16>(), flits in 1u16..9,
    ) {
        // What is looked at is the arrival, which is before the line.
        let nic = NicSpec { line_flit_ticks: None, pause_flits: None, ..sample.nic };
        let sample = Sample { protocol: baseline(false), nic, ..sample };
        let flits = flits.min(sample.packet_flits);
        let plan = one_message(&sample, source.into(), destination.into(), flits.into());
        let spec = plan.spec.clone();
        if plan.suits::<Plain>() {
            let (latency, path) = run::<Plain>(plan.clone());
            prop_assert_eq!(latency, ZeroLoad::new(&spec, &path, flits.into()).total(), "plain, path {:?}", path);
        }
        let (latency, path) = run::<General>(plan);
        let formula = ZeroLoad::new(&spec, &path, flits.into());
        prop_assert_eq!(latency, formula.total(), "path {:?}: {:?}", path, formula);
    }
}

//! Random routers.

use proptest::prelude::*;
use proptest::sample::select;
use tailback_network::{
    AllocationOrder, Arbiter, CreditCheck, CrossbarPorts, Ejection, InputServed, InputTurns, LinkArbiter, OutputHeld,
    OutputQueueSpec, QueuePer, Release, RouterSpec, TurnsKept, TurnsMove,
};

pub fn routers(ticks_per_cycle: u32, packet_flits: u16) -> impl Strategy<Value = RouterSpec> {
    let arbiter = || select(vec![Arbiter::RoundRobin, Arbiter::LeastRecentlyServed, Arbiter::Oldest]);
    let queues = (
        prop_oneof![Just(None), (1u32..4).prop_map(move |packets| Some(packets * u32::from(packet_flits)))],
        select(vec![QueuePer::Port, QueuePer::Class, QueuePer::Channel]),
        select(vec![Release::Start, Release::End]),
        select(vec![LinkArbiter::Oldest, LinkArbiter::RoundRobin]),
        prop::option::of(1u32..40),
    );
    let queues = queues.prop_map(|(flits, per, release, link_arbiter, control_limit)| OutputQueueSpec {
        flits,
        per,
        release,
        link_arbiter,
        control_limit,
    });
    let connections = || select(vec![CrossbarPorts::PerPort, CrossbarPorts::PerPort, CrossbarPorts::PerChannel]);
    let shape = (
        connections(),
        connections(),
        any::<bool>(),
        any::<bool>(),
        select(vec![CreditCheck::Crossbar, CreditCheck::Link]),
        any::<bool>(),
    );
    let allocator = (
        1u32..4,
        select(vec![AllocationOrder::InputFirst, AllocationOrder::OutputFirst]),
        arbiter(),
        arbiter(),
        select(vec![1, ticks_per_cycle]),
    );
    let oddities = (
        select(vec![InputTurns::Queues, InputTurns::Outputs]),
        select(vec![InputServed::Granted, InputServed::Asked]),
        select(vec![Ejection::Room, Ejection::Idle]),
        1u8..4,
        select(vec![OutputHeld::Crossing, OutputHeld::FullRate]),
        select(vec![TurnsMove::EveryRound, TurnsMove::FirstRound]),
        select(vec![TurnsKept::Together, TurnsKept::ByPriority]),
        prop_oneof![3 => Just(0), 1 => 1u32..12],
    );
    (0u32..4, 1u32..8, allocator, shape, queues, oddities).prop_map(
        move |(head_delay, crossbar_delay, allocator, shape, output_queues, oddities)| {
            let (
                input_turns,
                input_served,
                ejection,
                ejection_vcs,
                output_held,
                turns_move,
                turns_kept,
                credit_interval,
            ) = oddities;
            let (iterations, order, input_arbiter, output_arbiter, allocation_period) = allocator;
            let (crossbar_inputs, crossbar_outputs, vc_allocation, queues_per_output, credits, transit_first) = shape;
            // Where packets wait for credits in a queue with those of other channels, channels wait for each other.
            let per = if credits == CreditCheck::Link { QueuePer::Channel } else { output_queues.per };
            let control_limit = output_queues.control_limit.filter(|_| per != QueuePer::Port);
            let output_queues = OutputQueueSpec { per, control_limit, ..output_queues };
            let inputs_share = crossbar_inputs == CrossbarPorts::PerPort;
            let several = queues_per_output && !vc_allocation && credits == CreditCheck::Crossbar;
            let per_node = several && (!inputs_share || iterations == 2);
            RouterSpec {
                head_delay,
                crossbar_delay,
                allocation_period,
                iterations: if vc_allocation { 1 } else { iterations },
                order,
                turns_move,
                turns_kept,
                input_arbiter,
                output_arbiter,
                transit_first,
                vc_allocation,
                crossbar_inputs,
                crossbar_outputs,
                virtual_output_queues: queues_per_output && inputs_share && !per_node,
                destination_queue: per_node.then_some(2 * packet_flits),
                output_queues,
                credits,
                credit_interval,
                input_turns: if input_arbiter == Arbiter::RoundRobin { input_turns } else { InputTurns::Queues },
                input_served: if order == AllocationOrder::InputFirst { input_served } else { InputServed::Granted },
                ejection: if vc_allocation { Ejection::Room } else { ejection },
                ejection_vcs,
                output_held: if vc_allocation { OutputHeld::Crossing } else { output_held },
            }
        },
    )
}

/// Routers whose crossbar and arbiters are simple, with one queue for each virtual channel.
pub fn basic_routers(ticks_per_cycle: u32, packet_flits: u16) -> impl Strategy<Value = RouterSpec> {
    routers(ticks_per_cycle, packet_flits).prop_map(|router| RouterSpec {
        head_delay: 0,
        order: AllocationOrder::InputFirst,
        turns_move: TurnsMove::EveryRound,
        turns_kept: TurnsKept::Together,
        input_arbiter: Arbiter::RoundRobin,
        output_arbiter: Arbiter::RoundRobin,
        vc_allocation: false,
        crossbar_inputs: CrossbarPorts::PerPort,
        crossbar_outputs: CrossbarPorts::PerPort,
        virtual_output_queues: false,
        destination_queue: None,
        credit_interval: 0,
        input_turns: InputTurns::Queues,
        input_served: InputServed::Granted,
        ejection: Ejection::Room,
        ..router
    })
}

/// Routers that the plain microarchitecture can simulate.
pub fn plain_routers(ticks_per_cycle: u32, packet_flits: u16) -> impl Strategy<Value = RouterSpec> {
    basic_routers(ticks_per_cycle, packet_flits).prop_map(|router| RouterSpec {
        iterations: 1,
        output_queues: OutputQueueSpec { per: QueuePer::Port, control_limit: None, ..router.output_queues },
        credits: CreditCheck::Crossbar,
        ejection_vcs: 1,
        output_held: OutputHeld::Crossing,
        ..router
    })
}

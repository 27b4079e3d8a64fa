//! The distributed scheduler.

use proptest::prelude::*;
use tailback_protocol::{Controller, Party, Protocol, Source};

use super::world::{Scheduler, World};
use super::{PACKET, station, try_distributed};
use crate::distributed::{Line, Outputs, Relay, Stage};
use crate::output::OutputArbiter;

/// The controllers of all three stages.
pub struct Stages {
    routes: u32,
    relays: Vec<Relay>,
    outputs: Vec<Outputs>,
}

impl Scheduler for Stages {
    fn controller(&mut self, number: u32) -> &mut dyn Controller {
        match number.checked_sub(2 * self.routes) {
            None => &mut self.relays[number as usize],
            Some(leaf) => &mut self.outputs[leaf as usize],
        }
    }

    fn unanswered(&self) -> usize {
        let lines = self.relays.iter().flat_map(Relay::lines).chain(self.outputs.iter().flat_map(Outputs::lines));
        let arbiters = self.outputs.iter().flat_map(Outputs::arbiters);
        lines.map(Line::packets).chain(arbiters.map(OutputArbiter::unanswered)).sum()
    }
}

impl Stages {
    fn assert_at_rest(&self, buffer: u32) {
        let mut lines = self.relays.iter().flat_map(Relay::lines).chain(self.outputs.iter().flat_map(Outputs::lines));
        assert!(lines.all(Line::is_at_rest));
        let mut arbiters = self.outputs.iter().flat_map(Outputs::arbiters);
        assert!(arbiters.all(|arbiter| arbiter.credits().iter().all(|&credits| credits == buffer)));
    }
}

/// A world with a distributed scheduler. Credits take 3 packet times, as data here has no tail.
pub fn world(routes: u32, given: &[(&str, &str)]) -> World<Stages> {
    let given: Vec<_> = given.iter().copied().chain([("credit_delay", "24")]).collect();
    let (distributed, station) = (try_distributed(&given).unwrap(), station(routes));
    let adapters = (0..station.nodes).map(|_| distributed.adapter(&station)).collect();
    let stages = [Stage::First, Stage::Second].into_iter();
    let stages = Stages {
        routes,
        relays: stages
            .flat_map(|stage| (0..routes).map(move |_| stage))
            .map(|stage| distributed.relay(stage, &station))
            .collect(),
        outputs: (0..routes).map(|leaf| distributed.outputs(leaf, &station)).collect(),
    };
    World::new(&distributed, station, adapters, stages)
}

/// What sources wait for is on its way, counted at an output, or comes back.
pub fn assert_requests_are_conserved<S: Scheduler>(world: &World<S>) {
    let nodes = world.station.nodes;
    let requested: u32 =
        world.adapters.iter().map(|adapter| (0..nodes).map(|to| adapter.requested(to)).sum::<u32>()).sum();
    assert_eq!(requested as usize, world.asked_and_granted_now() + world.scheduler.unanswered());
}

#[test]
fn a_packet_leaves_after_12_packet_times_wherever_it_goes() {
    for to in 0..16 {
        let mut world = world(4, &[]);
        world.offer(5, to, 1);
        world.drain();
        assert_eq!(world.departure_times(), [12]);
        assert_eq!(world.now - 1, 15 * PACKET);
        world.scheduler.assert_at_rest(12);
    }
}

#[test]
fn packets_of_two_nodes_leave_after_12_and_13_packet_times() {
    let mut world = world(2, &[]);
    world.offer(0, 3, 1);
    world.offer(1, 3, 1);
    world.drain();
    assert_eq!(world.departure_times(), [12, 13]);
}

#[test]
fn a_flow_alone_gets_all_that_its_buffers_and_requests_allow() {
    let cases: [(&[(&str, &str)], f64); 5] = [
        (&[], 1.0),
        (&[("buffer", "1")], 1.0 / 6.0),
        (&[("requests", "1")], 1.0 / 6.0),
        (&[("requests", "6")], 1.0),
        // Two routes have room for a request each, which is back after two hops: one in a packet time.
        (&[("queue", "1")], 1.0),
    ];
    for (given, expected) in cases {
        let mut world = world(2, given);
        world.offer(0, 3, 2000);
        world.pass(100);
        let since = world.now;
        world.pass(600);
        let found = world.rate(0, 3, since);
        assert!((found - expected).abs() < 0.003, "{given:?}: {found}");
    }
}

/// One spine passes messages on late, so grants and requests of a flow overtake each other.
#[test]
fn grants_that_overtake_find_their_place() {
    let mut world = world(4, &[]);
    world.late = |from, to| {
        let of_spine = |party| party == Party::Controller(5);
        if of_spine(from) || of_spine(to) { 29 } else { 0 }
    };
    (0..16).for_each(|node| world.offer(node, 3, 60));
    (0..16).for_each(|node| world.offer(node, node, 40));
    for _ in 0..300 {
        world.pass(1);
        assert_requests_are_conserved(&world);
    }
    world.drain();
    assert!(world.most_on_way <= 12 && world.most_early <= 47);
    assert_eq!(world.departures.len(), 16 * 100);
    world.scheduler.assert_at_rest(12);
}

/// Requests for hot outputs fill queues, and settle at one in a packet time: others are not delayed any more after a while.
#[test]
fn requests_for_a_hot_output_settle() {
    let mut world = world(8, &[("requests", "4")]);
    for _ in 0..600 {
        (0..64).step_by(4).for_each(|node| world.offer(node, 9, 1));
        world.pass(1);
    }
    // Requests come at the rate of grants, one in a packet time, and pass three links each: what is offered is four times as much, and waits at its sources.
    let told = |world: &World<Stages>| ["grants to sources", "requests"].map(|name| world.told[name]);
    let before = told(&world);
    world.pass(400);
    let [grants, requests] = [0, 1].map(|index| told(&world)[index] - before[index]);
    assert!((398..=402).contains(&grants) && (3 * 396..=3 * 404).contains(&requests), "{grants} and {requests}");
    // Another output of the same switch is served as if nothing were.
    let since = world.now;
    world.offer(1, 10, 1);
    world.pass(16);
    let (left, _) = world.departures.iter().find(|(_, packet)| packet.to == 10).unwrap();
    assert!(left - since <= 14 * PACKET, "{}", left - since);
}

#[test]
fn uniform_traffic_gets_nearly_all() {
    let mut world = world(8, &[]);
    for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
        world.offer(from, to, 40);
    }
    world.pass(400);
    let before = world.departures.len();
    world.pass(400);
    let share = (world.departures.len() - before) as f64 / (64.0 * 400.0);
    assert!(share > 0.95, "{share}");
}

#[test]
fn machines_go_on_from_what_they_wrote() {
    let mut world = world(4, &[]);
    (0..16).for_each(|node| world.offer(node, node / 2, 25));
    world.pass(20);
    let (distributed, station) = (try_distributed(&[("credit_delay", "24")]).unwrap(), station(4));
    for number in 0..12 {
        let mut bytes = Vec::new();
        world.scheduler.controller(number).save(&mut bytes);
        let mut anew = distributed.controller(number, &station).unwrap();
        anew.load(&mut bytes.as_slice()).unwrap();
        let mut again = Vec::new();
        anew.save(&mut again);
        assert_eq!(bytes, again);
        match number {
            0..4 => world.scheduler.relays[number as usize] = distributed.relay(Stage::First, &station),
            4..8 => world.scheduler.relays[number as usize] = distributed.relay(Stage::Second, &station),
            _ => world.scheduler.outputs[number as usize - 8] = distributed.outputs(number - 8, &station),
        }
        world.scheduler.controller(number).load(&mut bytes.as_slice()).unwrap();
    }
    world.drain();
    assert_eq!(world.departures.len(), 16 * 25);
    world.scheduler.assert_at_rest(12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_offered_arrives_in_order_and_no_queue_overflows(
        routes in 2..4u32,
        buffer in 1..13u32,
        queue in 1..5u32,
        [requests, request_packets] in [1..9u32, 1..4u32],
        rate in 0..3usize,
        offers in prop::collection::vec((0..40u64, 0..16u32, 0..16u32, 1..9u32), 1..60),
    ) {
        let texts = [buffer, queue, requests, request_packets].map(|number| number.to_string());
        let rate = ["0.7", "1.1", "9"][rate];
        let names = ["buffer", "queue", "requests", "request_packets"];
        let given = names.into_iter().zip(texts.iter().map(String::as_str));
        let mut world = world(routes, &given.chain([("request_rate", rate)]).collect::<Vec<_>>());
        world.detour = |route, serial| u64::from(route) * 17 + serial % 29;
        let (nodes, mut packets) = (routes * routes, 0);
        for &(pause, from, to, count) in &offers {
            (0..pause).for_each(|_| world.tick());
            world.offer(from % nodes, to % nodes, count);
            packets += count as usize;
            prop_assert!(world.adapters.iter().all(|adapter| (0..nodes).all(|to| adapter.requested(to) <= requests)));
            assert_requests_are_conserved(&world);
        }
        world.drain();
        prop_assert!(world.most_on_way <= buffer);
        prop_assert!(world.most_early < (routes * buffer) as usize);
        prop_assert_eq!(world.departures.len(), packets);
        world.scheduler.assert_at_rest(buffer);
        prop_assert!(world.adapters.iter().all(|adapter| adapter.is_idle() && adapter.room_is_back(queue)));
    }
}

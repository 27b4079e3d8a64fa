//! The central scheduler.

use proptest::prelude::*;
use tailback_protocol::{Controller, Routes, Sink, Source, Station};

use super::distributed::assert_requests_are_conserved;
use super::world::{Scheduler, World};
use super::{PACKET, station, try_central};
use crate::bank::Bank;
use crate::egress::{Egress, Returns};

impl Scheduler for Bank {
    fn controller(&mut self, number: u32) -> &mut dyn Controller {
        assert_eq!(number, 0, "there is one bank");
        self
    }

    fn unanswered(&self) -> usize {
        self.unsent() + (0..self.nodes()).map(|output| self.output(output).unanswered()).sum::<usize>()
    }
}

/// A world with a central scheduler. Credits take 3 packet times, as data here has no tail.
pub fn world(routes: u32, given: &[(&str, &str)]) -> World<Bank> {
    world_at(station(routes), given)
}

fn world_at(station: Station, given: &[(&str, &str)]) -> World<Bank> {
    let given: Vec<_> = given.iter().copied().chain([("credit_delay", "24")]).collect();
    let central = try_central(&given).unwrap();
    let adapters = (0..station.nodes).map(|_| central.adapter(&station)).collect();
    World::new(&central, station, adapters, central.bank(&station))
}

/// Packets of a lone flow with packets all the time, per packet time.
fn lone_rate(routes: u32, given: &[(&str, &str)]) -> f64 {
    let mut world = world(routes, given);
    world.offer(0, 3, 3000);
    world.pass(100);
    let since = world.now;
    world.pass(600);
    world.rate(0, 3, since)
}

fn assert_credits_are_back(world: &World<Bank>, buffer: u32) {
    for output in 0..world.station.nodes {
        assert!(world.scheduler.output(output).credits().iter().all(|&credits| credits == buffer), "output {output}");
    }
}

#[test]
fn two_packets_to_one_output_leave_after_12_and_13_packet_times() {
    let mut world = world(2, &[]);
    world.offer(0, 3, 1);
    world.offer(1, 3, 1);
    world.drain();
    assert_eq!(world.departure_times(), [12, 13]);
    // The last credit is back 12 packet times after its reservation, which was one after the first.
    assert_eq!((world.now - 1) / PACKET, 4 + 12);
    assert_credits_are_back(&world, 12);
}

#[test]
fn packets_of_all_nodes_to_one_leave_one_after_the_other() {
    for (routes, target) in [(2, 3), (4, 5), (8, 0)] {
        let mut world = world(routes, &[]);
        let nodes = u64::from(routes * routes);
        (0..routes * routes).for_each(|node| world.offer(node, target, 1));
        world.drain();
        assert_eq!(world.departure_times(), (12..12 + nodes).collect::<Vec<_>>());
        assert_credits_are_back(&world, 12);
    }
}

#[test]
fn small_buffers_are_short_of_credits() {
    assert!((lone_rate(2, &[("buffer", "1")]) - 2.0 / 12.0).abs() < 0.002);
    assert!((lone_rate(2, &[("buffer", "3")]) - 6.0 / 12.0).abs() < 0.002);
    assert!((lone_rate(2, &[("buffer", "6")]) - 1.0).abs() < 0.002);
}

#[test]
fn few_requests_are_short_of_grants() {
    assert!((lone_rate(2, &[("requests", "1")]) - 1.0 / 6.0).abs() < 0.002);
    assert!((lone_rate(2, &[("requests", "6")]) - 1.0).abs() < 0.002);
}

/// Nine packets come at once, of which six may be requested. With a request for all of them packets leave one after the other; each grant lets one
/// more be asked for, until none waits.
#[test]
fn a_request_asks_for_all_that_waits_and_may_be_asked_for() {
    for (request_packets, requests) in [("1", 9), ("2", 3 + 3), ("4095", 1 + 3)] {
        let mut world = world(2, &[("requests", "6"), ("request_packets", request_packets)]);
        world.offer(0, 3, 9);
        world.pass(1);
        assert_eq!(world.adapters[0].requested(3), request_packets.parse::<u32>().unwrap().min(6));
        world.drain();
        assert_eq!(world.told["requests"], requests, "at most {request_packets} at once");
        assert_eq!(world.departure_times(), (12..21).collect::<Vec<_>>());
    }
}

/// All nodes have more for one output than it takes: nothing overflows, nobody asks more than it may, and all is granted in the end.
#[test]
fn an_overloaded_output_has_no_more_on_its_way_than_its_buffers_hold() {
    let mut world = world(8, &[("requests", "5")]);
    world.detour = |route, serial| u64::from(route % 3) * 400 + serial % 7;
    (0..64).for_each(|node| world.offer(node, 9, 30));
    (0..64).for_each(|node| world.offer(node, (node * 5 + 1) % 64, 20));
    for _ in 0..400 {
        world.pass(1);
        assert!(world.adapters.iter().all(|adapter| (0..64).all(|to| adapter.requested(to) <= 5)));
    }
    world.drain();
    assert!(world.most_on_way == 12, "{}", world.most_on_way);
    assert!(world.most_early <= 95 && world.most_early > 0, "{}", world.most_early);
    assert_eq!((world.departures.len(), world.told["grants"], world.told["credits"]), (64 * 50, 64 * 50, 64 * 50));
    assert_credits_are_back(&world, 12);
}

/// Common orders make outputs go for the same inputs. Flows that all begin at one route meet there, whatever the order.
#[test]
fn output_arbiters_that_visit_inputs_in_one_order_get_in_each_others_way() {
    let throughput = |order, in_step| {
        let station = Station { routes: Routes { count: 8, in_step }, ..station(8) };
        let mut world = world_at(station, &[("buffer", "4"), ("order", order)]);
        for (from, to) in (0..64).flat_map(|from| (0..64).map(move |to| (from, to))) {
            world.offer(from, to, 200);
        }
        world.pass(300);
        let (before, packets) = (world.departures.len(), 300);
        world.pass(packets);
        (world.departures.len() - before) as f64 / (64 * packets) as f64
    };
    let [random, common] = ["random", "common"].map(|order| throughput(order, false));
    assert!(random > 0.98 && common < random - 0.005, "{random} {common}");
    let in_step = throughput("random", true);
    assert!(in_step < random - 0.02, "{in_step} {random}");
}

/// A snapshot in the middle of a run: the machines that take it up go on as those that wrote it.
#[test]
fn machines_go_on_from_what_they_wrote() {
    let mut world = world(4, &[]);
    (0..16).for_each(|node| world.offer(node, node / 2, 25));
    world.pass(20);
    let (central, station) = (try_central(&[("credit_delay", "24")]).unwrap(), station(4));
    let (mut bytes, mut bank) = (Vec::new(), central.bank(&station));
    world.scheduler.save(&mut bytes);
    assert!(bank.load(&mut &bytes[..bytes.len() - 1]).is_none());
    bank.load(&mut bytes.as_slice()).unwrap();
    world.scheduler = bank;
    for adapter in &mut world.adapters {
        let mut bytes = Vec::new();
        adapter.save(&mut bytes);
        *adapter = central.adapter(&station);
        adapter.load(&mut bytes.as_slice()).unwrap();
    }
    world.drain();
    assert_eq!(world.departures.len(), 16 * 25);
    assert_credits_are_back(&world, 12);
}

#[test]
fn an_egress_adapter_returns_one_credit_in_a_packet_time() {
    use tailback_protocol::{Arrival, PacketKind, PacketRef, SinkAction};
    let mut egress = Egress::new(Returns::ToBank, 0, 4, Routes::drawn(2), PACKET);
    let (kind, packet) = (PacketKind::DATA, PacketRef { message: 0, index: 0 });
    let arrival =
        Arrival { kind, from: 1, to: 3, packet, flits: 8, marks: 0, entropy: 0, sent_at: 0, hops: 2, payload: &[] };
    let mut actions = Vec::new();
    (0..3).for_each(|_| egress.on_data(&arrival, 5, &mut actions));
    let after: Vec<_> =
        actions.iter().map(|action| if let SinkAction::Tell { after, .. } = action { *after } else { 99 }).collect();
    assert_eq!(after, [0, 8, 16]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_offered_arrives_in_order_and_no_buffer_overflows(
        routes in 2..4u32,
        buffer in 1..13u32,
        [requests, request_packets] in [1..9u32, 1..4u32],
        offers in prop::collection::vec((0..40u64, 0..16u32, 0..16u32, 1..9u32), 1..80),
        weighted in any::<bool>(),
    ) {
        let texts = [buffer, requests, request_packets].map(|number| number.to_string());
        let names = ["buffer", "requests", "request_packets"];
        let given = names.into_iter().zip(texts.iter().map(String::as_str));
        let arbiter = ("arbiter", if weighted { "weighted" } else { "round-robin" });
        let mut world = world(routes, &given.chain([arbiter]).collect::<Vec<_>>());
        world.detour = |route, serial| u64::from(route) * 17 + serial % 29;
        let (nodes, mut packets) = (routes * routes, 0);
        for &(pause, from, to, count) in &offers {
            (0..pause).for_each(|_| world.tick());
            world.offer(from % nodes, to % nodes, count);
            packets += u64::from(count);
            prop_assert!(world.adapters.iter().all(|adapter| (0..nodes).all(|to| adapter.requested(to) <= requests)));
            assert_requests_are_conserved(&world);
        }
        world.drain();
        prop_assert!(world.most_on_way <= buffer);
        prop_assert!(world.most_early < (routes * buffer) as usize);
        prop_assert_eq!(world.departures.len() as u64, packets);
        prop_assert_eq!((world.told["grants"], world.told["credits"]), (packets, packets));
        let asked = world.told["requests"];
        prop_assert!(asked <= packets && asked * u64::from(request_packets) >= packets, "{} requests", asked);
        assert_credits_are_back(&world, buffer);
        prop_assert_eq!(world.scheduler.unanswered(), 0);
    }
}

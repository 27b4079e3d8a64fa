//! What the scenarios of congestion control show: that each protocol does the one thing it is there for.

use super::meaning::Seen;

fn counter(seen: &Seen, name: &str) -> u64 {
    seen.count(&format!("/counters/{name}"))
}

/// The share of what its destinations can take that the hot traffic gets: two nodes, from 16 sources.
fn hot_share(seen: &Seen) -> f64 {
    seen.number("/flows/hot/accepted_load") * 16.0 / 2.0
}

/// Packets are dropped, their sources are told, and they come again.
fn drops(seen: &Seen) {
    seen.assert_plain(false);
    let [dropped, again] = ["dropped_packets", "packets_sent_again"].map(|name| counter(seen, name));
    assert!(dropped > 200 && again > 200, "{dropped} dropped, {again} sent again");
    // What is measured begins and ends with some of them in flight.
    assert!(counter(seen, "nacks").abs_diff(dropped) < dropped / 5);
    assert!(counter(seen, "speculative_data") > 0 || seen.scenario.title.contains("fabric"));
}

/// One reservation per message, dropped or not; small messages need none.
pub fn srp(seen: &Seen) {
    drops(seen);
    let messages = seen.count("/messages/offered");
    let reservations = counter(seen, "reservations");
    assert!(reservations > messages / 3 && reservations < messages, "{reservations} for {messages} messages");
    assert!(counter(seen, "grants").abs_diff(reservations) < reservations / 5);
}

/// Reservations alone would fill the way to the hot node, and leave nothing to data: but of each 20 flits, 8 are of a data packet.
pub fn srp_with_a_limit(seen: &Seen) {
    let hot = |seen: &Seen| seen.number("/flows/hot/accepted_load") * 23.0;
    assert!((hot(seen) - 0.4).abs() < 0.02, "{}", hot(seen));
    let unlimited = hot(&Seen::of(&seen.scenario, &["router.control_limit=unlimited"]));
    assert!(unlimited < 0.02, "{unlimited}");
}

/// Channels are full all the time, and what would be too much for them comes again.
pub fn crp_between_clusters(seen: &Seen) {
    crp(seen, "inter-cluster");
}

/// The same, and it is counted by source what arrives: the least of them is below the mean by more than nothing.
pub fn crp_by_source(seen: &Seen) {
    crp_between_clusters(seen);
    for flow in ["hot", "around"] {
        let [mean, least, deviation] = ["load", "load_least", "load_deviation"]
            .map(|figure| seen.number(&format!("/flows/{flow}/accepted_{figure}")));
        assert!(least < mean - deviation / 2.0 && deviation > 0.0 && deviation < mean, "{least} {mean} {deviation}");
    }
}

/// The same at global links of a dragonfly.
pub fn crp_at_global_links(seen: &Seen) {
    crp(seen, "global");
}

fn crp(seen: &Seen, links: &str) {
    drops(seen);
    let [requests, grants, retries] = ["requests", "grants", "retries"].map(|name| counter(seen, name));
    assert!(requests.abs_diff(grants + retries) < requests / 20, "{requests}: {grants} granted, {retries} come again");
    assert!(retries > 100 && grants > 100, "{grants} granted, {retries} come again");
    assert!(seen.busiest(links) > 0.99, "{}", seen.busiest(links));
}

/// Without tables of channels a request comes again only if its node has no time left at all.
pub fn crp_at_nodes(seen: &Seen) {
    drops(seen);
    let [requests, grants, retries] = ["requests", "grants", "retries"].map(|name| counter(seen, name));
    assert!(retries == 0 && requests.abs_diff(grants) < 20, "{requests}: {grants} granted, {retries} come again");
    assert!(seen.busiest("ejection") > 0.99, "{}", seen.busiest("ejection"));
}

pub fn smsrp_until_all_is_done(seen: &Seen) {
    assert_eq!((seen.count("/count"), seen.count("/unfinished")), (12 * 25 + 16 * 30, 0));
    assert!(seen.count("/counters/dropped_packets") > 20, "packets are dropped, and sent again");
    assert!(seen.number("/flows/hot/slowdown/p99") > 5.0);
    assert!(seen.number("/flows/around/completion/max") < 100_000.0);
}

/// One reservation per dropped packet, and none for others.
pub fn smsrp(seen: &Seen) {
    drops(seen);
    let (dropped, reservations) = (counter(seen, "dropped_packets"), counter(seen, "reservations"));
    assert!(reservations.abs_diff(dropped) < dropped / 5, "{reservations} for {dropped} that were dropped");
}

/// The same, and more drops than if waiting in output queues did not count.
pub fn smsrp_queues(seen: &Seen) {
    smsrp(seen);
    let [dropped, others] = drops_otherwise(seen, "protocol.smsrp.timeout_counts=\"inputs\"");
    assert!(dropped > others, "{dropped} dropped, {others} if only waiting at inputs counts");
}

/// Nothing but acknowledgements and NACKs beside data, and hot nodes are kept busy: what is left is taken by the other traffic.
pub fn lhrp(seen: &Seen) {
    drops(seen);
    assert_eq!(seen.scenario.network.classes.len(), 3);
    assert!(hot_share(seen) > 0.8, "{}", hot_share(seen));
}

/// The same, and fewer drops than if output queues were counted.
pub fn lhrp_inputs(seen: &Seen) {
    lhrp(seen);
    drops_less_than(seen, "protocol.lhrp.counted_until=\"departure\"");
}

/// What waits in VOQs makes packets leave the minimal path that would stay on it for what small output queues hold.
pub fn lhrp_by_voqs(seen: &Seen) {
    drops(seen);
    let outputs = Seen::of(&seen.scenario, &["routing.par6-2.queue_counts=output"]);
    let [share, by_outputs] = [seen, &outputs].map(|seen| seen.number("/nonminimal_share"));
    assert!(share > 1.1 * by_outputs, "{share} of all packets are nonminimal, {by_outputs} by outputs alone");
}

fn drops_less_than(seen: &Seen, otherwise: &str) {
    let [dropped, others] = drops_otherwise(seen, otherwise);
    assert!(dropped < others, "{dropped} dropped, {others} with {otherwise}");
}

/// How many packets are dropped, and how many are with another setting.
fn drops_otherwise(seen: &Seen, otherwise: &str) -> [u64; 2] {
    let other = Seen::of(&seen.scenario, &[otherwise]);
    [seen, &other].map(|seen| counter(seen, "dropped_packets"))
}

/// Sources that are refused without a time reserve for several packets at once, and routers answer that.
pub fn lhrp_fabric(seen: &Seen) {
    drops(seen);
    let (grants, again) = (counter(seen, "grants"), counter(seen, "packets_sent_again"));
    assert!(grants > 50 && grants < again, "{grants} grants, {again} packets sent again");
    assert_eq!(counter(seen, "reservations"), 0, "reservations reach no node");
    let share = seen.number("/accepted_load") * seen.number("/sources");
    assert!(share > 0.95, "the hot node gets {share}");
}

/// Large messages reserve in the last router, small ones are dropped and come again.
pub fn comprehensive(seen: &Seen) {
    drops(seen);
    assert!(counter(seen, "grants") > 200);
    assert_eq!(counter(seen, "reservations"), 0, "reservations reach no node");
}

/// The same, and fewer drops than if output queues were counted.
pub fn comprehensive_inputs(seen: &Seen) {
    comprehensive(seen);
    drops_less_than(seen, "protocol.comprehensive.counted_until=\"departure\"");
}

/// A figure of a scenario of ECN, and the same were sources to make no pauses.
fn with_and_without_pauses(seen: &Seen, pointer: &str) -> [f64; 2] {
    seen.assert_plain(false);
    let without = Seen::of(&seen.scenario, &["protocol.ecn.increment=0"]);
    [seen, &without].map(|seen| seen.number(pointer))
}

/// Marks go with acknowledgements, of which there are as many as packets; pauses leave room to other traffic.
pub fn ecn(seen: &Seen) {
    let (acknowledged, packets) = (counter(seen, "acknowledgements"), seen.count("/packets_delivered"));
    assert!(acknowledged.abs_diff(packets) < packets / 10);
    let [with, without] = with_and_without_pauses(seen, "/flows/around/accepted_load");
    assert!(with > 1.1 * without, "{with} with pauses, {without} without");
}

/// Only marked packets are answered; with pauses packets wait for less long in the network.
pub fn ecn_notified(seen: &Seen) {
    let (notices, packets) = (counter(seen, "notifications"), seen.count("/packets_delivered"));
    assert!(notices > 50 && notices < packets, "{notices} for {packets} packets");
    let [with, without] = with_and_without_pauses(seen, "/latency/network/mean");
    assert!(without > 1.1 * with, "{with} with pauses, {without} without");
}

/// Notifications and data go by the same stages, one way.
pub fn ecn_in_a_butterfly(seen: &Seen) {
    assert_eq!((seen.number("/hops/mean"), seen.count("/hops/max")), (2.0, 2));
    ecn_notified(seen);
}

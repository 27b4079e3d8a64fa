//! What the scenarios of Clos networks and of single switches show that schedule as their paper compares.

use super::meaning::Seen;

/// Every packet goes through a spine, also those of nodes to themselves, and some wait for others before them: messages are complete
/// only then.
pub fn unbalanced(seen: &Seen) {
    seen.assert_plain(false);
    assert!((seen.number("/hops/mean") - 2.0).abs() < 1e-9);
    let waited = seen.number("/latency/resequencing/mean");
    assert!(waited > 2.0 && seen.number("/latency/resequencing/min") == 0.0, "{waited} cycles");
    let at_once = Seen::of(&seen.scenario, &["nic.delivery=arrival"]);
    let [ordered, at_once] = [seen, &at_once].map(|seen| seen.number("/latency/message/mean"));
    // What arrives last is not quite the same in a window.
    assert!((ordered - at_once - waited).abs() < 0.1 * waited, "{ordered}, {at_once} and {waited} cycles");
}

/// More comes out of the network to hot nodes than their lines carry, and waits behind it: in the network all is as beside lines that are
/// as fast as links.
pub fn fast_fabric(seen: &Seen) {
    seen.assert_plain(false);
    let hot = seen.number("/flows/hot/accepted_load") * 16.0 / 2.0;
    assert!((0.51..=0.6).contains(&hot), "{hot} come to lines of hot nodes, which carry a half");
    let as_fast = Seen::of(&seen.scenario, &["nic.line=\"link\""]);
    let [cold, without] = [seen, &as_fast].map(|seen| seen.number("/flows/cold/latency/network/mean"));
    assert_eq!(cold, without, "what lines do does not come back into the network");
    let [message, network] = ["message", "network"].map(|what| seen.number(&format!("/flows/hot/latency/{what}/mean")));
    assert!(message > network + 40.0, "hot packets do not wait for lines: {message} and {network} cycles");
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 48 + 2 * 3);
}

/// With a queue and room for each output of the network, what goes to hot ones delays the rest by no more than that links are shared. In
/// the same buffers without a queue for each it does more.
pub fn network_voqs(seen: &Seen) {
    seen.assert_plain(false);
    let alone = Seen::of(&seen.scenario, &["traffic.hot.destination_load=0.01"]);
    let shared = Seen::of(&seen.scenario, &["router.destination_queue=\"none\""]);
    let [mean, alone, shared] = [seen, &alone, &shared].map(|seen| seen.number("/flows/cold/latency/message/mean"));
    assert!(mean < 1.5 * alone, "{mean} cycles, {alone} without hot outputs");
    assert!(shared > 1.5 * mean, "{mean} cycles, {shared} with shared queues");
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 48 + 7);
    let hot = seen.number("/flows/hot/accepted_load") * 16.0 / 2.0;
    assert!((0.98..=1.0).contains(&hot), "hot nodes receive {hot} of what they could");
}

/// Later rounds of an allocation find more pairs, and the turns that they leave alone change who comes when.
pub fn islip(seen: &Seen) {
    seen.assert_plain(false);
    let [once, moving] =
        ["iterations=1", "turns_move=\"every-round\""].map(|set| seen.with(&[&format!("router.{set}")]));
    let [four, once] = [seen, &once].map(|seen| seen.number("/accepted_load"));
    assert!(four > once + 0.1, "{four} of all slots with four rounds, {once} with one");
    assert_ne!(moving.count("/messages/delivered"), seen.count("/messages/delivered"), "turns change nothing");
}

/// What goes to hot nodes waits at its sources, so that the rest comes through as if nothing were, and hot nodes are always busy.
pub fn scheduled(seen: &Seen) {
    let baseline = Seen::of(&seen.scenario, &["protocol=\"baseline\""]);
    let [mean, without] = [seen, &baseline].map(|seen| seen.number("/flows/cold/latency/message/mean"));
    assert!(mean < 0.2 * without, "{mean} cycles, and {without} without reservations");
    // A request and a grant before a packet: 12 packet times, and the seven cycles of its tail.
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 103);
    let hot = seen.number("/flows/hot/accepted_load") * 16.0 / 2.0;
    assert!((0.98..=1.0).contains(&hot), "hot nodes receive {hot} of what they could");
}

/// Flows that begin at one spine meet there: their first packets take longer than where they begin at all alike. Nothing is lost by it.
pub fn in_step(seen: &Seen) {
    seen.assert_plain(false);
    let accepted = seen.number("/accepted_load");
    assert!(accepted > 0.8, "{accepted} come through");
    let first_packets = |choice: &str| {
        let start = ["measure.warmup=0", "measure.cycles=200", "traffic.load=0.5", "protocol=\"baseline\""];
        let choice = format!("nic.vc_choice={choice}");
        seen.with(&[&start[..], &[choice.as_str()]].concat()).number("/latency/network/mean")
    };
    let [in_step, drawn] = ["rotation-in-step", "rotation"].map(first_packets);
    assert!(in_step > drawn + 10.0, "{in_step} cycles in step, {drawn} otherwise");
}

/// An input has one packet in a packet time: half of them are hot, so that half is all that there can be of the rest, and it comes through. With
/// chances of its own for each flow there is more of the rest than that.
pub fn slots(seen: &Seen) {
    let offered = |seen: &Seen, flow: &str| seen.number(&format!("/flows/{flow}/offered_load"));
    let [hot, cold] = ["hot", "cold"].map(|flow| offered(seen, flow));
    assert!((hot - 0.5).abs() < 0.02 && (hot + cold - 1.0).abs() < 0.01, "{hot} and {cold} of all packet times");
    let accepted = seen.number("/flows/cold/accepted_load");
    assert!((accepted - cold).abs() < 0.01, "{accepted} of {cold}");
    let own = Seen::of(&seen.scenario, &["traffic.hot.arrival=bernoulli", "traffic.cold.arrival=bernoulli"]);
    assert!(offered(&own, "cold") > 0.75, "each flow is offered what it says");
    // With grants an input has one packet at a time that it may send; without, it matters whose turn it is.
    let baseline = |queues| {
        let seen = Seen::of(&seen.scenario, &["protocol=baseline", &format!("nic.queues={queues}")]);
        seen.count("/flows/cold/messages/delivered")
    };
    assert_ne!(baseline("in-turn"), baseline("per-destination"));
}

/// Every packet passes a spine, also to its own leaf, with one channel for each class. Where packets turn at the first switch that they can, some pass none.
pub fn inputs(seen: &Seen) {
    seen.assert_plain(false);
    let drawn = Seen::of(&seen.scenario, &["routing=nearest-common-ancestor"]);
    let [hops, fewer] = [seen, &drawn].map(|seen| seen.number("/hops/mean"));
    assert!((hops - 2.0).abs() < 1e-9 && fewer < 1.7, "{hops} and {fewer} hops");
    // To the first flit 4 cycles in each of three switches and 5 on each of four links; then two packets of eight flits, and a reservation before them.
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 3 * 4 + 4 * 5 + 15 + 1);
}

/// Backlogged sources of one node share it as their weights say, 20 to 9 to 1.
pub fn weighted(seen: &Seen) {
    for (flow, share) in [("heavy", 20.0 / 30.0), ("medium", 9.0 / 30.0), ("light", 1.0 / 30.0)] {
        let found = seen.number(&format!("/flows/{flow}/accepted_load"));
        assert!((found - share).abs() < 0.02, "{flow}: {found} instead of {share}");
    }
}

/// In blocks shares are the same. A credit for a packet of eight cycles every ten bounds what comes of the others, beside what finds room at first;
/// without that bound lines carry more.
pub fn weighted_blocks(seen: &Seen) {
    weighted(seen);
    let others = |seen: &Seen| seen.number("/flows/others/accepted_load");
    let [bounded, unbounded] = [others(seen), others(&seen.with(&["router.credit_interval=0"]))];
    assert!(bounded < 8.0 / 10.0 + 0.05 && unbounded > bounded + 0.05, "{bounded}, and {unbounded} without that bound");
}

/// What a heavy source leaves, half of a node, others share as their weights say, 2 to 1. By turns of smooth weighted round robin they do not.
pub fn max_min(seen: &Seen) {
    let weighted = Seen::of(&seen.scenario, &["protocol.distributed-scheduler.arbiter=\"weighted\""]);
    let shares =
        |seen: &Seen| ["heavy", "medium", "light"].map(|flow| seen.number(&format!("/flows/{flow}/accepted_load")));
    let [heavy, medium, light] = shares(seen);
    let wants = seen.number("/flows/heavy/offered_load");
    assert!((heavy - wants).abs() < 0.01, "the heavy source gets {heavy} of the {wants} that it wants");
    assert!((medium / light - 2.0).abs() < 0.1, "{medium} and {light} of what it leaves");
    let [_, medium, light] = shares(&weighted);
    assert!((medium / light - 2.0).abs() > 0.3, "by turns {medium} and {light}");
}

/// Windows keep what one source has on its way small: 16 sources of 4 packets do not fill what lies before a hot node.
pub fn end_to_end(seen: &Seen) {
    let baseline = Seen::of(&seen.scenario, &["protocol=\"baseline\""]);
    let [mean, without] = [seen, &baseline].map(|seen| seen.number("/flows/cold/latency/message/mean"));
    assert!(mean < 0.2 * without, "{mean} cycles, and {without} without windows");
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 55);
}

/// A request for each message and not for each of its eight packets: messages are there sooner, and there are fewer of the control network, most of which are
/// for grants.
pub fn requests_for_all(seen: &Seen) {
    let one_by_one = Seen::of(&seen.scenario, &["protocol.distributed-scheduler.request_packets=1"]);
    let messages = |seen: &Seen| seen.number("/control_messages") / seen.number("/packets_delivered");
    // For each packet three hops of a grant with room for two, and a credit; for each request three hops, and room for two.
    let [at_once, before] = [seen, &one_by_one].map(messages);
    assert!((before - 11.0).abs() < 0.2, "{before} messages for each packet one by one");
    assert!(
        (6.6..7.0).contains(&at_once),
        "{at_once} messages for each packet, of which five are for each eighth at least"
    );
    let [latency, later] = [seen, &one_by_one].map(|seen| seen.number("/latency/message/mean"));
    assert!(latency < later, "{latency} cycles, and {later} one by one");
}

/// Packets hold room before their node until they are in order. Few are overtaken, so hot nodes receive as much, and others pass by all the same.
pub fn in_band_in_order(seen: &Seen) {
    let at_arrival = Seen::of(&seen.scenario, &["protocol.in-band-reservation.output_returns=arrival"]);
    let hot = |seen: &Seen| seen.number("/flows/hot/accepted_load") * 14.0 / 2.0;
    assert!((hot(seen) - hot(&at_arrival)).abs() < 0.02, "{} and {}", hot(seen), hot(&at_arrival));
    let mean = |seen: &Seen| seen.number("/flows/cold/latency/message/mean");
    assert_ne!(mean(seen), mean(&at_arrival), "some are overtaken");
    let baseline = Seen::of(&seen.scenario, &["protocol=\"baseline\""]);
    assert!(mean(seen) < 0.2 * mean(&baseline), "{} cycles, and {} without reservations", mean(seen), mean(&baseline));
}

/// The same over the data network, where requests and grants take a share of links.
pub fn in_band(seen: &Seen) {
    let baseline = Seen::of(&seen.scenario, &["protocol=\"baseline\""]);
    let [mean, without] = [seen, &baseline].map(|seen| seen.number("/flows/cold/latency/message/mean"));
    assert!(mean < 0.2 * without, "{mean} cycles, and {without} without reservations");
    // Between neighbours: 14 cycles to the first flit of a request, of a grant of two flits, of two packets of eight.
    assert_eq!(seen.count("/flows/cold/latency/message/min"), 14 + 15 + 14 + 15);
    // What hot nodes do not receive in data are requests, and grants for what they send themselves.
    let hot = seen.number("/flows/hot/accepted_load") * 14.0 / 2.0;
    assert!((0.8..=1.0).contains(&hot), "hot nodes receive {hot} of what they could");
}

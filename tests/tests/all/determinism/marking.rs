//! What the scenarios of Renato, Pfister and MVCM show: each beside what it would be without what it is there for.

use super::meaning::Seen;

/// Counters of control packets count flits.
const ACKNOWLEDGEMENT_FLITS: u64 = 22;

/// A figure, and what it would be otherwise. Each packet is acknowledged.
fn beside(seen: &Seen, pointer: &str, otherwise: &str) -> [f64; 2] {
    seen.assert_plain(false);
    let [acknowledged, packets] = ["/counters/acknowledgements", "/packets_delivered"].map(|figure| seen.count(figure));
    let acknowledged = acknowledged / ACKNOWLEDGEMENT_FLITS;
    assert!(acknowledged.abs_diff(packets) < packets / 10, "{acknowledged} acknowledgements of {packets} packets");
    let other = Seen::of(&seen.scenario, &[otherwise]);
    [seen, &other].map(|seen| seen.number(pointer))
}

/// Packets are in the network for less long, by a factor, than they would be otherwise.
fn is_quicker(seen: &Seen, factor: f64, otherwise: &str) {
    let [with, without] = beside(seen, "/latency/network/mean", otherwise);
    assert!(factor * with < without, "{with} cycles, and {without} with {otherwise}");
}

/// Delays and rates keep queues shorter than the same window alone.
pub fn renato(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.renato.response=none");
}

/// A window of one packet keeps queues shorter than none.
pub fn renato_window(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.renato.window=unlimited");
}

/// Pauses keep queues short.
pub fn pfister(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.pfister.increment=0");
}

/// The same, and fewer packets count than meet a full output queue: hot flows pause for less long.
pub fn pfister_validated(seen: &Seen) {
    pfister(seen);
    let [validated, marked] = beside(seen, "/flows/hot/accepted_load", "protocol.pfister.marking=output");
    assert!(validated > marked, "{validated} with validation, {marked} without");
}

/// Marks keep queues shorter than the window alone.
pub fn mvcm(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.mvcm.input_threshold=1");
}

/// The same in the tree that half of a butterfly with links both ways is.
pub fn half_of_a_fly(seen: &Seen) {
    assert_eq!(seen.plan.nodes, 32, "half of a 4-ary 3-fly");
    mvcm(seen);
    let tree = seen.with(&["topology={ fat-tree = { children = [4, 4, 2], parents = [4, 2], parallel = [1, 2] } }"]);
    assert_eq!(seen.count("/messages/delivered"), tree.count("/messages/delivered"), "it is that tree");
}

/// The same, and who meets the queues of others is not held back for it.
pub fn mvcm_for_cold_traffic(seen: &Seen) {
    mvcm(seen);
    let [alone, with_warm] = beside(seen, "/flows/around/accepted_load", "protocol.mvcm.warm=act");
    assert!(alone > with_warm, "{alone}, and {with_warm} where warm packets count");
}

/// Waits alone hold sources back as well.
pub fn mvcm_waits(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.mvcm.slots_most=0");
}

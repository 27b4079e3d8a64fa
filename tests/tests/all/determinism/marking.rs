//! What the scenarios of Renato, Pfister and MVCM show: each beside what it would be without what it is there for.

use super::meaning::Seen;

/// A figure, and what it would be otherwise. Each packet is acknowledged.
fn beside(seen: &Seen, pointer: &str, otherwise: &str) -> [f64; 2] {
    seen.assert_plain(false);
    let [acknowledged, packets] = ["/counters/acknowledgements", "/packets_delivered"].map(|figure| seen.count(figure));
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

/// The same, and fewer packets count than meet a full output queue.
pub fn pfister_validated(seen: &Seen) {
    pfister(seen);
    let [validated, marked] = beside(seen, "/accepted_load", "protocol.pfister.marking=output");
    assert!(validated > marked, "{validated} with validation, {marked} without");
}

/// Marks keep queues shorter than the window alone.
pub fn mvcm(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.mvcm.input_threshold=1");
}

/// The same where a node has one window.
pub fn mvcm_by_source(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.mvcm.slots_most=0");
}

/// Waits alone hold sources back as well.
pub fn mvcm_waits(seen: &Seen) {
    is_quicker(seen, 1.1, "protocol.mvcm.slots_most=0");
}

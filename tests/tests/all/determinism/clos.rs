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

/// Later rounds of an allocation find more pairs, and the turns that they leave alone change who comes when.
pub fn islip(seen: &Seen) {
    seen.assert_plain(false);
    let [once, moving] =
        ["iterations=1", "turns_move=\"every-round\""].map(|set| seen.with(&[&format!("router.{set}")]));
    let [four, once] = [seen, &once].map(|seen| seen.number("/accepted_load"));
    assert!(four > once + 0.1, "{four} of all slots with four rounds, {once} with one");
    assert_ne!(moving.count("/messages/delivered"), seen.count("/messages/delivered"), "turns change nothing");
}

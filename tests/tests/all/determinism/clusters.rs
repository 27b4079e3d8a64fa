//! What the scenarios of clusters in a ring show.

use super::meaning::Seen;

/// Clusters carry what their channels do not slow down, and channels are used evenly enough.
pub fn ring_of_clusters(seen: &Seen) {
    assert_eq!(seen.scenario.network.classes[0].vcs[1..], [3, 2], "a set of channels for each crossing");
    let (across, inside) = (seen.busy("inter-cluster"), seen.busy("level1"));
    assert!(across > 0.2 && seen.busiest("inter-cluster") < 3.0 * across, "channels are busy for {across}");
    assert!(inside > 0.3, "links inside clusters are busy for {inside}");
}

/// One dateline does for any number of crossings.
pub fn long_ring(seen: &Seen) {
    assert_eq!(seen.scenario.network.classes[0].vcs[1..], [5, 2]);
    assert!(seen.busiest("inter-cluster") > 0.5, "{}", seen.busiest("inter-cluster"));
}

/// Channels are full, and far less arrives than is offered.
pub fn mixed_clusters(seen: &Seen) {
    assert!(seen.busiest("inter-cluster") > 0.9, "{}", seen.busiest("inter-cluster"));
    let accepted = seen.number("/accepted_load");
    assert!((0.1..0.5).contains(&accepted), "{accepted} of 0.6 is accepted");
}

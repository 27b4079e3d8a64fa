//! What counts as the queue for a link, where routing goes by that: output queues alone, or VOQs as well.

use tailback_scenario::Document;
use tailback_topology::{Arrangement, Dragonfly, Peer, Port, Topology};

use crate::scenarios::{report_of, resolve_with};

/// The algorithms that have a choice, with thresholds that an output queue of eight flits does not reach.
const ALGORITHMS: [(&str, &str); 2] = [("par6-2", "packet = 16"), ("par", "threshold = 16")];

/// Both nodes of a router send to nodes behind the same one of its global links.
fn scenario((name, threshold): (&str, &str)) -> String {
    let dragonfly = Dragonfly::new(2, 4, 2, 9, Arrangement::Palmtree).expect("it exists");
    let first_global: Port = 2 + 3;
    let Peer::Router { router, .. } = dragonfly.peer(0, first_global) else { panic!("it is a link") };
    let [to, other] = [2 * router, 2 * router + 1];
    format!(
        "[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[routing.{name}]\n{threshold}\n\
         [router]\nvirtual_output_queues = true\noutput_queue = 8\n\
         [[traffic]]\nname = \"one\"\nfrom = [0]\nload = 1\nsaturates = true\npattern.hot-spot.to = [{to}]\n\
         [[traffic]]\nname = \"two\"\nfrom = [1]\nload = 1\nsaturates = true\npattern.hot-spot.to = [{other}]\n\
         [measure]\nwarmup = 1000\ncycles = 10000\n"
    )
}

/// What is accepted of both flows together, and the share of packets that leave their minimal path.
fn accepted(text: &str, set: &[&str]) -> (f64, f64) {
    let report = report_of(&resolve_with(Document::read("test.toml", text), set), 1);
    let flows = ["one", "two"].map(|flow| report.flow(flow).expect("it is there").accepted_load);
    (flows.iter().sum(), report.total.nonminimal_share.unwrap_or_default())
}

/// Packets for a full link wait in VOQs, and its output queue never holds enough for a packet to leave it.
#[test]
fn a_full_link_is_left_for_what_waits_in_voqs() {
    for algorithm in ALGORITHMS {
        let (text, name) = (scenario(algorithm), algorithm.0);
        let (by_output, stay) = accepted(&text, &[]);
        assert!((0.98..=1.01).contains(&by_output) && stay == 0.0, "{name}: {by_output} of one link, {stay} leave it");
        let (by_router, leave) = accepted(&text, &[&format!("routing.{name}.queue_counts=router")]);
        assert!(by_router > 1.5, "{name}: {by_router} of two links");
        assert!((0.3..0.7).contains(&leave), "{name}: {leave} leave the minimal path");
    }
}

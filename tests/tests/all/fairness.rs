//! Whatever the routers, nobody starves of those that send all the time by one link and are in no way different.

use proptest::prelude::*;
use proptest::sample::select;
use tailback_scenario::Document;

use crate::scenarios::report_of;

/// Parameters of routers, the first value of each more often than the others. Inputs count a queue as served when it is granted:
/// where that is when it asks, flows can get into step and starve (docs/guide.md).
const ROUTER: [(&str, &[&str]); 15] = [
    ("speedup", &["2", "1"]),
    ("iterations", &["1", "2"]),
    ("order", &["\"input-first\"", "\"output-first\""]),
    ("turns_move", &["\"every-round\"", "\"first-round\""]),
    ("turns_kept", &["\"together\"", "\"by-priority\""]),
    ("input_arbiter", &["\"round-robin\"", "\"least-recently-served\"", "\"oldest\""]),
    ("input_turns", &["\"queues\"", "\"outputs\""]),
    ("output_arbiter", &["\"round-robin\"", "\"least-recently-served\"", "\"oldest\""]),
    ("vc_allocation", &["false", "true"]),
    ("crossbar_inputs", &["\"per-port\"", "\"per-channel\""]),
    ("crossbar_outputs", &["\"per-channel\"", "\"per-port\""]),
    ("virtual_output_queues", &["false", "true"]),
    ("output_queue", &["8", "16", "\"unlimited\""]),
    ("output_queue_per", &["\"port\"", "\"class\"", "\"channel\""]),
    ("ejection", &["\"room\"", "\"idle\""]),
];

/// A table of a scenario with a value for each parameter.
fn routers() -> impl Strategy<Value = String> {
    let lines: Vec<_> = ROUTER
        .iter()
        .map(|&(name, values)| {
            let value = prop_oneof![3 => Just(values[0]), 1 => select(values)];
            value.prop_map(move |value| format!("{name} = {value}\n"))
        })
        .collect();
    lines.prop_map(|lines| format!("[router]\n{}", lines.concat()))
}

const TREE: &str = "routing.nearest-common-ancestor.vcs = VCS\n[topology.two-level-tree]\nnodes_per_leaf = 4\nleaves = 2\nspines = 1\n";

/// Networks with some virtual channels, and who sends to whom: to one node, by one link to nodes of their own, by one link to
/// one node, and by one link from near and from far.
const NETWORKS: [(&str, &[(u32, u32)]); 4] = [
    ("routing.direct.vcs = VCS\n[topology.single-switch]\nnodes = 6\n", &[(1, 0), (2, 0), (3, 0)]),
    (TREE, &[(0, 4), (1, 5), (2, 6), (3, 7)]),
    (TREE, &[(0, 4), (1, 4), (2, 4), (3, 4)]),
    ("routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 2\nh = 1\ng = 3\n", &[(0, 2), (8, 3)]),
];

/// What is accepted of each flow, if such routers exist.
fn shares(text: &str) -> Option<Vec<f64>> {
    let scenario = Document::read("test.toml", text).resolve().ok()?;
    Some(report_of(&scenario, 1).flows.iter().map(|(_, flow)| flow.figures.accepted_load).collect())
}

proptest! {
    #[test]
    fn nobody_starves_by_its_place(
        (network, pairs) in select(&NETWORKS[..]),
        vcs in 1..4_u8,
        router in routers(),
        choice in select(&["round-robin", "by-destination"][..]),
        seed in 1..100_u8,
    ) {
        let flows: String = pairs
            .iter()
            .map(|(from, to)| {
                format!(
                    "[[traffic]]\nname = \"from-{from}\"\nfrom = [{from}]\nload = 1\nsize = 4\nsaturates = true\n\
                     pattern.hot-spot.to = [{to}]\n"
                )
            })
            .collect();
        let network = network.replace("VCS", &vcs.to_string());
        let text = format!(
            "seed = {seed}\n{network}{router}[nic]\npacket_flits = 4\nqueues = \"per-destination\"\nvc_choice = \"{choice}\"\n\
             {flows}[measure]\nwarmup = 1000\ncycles = 4000\n"
        );
        let shares = shares(&text);
        prop_assume!(shares.is_some());
        let shares = shares.expect("there are such routers");
        let (least, most) = shares.iter().fold((f64::MAX, 0.0_f64), |(least, most), &it| (least.min(it), most.max(it)));
        prop_assert!(least > 0.5 * most, "{shares:?} in\n{text}");
    }
}

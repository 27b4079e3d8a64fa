//! What is said about bad files.

use tailback_scenario::Document;

use crate::SMALL;

pub fn mistakes(text: &str, overrides: &[&str]) -> String {
    let document = overrides.iter().fold(Document::read("test.toml", text), |document, set| document.with(set));
    match document.resolve() {
        Ok(scenario) => panic!("{overrides:?} was accepted as\n{}", scenario.text),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

#[test]
fn all_mistakes_are_found_at_once_each_in_its_place() {
    let text = r#"titel = "x"
routing = "minmal"
[topology.dragonfly]
p = 2
a = 4
h = 2
g = 10
[router]
iterations = 0
speedup = 3
[links.local]
buffer = 4
latency = "50 ns"
[[traffic]]
load = 1.5
pattern = "hotspot"
[[traffic]]
load = "high"
from = "0..100"
[measure]
cycles = 0
treshold = 3
"#;
    let expected = r#"test.toml:1:1: unknown key `titel`
  help: did you mean `title`?
test.toml:2:11: unknown routing "minmal"
  help: did you mean "minimal"?
test.toml:7:5: 10 groups cannot be joined: a group has a·h = 8 global links and reaches at most 9 groups
  help: use g = 9 or fewer, or more links (a, h)
test.toml:9:14: `router.iterations` = 0 is outside 1 to 16
  help: the nearest allowed value is 1
test.toml:13:11: 50 ns cannot be counted in cycles of unknown length
  help: give the length of a link cycle, as in `clock.cycle = "1 ns"`, or write the time in cycles
test.toml:15:8: `traffic.0.load` = 1.5 is outside 0 to 1
  help: the nearest allowed value is 1
test.toml:16:11: unknown pattern "hotspot"
  help: did you mean "hot-spot"?
test.toml:18:8: `traffic.1.load` is a number, not the text "high"
test.toml:21:10: nothing is measured in 0 cycles
  help: measure at least one cycle
test.toml:22:1: unknown key `treshold` in [measure]
  help: the keys are warmup, cycles, until, series, series_by, by_source, messages, trees, links"#;
    assert_eq!(mistakes(text, &[]), expected);
}

/// The channel that a packet is injected by names its spine, so there is no use for others.
#[test]
fn a_clos_network_has_as_many_channels_of_injection_as_spines() {
    let clos = "routing = \"clos\"\n[topology.two-level-tree]\nnodes_per_leaf = 3\nleaves = 4\nspines = 2\n\
        [router]\ncrossbar_inputs = \"per-channel\"\n[[traffic]]\nload = 0.1\n";
    for (vcs, needed) in [("1", "at least 2"), ("4", "just 2")] {
        let said = mistakes(clos, &[&format!("links.injection.vcs={vcs}")]);
        let expected = format!("routing needs {needed} virtual channels of injection, there are {vcs}");
        assert!(said.contains(&expected) && said.contains("set links.injection.vcs = 2"), "{said}");
    }
}

#[test]
fn a_routing_is_proposed_that_suits_the_topology() {
    for (topology, routing) in [
        ("single-switch = { nodes = 8 }", "direct"),
        ("dragonfly = { p = 2, a = 4, h = 2, g = 9 }", "minimal"),
        ("k-ary-n-tree = { k = 4, n = 3 }", "nearest-common-ancestor"),
    ] {
        let text = format!("topology.{topology}\n[[traffic]]\nload = 0.1\n");
        let line = format!("routing = \"{routing}\"");
        let said = mistakes(&text, &[]);
        assert!(said.contains(&format!("`routing` is missing\n  help: add a line such as `{line}`")), "{said}");
        let document = Document::read("test.toml", &format!("{line}\n{text}"));
        document.resolve().unwrap_or_else(|said| panic!("{topology}\n{said}"));
    }
}

#[test]
fn each_kind_of_mistake_has_its_words() {
    let cases: &[(&[&str], &str)] = &[
        (&["router.speedup=3"], "a speedup of 3 is not a power of two"),
        (&["links.local.buffer=4"], "a buffer of 4 flits has no room for a packet of 8"),
        (&["router.output_queue=4"], "an output queue of 4 flits has no room"),
        (&["links.local.latency=16777217"], "`links.local.latency` is longer than 8388608 link cycles"),
        (
            &["links.local.cycles_per_flit=1024", "nic.packet_flits=8192"],
            "a packet of 8192 flits would take too long on a link",
        ),
        (&["router.credits=link"], "block other channels"),
        (&["measure.trees.every=0"], "`measure.trees.every` is not a whole number of link cycles, at least one"),
        (&["measure.trees.evry=10"], "unknown key `evry` in [measure.trees]"),
        (&["measure.trees=10"], "`measure.trees` is a table, not"),
        (&["measure.trees.every=1", "measure.cycles=2000000"], "looks 2005000 times, the limit is 1048576"),
        (&["measure.links.select=globe"], "unknown links \"globe\""),
        (&["measure.links.select="], "selects no links"),
        (
            &["measure.links.every=1", "measure.cycles=1000000"],
            "kinds of links of routers at 1005000 times, the limit is",
        ),
        (&["measure.links={ every = 1, by = \"link\" }", "measure.cycles=20000"], "links at 25000 times, the limit is"),
        (&["measure.links.by=group"], "`measure.links.by`: \"group\""),
        (&["router.control_limit=8"], "control packets and data share an output queue"),
        (&["router.control_limit=0"], "`router.control_limit` = 0 is outside 1 to"),
        (&["routing={ par6-2 = { queue_counts = \"router\" } }"], "counts packets in VOQs, and there are none"),
        (&["router.vc_allocation=true", "router.iterations=2"], "with vc_allocation an allocation has one round"),
        (&["links.global.latency=2.5"], "not a whole number of link cycles"),
        (&["links.global.latency=0"], "not a whole number of link cycles"),
        (&["router.head_delay=0.3"], "is a time"),
        (&["traffic.load=1.5"], "`traffic.load` = 1.5 is outside 0 to 1"),
        (&["traffic.load=high"], "`traffic.load` is a number, not the text \"high\""),
        (&["traffic.destination_load=0.5"], "`traffic.destination_load` and `load` say the same of a flow"),
        (&["nic.queues=fifo", "nic.vc_choice=rotation"], "channels in turn only where each has a queue of its own"),
        (&["traffic.pattern=hot-spot"], "`traffic.pattern.hot-spot.to` is missing"),
        (&["traffic.pattern=bit-complement"], "not a power of two"),
        (&["traffic.pattern.adversarial.offset=9"], "9 is a multiple of 9"),
        (&["traffic.pattern.hot-spot.to=[0]"], "node 0 of flow \"traffic\" would send to itself"),
        (&["traffic.from=[72]"], "node 72 does not exist"),
        (&["traffic.from=0..99999999999"], "node 72 does not exist"),
        (&["traffic.from=[1, 1]"], "node 1 is listed twice"),
        (&["traffic.from=5..2"], "\"5..2\" is empty\n  help: the end is not included: write \"2..6\""),
        (&["traffic.from=3..3"], "\"3..3\" is empty\n  help: the end is not included: write \"3..4\""),
        (&["traffic.from=5..=2"], "\"5..=2\" is empty\n  help: write \"2..=5\""),
        (&["traffic.from=[]"], "`traffic.from` has no node\n  help: name some, as in [0, 1], or leave the key out"),
        (&["traffic.name=17"], "`traffic.name` is a text"),
        (&["traffic.name=\"17\""], "\"17\" cannot name a flow\n  help: add a letter: in a path, a number is a place"),
        (
            &["traffic.name=a123456789a123456789a123456789a123456789a123456789a123456789a123"],
            "the name of a flow has 64 bytes, the limit is 63",
        ),
        (&["traffic.from={ random = 73 }"], "73 nodes are asked for"),
        (&["traffic.from=hot"], "unknown set of nodes \"hot\""),
        (&["traffic.from=from"], "unknown set of nodes \"from\""),
        (&["traffic.from=0..8", "traffic.pattern.shift.by=16"], "16 is a multiple of 8"),
        (
            &["traffic.pattern={ shift = { by = 1, among = \"0..8\" } }"],
            "node 8 of flow \"traffic\" would send to itself",
        ),
        (&["routing.valliant.target=group"], "unknown routing \"valliant\""),
        (&["traffic.size=0"], "`traffic.size.fixed.flits` = 0 is outside"),
        (&["traffic.size.uniform={ min = 9, max = 3 }"], "below the smallest"),
        (&["router.speedup=2", "traffic.start=1.5"], "`traffic.start` is not a whole number of link cycles"),
        (
            &["router.speedup=2", "traffic.phases=[{ from = 20.5, load = 0.2 }]"],
            "`traffic.phases.0.from` is not a whole number of link cycles",
        ),
        (&["traffic.arrival=poisson"], "unknown arrival process \"poisson\""),
        (&["traffic.arrival=slots", "traffic.size.uniform={ min = 3, max = 9 }"], "those of this flow differ"),
        (&["traffic.arrival=slots", "traffic.load=0.000001"], "a load is 0, or at least 0.00001"),
        (&["traffic.load=5e-324"], "a load is 0, or at least 1e-12 flits per source and link cycle"),
        (&["traffic.phases=[{ from = 100, load = 5e-324 }]"], "a load is 0, or at least 1e-12"),
        (
            &[
                "traffic.load=1e-300",
                "traffic.size=1048576",
                "traffic.arrival.bursts={ messages = 1000000, cycles_per_flit = 64 }",
            ],
            "a load is 0, or at least 1e-12",
        ),
        (
            &["traffic.size.weighted={ flits = [4, 24], shares = [5e-324, 0], shares_of = \"flits\" }"],
            "a share of 5e-324 of all flits is too little for messages of 4 flits",
        ),
        (&["traffic.phases=[{ from = 0, load = 0.2 }]"], "this phase begins in cycle 0"),
        (&["topology.dragonfly.p=256"], "a router would need 261 ports"),
        (&["topology=mesh"], "unknown topology \"mesh\""),
        (&["routing=nearest-common-ancestor"], "routes in a fat-tree, not in a dragonfly"),
        (&["routing=base", "topology.dragonfly.g=5"], "counts who wants the link to a group, and here several lead"),
        (&["routing.minimal.vcs=l0 g0"], "no channel left"),
        (&["routing.minimal.vcs=l0 g0 l0"], "wait for each other in a circle"),
        (&["links.injection.vcs=33"], "outside 1 to 32"),
        (&["nic.line=2"], "data that is handed over as it arrives takes no line"),
        (
            &["nic.delivery=in-order", "nic.line=1", "links.ejection.cycles_per_flit=2"],
            "the line is faster than the link that feeds it",
        ),
        (&["nic.pause_at=64"], "data that is handed over as it arrives waits for no line"),
        (&["nic.delivery=in-order", "nic.pause_at=0"], "`nic.pause_at` = 0 is outside"),
        (&["nic.delivery=in-order", "nic.pause_at=64", "router.ejection=idle"], "cannot be held up by their node"),
        (&["router.credit_interval=0.3"], "is a time"),
        (&["router.credit_interval=4294967297"], "would wait too long for each other"),
        (&["router.credit_interval=100000"], "would wait too long for each other"),
        (&["router.head_delay=4294967297"], "a packet would take too long in a router"),
        (&["router.crossbar_delay=5000000"], "a packet would take too long in a router"),
        (&["router.destination_queue=32", "routing=base"], "counts the heads of virtual channels"),
        (&["router.destination_queue=32", "nic.queues=fifo"], "would hold up all at its source"),
        (&["router.destination_queue=32", "protocol=srp"], "several traffic classes would share queues"),
        (&["router.destination_queue=32", "topology.dragonfly.p=8"], "queues for 256 nodes at most, there are 288"),
        (
            &["nic.queues=in-turn", "topology.dragonfly.p=120"],
            "destinations can take turns among 4096 nodes at most, there are 4320",
        ),
        (&["protocol.baseline.acknowledge=1"], "true or false"),
        (&["protocol=srp", "nic.queues=fifo"], "need a queue for each destination"),
        (&["protocol=smsrp", "router.vc_allocation=true"], "cannot own virtual channels"),
        (&["protocol=smsrp", "topology.dragonfly.p=251"], "have at most 255 ports"),
        (&["protocol.ecn.timer=0"], "a timer cannot go off all the time"),
        (&["protocol.lhrp.threshold=0"], "`protocol.lhrp.threshold` = 0 is outside"),
        (&["traffic.pattern.adversarial.hot=9"], "9 nodes are asked for, there are 8"),
        (&["measure.cycles=5000000000"], "a run cannot be longer than"),
        (&["seed=-1"], "`seed` is a whole number that is not negative"),
        (&["clock.cycle=0 ns"], "a cycle cannot take 0 ns"),
        (&["sweep.over.seed=3..1"], "does not lead upwards"),
        (&["execution.thread=2"], "unknown key `thread` in [execution]"),
        (
            &["traffic.pattern.mix=[{ share = \"rest\" }, { share = \"rest\" }]"],
            "`traffic.pattern.mix.1.share` is a number",
        ),
        (&["traffic.pattern.mix=[{ share = \"most\" }]"], "`traffic.pattern.mix.0.share` is a number"),
        (
            &["traffic.pattern.mix=[{ share = 80 }, { share = \"rest\" }, { share = 20.5 }]"],
            "the other shares of this mixture are 100.5 together: nothing of 100 is left\n  help: give the others less",
        ),
        (&["traffic.pattern.mix=[{ share = 100 }, { share = \"rest\", pattern = \"mix\" }]"], "a list of tables"),
        (&["traffic.pattern=mix"], "a list of tables"),
        (&["nonsense"], "an override is a path and a value"),
    ];
    for (overrides, reason) in cases {
        let said = mistakes(SMALL, overrides);
        assert!(said.contains(reason), "{overrides:?} gave\n{said}");
    }
}

#[test]
fn what_unidirectional_links_do_not_support_is_refused() {
    let fly = |protocol: &str| {
        format!(
            "routing = \"destination-tag\"\nprotocol = \"{protocol}\"\n[topology.k-ary-n-fly]\nk = 4\nn = 3\n\
             [router]\nvirtual_output_queues = true\n[nic]\nqueues = \"per-destination\"\n[[traffic]]\nload = 0.1\n"
        )
    };
    for protocol in ["srp", "smsrp", "lhrp", "comprehensive"] {
        let said = mistakes(&fly(protocol), &[]);
        assert!(said.contains("test.toml:2:12: protocol `") && said.contains("cannot reach every node"), "{said}");
    }
    for protocol in ["baseline", "ecn"] {
        Document::read("test.toml", &fly(protocol)).resolve().expect("only nodes send control packets");
    }
    let cases = [
        (
            "routing=minimal",
            "`minimal` routes in a dragonfly, not in a k-ary-n-fly\n  help: for a k-ary-n-fly there is `destination-tag`",
        ),
        ("topology.k-ary-n-fly.k=300", "`topology.k-ary-n-fly.k` = 300 is outside 1 to 256"),
        ("topology.k-ary-n-fly.n=17", "`topology.k-ary-n-fly.n` = 17 is outside 1 to 16"),
        ("topology.k-ary-n-fly.n=15", "the network would have 1073741824 nodes, the limit is 268435456"),
        ("links.stage3.latency=2", "unknown key `stage3` in [links]"),
    ];
    for (set, reason) in cases {
        let said = mistakes(&fly("baseline"), &[set]);
        assert!(said.contains(reason), "{set} gave\n{said}");
    }
}

#[test]
fn clusters_and_their_channels_are_refused_with_the_numbers() {
    let equal = "routing = \"cluster-ring\"\n[topology.multi-cluster]\nclusters = 3\nnodes_per_leaf = 2\nleaves = 2\n\
                 spines = 1\nchannels = 1\n[[traffic]]\nload = 0.1\n";
    let mixed = "routing = \"cluster-ring\"\n[topology.mixed-clusters]\nnodes_per_leaf = [2, 2, 1]\nleaves = [2, 3, 2]\n\
                 spines = [1, 2, 1]\nchannels = [1, 1, 1]\n[[traffic]]\nload = 0.1\n";
    let cases = [
        (equal, "topology.multi-cluster.channels=0", "clusters 0 and 1 are joined by no channel"),
        (
            equal,
            "topology.multi-cluster.channels=2",
            "cluster 0 has 4 channels to other clusters, and its leaves have places for 2",
        ),
        (equal, "topology.multi-cluster.clusters=32", "`topology.multi-cluster.clusters` = 32 is outside 1 to 31"),
        (equal, "topology.multi-cluster.spines=255", "a router would need 258 ports"),
        (equal, "routing=nearest-common-ancestor", "routes in a fat-tree, not in a multi-cluster"),
        (mixed, "topology.mixed-clusters.channels=[1, 0, 1]", "clusters 1 and 2 are joined by no channel"),
        (
            mixed,
            "topology.mixed-clusters.channels=[1, 1, 2]",
            "cluster 0 has 3 channels to other clusters, and its leaves have places for 2",
        ),
        (mixed, "topology.mixed-clusters.channels=[1, 1]", "2 numbers, and 3 clusters have 3 pairs of neighbours"),
        (mixed, "topology.mixed-clusters.spines=[1, 2]", "2 numbers, nodes_per_leaf has 3"),
        (mixed, "topology.mixed-clusters.leaves=[]", "0 numbers, nodes_per_leaf has 3"),
        (mixed, "traffic.pattern=own-group", "no groups of nodes of equal size"),
    ];
    for (text, set, reason) in cases {
        let said = mistakes(text, &[set]);
        assert!(said.contains(reason), "{set} gave\n{said}");
    }
}

#[test]
fn segments_that_fit_no_cells_are_refused_with_the_numbers() {
    let text = "routing = \"cluster-ring\"\n[topology.multi-cluster]\nclusters = 2\nnodes_per_leaf = 2\nleaves = 2\n\
                spines = 1\nchannels = 1\n[nic]\nqueues = \"per-destination\"\npacket_flits = 32\n[router]\n\
                virtual_output_queues = true\n[[traffic]]\nload = 0.1\n[protocol.crp]\ncell = 100\nlargest = 190\n";
    Document::read("test.toml", text).resolve().unwrap_or_else(|said| panic!("{said}"));
    let cases: &[(&[&str], &str)] = &[
        (&["protocol.crp.cells=0"], "`protocol.crp.cells` = 0 is outside 1 to 32"),
        (&["protocol.crp.cells=33"], "`protocol.crp.cells` = 33 is outside 1 to 32"),
        (&["protocol.crp.smallest=191"], "the smallest segment has 191 flits, the largest 190"),
        (
            &["protocol.crp.largest=200"],
            "a segment of 200 flits reserves 210 with its overhead, and there is room for 200 in two cells of 100",
        ),
        (
            &["protocol.crp.cells=1"],
            "a segment of 190 flits reserves 200 with its overhead, and there is room for 100 in one cell of 100",
        ),
        (
            &["protocol.crp.cell=31", "protocol.crp.largest=50", "protocol.crp.smallest=0"],
            "a cell has 31 flits, and packets have up to 32",
        ),
        (
            &["protocol.crp.largest=31", "protocol.crp.smallest=0"],
            "the largest segment has 31 flits, and packets have up to 32",
        ),
        (
            &["protocol.crp.links=global"],
            "it watches global links, and this topology has terminal, level1, inter-cluster",
        ),
        (&["nic.queues=fifo"], "need a queue for each destination"),
    ];
    for (overrides, reason) in cases {
        let said = mistakes(text, overrides);
        assert!(said.contains(reason), "{overrides:?} gave\n{said}");
    }
}

#[test]
fn a_cycle_is_named_channel_by_channel() {
    let said = mistakes(SMALL, &["routing.minimal.vcs=l0 g0 l0"]);
    assert!(said.lines().count() >= 4 && said.contains("VC 0"), "{said}");
}

#[test]
fn files_that_are_no_toml_are_refused_with_their_own_words_only() {
    for text in ["[topology", "a = = 1", "x = \"", "\u{0}"] {
        let said = mistakes(text, &[]);
        assert!(said.starts_with("test.toml:1:") && !said.contains("missing"), "{said}");
    }
    assert!(mistakes("", &[]).contains("`topology` is missing"));
}

#[test]
fn a_model_that_is_chosen_by_name_and_by_table_is_said_to_be_given_twice() {
    let twice = |text: String| {
        let said = mistakes(&text, &[]);
        assert!(said.contains("`routing` is given twice, as a name and as a table"), "{said}");
        assert!(said.contains("help: write either `routing = \"…\"`, or `[routing.…]`"), "{said}");
    };
    twice(format!("{SMALL}[routing.valiant]\ntarget = \"group\"\n"));
    twice(format!("{SMALL}[routing]\nvaliant = {{}}\n"));
    twice(format!("routing.valiant.target = \"group\"\n{SMALL}"));
    let said = mistakes(&format!("routing = \"valiant\"\n{SMALL}"), &[]);
    assert!(said.contains("duplicate key"), "two names are another mistake: {said}");
}

#[test]
fn mistakes_in_overrides_name_what_was_typed() {
    let said = Document::read("test.toml", SMALL).with_from("--threads", "execution.threads=5000").resolve();
    let said = said.expect_err("it is out of range").to_string();
    assert!(said.starts_with("--threads execution.threads=5000:1:19: "), "{said}");
    let sweep =
        "[sweep]\nover.\"traffic.load\" = [0.1, 1.2]\n[[sweep.variant]]\nname = \"A\"\nset.routing = \"valliant\"\n";
    let document = Document::read("test.toml", &format!("{SMALL}{sweep}"));
    let sweep = document.sweep().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let runs: Vec<_> = sweep.runs(&document).collect();
    let said = runs[1].document.resolve().expect_err("both are wrong").to_string();
    assert!(
        said.contains("variant \"A\": routing=\"valliant\":1:9: ")
            && said.contains("[sweep] over traffic.load=1.2:1:14: "),
        "{said}"
    );
}

#[test]
fn any_text_is_either_read_or_refused() {
    use proptest::prelude::*;
    let lines: Vec<&str> = SMALL.lines().collect();
    let mutation = (0..lines.len(), 0..lines.len(), any::<proptest::sample::Index>(), "[ -~\n]{0,6}");
    proptest!(|((cut, twice, at, noise) in mutation)| {
        let mut changed = lines.clone();
        changed.insert(twice, lines[twice]);
        changed.remove(cut);
        let mut text = changed.join("\n");
        text.insert_str(at.index(text.len() + 1), &noise);
        // Neither is wrong; a panic is.
        let _ = Document::read("test.toml", &text).resolve();
    });
}

/// A flow says how much it sends, or when, and what ends with flows needs some that end.
#[test]
fn flows_that_end_do_so_in_one_way() {
    let flow = |lines: &str| format!("{}\n[measure]\nuntil = \"drained\"\n", SMALL.replace("load = 0.3", lines));
    let said = |lines: &str| mistakes(&flow(lines), &[]);
    let cases = [
        ("load = 0.3", "no flow ever ends, so the network is never drained"),
        ("load = 0.3\ncount = 0", "`traffic.count` = 0 is outside 1 to"),
        ("load = 0.3\ncount = \"many\"", "`traffic.count` is a whole number or \"endless\""),
        ("load = 0.3\ncount = 5\nphases = [{ from = 50, load = 0 }]", "flow \"traffic\" ends in silence"),
        ("at = 5", "`traffic.at` is a list of times, not the number 5"),
        ("at = [\"soon\"]", "`soon` is no time"),
        ("at = []", "this flow never sends"),
        ("at = [5, 5]", "these times do not ascend"),
        ("at = [7, 5]", "these times do not ascend"),
        ("at = [0.5]", "messages are created in whole link cycles"),
        ("at = [0]\nload = 0.1", "`traffic.load` says nothing of a flow that says when it sends"),
        (
            "at = [0]\narrival = \"bernoulli\"\ncount = 3",
            "`traffic.arrival` says nothing of a flow that says when it sends",
        ),
        ("count = 3", "`traffic.load` is missing"),
        ("at = 5\nload = 0.1", "`traffic.load` says nothing of a flow that says when it sends"),
        ("load = 0.3\ncount = 3\nsaturates = 1", "`traffic.saturates` is true or false, not the number 1"),
    ];
    for (lines, expected) in cases {
        let said = said(lines);
        assert!(said.contains(expected) && !said.contains("unknown key"), "{lines}: {said}");
    }
}

/// Bytes and rates need to know what a flit is, and a cycle is said once.
#[test]
fn bytes_and_rates_say_what_they_need() {
    let with = |clock: &str, flow: &str| {
        format!("[clock]\n{clock}\n{}", SMALL.replace("load = 0.3", flow).replace("routing", "#"))
            + "[routing.minimal]\n"
    };
    let said = |clock: &str, flow: &str| mistakes(&with(clock, flow), &[]);
    let cases = [
        ("", "load = 0.3\nsize = \"1 MiB\"", "1 MiB cannot be counted in flits of unknown size"),
        ("flit = \"64 B\"", "load = 0.3\nsize = \"1 Mb\"", "`1 Mb` is no amount of data"),
        ("flit = \"64 B\"", "load = 0.3\nsize = \"1 GiB\"", "= 16777216 is outside 1 to 1048576"),
        ("flit = 64", "load = 0.3", "`clock.flit` is a text, not the number 64"),
        ("flit = \"0 B\"", "load = 0.3", "`0 B` is no amount of data"),
        ("link = \"400 Gb/s\"", "load = 0.3", "a cycle is what a link takes for a flit of unknown size"),
        ("flit = \"64 B\"\nlink = \"fast\"", "load = 0.3", "`fast` is no rate"),
        ("flit = \"64 B\"\nlink = \"400 Gb/s\"\ncycle = \"1 ns\"", "load = 0.3", "a link is as fast as its cycle"),
    ];
    for (clock, flow, expected) in cases {
        let said = said(clock, flow);
        assert!(said.contains(expected), "{clock}, {flow}: {said}");
    }
}

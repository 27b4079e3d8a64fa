//! What good files resolve to.

use tailback_hardware::LinkSpec;
use tailback_scenario::{Document, LinkRows, LinkSampling, Scenario, models};
use tailback_workload::MessageSize;

use crate::SMALL;
use crate::bad::mistakes;

pub fn resolve(text: &str, overrides: &[&str]) -> Scenario {
    let document = overrides.iter().fold(Document::read("test.toml", text), |document, set| document.with(set));
    document.resolve().unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

#[test]
fn flows_that_share_slots_have_slots_of_one_length() {
    let flow = |name: &str, more: &str| {
        format!("[[traffic]]\nname = \"{name}\"\nload = 0.1\nsize = 8\narrival = {{ slots = {{ {more} }} }}\n")
    };
    let network = "routing = \"direct\"\n[topology.single-switch]\nnodes = 4\n";
    let text = |second: &str| format!("{network}{}{second}", flow("one", ""));
    let fine = resolve(&text(&flow("two", "")), &[]);
    let many: String = (0..100).map(|number| flow(&format!("flow{number}"), "")).collect();
    let said = mistakes(&text(&many), &[]);
    assert!(
        said.contains("make 4186 changes for a node, and 16744 for all; the limits are 4096 and 16777216"),
        "{said}"
    );
    // A line as fast as links is what scenarios had before lines could be slower, and have the digests of.
    let arrivals = fine.text.lines().filter(|line| line.contains("slots") || line.contains("arrival"));
    assert!(arrivals.clone().count() > 0 && arrivals.clone().all(|line| !line.contains("cycles_per_flit")));
    assert_eq!(resolve(&text(&flow("two", "cycles_per_flit = 1")), &[]).digest, fine.digest);
    let tree = "topology.two-level-tree = { nodes_per_leaf = 2, leaves = 2, spines = 2 }\n";
    let clos = |routing: &str| resolve(&format!("{tree}routing = {routing}\n{}", flow("one", "")), &[]);
    let (plain, crosspoints) = (clos("\"clos\""), clos("{ clos = { queues = \"crosspoints\" } }"));
    assert!(plain.digest == crosspoints.digest && !plain.text.contains("queues = \"crosspoints\""), "{}", plain.text);
    assert_ne!(plain.digest, clos("{ clos = { queues = \"inputs\" } }").digest);
    let said = mistakes(&text(&flow("two", "cycles_per_flit = 2")), &[]);
    assert!(said.contains("slots of 16 cycles, and 8 for the flows before"), "{said}");
    let said = mistakes(&text(&flow("two", "").replace("size = 8", "size = 9")), &[]);
    assert!(said.contains("slots of 9 cycles, and 8 for the flows before"), "{said}");
}

#[test]
fn the_resolved_text_resolves_to_itself() {
    let everything = r#"
        title = "Everything \"at once\""
        seed = 7
        [clock]
        cycle = "1.25 ns"
        [topology.dragonfly]
        p = 2
        a = 4
        h = 2
        g = 5
        arrangement = "absolute"
        [links]
        injection = { latency = "2.5 ns", vcs = 4 }
        local.latency = "50 ns"
        global = { latency = 80, cycles_per_flit = 2 }
        [router]
        head_delay = "625 ps"
        output_queue = "unlimited"
        [routing.valiant]
        target = "group"
        [protocol.baseline]
        acknowledge = true
        [nodes]
        hot = { random = 3, seed = 5 }
        cold = { outside = "hot" }
        some = { any = ["hot", "0..4"] }
        [[traffic]]
        name = "storm"
        from = { random = 10, outside = "hot" }
        load = 0.9
        pattern.hot-spot.to = "hot"
        start = "1 us"
        [[traffic]]
        name = "background"
        from = "cold"
        load = 0.25
        size.weighted = { flits = [4, 64], shares = [0.9, 0.1] }
        arrival.bursts.messages = 3
        pattern.mix = [
            { share = 3, pattern = "uniform" },
            { share = 1, pattern = { adversarial = { offset = 2 } } },
        ]
        phases = [{ from = 1000, load = 0.0 }, { from = 2000, load = 0.5, pattern.shift.by = 3 }]
        [measure]
        series = 100
        [execution]
        threads = 2
    "#;
    for text in [everything, SMALL] {
        let first = resolve(text, &[]);
        let second = resolve(&first.text, &[]);
        assert_eq!(first.text, second.text);
        assert_eq!(first.digest, second.digest);
        assert_eq!(first.network, second.network);
        assert_eq!(first.workload, second.workload);
    }
}

#[test]
fn defaults_are_those_of_the_first_network() {
    let scenario = resolve(SMALL, &[]);
    let link = |cycles: u32| LinkSpec { latency: 2 * cycles, flit_ticks: 2 };
    assert_eq!(scenario.network.links, [link(1), link(10), link(100)]);
    assert_eq!((scenario.network.input_buffers, scenario.network.packet_flits_max), (vec![256, 32, 256], 8));
    assert_eq!(scenario.workload.flows[0].size, MessageSize::Fixed(8));
}

#[test]
fn only_what_can_change_results_changes_the_digest() {
    let digest = |overrides: &[&str]| resolve(SMALL, overrides).digest;
    let plain = digest(&[]);
    let indifferent =
        ["title=other", "execution.threads=2", "execution.partition=router", "traffic.load=0.30", "seed=1"];
    for same in indifferent {
        assert_eq!(digest(&[same]), plain, "{same}");
    }
    let different = ["seed=2", "traffic.load=0.31", "measure.cycles=1", "router.iterations=2", "routing=valiant"];
    for other in different {
        assert_ne!(digest(&[other]), plain, "{other}");
    }
}

#[test]
fn overrides_reach_everything() {
    let scenario = resolve(
        SMALL,
        &["routing.valiant.target=group", "topology.p=1", "traffic.size=24", "clock.cycle=2 ns", "measure.cycles=1 us"],
    );
    assert_eq!((scenario.routing.name, scenario.topology.built.graph().nodes()), ("valiant", 36));
    assert_eq!((scenario.measure.cycles, scenario.network.packet_flits_min), (500, 8));
}

#[test]
fn drawn_sets_depend_on_seed_and_name_alone() {
    let sets = |overrides: &[&str]| {
        let scenario = resolve(SMALL, overrides);
        scenario.workload.flows[0].sources.iter().collect::<Vec<_>>()
    };
    let drawn = sets(&["traffic.from={ random = 5 }"]);
    assert_eq!(drawn.len(), 5);
    assert_eq!(drawn, sets(&["traffic.from={ random = 5 }", "nodes.other={ random = 7 }"]));
    assert_ne!(drawn, sets(&["traffic.from={ random = 5 }", "seed=2"]));
    assert_eq!(
        sets(&["traffic.from={ random = 5, seed = 9 }"]),
        sets(&["seed=4", "traffic.from={ random = 5, seed = 9 }"])
    );
}

/// What a flow is declared to do is part of what it is judged by, so it is part of the digest; but what is not said leaves
/// the digest as it was before one could say it.
#[test]
fn flows_may_be_declared_to_saturate() {
    let of = |overrides: &[&str]| resolve(SMALL, overrides);
    let (plain, told, hot) = (of(&[]), of(&["traffic.saturates=false"]), of(&["traffic.saturates=true"]));
    assert_eq!([&plain, &told, &hot].map(|scenario| scenario.workload.flows[0].saturates), [false, false, true]);
    assert!(plain.digest == told.digest && plain.digest != hot.digest);
    assert!(!plain.text.contains("saturates") && hot.text.contains("saturates = true"));
    assert!(resolve(&hot.text, &[]).workload.flows[0].saturates);
}

/// What all sources send to a destination together says what each of them sends.
#[test]
fn loads_may_be_those_of_destinations() {
    let flow = |lines: &str| SMALL.replace("load = 0.3", lines);
    let hot = resolve(&flow("destination_load = 1.5\npattern.hot-spot.to = [0, 1]\nfrom = \"8..32\""), &[]);
    let load = hot.workload.flows[0].phases()[0].load;
    assert!((load - 1.5 * 2.0 / 24.0).abs() < 1e-12, "{load}");
    assert_eq!(resolve(&hot.text, &[]).digest, hot.digest);
    let said = mistakes(&flow("destination_load = 13.0\npattern.hot-spot.to = [0, 1]\nfrom = \"8..32\""), &[]);
    assert!(said.contains("13 for each of 2 destinations is 1.0833 for each of 24 sources"), "{said}");
    let said = mistakes(&flow("destination_load = 1e-15\npattern.hot-spot.to = [0, 1]\nfrom = \"8..32\""), &[]);
    assert!(said.contains("test.toml:9:20: a load is 0, or at least 1e-12"), "{said}");
    let said = mistakes(&flow("destination_load = 0.5\npattern = \"itself\""), &[]);
    assert!(said.contains("`traffic.destination_load` needs a pattern that names its destinations"), "{said}");
}

/// What `tailback models` shows as an example is read, and is an example of what it stands at.
#[test]
fn examples_of_models_are_read() {
    let networks = [
        "dragonfly = { p = 2, a = 4, h = 2, g = 9 }\nrouting = \"minimal\"",
        "single-switch = { nodes = 16 }\nrouting = \"direct\"",
    ];
    let mut count = 0;
    for model in models() {
        let Some(example) = model.example else { continue };
        let flow = match model.kind {
            _ if example.starts_with("[[") => "",
            "collective" => "[clock]\nflit = \"64 B\"\n[[program]]\n",
            _ => "[[traffic]]\nload = 0.1\n",
        };
        let read =
            |network: &&str| Document::read("example", &format!("topology.{network}\n{flow}{example}\n")).resolve();
        let scenario = networks.iter().find_map(|network| read(network).ok());
        let text = scenario.unwrap_or_else(|| panic!("{example} is refused")).text;
        let name = model.name.trim_matches(['[', ']']).rsplit('.').next().expect("it has a part");
        assert!(text.contains(name), "{example} is no example of {name}:\n{text}");
        count += 1;
    }
    assert!(count > 12, "{count}");
}

#[test]
fn a_shift_stays_among_the_sources() {
    let destinations = |overrides: &[&str], source: u32| {
        let scenario = resolve(SMALL, overrides);
        let pattern = &scenario.workload.flows[0].phases()[0].pattern;
        pattern.destination(source, &mut tailback_random::Stream::new(1, 0, 0))
    };
    let shift = "traffic.pattern.shift.by=3";
    assert_eq!(destinations(&[shift], 7), 10);
    assert_eq!(destinations(&["traffic.from=4..8", shift], 7), 6);
    assert_eq!(destinations(&["traffic.from=4..8", shift, "traffic.pattern.among=all"], 7), 10);
    assert_eq!(destinations(&["nodes.from=0..16", "traffic.from=from", shift], 15), 2);
}

#[test]
fn the_rest_of_a_mixture_is_what_the_others_leave_of_a_hundred() {
    let mix = |shares: [&str; 2]| {
        let [first, second] = shares.map(|share| format!("share = {share}"));
        format!("traffic.pattern.mix=[{{ {first} }}, {{ {second}, pattern.adversarial.offset = 2 }}]")
    };
    let digest = |shares| resolve(SMALL, &[mix(shares).as_str()]).digest;
    assert_eq!(digest(["35.0", "\"rest\""]), digest(["35.0", "65.0"]));
    assert_eq!(digest(["\"rest\"", "100.0"]), digest(["0.0", "100.0"]), "nothing is left");
    let varied = resolve(SMALL, &[mix(["35.0", "\"rest\""]).as_str(), "traffic.pattern.mix.0.share=20.0"]);
    assert_eq!(varied.digest, digest(["20.0", "80.0"]));
}

#[test]
fn runs_of_a_sweep_are_all_points_with_all_seeds() {
    let text = format!("{SMALL}[sweep]\nseeds = [3, 8]\nover.\"traffic.load\" = [0.1, 0.2]\n");
    let document = Document::read("test.toml", &text);
    let sweep = document.sweep().unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let runs: Vec<_> = sweep.runs(&document).collect();
    let places: Vec<_> = runs.iter().map(|run| (run.point, run.seed)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(places, (0..sweep.run_count().expect("there are few")).map(|run| sweep.place(run)).collect::<Vec<_>>());
    let last = runs[3].document.resolve().unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(last.digest, resolve(SMALL, &["traffic.load=0.2", "seed=8"]).digest);
}

#[test]
fn sets_of_nodes_are_resolved_to_ranges_where_they_are_some() {
    for (given, resolved) in [
        ("[3]", "[3]"),
        ("[3, 1, 2]", "\"1..4\""),
        ("[1, 3]", "[1, 3]"),
        ("\"0..72\"", "\"all\""),
        ("{ outside = \"8..72\" }", "\"0..8\""),
    ] {
        let text = resolve(SMALL, &[&format!("traffic.from={given}")]).text;
        assert!(text.contains(&format!("\nfrom = {resolved}\n")), "{given}: {text}");
    }
}

#[test]
fn bytes_and_rates_become_flits_and_cycles() {
    let text = format!(
        "[clock]\nflit = \"64 B\"\nlink = \"400 Gb/s\"\n[links.global]\nlatency = \"200 ns\"\nbuffer = \"32 KiB\"\n\
         [router]\noutput_queue = \"4 KiB\"\n[nic]\npacket_flits = \"2 KiB\"\n[routing.minimal]\n{}size = \"1 MiB\"\n",
        SMALL.replace("routing = \"minimal\"\n", "")
    );
    let scenario = resolve(&text, &[]);
    assert_eq!((scenario.clock.cycle_fs, scenario.clock.flit_bytes), (Some(1_280_000), Some(64)));
    let said = [
        "cycle = \"1.28 ns\"",
        "flit = \"64 B\"",
        "latency = 156",
        "buffer = 512",
        "output_queue = 64",
        "packet_flits = 32",
    ];
    for line in said.into_iter().chain(["flits = 16384"]) {
        assert!(scenario.text.contains(line), "{line} is not in\n{}", scenario.text);
    }
    assert_eq!(resolve(&scenario.text, &[]).text, scenario.text);
}

/// What is not asked for is not in the resolved text, so scenarios from before have the digests that they had.
#[test]
fn what_is_looked_at_now_and_again_is_resolved_only_if_it_is_asked_for() {
    let without = resolve(SMALL, &[]);
    assert_eq!((without.measure.trees_every, without.measure.links), (None, None));
    assert!(!without.text.contains("trees") && !without.text.contains("select"), "{}", without.text);
    let with = resolve(SMALL, &["measure.trees.every=250", "measure.links.select=ejection global"]);
    assert_eq!(with.measure.trees_every, Some(250));
    // Classes are those of the topology: terminals, local and global links.
    assert_eq!(with.measure.links, Some(LinkSampling { every: 1000, classes: 0b101, rows: LinkRows::Links }));
    assert_ne!(with.digest, without.digest);
    assert_eq!(resolve(&with.text, &[]).text, with.text);
}

/// Where links would have too many rows, those of a kind of a router have one together; a choice that is made is kept to.
#[test]
fn links_have_rows_of_their_own_as_long_as_there_is_room() {
    let rows = |overrides: &[&str]| {
        let scenario = resolve(SMALL, &[&["measure.links.every=1", "measure.warmup=0"], overrides].concat());
        let sampling = scenario.measure.links.expect("it is asked for");
        let at_once = sampling.rows_at_once(scenario.topology.built.graph().as_ref());
        (sampling.rows, at_once, scenario.text.contains("\nby = "))
    };
    // 72 nodes at 36 routers, each with 2 ejection, 3 local and 2 global links.
    assert_eq!(rows(&["measure.cycles=16000"]), (LinkRows::Links, 252, false));
    assert_eq!(rows(&["measure.cycles=17000"]), (LinkRows::Routers, 108, false));
    assert_eq!(rows(&["measure.cycles=100", "measure.links.by=router"]), (LinkRows::Routers, 108, true));
    assert_eq!(rows(&["measure.cycles=100", "measure.links.by=link"]), (LinkRows::Links, 252, true));
}

//! `check` and `explain`: what is said about a scenario that is not run.

use crate::program::{Program, SMALL, compare};

fn shows(name: &str, text: &str, arguments: &[&str]) {
    let program = Program::new();
    program.write("scenario.toml", text);
    let before = program.files();
    let said = program.good(arguments);
    assert_eq!(program.files(), before, "nothing is written");
    compare(name, arguments, &said);
}

/// A scenario with the given topology and routing.
fn with(topology: &str, routing: &str) -> String {
    format!("routing = \"{routing}\"\ntopology = {topology}\ntraffic = {{ load = 0.2 }}\n")
}

#[test]
fn a_scenario_is_checked() {
    shows("check", SMALL, &["check", "scenario.toml", "--set", "execution.threads=2"]);
    shows("check-ranks", SMALL, &["check", "scenario.toml", "--ranks", "4"]);
}

#[test]
fn a_sweep_is_checked() {
    let text = format!("{SMALL}\n[sweep]\nseeds = 3\nover.\"traffic.load\" = \"0.1..0.5/0.1\"\n");
    shows("check-sweep", &text, &["check", "scenario.toml", "--set", "execution.partition=single"]);
}

/// Of a long sweep the first points are checked, which is said.
#[test]
fn a_check_does_not_go_on_for_ever() {
    let program = Program::new();
    program.write("long.toml", format!("{SMALL}\n[sweep]\nseeds = 2\nover.\"measure.cycles\" = \"1..300\"\n"));
    let said = program.good(&["check", "long.toml"]);
    assert!(said.ends_with("# sweep       600 runs; of 300 points the first 256 were checked\n"), "{said}");
}

#[test]
fn a_scenario_is_checked_for_programs() {
    let said = Program::new().good(&["check", "small.toml", "--set", "execution.threads=2", "--format", "json"]);
    let checked: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    for number in ["nodes", "routers", "links", "regions", "lookahead_cycles", "memory_bytes", "sweep_points"] {
        assert!(checked[number].is_number(), "{number}: {}", checked[number]);
    }
    for text in ["scenario_digest", "microarchitecture", "deadlock_freedom", "resolved"] {
        assert!(checked[text].is_string(), "{text}: {}", checked[text]);
    }
}

#[test]
fn the_schema_of_scenarios_is_printed() {
    let said = Program::new().good(&["models", "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    // A topology that has a default for everything is named, others are tables.
    let topologies = &schema["properties"]["topology"]["anyOf"];
    assert_eq!(topologies[0]["enum"], serde_json::json!(["multi-cluster"]));
    let grammar = &topologies[1]["properties"]["dragonfly"]["properties"]["g"];
    assert_eq!((&grammar["type"], &schema["additionalProperties"]), (&"integer".into(), &false.into()), "{grammar}");
    let links = &schema["properties"]["links"]["patternProperties"];
    assert!(links["^level[0-9]+$"].is_object() && links["^stage[0-9]+$"].is_object(), "{links}");
    assert!(schema["properties"]["links"]["properties"]["inter-cluster"].is_object());
    let flow = &schema["$defs"]["traffic"];
    assert_eq!(
        (&flow["properties"]["saturates"]["default"], &flow["examples"][0]["name"]),
        (&false.into(), &"hot".into())
    );
    let phase = &flow["properties"]["phases"]["items"];
    assert!(phase["properties"]["from"]["description"].is_string() && phase["examples"][0]["from"] == 5000, "{phase}");
    assert_eq!(schema["$defs"]["pattern"]["examples"][0], "uniform");
}

/// What `check` prints is itself a scenario, the same one.
#[test]
fn what_check_prints_can_be_checked() {
    let program = Program::new();
    let first = program.good(&["check", "small.toml"]);
    program.write("resolved.toml", &first);
    assert_eq!(program.good(&["check", "resolved.toml"]), first);
}

/// What is written down of links is said, and that those of a router have a row together where each link would be too much.
#[test]
fn rows_of_links_are_told_before_a_run() {
    let program = Program::new();
    let line = |set: &str| {
        let said = program.good(&["check", "small.toml", "--set", "measure.links.every=1", "--set", set]);
        said.lines().find(|line| line.starts_with("# links")).expect("it is said").to_owned()
    };
    assert_eq!(line("measure.cycles=900"), "# links       252 links at 1000 times: 252000 rows");
    let together = "# links       108 kinds of links of routers at 20000 times: 2160000 rows";
    assert_eq!(line("measure.cycles=19900"), together);
    assert!(!program.good(&["check", "small.toml"]).contains("# links"));
}

/// Each note is told once, however many points of a sweep have it.
#[test]
fn old_names_of_parameters_are_noted() {
    let program = Program::new();
    let named = |nacks: &str| format!("{SMALL}\n[protocol.lhrp]\nfabric_drop = true\n{nacks} = 4\n");
    program.write("old.toml", named("refusals"));
    program.write("new.toml", named("nacks"));
    assert_eq!(program.good(&["check", "old.toml"]), program.good(&["check", "new.toml"]));
    let arguments = ["check", "old.toml", "--set", "protocol.start=on-time"];
    compare("check-old-names", &arguments, &program.run(&arguments).stderr);
    let arguments = ["sweep", "old.toml", "--quiet", "--over", "protocol.notice=0,100"];
    compare("sweep-old-names", &arguments, &program.run(&arguments).stderr);
    let arguments = ["submit", "old.toml", "--server", "http://127.0.0.1:1"];
    assert!(program.run(&arguments).stderr.contains("`protocol.lhrp.refusals` is called `nacks` now"));
}

#[test]
fn a_dragonfly_is_explained() {
    shows("explain-dragonfly", SMALL, &["explain", "scenario.toml"]);
    let overrides = ["--set", "routing=ugal-l", "--set", "protocol.baseline.acknowledge=true"];
    let arguments = [&["explain", "scenario.toml"][..], &overrides].concat();
    shows("explain-dragonfly-ugal", SMALL, &arguments);
}

#[test]
fn trees_are_explained() {
    let explain = ["explain", "scenario.toml"];
    let nca = "nearest-common-ancestor";
    shows("explain-k-ary-n-tree", &with("{ k-ary-n-tree = { k = 3, n = 3 } }", nca), &explain);
    let two = "{ two-level-tree = { nodes_per_leaf = 2, leaves = 4, spines = 2, parallel = 2 } }";
    shows("explain-two-level-tree", &with(two, nca), &explain);
    let fat = "{ fat-tree = { children = [2, 3, 2], parents = [2, 1], parallel = [1, 3] } }";
    shows("explain-fat-tree", &with(fat, nca), &explain);
}

/// With the tables of CRP, whose slots are numbered as they are in time.
#[test]
fn clusters_are_explained() {
    let clusters = "{ multi-cluster = { nodes_per_leaf = 2, leaves = 2, spines = 1, channels = 1 } }";
    let overrides =
        ["--set", "protocol.crp={ cell = 100, largest = 190, smallest = 16 }", "--set", "nic.queues=per-destination"];
    let arguments = [&["explain", "scenario.toml"][..], &overrides].concat();
    shows("explain-multi-cluster", &with(clusters, "cluster-ring"), &arguments);
}

#[test]
fn a_butterfly_is_explained() {
    let text = with("{ k-ary-n-fly = { k = 3, n = 3 } }", "destination-tag");
    shows("explain-k-ary-n-fly", &text, &["explain", "scenario.toml"]);
}

/// The MVCM paper's network of 512 hosts: 305 cycles over nine switches.
#[test]
fn a_butterfly_with_links_both_ways_is_explained() {
    let fly = "{ bidirectional-k-ary-n-fly = { k = 4, n = 5, half = true } }";
    let text = with(fly, "nearest-common-ancestor");
    let one = |link: &str| format!("links.{link}={{ latency = 1, buffer = 1024 }}");
    let links = ["injection", "level1", "level2", "level3", "level4"].map(one);
    let mut arguments =
        vec!["explain", "scenario.toml", "--set", "nic.packet_flits=278", "--set", "links.ejection.latency=1"];
    arguments.extend(["--set", "router.crossbar_delay=2", "--set", "router.output_queue=1024"]);
    links.iter().for_each(|link| arguments.extend(["--set", link]));
    shows("explain-bidirectional-k-ary-n-fly", &text, &arguments);
}

/// With the costs of its schedulers, as a table.
#[test]
fn a_clos_network_is_explained() {
    let text = "routing = \"clos\"\nprotocol = \"distributed-scheduler\"\ntopology.two-level-tree = { nodes_per_leaf = 8, leaves = 8, spines = 8 }\n\
                nic = { packet_flits = 8, vc_choice = \"rotation\", delivery = \"in-order\" }\ntraffic = { load = 0.2 }\n";
    shows("explain-clos", text, &["explain", "scenario.toml"]);
}

#[test]
fn a_switch_is_explained() {
    let text = with("{ single-switch = { nodes = 5 } }", "direct");
    shows("explain-single-switch", &text, &["explain", "scenario.toml", "--set", "clock.cycle=0.8 ns"]);
}

#[test]
fn a_scenario_is_explained_for_programs() {
    let said = Program::new().good(&["explain", "small.toml", "--format", "json"]);
    let explained: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    assert_eq!(explained["nodes"], 72);
    let ways = explained["zero_load"].as_array().expect("it is a list");
    for way in ways {
        let parts = ["injection", "routers", "links", "ejection", "serialization"];
        let sum: f64 = parts.iter().map(|part| way[part].as_f64().expect("it is a number")).sum();
        assert_eq!(Some(sum), way["total"].as_f64(), "{way}");
    }
}

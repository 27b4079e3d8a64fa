//! Texts that ask for more than anybody has: they are refused before the work is done, with the number.
//!
//! A text that got through would take gigabytes, or longer than a test may run.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tailback_scenario::{Axis, Bounded, Bounds, Diagnostics, Document, Excess, Sweep, Variant};

use crate::SMALL;

/// A section with so many lines.
fn section(head: &str, lines: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = format!("{SMALL}{head}\n");
    (0..lines).for_each(|index| writeln!(text, "{}", line(index)).expect("a text takes everything"));
    text
}

/// What a service allows, about.
const BOUNDS: Bounds = Bounds {
    nodes: 1000,
    listed_nodes: 1000,
    group_pairs: 1000,
    set_values: 20_000,
    program_steps: 1000,
    path_states: 1000,
    text_bytes: 1000,
};

fn refuse(text: &str, overrides: &[&str]) -> Diagnostics {
    let document = Document::read("test.toml", text).within(BOUNDS);
    match overrides.iter().fold(document, |document, set| document.with(set)).resolve() {
        Ok(_) => panic!("it was accepted"),
        Err(refused) => refused,
    }
}

fn excess(text: &str, overrides: &[&str]) -> (Bounded, u64) {
    let Excess { what, asked, allowed } = refuse(text, overrides).excess.expect("it asks for too much");
    assert_eq!(allowed, 1000);
    (what, asked)
}

#[test]
fn large_networks_are_counted_and_not_built() {
    let tree =
        "routing = \"nearest-common-ancestor\"\n[topology.k-ary-n-tree]\nk = 128\nn = 4\n[[traffic]]\nload = 0.1\n";
    assert_eq!(excess(tree, &[]), (Bounded::Nodes, 1 << 28));
    let said = refuse(tree, &[]).to_string();
    assert_eq!(said, "test.toml:2:2: the network has 268435456 nodes, the limit is 1000");
    // A network of few nodes can have many routers.
    let wide = "routing = \"nearest-common-ancestor\"\n[topology.fat-tree]\nchildren = [2, 1, 1, 1]\n\
                parents = [200, 200, 200]\nparallel = [1, 1, 1]\n[[traffic]]\nload = 0.1\n";
    assert_eq!(excess(wide, &[]), (Bounded::Routers, 8_040_201));
    // And few of both many groups, with links between each two.
    assert_eq!(
        excess(SMALL, &["topology.dragonfly={ p = 1, a = 2, h = 100, g = 201 }"]),
        (Bounded::GroupPairs, 40_401)
    );
    assert!(Document::read("test.toml", SMALL).within(BOUNDS).resolve().is_ok());
}

/// Whether a cycle of channels is real is known when all paths have been followed: of 36 routers these are many, and of the largest networks more than
/// memory has room for.
#[test]
fn paths_are_followed_so_far_and_no_further() {
    let shared = ["routing={ minimal = { vcs = \"l0 g0 l0\" } }"];
    assert_eq!(excess(SMALL, &shared), (Bounded::PathStates, 1001));
    let said = refuse(SMALL, &shared).to_string();
    assert!(said.contains("is known after 1001 states of packets on their paths or more, the limit is 1000"), "{said}");
    let document = Document::read("test.toml", SMALL).with(shared[0]);
    let said = document.resolve().expect_err("there is a circle").to_string();
    assert!(said.contains("can wait for each other in a circle"), "{said}");
}

/// Whoever reads for a client asks whether that is still there, and is asked at each step.
#[test]
fn what_nobody_waits_for_is_not_read_to_the_end() {
    let text = format!("{SMALL}[nodes]\nsome = {{ outside = [3] }}\n");
    let resolved_with = |asks_max: u32| {
        let asks = Arc::new(AtomicU32::new(0));
        let asked = asks.clone();
        let wanted = move || asked.fetch_add(1, Ordering::Relaxed) < asks_max;
        let resolved = Document::read("test.toml", &text).while_wanted(wanted).resolve();
        (resolved, asks.load(Ordering::Relaxed))
    };
    let (resolved, steps) = resolved_with(u32::MAX);
    assert!(resolved.is_ok() && steps > 5, "{steps} steps");
    for asks_max in 0..steps {
        let (resolved, asked) = resolved_with(asks_max);
        let refused = resolved.expect_err("nobody waits for it");
        assert!(refused.list.is_empty() && refused.excess.is_none(), "{refused}");
        // A set of nodes that is not read, the step behind it, and the end.
        assert!(asked <= asks_max + 3, "{asked} steps instead of {asks_max}");
    }
}

#[test]
fn sets_of_nodes_are_listed_so_often_and_no_more() {
    // Nodes that follow each other cost nothing, however often they are named.
    let many = section("[nodes]", 1000, |index| format!("s{index} = \"all\""));
    assert!(Document::read("test.toml", &many).within(BOUNDS).resolve().is_ok());
    for set in [
        "{ random = 2, outside = { any = [\"all\", \"0..2\"] } }",
        "{ outside = { outside = { outside = { outside = [1] } } } }",
        "{ any = [\"gaps\", \"gaps\", \"gaps\", \"gaps\"] }",
        "{ groups = [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8] }",
    ] {
        let sets = section("[nodes]\ngaps = { outside = [3] }", 16, |index| format!("s{index} = {set}"));
        assert_eq!(excess(&sets, &[]).0, Bounded::ListedNodes, "{set}");
    }
    // So do flows, phases and patterns that have a destination for each node.
    let phases = (1..20).map(|index| format!("{{ from = {index}, load = 0.1 }}")).collect::<Vec<_>>().join(", ");
    let permutation = ["traffic.pattern=permutation".to_owned(), format!("traffic.phases=[{phases}]")];
    assert_eq!(excess(SMALL, &permutation.each_ref().map(String::as_str)).0, Bounded::ListedNodes);
    let flows = "\n[[traffic]]\nload = 0\nfrom = \"gaps\"\n".repeat(20);
    let gaps = format!("{SMALL}{flows}[nodes]\ngaps = {{ outside = [3] }}\n");
    assert_eq!(excess(&gaps, &[]).0, Bounded::ListedNodes);
}

#[test]
fn sets_phases_and_titles_are_so_many_and_no_longer() {
    let sets = section("[nodes]", 2000, |index| format!("s{index} = [1]"));
    let said = refuse(&sets, &[]).to_string();
    assert!(said.contains("there are 2000 sets of nodes, the limit is 1024"), "{said}");
    let phases = (1..2000).map(|index| format!("{{ from = {index}, load = 0.1 }}")).collect::<Vec<_>>().join(", ");
    let said = refuse(SMALL, &[&format!("traffic.phases=[{phases}]")]).to_string();
    assert!(said.contains("there are 1999 phases, the limit is 1024"), "{said}");
    let said = refuse(SMALL, &[&format!("title={}", "é".repeat(251))]).to_string();
    assert!(said.contains("the title has 251 characters, the limit is 250"), "{said}");
}

#[test]
fn paths_are_so_deep_and_no_deeper() {
    let path = vec!["a"; 8001].join(".");
    for document in [Document::read("test.toml", SMALL).with(&format!("{path}=1")), {
        let axis = Axis { path: path.clone(), values: vec!["1".to_owned()], origin: "--over" };
        let sweep = Sweep { axes: vec![axis], ..Sweep::default() };
        let base = Document::read("test.toml", SMALL);
        sweep.runs(&base).next().expect("there is one").document
    }] {
        let said = document.resolve().expect_err("it is too deep").to_string();
        assert!(said.contains("the path has 8001 keys, the limit is 32"), "{}", &said[said.len() - 200..]);
    }
    for deep in [format!("{path} = 1\n{SMALL}"), format!("{SMALL}[{path}]\n"), format!("x = {}\n", "[".repeat(9000))] {
        assert!(Document::read("test.toml", &deep).resolve().is_err());
    }
}

#[test]
fn overrides_set_so_much_and_no_more() {
    // A value for each element of a list, many times over.
    let flows = "\n[[traffic]]\nload = 0\n".repeat(1000);
    let value = format!("traffic.from=[{}]", vec!["1"; 10_000].join(", "));
    let refused = refuse(&format!("{SMALL}{flows}"), &[&value]);
    let Excess { what, asked, allowed } = refused.excess.expect("it asks for too much");
    assert!(what == Bounded::SetValues && asked > 20_000 && allowed == 20_000, "{asked}");
    assert!(refused.to_string().ends_with("values and more, the limit is 20000"));
}

#[test]
fn sweeps_are_counted_and_not_made() {
    let axis = |path: &str, count: usize| Axis {
        path: path.to_owned(),
        values: (0..count).map(|value| value.to_string()).collect(),
        origin: "--over",
    };
    let axes = |count: usize, values: usize| (0..count).map(|index| axis(&format!("a{index}"), values)).collect();
    let set = |bytes: usize| vec![Variant { name: "x".to_owned(), assignments: vec!["a".repeat(bytes)] }];
    let variants = |count: usize| {
        (0..count).map(|index| Variant { name: index.to_string(), assignments: Vec::new() }).collect::<Vec<_>>()
    };
    for (sweep, problem) in [
        (Sweep { axes: axes(5, 65_536), ..Sweep::default() }, "more runs than can be counted"),
        (Sweep { axes: axes(3, 100), ..Sweep::default() }, "the sweep has 1000000 runs, the limit is 100000"),
        (Sweep { axes: axes(65, 1), ..Sweep::default() }, "the sweep has 65 axes, the limit is 64"),
        (Sweep { variants: variants(1025), ..Sweep::default() }, "the sweep has 1025 variants, the limit is 1024"),
        (Sweep { variants: set(20_000), ..Sweep::default() }, "sets 20000 bytes, the limit is 16384"),
        (
            Sweep { axes: vec![Axis { values: vec!["1".repeat(5000)], ..axis("a", 1) }], ..Sweep::default() },
            "a value has 5000 bytes, the limit is 4096",
        ),
    ] {
        let told = sweep.problem().unwrap_or_default();
        assert!(told.contains(problem), "{told:?} and not {problem:?}");
    }
    let many = section("[sweep.over]", 5000, |index| format!("a{index} = \"1..99999\""));
    let said = Document::read("test.toml", &many).sweep().expect_err("they are too many").to_string();
    assert!(said.contains("the sweep has 9999800001 runs, the limit is 100000"), "{said}");
}

#[test]
fn of_many_mistakes_the_first_are_told() {
    let refused = refuse(&section("[router]", 100_000, |index| format!("k{index} = 1")), &[]);
    assert_eq!(refused.list.len(), 100);
    assert!(refused.untold + refused.list.len() >= 100_000, "{}", refused.untold);
    assert!(refused.to_string().ends_with("more"));
}

#[test]
fn of_a_long_text_one_mistake_is_told() {
    for (line, message) in [("= \n", "unquoted keys cannot be empty"), ("a = 1\n", "duplicate key")] {
        let refused = refuse(&format!("{SMALL}{}", line.repeat(100_000)), &[]);
        assert!(refused.list.len() == 1 && refused.untold == 0, "{refused}");
        assert!(refused.list[0].message.contains(message) && refused.list[0].span.is_some(), "{refused}");
        assert!(refused.to_string().ends_with("in texts above 16384 bytes one is told at a time"), "{refused}");
        let short = refuse(&format!("{SMALL}{}", line.repeat(2_000)), &[]);
        assert!(short.list.len() == 100 && short.untold > 1_500, "{}", short.untold);
    }
    let long = format!("{SMALL}# {}\n", "x".repeat(100_000));
    assert!(Document::read("test.toml", &long).within(BOUNDS).resolve().is_ok());
}

/// Large messages that are announced are counted by going through all steps: not if there are too many.
#[test]
fn steps_are_counted_before_they_are_gone_through() {
    let ring = |nodes: u32, eager: &str| {
        format!(
            "routing = \"direct\"\n[topology.single-switch]\nnodes = 200\n[[program]]\neager = {eager}\nrepeat = 1000000\n\
             collective.allreduce-ring = {{ nodes = \"0..{nodes}\", bytes = 1000 }}\n"
        )
    };
    assert_eq!(excess(&ring(200, "0"), &[]), (Bounded::ProgramSteps, 200 * 398));
    let few = Document::read("test.toml", &ring(10, "0")).within(BOUNDS).resolve();
    let messages = few.expect("it is a small program").workload.flows[0].messages();
    assert_eq!(messages, Some(1_000_000 * 10 * 18 * 3));
    assert!(Document::read("test.toml", &ring(200, "\"all\"")).within(BOUNDS).resolve().is_ok(), "nothing is counted");
}

/// Room for the ranks of a schedule is made when it says how many there are: no more than there are nodes.
#[test]
fn a_schedule_has_no_more_ranks_than_there_are_nodes() {
    let text = "routing = \"direct\"\n[topology.single-switch]\nnodes = 8\n[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\n\
                goal.text = \"num_ranks 16000000\\nrank 0 {\\n}\"\n";
    let said = Document::read("test.toml", text).within(BOUNDS).resolve().expect_err("it has too many").to_string();
    assert!(said.contains("16000000 ranks are declared: a schedule has 1 to 8"), "{said}");
}

//! Programs: how long they take by formulas, that they end, and what is said of those that do not.

use proptest::prelude::*;
use tailback_report::{ProgramFigures, Report};

use crate::scenarios::{report_of, resolve_text};

fn report_on(text: &str, threads: usize) -> Report {
    report_of(&resolve_text(text), threads)
}

fn program<'r>(report: &'r Report, name: &str) -> &'r ProgramFigures {
    report.programs.iter().find(|program| program.name == name).expect("there is such a program")
}

const SWITCH: &str = "routing = \"direct\"\n[topology.single-switch]\nnodes = 16\n";
const DRAGONFLY: &str = "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n\
                         [links.global]\nlatency = 30\nbuffer = 200\n";
const TREE: &str = "routing = \"nearest-common-ancestor\"\n[topology.k-ary-n-tree]\nk = 4\nn = 3\n";
const DRAINED: &str = "[measure]\nwarmup = 0\ncycles = 1000000\nuntil = \"drained\"\n";

/// What a message of so many flits takes from a node to another in an empty network.
fn alone(network: &str, from: u32, to: u32, flits: u32) -> f64 {
    let report = report_on(
        &format!(
            "{network}[[traffic]]\nfrom = [{from}]\nat = [0]\nsize = {flits}\npattern.hot-spot.to = [{to}]\n{DRAINED}"
        ),
        1,
    );
    report.total.completions.and_then(|completions| completions.completion.max).expect("it arrives")
}

fn run_program(network: &str, what: &str) -> Report {
    report_on(&format!("{network}[[program]]\nname = \"it\"\n{what}\n{DRAINED}"), 1)
}

/// On a switch all ranks of a ring are in step: 2 (n - 1) times what a message with a share takes.
#[test]
fn a_ring_on_a_switch_takes_its_steps_one_after_the_other() {
    for (ranks, flits) in [(2, 8), (3, 30), (8, 1024), (16, 4096)] {
        let share = alone(SWITCH, 0, 1, flits / ranks);
        let what = format!("collective.allreduce-ring = {{ nodes = \"0..{ranks}\", bytes = {flits} }}");
        let report = run_program(SWITCH, &what);
        let it = program(&report, "it");
        let steps = f64::from(2 * (ranks - 1));
        assert_eq!((it.completed, it.completion_cycles), (true, Some(steps * share)), "{ranks} ranks, {flits} flits");
        assert_eq!(it.rank_cycles.min, it.rank_cycles.max, "all are in step");
        assert_eq!(it.phases[0].completion_cycles, Some(steps / 2.0 * share), "half of it scatters");
        assert_eq!(report.flow("it").and_then(|flow| flow.program_cycles), it.completion_cycles);
    }
}

/// In a dragonfly what a rank sends in a step it has received in the one before: so a rank is done after the latencies of the links of the
/// ring that lead to it, from 2 (n - 1) ranks back. The longest of these sums is what the program takes.
#[test]
fn a_ring_in_a_dragonfly_takes_the_slowest_way_around() {
    let flits = 4;
    let nodes = [0u32, 1, 5, 40, 17, 71];
    let ranks = nodes.len();
    let share = |rank: usize| alone(DRAGONFLY, nodes[rank], nodes[(rank + 1) % ranks], flits);
    let latencies: Vec<f64> = (0..ranks).map(share).collect();
    // A rank sends step k when it has received step k - 1 and has begun step k - 1 itself.
    let mut begun = vec![0.0; ranks];
    for _ in 0..2 * (ranks - 1) {
        begun = (0..ranks)
            .map(|rank| {
                let before = (rank + ranks - 1) % ranks;
                f64::max(begun[rank], begun[before] + latencies[before])
            })
            .collect();
    }
    let expected = begun.into_iter().reduce(f64::max);
    let mut sorted = nodes;
    sorted.sort_unstable();
    let report = run_program(
        DRAGONFLY,
        &format!(
            "collective.allreduce-ring = {{ nodes = {sorted:?}, bytes = {} }}\nmap = {nodes:?}",
            flits as usize * ranks
        ),
    );
    assert_eq!(program(&report, "it").completion_cycles, expected);
    assert_eq!(report.flow("it").and_then(|flow| flow.completions.as_ref()?.slowdown.max), Some(1.0));
}

/// A barrier of n ranks is ⌈log₂ n⌉ rounds, a broadcast as many messages one after the other.
#[test]
fn barriers_and_broadcasts_take_their_rounds() {
    let flit = alone(SWITCH, 0, 1, 1);
    for (ranks, rounds) in [(2, 1.0), (3, 2.0), (8, 3.0), (16, 4.0)] {
        let barrier = run_program(SWITCH, &format!("collective.barrier.nodes = \"0..{ranks}\""));
        assert_eq!(program(&barrier, "it").completion_cycles, Some(rounds * flit), "{ranks} ranks");
    }
    let two = run_program(SWITCH, "collective.broadcast = { nodes = \"0..2\", bytes = 100 }");
    assert_eq!(program(&two, "it").completion_cycles, Some(alone(SWITCH, 0, 1, 100)));
}

/// What a rank has announced it sends when it has been answered: two messages of a flit and the message, one after the other.
#[test]
fn a_large_message_takes_two_small_ones_before_it() {
    let what = "collective.broadcast = { nodes = \"0..2\", bytes = 100 }\neager = ";
    let (flit, data) = (alone(SWITCH, 0, 1, 1), alone(SWITCH, 0, 1, 100));
    let eager = run_program(SWITCH, &format!("{what}100"));
    assert_eq!(program(&eager, "it").completion_cycles, Some(data));
    let announced = run_program(SWITCH, &format!("{what}99"));
    assert_eq!(program(&announced, "it").completion_cycles, Some(2.0 * flit + data));
    assert_eq!(announced.total.messages.delivered, 3);
}

/// A program begins when it says so, and is timed from there.
#[test]
fn a_program_starts_when_it_says() {
    let what = "collective.barrier.nodes = \"0..8\"";
    let at_once = run_program(SWITCH, what);
    let later = run_program(SWITCH, &format!("{what}\nstart = 700"));
    assert_eq!(program(&later, "it").completion_cycles, program(&at_once, "it").completion_cycles);
    assert_eq!((at_once.cycles.measured, later.cycles.measured), (100, 800));
}

/// Ranks that combine what they get take the time for it.
#[test]
fn ranks_that_compute_are_done_later() {
    let ring = "collective.allreduce-ring = { nodes = \"0..4\", bytes = 400";
    let cycles = |more: &str| program(&run_program(SWITCH, &format!("{ring}{more} }}")), "it").completion_cycles;
    // Three shares of 100 flits are combined with 10 flits per cycle.
    assert_eq!(cycles(", reduce = 10.0"), cycles("").map(|cycles| cycles + 30.0));
}

/// A program whose cycles are over is not complete, and it is said what its ranks wait for.
#[test]
fn what_is_not_done_is_told() {
    let text = format!(
        "{SWITCH}[[program]]\nname = \"it\"\ncollective.allreduce-ring.bytes = 1600\n[measure]\nwarmup = 0\ncycles = 500\n"
    );
    let report = report_on(&text, 1);
    let it = program(&report, "it");
    assert_eq!((it.completed, it.completion_cycles, it.unfinished), (false, None, 16));
    let notes = report.notes.join("\n");
    assert!(notes.contains("program `it`: 16 of 16 ranks are not done before cycle 500"), "{notes}");
    assert!(notes.contains("program `it`: rank 0 waits for a message with tag"), "{notes}");
}

/// A clock in which a flit of 64 bytes takes a cycle of 2 ns.
const CLOCK: &str = "[clock]\nflit = \"64 B\"\ncycle = \"2 ns\"\n";

/// A schedule on a switch, with what else its program says.
fn run_schedule(schedule: &str, more: &str) -> Report {
    let text =
        format!("{SWITCH}{CLOCK}[[program]]\nname = \"it\"\n{more}\ngoal.text = \"\"\"\n{schedule}\"\"\"\n{DRAINED}");
    report_on(&text, 1)
}

/// The schedule of the format's description: rank 0 computes and sends 8 bytes, which rank 1 waits for.
const TWO_RANKS: &str = "num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 5\nb requires a\n}\n\
                         rank 1 {\nc: recv 8b from 0 tag 5\n}\n";

#[test]
fn a_schedule_takes_what_one_adds_up_by_hand() {
    let flit = alone(SWITCH, 0, 1, 1);
    let computed = 100.0 / 2.0;
    let without = run_schedule(TWO_RANKS, "");
    let it = program(&without, "it");
    assert_eq!((it.completion_cycles, it.rank_cycles.min), (Some(computed + flit), Some(computed)));
    assert_eq!(it.completion_ns, it.completion_cycles.map(|cycles| 2.0 * cycles));
    // 30 cycles to hand the message over, and 30 to take it in.
    let with = run_schedule(TWO_RANKS, "overhead = \"60 ns\"");
    let it = program(&with, "it");
    assert_eq!((it.completion_cycles, it.rank_cycles.min), (Some(computed + 60.0 + flit), Some(computed + 30.0)));
}

/// Operations of one processor exclude each other, those of two do not; what waits for a start does not wait for an end.
#[test]
fn processors_do_one_thing_at_a_time() {
    let cycles = |operations: &str| {
        let report = run_schedule(&format!("num_ranks 2\nrank 0 {{\n{operations}}}\nrank 1 {{\n}}\n"), "");
        program(&report, "it").completion_cycles
    };
    assert_eq!(cycles("a: calc 200\nb: calc 100\n"), Some(150.0));
    assert_eq!(cycles("a: calc 200\nb: calc 100 cpu 1\n"), Some(100.0));
    assert_eq!(cycles("a: calc 200\nb: calc 100 cpu 1\nb requires a\n"), Some(150.0));
    assert_eq!(cycles("a: calc 200\nb: calc 100 cpu 1\nb irequires a\n"), Some(100.0));
    assert_eq!(cycles("a: send 64b to 0 tag 1\nb: recv 64b from 0 tag 1\nc: calc 20\nc requires b\n"), Some(10.0));
}

/// A receive of anything takes what comes first, and ranks that send each other something they first want to receive never end.
#[test]
fn a_schedule_that_never_ends_is_named() {
    let wild = "num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n}\n\
                rank 1 {\nc: send 8b to 0 tag 1\n}\nrank 2 {\nd: send 8b to 0 tag 2\n}\n";
    assert!(program(&run_schedule(wild, ""), "it").completed);
    let circle = "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 0\nb: send 8b to 1 tag 0\nb requires a\n}\n\
                  rank 1 {\na: recv 8b from 0 tag 0\nb: send 8b to 0 tag 0\nb requires a\n}\n";
    let report = run_schedule(circle, "");
    let it = program(&report, "it");
    assert_eq!((it.completed, it.unfinished), (false, 2));
    let expected = "program `it` never ends: rank 0 waits for a message with tag 0 from rank 1, rank 1 waits for a message \
                    with tag 0 from rank 0, rank 0 waits already: they wait in a circle";
    assert!(report.notes.iter().any(|note| note == expected), "{:?}", report.notes);
}

/// Computing that takes longer than all time there is ends no program, and the run ends as it is to.
#[test]
fn computing_for_ever_is_told() {
    let told = |report: &Report| {
        assert!(!program(report, "it").completed);
        report.notes.iter().find(|note| note.starts_with("program `it` never ends: ")).cloned()
    };
    let schedule = "num_ranks 2\nrank 0 {\na: calc 5\nb: calc 18446744073709551615\nb requires a\n}\nrank 1 {\n}\n";
    let note = told(&run_schedule(schedule, ""));
    assert_eq!(note.as_deref(), Some("program `it` never ends: rank 0 waits for its own computing"));
    for flits_per_cycle in ["6.9e-18", "1e-300"] {
        let what =
            format!("collective.allreduce-ring = {{ nodes = \"0..4\", bytes = 400, reduce = {flits_per_cycle} }}");
        let report = run_program(SWITCH, &what);
        assert!(told(&report).is_some(), "{:?}", report.notes);
    }
}

/// Two ranks that both send first end if messages are small, and wait for each other's receives if they are announced.
#[test]
fn large_messages_wait_for_their_receivers() {
    let blocking = |rank: u32, other: u32| {
        format!("rank {rank} {{\na: send 6400b to {other} tag 0\nb: recv 6400b from {other} tag 0\nb requires a\n}}\n")
    };
    let schedule = format!("num_ranks 2\n{}{}", blocking(0, 1), blocking(1, 0));
    assert!(program(&run_schedule(&schedule, "eager = 100"), "it").completed);
    let report = run_schedule(&schedule, "eager = 99");
    assert!(!program(&report, "it").completed);
    assert!(report.notes.iter().any(|note| note.contains("waits for rank 1 to receive a message with tag 0")));
}

/// Messages between ranks of a node do not cross the network: each takes what the program says, and is none of the flow's.
#[test]
fn messages_within_a_node_take_what_is_said() {
    let cycles = |ranks_per_node: u32, more: &str| {
        let report = run_schedule(TWO_RANKS, &format!("ranks_per_node = {ranks_per_node}\n{more}"));
        let flow = report.flow("it").and_then(|flow| flow.completions.clone()).expect("it ends");
        (program(&report, "it").completion_cycles, flow.count)
    };
    let apart = cycles(1, "");
    assert_eq!(cycles(2, "map = [3, 4]"), apart, "they run on nodes of their own");
    assert_eq!(apart.1, 1);
    assert_eq!(cycles(2, ""), (Some(50.0), 0), "nothing crosses the network, and nothing takes time");
    assert_eq!(cycles(2, "local_latency = \"10 ns\""), (Some(55.0), 0));
    assert_eq!(cycles(2, "local_latency = \"10 ns\"\nlocal_rate = 0.5"), (Some(57.0), 0), "and two for a flit");
    let announced = cycles(2, "local_latency = \"10 ns\"\nlocal_rate = 0.5\neager = 0");
    assert_eq!(announced, (Some(71.0), 0), "the announcement and its answer take as long as any message");
    let of_both = cycles(2, "map = [3, 3]\nlocal_latency = \"10 ns\"\noverhead = \"60 ns\"");
    assert_eq!(of_both, (Some(115.0), 0), "processors take as long as for other messages");
}

/// Eight ranks on two nodes: of the ring's messages those from a node to the other cross the network, all else is copied.
#[test]
fn a_ring_crosses_the_network_where_its_nodes_end() {
    let what = "collective.allreduce-ring = { nodes = [0, 1], bytes = 8 }\nranks_per_node = 4";
    for (map, crossing) in [("linear", 2), ("round-robin", 8)] {
        let report = run_program(SWITCH, &format!("{what}\nmap = \"{map}\""));
        let flow = report.flow("it").and_then(|flow| flow.completions.clone()).expect("it ends");
        assert_eq!((flow.count, flow.unfinished), (14 * crossing, 0), "{map}");
        assert!(program(&report, "it").completed);
    }
    let copied = run_program(SWITCH, &format!("{}\nlocal_latency = 7\nlocal_rate = 1", what.replace("[0, 1]", "[0]")));
    let steps = 2.0 * 3.0;
    assert_eq!(program(&copied, "it").completion_cycles, Some(steps * (7.0 + 2.0)), "shares of two flits");
}

/// A list of messages is sent as it says, in cycles or with units, and waits for nothing.
#[test]
fn a_list_of_messages_is_sent_as_it_says() {
    let list = |rows: &str| {
        format!(
            "{SWITCH}{CLOCK}[[program]]\nname = \"it\"\nmap = [5, 9, 7]\nmessages.text = \"\"\"\n{rows}\"\"\"\n{DRAINED}"
        )
    };
    let report =
        report_on(&list("time,source,destination,bytes,tag\n10,0,1,640,3\n100 ns,2,0,64 B,4\n0,1,2,1 KiB,5\n"), 1);
    let flow = report.flow("it").and_then(|flow| flow.completions.clone()).expect("it ends");
    assert_eq!((flow.count, flow.unfinished, flow.slowdown.max), (3, 0, Some(1.0)));
    // The last that arrives is created after 100 ns, which are 50 cycles.
    let it = program(&report, "it");
    assert_eq!((it.ranks, it.completion_cycles), (3, Some(50.0 + alone(SWITCH, 7, 5, 1))));
    let in_flits = report_on(&list("destination,source,flits,time\n1,0,10,10\n0,2,1,50\n2,1,16,0\n"), 1);
    assert_eq!(in_flits.result_digest, report.result_digest);
}

/// Any schedule in which what waits for each other is in no circle ends, and is the same on any threads and regions.
fn schedules() -> impl Strategy<Value = String> {
    let operation = (0u32..6, 0u32..6, 1u32..2000, 0u32..3, any::<[u8; 2]>(), 0u32..300);
    prop::collection::vec(operation, 1..60).prop_map(|operations| {
        let mut ranks: Vec<(Vec<String>, Vec<String>)> = vec![Default::default(); 6];
        for (number, (from, to, bytes, tag, [one, other], nanoseconds)) in operations.into_iter().enumerate() {
            // What an operation waits for stands before it, in its rank and, as its message is of this place, in all others.
            let mut add = |rank: u32, what: String, draw: u8| {
                let (lines, labels) = &mut ranks[rank as usize];
                let label = format!("l{number}x{}", labels.len());
                lines.push(format!("{label}: {what}"));
                if draw > 80
                    && let Some(before) = labels.get(usize::from(draw) % labels.len().max(1))
                {
                    lines.push(format!(
                        "{label} {} {before}",
                        if draw.is_multiple_of(2) { "requires" } else { "irequires" }
                    ));
                }
                labels.push(label);
            };
            add(from, format!("calc {nanoseconds} cpu {}", one % 2), other);
            // Messages between two ranks have tags of their own, so that their order says nothing.
            let tag = tag + 3 * number as u32;
            add(from, format!("send {bytes}b to {to} tag {tag}"), one);
            add(
                to,
                format!(
                    "recv {bytes}b from {} tag {tag}",
                    if one % 5 == 0 { "-1".to_owned() } else { from.to_string() }
                ),
                other,
            );
        }
        let rank = |(rank, (lines, _)): (usize, (Vec<String>, Vec<String>))| {
            format!("rank {rank} {{\n{}\n}}\n", lines.join("\n"))
        };
        format!("num_ranks 6\n{}", ranks.into_iter().enumerate().map(rank).collect::<String>())
    })
}

/// All protocols and routings that a program may run on, and the collectives.
fn drawn() -> impl Strategy<Value = String> {
    let networks = [
        SWITCH.to_owned(),
        DRAGONFLY.to_owned(),
        DRAGONFLY.replace("minimal", "olm"),
        DRAGONFLY.replace("minimal", "piggyback"),
        TREE.to_owned(),
    ];
    let names: Vec<&str> = tailback_programs::COLLECTIVES
        .iter()
        .filter(|model| model.parameters.iter().any(|parameter| parameter.name == "bytes"))
        .map(|model| model.name)
        .collect();
    let protocols = ["baseline", "srp", "smsrp", "lhrp", "ecn"];
    (
        prop::sample::select(networks.to_vec()),
        prop::sample::select(names),
        prop::sample::select(protocols.to_vec()),
        2u32..=16,
        1u32..200,
        prop::sample::select(vec!["\"all\"", "0", "20"]),
        (prop::sample::select(vec!["linear", "random", "round-robin"]), 1u32..5, 0u32..9),
    )
        .prop_map(|(network, name, protocol, ranks, flits, eager, (map, per_node, latency))| {
            format!(
                "protocol = \"{protocol}\"\n{network}[[program]]\nname = \"it\"\ncollective.{name} = {{ nodes = \"0..{ranks}\", \
                 bytes = {flits} }}\neager = {eager}\nmap = \"{map}\"\nranks_per_node = {per_node}\nlocal_latency = {latency}\n\
                 [[traffic]]\nload = 0.1\n{DRAINED}"
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Every program ends, on any network and under any protocol, and its result is the same on any number of threads and regions.
    #[test]
    fn every_program_ends(text in drawn()) {
        let report = report_on(&text, 1);
        prop_assert!(program(&report, "it").completed, "{:?}", report.notes);
        let flow = report.flow("it").and_then(|flow| flow.completions.as_ref()).expect("it ends");
        prop_assert_eq!(flow.unfinished, 0);
        let apart = report_on(&format!("{text}[execution]\npartition = \"router\"\n"), 2);
        prop_assert_eq!(report.result_digest, apart.result_digest);
    }

    #[test]
    fn every_schedule_without_circles_ends(
        schedule in schedules(),
        eager in prop::sample::select(vec!["\"all\"", "0", "10"]),
        overhead in 0u32..20,
        per_node in 1u32..4,
    ) {
        let text = format!(
            "{DRAGONFLY}{CLOCK}[[program]]\nname = \"it\"\nmap = \"random\"\neager = {eager}\noverhead = {overhead}\n\
             ranks_per_node = {per_node}\n\
             goal.text = \"\"\"\n{schedule}\"\"\"\n{DRAINED}"
        );
        let report = report_on(&text, 1);
        prop_assert!(program(&report, "it").completed, "{:?}\n{schedule}", report.notes);
        let apart = report_on(&format!("{text}[execution]\npartition = \"router\"\n"), 2);
        prop_assert_eq!(report.result_digest, apart.result_digest);
    }
}

//! Flows that end: when they are done, how that compares with an empty network, and that a run ends with them.

use std::ops::ControlFlow;

use tailback_report::{Completions, Report};
use tailback_sim::{Run, Timing};

use crate::scenarios::{findings_of, report_of, resolve_text};

fn report(text: &str) -> Report {
    report_of(&resolve_text(text), 1)
}

fn completions<'r>(report: &'r Report, flow: &str) -> &'r Completions {
    report.flow(flow).and_then(|figures| figures.completions.as_ref()).expect("the flow ends")
}

/// One message in an otherwise empty network, to node 0 from another, of so many flits.
fn alone(network: &str, from: u32, flits: u32) -> Report {
    report(&format!(
        "{network}\n[[traffic]]\nfrom = [{from}]\nat = [37]\nsize = {flits}\npattern.hot-spot.to = [0]\n\
         [measure]\nwarmup = 0\ncycles = 100000\nuntil = \"drained\"\n"
    ))
}

const SWITCH: &str = "routing = \"direct\"\n[topology.single-switch]\nnodes = 17";
const DRAGONFLY: &str = "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n\
                         [links.global]\nlatency = 30\nbuffer = 200";
const TREE: &str = "routing = \"nearest-common-ancestor\"\n[topology.k-ary-n-tree]\nk = 4\nn = 3";
/// On a minimal path it takes what the formula says: the slowdown is exactly 1.
#[test]
fn a_message_alone_is_as_fast_as_in_an_empty_network() {
    for network in [SWITCH, DRAGONFLY, TREE] {
        for (from, flits) in [(1, 1), (2, 8), (9, 20), (16, 1000)] {
            let report = alone(network, from, flits);
            let found = completions(&report, "traffic");
            assert_eq!((found.count, found.unfinished), (1, 0));
            assert_eq!(found.slowdown.max, Some(1.0), "{flits} flits from node {from}:\n{network}");
            assert_eq!(found.completion_cycles, found.completion.max);
        }
    }
}

/// Clusters are joined by several channels, and packets take any: what is nearest is what they are compared with.
#[test]
fn no_channel_between_clusters_makes_a_message_faster_than_in_an_empty_network() {
    let report = report(
        "routing = \"cluster-ring\"
        [topology.multi-cluster]
        clusters = 3
        nodes_per_leaf = 2
        leaves = 4
        spines = 2
        channels = 2
        [[traffic]]
        from = [0]
        at = [0, 500, 1000, 1500, 2000, 2500, 3000, 3500]
        size = 8
        pattern.hot-spot.to = [8]
        [measure]
        warmup = 0
        cycles = 10000
        until = \"drained\"",
    );
    let slowdown = &completions(&report, "traffic").slowdown;
    assert_eq!(slowdown.min, Some(1.0));
    assert!(slowdown.max > Some(1.2), "some take a channel that is farther away");
}

/// A detour is a slowdown: it is minimal paths that messages are compared with, whatever routing takes.
#[test]
fn a_detour_slows_a_message_down() {
    let report = alone(&DRAGONFLY.replace("minimal", "valiant"), 30, 8);
    assert!(completions(&report, "traffic").slowdown.max > Some(1.1));
}

/// What links have been granted and not sent when a run ends that is drained does not count.
#[test]
fn links_of_a_drained_run_are_as_busy_as_in_one_that_was_to_be_as_long() {
    let run = |measure: &str| {
        report(&format!(
            "routing = \"direct\"\n[topology.single-switch]\nnodes = 8\n[nic]\nqueue_limit = 4\npacket_flits = 32\n\
             [[traffic]]\nname = \"hot\"\nfrom = \"1..7\"\nload = 1\npattern.hot-spot.to = [0]\nsaturates = true\n\
             [[traffic]]\nname = \"few\"\nfrom = [7]\nat = [20]\nsize = 64\npattern.hot-spot.to = [6]\n\
             [measure]\nwarmup = 0\n{measure}\n"
        ))
    };
    let drained = run("cycles = 50000\nuntil = \"drained\"");
    let planned = run(&format!("cycles = {}", drained.cycles.measured));
    assert!(drained.cycles.measured < 50000);
    assert!(drained.links.iter().all(|links| links.max <= 1.0), "{:?}", drained.links);
    assert_eq!(drained.links, planned.links);
    assert_eq!(drained.hot_nodes, planned.hot_nodes);
}

/// `n` sources send at once what the link to one node can only take one after the other: the last flit arrives as many cycles after the
/// first as there are flits before it.
#[test]
fn the_last_byte_of_an_incast_arrives_when_the_link_to_its_node_has_carried_all() {
    for sources in [1, 2, 7, 16] {
        for flits in [8, 24, 800] {
            let first = completions(&alone(SWITCH, 1, 1), "traffic").completion.max.expect("it arrives");
            let text = format!(
                "{SWITCH}\n[[traffic]]\nname = \"incast\"\nfrom = \"1..{}\"\nat = [0]\nsize = {flits}\n\
                 pattern.hot-spot.to = [0]\n[measure]\nwarmup = 0\ncycles = 1000000\nuntil = \"drained\"\n",
                sources + 1
            );
            let report = report(&text);
            let done_in = completions(&report, "incast").completion_cycles.expect("all have arrived");
            assert_eq!(done_in, first + f64::from(sources * flits - 1), "{sources} sources of {flits} flits");
        }
    }
}

/// All that a flow says it sends is sent, and the run is over soon after the last of it has arrived, whatever else goes on.
#[test]
fn a_run_ends_when_the_flows_have_ended_that_do() {
    let report = report(&format!(
        "{DRAGONFLY}\n[[traffic]]\nname = \"around\"\nload = 0.3\n\
         [[traffic]]\nname = \"counted\"\nload = 0.2\ncount = 12\nstart = 500\nsize = 16\n\
         [measure]\nwarmup = 100\ncycles = 1000000\nuntil = \"drained\"\n"
    ));
    let found = completions(&report, "counted");
    assert_eq!((found.count, found.unfinished), (72 * 12, 0));
    let end = (report.cycles.warmup + report.cycles.measured) as f64;
    let done_in = found.completion_cycles.expect("all have arrived");
    assert!((500.0 + done_in..800.0 + done_in).contains(&end), "done in {done_in}, and over in cycle {end}");
    assert_eq!(report.interrupted, None);
    assert!(!report.result_digest.is_empty());
    assert!(report.flow("around").is_some_and(|around| around.completions.is_none()));
    // Together they have what the one has that ends.
    assert_eq!(report.total.completions.as_ref(), Some(found));
}

#[test]
fn what_has_not_arrived_in_the_cycles_that_there_are_is_told() {
    let report = report(&format!(
        "{SWITCH}\n[[traffic]]\nname = \"incast\"\nfrom = \"1..17\"\nat = [0]\nsize = 100\npattern.hot-spot.to = [0]\n\
         [measure]\nwarmup = 0\ncycles = 1595\nuntil = \"drained\"\n"
    ));
    let found = completions(&report, "incast");
    assert!(
        (1..16).contains(&found.unfinished) && found.completion_cycles.is_none(),
        "1600 flits do not arrive in 1595 cycles"
    );
    // A message counts as a whole until its last flit has arrived.
    assert_eq!(found.unfinished_flits, Some(100 * found.unfinished));
    let flits = 100 * found.unfinished;
    let note = format!(
        "flow `incast`: {} of 16 messages have not arrived before cycle 1595, a backlog of {flits} flits",
        found.unfinished
    );
    assert_eq!(report.notes, [note]);
}

/// Messages that are lost at their sources are not waited for.
#[test]
fn lost_messages_end_nothing_and_hold_nothing_up() {
    let report = report(&format!(
        "{SWITCH}\n[nic]\nqueue_limit = 3\n[[traffic]]\nname = \"incast\"\nfrom = \"1..17\"\nload = 0.9\ncount = 50\n\
         pattern.hot-spot.to = [0]\n[measure]\nwarmup = 0\ncycles = 100000\nuntil = \"drained\"\n"
    ));
    let found = completions(&report, "incast");
    let lost = report.total.messages.lost;
    assert!(lost > 100, "{lost}");
    assert_eq!((found.count, found.unfinished), (16 * 50 - lost, 0));
    assert!(report.cycles.measured < 10_000);
}

/// When the network has fallen silent is nobody's business: a run that is taken up then, or whose warm-up is only over then, ends in the
/// next cycle that is a multiple of 100, as any other.
#[test]
fn a_run_that_is_taken_up_in_silence_ends_where_it_would_have_ended() {
    let text = |warmup: u64| {
        format!(
            "{SWITCH}\n[[traffic]]\nname = \"incast\"\nfrom = \"1..17\"\nat = [0]\nsize = 8\npattern.hot-spot.to = [0]\n\
             [measure]\nwarmup = {warmup}\ncycles = 100000\nuntil = \"drained\"\n"
        )
    };
    assert_eq!(report(&text(0)).cycles.measured, 200);
    assert_eq!(report(&text(450)).cycles.measured, 50);
    let scenario = resolve_text(&text(0));
    let go_on = |_: &_| ControlFlow::Continue(());
    let mut first = Run::new(&scenario, 1).expect("it can be started");
    first.advance(150, go_on).expect("nothing goes wrong");
    let mut second = Run::new(&scenario, 1).expect("it can be started");
    second.load(&first.save().expect("it can be written")).expect("and read");
    second.finish(go_on).expect("nothing goes wrong");
    assert_eq!(second.findings().expect("everything adds up").reached, 200);
}

/// Each message of a flow that ends has a row, in the order of creation: what the report says of all is what they say.
#[test]
fn messages_are_written_down_one_by_one_if_asked_for() {
    let text = |listed: bool| {
        format!(
            "{DRAGONFLY}\n[[traffic]]\nname = \"around\"\nload = 0.1\n[[traffic]]\nname = \"counted\"\nload = 0.2\ncount = 3\n\
             [measure]\nwarmup = 100\ncycles = 100000\nuntil = \"drained\"\nmessages = {listed}\n"
        )
    };
    let run = |listed: bool, threads: usize| {
        let scenario = resolve_text(&text(listed));
        let findings = findings_of(&scenario, threads);
        (findings.messages(&scenario), findings.report(&scenario, "0", &Timing::default()))
    };
    let (none, plain) = run(false, 1);
    let (table, listed) = run(true, 1);
    assert_eq!((none, plain.result_digest), (None, listed.result_digest.clone()), "a list changes nothing");
    let table = table.expect("it is asked for");
    assert_eq!(Some(&table), run(true, 2).0.as_ref(), "however it is run");
    let numbers = |name: &str| {
        let column = table.column(name).expect("there is such a column");
        table.rows.iter().map(|row| row[column].number().expect("a number")).collect::<Vec<f64>>()
    };
    let found = completions(&listed, "counted");
    assert_eq!(table.rows.len() as u64, found.count);
    assert_eq!(numbers("completion").into_iter().reduce(f64::max), found.completion.max);
    let mean = numbers("slowdown").iter().sum::<f64>() / found.count as f64;
    assert!((mean - found.slowdown.mean.expect("they have arrived")).abs() < 1e-3, "thousandths are counted");
    assert!(numbers("created").is_sorted());
}

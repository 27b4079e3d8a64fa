//! Turns: of round-robin arbiters, for all packets together and for each priority, and of channels that share an output queue.

use std::ops::ControlFlow;

use tailback_scenario::Document;
use tailback_sim::{PacketChoice, Run};

use crate::scenarios::{report_of, resolve_text, resolve_with};

/// Control packets go first everywhere, and pauses are next to nothing.
const MARKS: &str = "[protocol.ecn]\nthreshold = 1\nincrement = 1\nlongest = 1\n";

/// What is accepted of each of some flows.
fn accepted<const N: usize>(text: &str, set: &[&str], flows: [&str; N]) -> [f64; N] {
    let report = report_of(&resolve_with(Document::read("test.toml", text), set), 1);
    flows.map(|flow| report.flow(flow).expect("it is there").accepted_load)
}

fn flow(name: &str, from: u32, to: u32) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nfrom = [{from}]\nload = 1\nsaturates = true\npattern.hot-spot.to = [{to}]\n"
    )
}

const MEASURE: &str = "[measure]\nwarmup = 2000\ncycles = 20000\n";
const BY_PRIORITY: &str = "router.turns_kept=by-priority";

fn are_alike(shares: &[f64]) -> bool {
    let (least, most) = shares.iter().fold((f64::MAX, 0.0_f64), |(least, most), &it| (least.min(it), most.max(it)));
    least > 0.95 * most
}

/// The first flow has more than `at_least` and leaves next to nothing to the others; with turns by priority all have as much.
fn starves_all_but_the_first_unless_by_priority<const N: usize>(text: &str, flows: [&str; N], at_least: f64) {
    let together = accepted(text, &[], flows);
    assert!(together[0] > at_least && together[1..].iter().all(|&it| it < 0.01), "{together:?}");
    let by_priority = accepted(text, &[BY_PRIORITY], flows);
    assert!(are_alike(&by_priority), "{by_priority:?}");
}

/// Of three nodes that send to one, two starve where acknowledgements for that one come in by the first port all the time.
#[test]
fn control_packets_need_not_move_the_turn_of_data_at_outputs() {
    let flows = [flow("back", 0, 5), flow("one", 1, 0), flow("two", 2, 0), flow("three", 3, 0)].concat();
    let text = format!("routing = \"direct\"\n{MARKS}[topology.single-switch]\nnodes = 6\n{flows}{MEASURE}");
    starves_all_but_the_first_unless_by_priority(&text, ["one", "two", "three"], 0.8);
}

/// The same of the channels of an input that acknowledgements come in by as well.
#[test]
fn nor_at_inputs() {
    let flows = [flow("back", 1, 3), flow("one", 3, 0), flow("two", 3, 2)].concat();
    let text = format!(
        "routing.direct.vcs = 2\n{MARKS}[topology.single-switch]\nnodes = 4\n[router]\nspeedup = 1\n[links.injection]\n\
         whole_packets = true\n[nic]\nvc_choice = \"by-destination\"\n{flows}{MEASURE}"
    );
    starves_all_but_the_first_unless_by_priority(&text, ["one", "two"], 0.8);
}

/// And of the output queues of a link.
#[test]
fn nor_at_links() {
    let flows = [flow("near", 0, 2), flow("far", 8, 3), flow("back", 2, 1)].concat();
    let text = format!(
        "routing = \"minimal\"\n{MARKS}[topology.dragonfly]\np = 2\na = 2\nh = 1\ng = 3\n[router]\n\
         output_queue_per = \"channel\"\nlink_arbiter = \"round-robin\"\n{flows}{MEASURE}"
    );
    starves_all_but_the_first_unless_by_priority(&text, ["near", "far"], 0.8);
}

/// Packets in transit that go first need not move the turn of those that enter.
#[test]
fn nor_packets_in_transit_of_those_that_enter() {
    let flows = [flow("remote", 4, 0), flow("one", 1, 0), flow("two", 2, 0), flow("three", 3, 0)].concat();
    let text = format!(
        "routing = \"nearest-common-ancestor\"\n[topology.two-level-tree]\nnodes_per_leaf = 4\nleaves = 2\nspines = 1\n\
         [links.level1]\ncycles_per_flit = 2\n[router]\ntransit_first = true\n{flows}{MEASURE}"
    );
    starves_all_but_the_first_unless_by_priority(&text, ["one", "two", "three"], 0.45);
}

/// Flows that share a local link: two that begin there, of which the second goes where one that comes from another group goes too, in another channel.
fn beside_a_far_one(router: &str, flows: &[String]) -> String {
    format!(
        "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 2\nh = 1\ng = 3\n[router]\n{router}{}{MEASURE}",
        flows.concat()
    )
}

/// Where each channel has a connection from the crossbar of its own, those that share an output queue enter it by turns, whatever their numbers.
#[test]
fn channels_that_share_an_output_queue_take_turns() {
    let flows = [flow("near", 0, 2), flow("far", 8, 3)];
    for queues in ["output_queue_per = \"port\"\n", "output_queue_per = \"class\"\n"] {
        let text = beside_a_far_one(&format!("crossbar_outputs = \"per-channel\"\n{queues}"), &flows);
        for order in ["router.order=input-first", "router.order=output-first"] {
            let shares = accepted(&text, &[order], ["near", "far"]);
            assert!(are_alike(&shares) && shares[0] > 0.45, "{queues}{order}: {shares:?}");
        }
    }
}

/// The same where what they share is a node that receives one packet at a time.
#[test]
fn channels_that_share_an_idle_node_take_turns() {
    let flows = [flow("one", 1, 0), flow("two", 2, 0)].concat();
    let text = format!(
        "routing.direct.vcs = 2\n[topology.single-switch]\nnodes = 4\n[router]\ncrossbar_outputs = \"per-channel\"\n\
         ejection = \"idle\"\nejection_vcs = 2\noutput_queue = \"unlimited\"\n{flows}{MEASURE}"
    );
    let shares = accepted(&text, &[], ["one", "two"]);
    assert!(are_alike(&shares), "{shares:?}");
}

/// An output that goes round its inputs for several channels can pass over one each time, when its channel has no credits just then: it
/// gets nothing. One that serves whoever was served longest ago does not.
#[test]
fn outputs_that_go_round_can_pass_over_an_input_for_ever() {
    let flows = [flow("near", 0, 2), flow("second", 1, 3), flow("far", 8, 3)];
    let text = beside_a_far_one("output_queue_per = \"channel\"\n", &flows);
    let names = ["near", "second", "far"];
    let seed = "seed=3";
    let [near, second, far] = accepted(&text, &[seed], names);
    assert!(second < 0.01 && near > 0.49 && far > 0.49, "{near}, {second} and {far}");
    let [near, second, far] = accepted(&text, &[seed, "router.output_arbiter=least-recently-served"], names);
    assert!(are_alike(&[near, second]) && are_alike(&[near + second, far]), "{near}, {second} and {far}");
}

/// Channels of a node for the packets of a class go on in turn when packets of others have left between them.
#[test]
fn a_node_goes_on_with_its_channels_after_control_packets() {
    let flows = [flow("there", 1, 0), flow("back", 0, 1)].concat().replace("load = 1", "load = 0.2");
    let text = format!(
        "routing.direct.vcs = 2\n[protocol.baseline]\nacknowledge = true\n[topology.single-switch]\nnodes = 2\n{flows}{MEASURE}"
    );
    let scenario = resolve_text(&text);
    let choice = PacketChoice { source: 1, destination: 0, most: 200, from_cycle: 0 };
    let packets = choice.find(&scenario).expect("there are such nodes");
    let mut run = Run::tracing(&scenario, 1, packets).expect("it can be started");
    run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
    let trace = run.packet_trace().expect("packets are traced");
    let by = |channel: &str| {
        let leaves = |packet: &str, event: &str| packet.contains("data") && event.starts_with(channel);
        trace.lines.iter().filter(|line| leaves(&line.packet, &line.event)).count()
    };
    let (one, other) = (by("sent on VC 0"), by("sent on VC 1"));
    assert!(one + other > 40 && one.abs_diff(other) <= 1, "{one} and {other} packets");
}

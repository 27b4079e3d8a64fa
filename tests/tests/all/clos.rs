//! Clos networks: what packets take alone, that one flow can fill them, and that it does so by all spines alike.

use tailback_report::{Report, Table};
use tailback_scenario::{Document, Scenario};
use tailback_sim::{Findings, Plan};

use crate::scenarios::{findings_of, report_of, resolve_text};

mod flows;
mod islip;
mod reservations;

/// With buffers of 12 packets, and 6 packet times (48 cycles) from an input until the first flit is out, as Chrysos et al. have it.
fn network(m: u32) -> String {
    format!(
        "routing = \"clos\"\n\
         [topology.two-level-tree]\nnodes_per_leaf = {m}\nleaves = {m}\nspines = {m}\n\
         [links]\n\
         injection = {{ latency = 4, buffer = 96 }}\nejection = {{ latency = 4 }}\nlevel1 = {{ latency = 8, buffer = 96 }}\n\
         [router]\nspeedup = 1\ncrossbar_inputs = \"per-channel\"\ncrossbar_delay = \"8 cycles\"\noutput_queue = 16\n\
         [nic]\npacket_flits = 8\nvc_choice = \"rotation\"\ndelivery = \"in-order\"\n"
    )
}

/// What comes of a scenario.
fn finished(text: &str) -> (Scenario, Findings) {
    let scenario = resolve_text(text);
    let findings = findings_of(&scenario, 1);
    (scenario, findings)
}

fn report_on(text: &str) -> Report {
    report_of(&resolve_text(text), 1)
}

/// A flow of messages of `size` flits that are sent in these cycles.
fn flow(from: usize, to: usize, size: usize, at: &[usize]) -> String {
    let to = if from == to { "\"itself\"".to_owned() } else { format!("{{ hot-spot.to = [{to}] }}") };
    format!("[[traffic]]\nfrom = [{from}]\nat = {at:?}\nsize = {size}\npattern = {to}\n")
}

/// Until all has arrived, with a list of all messages.
const LISTED: &str = "[measure]\nwarmup = 0\ncycles = 100000\nuntil = \"drained\"\nmessages = true\n";

/// A column of numbers, in some rows none.
fn numbers(table: &Table, name: &str) -> Vec<Option<f64>> {
    let column = table.column(name).expect("there is such a column");
    table.rows.iter().map(|row| row[column].number()).collect()
}

/// A message that has arrived, and the cycles in which it was created and complete.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    source: usize,
    destination: usize,
    created: usize,
    completed: usize,
}

/// All messages of a network with flows that end, in the order in which they were created.
fn arrivals(text: &str) -> Vec<Arrived> {
    let (scenario, findings) = finished(&format!("{text}{LISTED}"));
    let table = findings.messages(&scenario).expect("they are written down");
    let [source, destination, created, completed] = ["source", "destination", "created", "completed"].map(|name| {
        numbers(&table, name).into_iter().map(|number| number.expect("each has it") as usize).collect::<Vec<_>>()
    });
    let arrived = |row: usize| Arrived {
        source: source[row],
        destination: destination[row],
        created: created[row],
        completed: completed[row],
    };
    (0..source.len()).map(arrived).collect()
}

/// Routers of such networks are compiled for themselves, also where schedulers decide what leaves.
#[test]
fn routers_are_simulated_as_crosspoints() {
    for protocol in ["baseline", "central-scheduler", "distributed-scheduler"] {
        let flow = "[[traffic]]\nload = 0.5\nsize = 8\n[measure]\ncycles = 100\n";
        let queues = network(2).replace("[nic]\n", "[nic]\nqueues = \"per-destination\"\n");
        let text = format!("protocol = \"{protocol}\"\n{queues}{flow}");
        assert_eq!(Plan::new(&resolve_text(&text)).microarchitecture, "crosspoints", "{protocol}");
    }
}

/// Sixteen nodes and four routes alone make no Clos network: two leaves of eight nodes have them as well.
#[test]
fn schedulers_are_refused_where_leaves_have_more_nodes_than_there_are_spines() {
    let flow = "[[traffic]]\nload = 0.1\nsize = 8\n[measure]\ncycles = 100\n";
    for protocol in ["central-scheduler", "distributed-scheduler"] {
        let text = format!("protocol = \"{protocol}\"\n{}{flow}", network(4));
        resolve_text(&text);
        let other = text.replace("nodes_per_leaf = 4\nleaves = 4", "nodes_per_leaf = 8\nleaves = 2");
        let refusal = Document::read("test.toml", &other).resolve().expect_err("it is another network").to_string();
        assert!(refusal.contains("4 leaves of 4 nodes, and here are 6 routers, the first with 8 nodes"), "{refusal}");
    }
}

#[test]
fn a_packet_alone_takes_six_packet_times_between_any_two() {
    for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
        let to = if from == to { "\"itself\"".to_owned() } else { format!("{{ hot-spot = {{ to = [{to}] }} }}") };
        let flow = format!("[[traffic]]\nfrom = [{from}]\nat = [3]\nsize = 8\npattern = {to}\n");
        let report = report_on(&format!("{}{flow}[measure]\nwarmup = 0\ncycles = 100\n", network(2)));
        let latency = &report.total.latency;
        let waited = latency.resequencing.as_ref().and_then(|waited| waited.max);
        // The last of eight flits comes seven cycles after the first.
        assert_eq!((latency.message.max, waited), (Some(48.0 + 7.0), Some(0.0)), "from {from} to {to}");
    }
}

#[test]
fn a_flow_fills_its_links_by_all_spines_alike() {
    let flow = "[[traffic]]\nfrom = [1]\nat = [0]\nsize = 4000\npattern.hot-spot.to = [14]\n";
    let report = report_on(&format!("{}{flow}[measure]\nwarmup = 0\ncycles = 4050\n", network(4)));
    assert_eq!(report.total.latency.message.max, Some(48.0 + 3999.0), "one flit after the other, in order");
    // Of 16 links each way four are in use, each for a quarter of the time.
    let level1 = report.links.iter().find(|links| links.class == "level1").expect("there are such links");
    assert!((level1.max - 1000.0 / 4050.0).abs() < 1e-9, "{}", level1.max);
    assert!((level1.mean - 8.0 * 1000.0 / 4050.0 / 32.0).abs() < 1e-9, "{}", level1.mean);
}

/// Where credits come back at least a packet time after each other, one flow fills its links as before; where it is two packet times, half of them, once it has
/// used the room for 48 packets at its four crosspoints.
#[test]
fn credits_that_wait_for_each_other_bound_what_a_line_carries() {
    let flow = "[[traffic]]\nfrom = [1]\nat = [0]\nsize = 4000\npattern.hot-spot.to = [14]\n[measure]\nwarmup = 0\ncycles = 9000\n";
    let takes = |interval: &str| {
        let router = format!("[router]\ncredit_interval = \"{interval} cycles\"\n");
        let latency = report_on(&format!("{}{flow}", network(4).replace("[router]\n", &router))).total.latency;
        latency.message.max.expect("it arrives")
    };
    assert_eq!(takes("8"), 48.0 + 3999.0);
    let half = takes("16") - 16.0 * f64::from(500 - 48);
    assert!((0.0..100.0).contains(&half), "{half} cycles more than credits take");
}

/// A line that takes two cycles for a flit, behind links that take one.
#[test]
fn a_slower_line_is_the_only_thing_that_is_slower() {
    for (size, packets_cut) in [(8, 1), (4000, 500)] {
        let flow = format!("[[traffic]]\nfrom = [1]\nat = [0]\nsize = {size}\npattern.hot-spot.to = [14]\n");
        let text = format!("{}line = 2\n{flow}[measure]\nwarmup = 0\ncycles = 8050\n", network(4));
        let report = report_on(&text);
        // The first flit goes on as it arrives, the others follow at the rate of the line, whatever packets they are in.
        let flits_after = f64::from(size - 1);
        assert_eq!(report.total.latency.message.max, Some(48.0 + 2.0 * flits_after), "{size} flits");
        let network = report.total.latency.network.max;
        assert!(packets_cut > 1 || network == Some(48.0 + flits_after), "{network:?}");
    }
}

/// Two nodes send more than the line of a third takes. Without pauses it waits there; with them what is beyond eight packets, and what comes until the router has
/// heard, waits in the network. The line is never idle, but who passes the leaf on the way to another node has to wait.
#[test]
fn a_node_that_pauses_its_link_has_others_wait_in_the_network() {
    let many = "[[traffic]]\nname = \"many\"\nat = [0]\nsize = 400\npattern.hot-spot.to = [2]\nfrom = [0, 1]\n";
    let one = "[[traffic]]\nname = \"one\"\nat = [600]\nsize = 8\npattern.hot-spot.to = [3]\nfrom = [1]\n";
    let seen = |pause: &str| {
        let text =
            format!("{}line = 4\npause_at = {pause}\n{many}{one}[measure]\nwarmup = 0\ncycles = 6000\n", network(2));
        let (report, of_one) = (report_on(&text), "one");
        let one = report
            .flows
            .iter()
            .find(|(name, _)| *name == of_one)
            .and_then(|(_, flow)| flow.figures.latency.message.max);
        let waited = report.total.latency.resequencing.as_ref().and_then(|waited| waited.max);
        (report.total.latency.message.max, waited.expect("they wait"), one.expect("it arrives"))
    };
    let ((last, waited, one), (last_never, waited_never, one_never)) = (seen("64"), seen("\"never\""));
    // The first flit is on the line after 48 cycles, and all others follow.
    assert_eq!((last, last_never), (Some(48.0 + 4.0 * 799.0), last));
    let flits_at_most = f64::from(64 + 16 + 2 * (8 + 4) + 8);
    assert!(
        (4.0 * 64.0..4.0 * flits_at_most).contains(&waited) && waited_never > 2000.0,
        "{waited} and {waited_never} cycles"
    );
    assert!(one > 2.0 * one_never, "{one} cycles, and {one_never} without pauses");
}

/// Node 0 fills what lies before node 2, and sends one packet to node 3, which is at the same leaf. With a queue for each node it takes as long as alone;
/// otherwise it waits in the queue of its leaf.
#[test]
fn a_queue_for_each_node_keeps_those_for_others_out_of_the_way() {
    let long = "[[traffic]]\nname = \"many\"\nat = [0]\nsize = 400\npattern.hot-spot.to = [2]\nfrom = [0, 1]\n";
    let short = "[[traffic]]\nname = \"one\"\nat = [400]\nsize = 8\npattern.hot-spot.to = [3]\nfrom = [1]\n";
    let delay = |queues: &str| {
        let network = network(2).replace("output_queue = 16\n", &format!("output_queue = 16\n{queues}"));
        let report = report_on(&format!("{network}{long}{short}[measure]\nwarmup = 0\ncycles = 3000\n"));
        report.flows.iter().find(|(name, _)| *name == "one").and_then(|(_, flow)| flow.figures.latency.message.max)
    };
    let [own, shared] = [delay("destination_queue = 48\n"), delay("")].map(|cycles| cycles.expect("it arrives"));
    // Where both want a link the packet may wait for one of the others, at each of four links.
    assert!((55.0..=55.0 + 4.0 * 8.0).contains(&own), "{own} cycles");
    assert!(shared > 2.0 * own, "{shared} and {own} cycles");
}

/// With queues of a packet for each node, a packet takes the channel that has room for its node even if another one has more room in all: a flit to
/// node 2 is on the way by one, a packet to node 3 by the other, and the next one to node 2 takes as long as alone.
#[test]
fn a_packet_takes_a_channel_with_room_for_its_node() {
    let network = network(2)
        .replace("routing = \"clos\"", "routing.nearest-common-ancestor.vcs = 2")
        .replace("spines = 2", "spines = 1")
        .replace("level1 = { latency = 8", "level1 = { latency = 100")
        .replace("output_queue = 16\n", "output_queue = 16\ndestination_queue = 8\n");
    let last = flow(0, 2, 8, &[60]).replace("[[traffic]]", "[[traffic]]\nname = \"last\"");
    let latency = |before: &str| {
        let report = report_on(&format!("{network}{before}{last}[measure]\nwarmup = 0\ncycles = 3000\n"));
        report.flows.iter().find(|(name, _)| *name == "last").and_then(|(_, flow)| flow.figures.latency.message.max)
    };
    let before = flow(0, 2, 1, &[0]) + &flow(0, 3, 8, &[30]);
    let alone = latency("");
    assert!(alone.is_some());
    assert_eq!(latency(&before), alone);
}

#[test]
fn reservations_over_the_data_network_take_a_way_there_and_back() {
    // The fabric of section 6.5: links of 5 cycles, switches of 4, messages of eight packets.
    let fabric = "[topology.two-level-tree]\nnodes_per_leaf = 2\nleaves = 2\nspines = 2\n\
        [links]\ninjection = { latency = 5, buffer = 512 }\nejection = { latency = 5 }\nlevel1 = { latency = 5, buffer = 512 }\n\
        [router]\nspeedup = 8\ncrossbar_delay = \"4 cycles\"\noutput_queue = 512\n\
        [nic]\npacket_flits = 32\ndelivery = \"in-order\"\n\
        [[traffic]]\nfrom = [0]\nat = [3]\nsize = 256\npattern.hot-spot.to = [3]\n\
        [measure]\nwarmup = 0\ncycles = 1000\n";
    let cycles = |protocol: &str| {
        report_on(&format!("routing = \"nearest-common-ancestor\"\nprotocol = {protocol}\n{fabric}"))
            .total
            .latency
            .message
            .max
    };
    let control = 4.0 * 5.0 + 3.0 * 4.0;
    let data = control + 255.0;
    assert_eq!(cycles("\"baseline\""), Some(data));
    assert_eq!(cycles("\"in-band-reservation\""), Some(2.0 * control + data));
    // With room for a packet each has a request and a grant of its own, one after the other; eight are asked for at once.
    let one = "{ in-band-reservation = { output_buffer = 1 } }";
    assert_eq!(cycles(one), Some(control + 8.0 * (control + control + 31.0)));
}

#[test]
fn flows_take_turns_only_where_they_have_queues() {
    let text = network(2).replace("vc_choice", "queues = \"fifo\"\nvc_choice");
    let said =
        Document::read("test.toml", &format!("{text}[[traffic]]\nload = 0.1\n")).resolve().unwrap_err().to_string();
    assert!(said.contains("nic.vc_choice") || said.contains("vc_choice"), "{said}");
    assert!(said.contains("only where each has a queue of its own"), "{said}");
}

/// In how many looks at links between switches something waits for one, and all that does lacks the credits of the buffer at its end.
fn share_without_credits(protocol: &str, traffic: &str) -> f64 {
    let look = "[measure]\nwarmup = 16000\ncycles = 16000\nlinks = { every = 40, select = \"level1\" }\n";
    let text = format!("protocol = \"{protocol}\"\n{}{traffic}{look}", network(8));
    let (scenario, findings) = finished(&text);
    let table = findings.links(&scenario).expect("it was looked at links");
    let heads = ["blocked_heads", "stalled_heads"].map(|name| numbers(&table, name));
    let lacks = |row: &usize| heads[0][*row] > Some(0.0) && heads[0][*row] == heads[1][*row];
    (0..table.rows.len()).filter(lacks).count() as f64 / table.rows.len() as f64
}

/// Section 3.2 of the paper of Chrysos et al.: flow control between switches of the first two stages is "only rarely activated". With hot outputs it is the rule
/// without reservations.
#[test]
fn with_reservations_switches_hardly_ever_lack_credits() {
    let uniform = "[[traffic]]\nsize = 8\nload = 0.95\npattern.uniform = { with_self = true }\n";
    let half = "[[traffic]]\nsize = 8\nload = 1.0\nsaturates = true\npattern.mix = [{ share = 0.5, pattern = \"itself\" }, { share = 0.5, pattern = { uniform = { with_self = true } } }]\n";
    let hot = "[[traffic]]\nname = \"cold\"\nsize = 8\ndestination_load = 0.7\npattern.uniform = { among = { outside = [3, 40] }, with_self = true }\n\
               [[traffic]]\nname = \"hot\"\nsize = 8\ndestination_load = 1.1\npattern.uniform = { among = [3, 40], with_self = true }\nsaturates = true\n";
    for (name, traffic) in [("uniform", uniform), ("unbalanced", half), ("hot", hot)] {
        for protocol in ["central-scheduler", "distributed-scheduler"] {
            let share = share_without_credits(protocol, traffic);
            eprintln!("{protocol}, {name}: {share}");
            assert!(share < 0.03, "{protocol}, {name}: {share}");
        }
    }
    let without = share_without_credits("baseline", hot);
    eprintln!("baseline, hot: {without}");
    assert!(without > 0.1, "{without}");
}

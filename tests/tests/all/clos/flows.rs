//! What flows of a Clos network do: how long each packet takes alone, which spines packets take, whom they wait for, and what is offered to whom.

use tailback_protocol::Routes;
use tailback_sim::MessageChoice;

use super::{Arrived, arrivals, flow, network};
use crate::scenarios::resolve_text;
use crate::trace::{about, traced};

/// Six packet times to the first flit, twelve where a request and a grant go before it, and seven cycles more to the last of eight flits: between any two, also to the node
/// itself and to others at its leaf.
#[test]
fn a_packet_alone_takes_as_long_between_any_two_of_sixteen_ports() {
    for (protocol, cycles) in [("baseline", 55), ("central-scheduler", 103), ("distributed-scheduler", 103)] {
        for from in 0..16 {
            let flows: String = (0..16).map(|to| flow(from, to, 8, &[300 * to + from])).collect();
            let found = arrivals(&format!("protocol = \"{protocol}\"\n{}{flows}", network(4)));
            assert_eq!(found.len(), 16);
            for message in found {
                assert_eq!(message.completed - message.created, cycles, "{protocol}: {message:?}");
            }
        }
    }
}

/// The spines that the packets of a flow take, of so many messages of so many packets one after the other.
fn spines(text: &str, (source, destination): (u32, u32), messages: u64, packets: usize) -> Vec<u32> {
    let scenario = resolve_text(text);
    let mut spines = Vec::new();
    for number in 0..messages {
        let (_, trace) = traced(&scenario, 0, MessageChoice { source, destination, number });
        for packet in 0..packets {
            let lines = about(&trace, &format!("data {packet}"));
            let routers = lines.iter().filter_map(|line| line.place.strip_prefix("router "));
            let routers: Vec<u32> = routers.map(|router| router.parse().expect("a number")).collect();
            let [first, spine, last] = routers[..] else { panic!("it takes {routers:?}\n{trace}") };
            assert_eq!((first, last), (source / 4, destination / 4), "{trace}");
            spines.push(spine - 4);
        }
    }
    spines
}

/// Of a node that sends to several at once, each flow goes on where its own packet before has been.
#[test]
fn packets_of_each_flow_take_the_next_spine() {
    let flows = [(14, 3), (9, 2), (2, 1)];
    let text: String = flows.iter().map(|&(to, packets)| flow(1, to, 8 * packets, &[3, 5, 400, 700])).collect();
    for protocol in ["baseline", "central-scheduler", "distributed-scheduler"] {
        let text = format!("protocol = \"{protocol}\"\n{}{text}[measure]\nwarmup = 0\ncycles = 2000\n", network(4));
        let found = flows.map(|(to, packets)| spines(&text, (1, to as u32), 4, packets));
        for (spines, (to, packets)) in found.iter().zip(flows) {
            let expected: Vec<u32> = (0..4 * packets as u32).map(|packet| (spines[0] + packet) % 4).collect();
            assert_eq!(spines, &expected, "{protocol}, from 1 to {to}");
        }
        assert!(found.iter().any(|spines| spines[0] != found[0][0]), "not all begin at one: {found:?}");
    }
}

/// What a node has for all nodes at once leaves in the order of their numbers where destinations take turns, whatever spine each goes by first; where spines do, in another.
#[test]
fn destinations_take_turns_by_number_whatever_their_spines() {
    let flows: String = (0..16).map(|to| flow(1, to, 8, &[0])).collect();
    let order = |queues: &str| {
        let text = network(4).replace("[nic]\n", &format!("[nic]\nqueues = \"{queues}\"\n"));
        let mut found = arrivals(&format!("{text}{flows}"));
        found.sort_by_key(|message| message.completed);
        found.iter().map(|message| (message.destination, message.completed)).collect::<Vec<_>>()
    };
    // One leaves each packet time, and none waits for another on its way.
    assert_eq!(order("in-turn"), (0..16).map(|to| (to, 55 + 8 * to)).collect::<Vec<_>>());
    assert_ne!(order("per-destination"), order("in-turn"));
}

/// The first leaf has many packets for one of its spines, and for each of its nodes room for one that waits there. A packet of another flow, whose turn is at another spine, does
/// not wait behind those of its node.
#[test]
fn a_flow_whose_spine_has_no_room_delays_no_other_of_its_node() {
    let begins = |from: usize, to: usize| Routes::drawn(4).first(from as u32, to as u32);
    let full = begins(0, 15);
    let mut text =
        network(4).replace("injection = { latency = 4, buffer = 96 }", "injection = { latency = 4, buffer = 8 }");
    let pairs = (0..4).flat_map(|from| (0..15).map(move |to| (from, to)));
    let wait: Vec<_> = pairs.filter(|&(from, to)| begins(from, to) == full).collect();
    assert!(wait.len() > 8, "{wait:?} begin at spine {full}");
    text.extend(wait.iter().map(|&(from, to)| flow(from, to, 8, &[0])));
    // Both come while packets wait that came before; one has to go by the same spine.
    let free = (0..15).find(|&to| begins(0, to) != full).expect("most begin elsewhere");
    text.extend([free, 15].map(|to| flow(0, to, 8, &[40])));
    let found = arrivals(&text);
    let took = |to: usize| {
        let is_it = |message: &&Arrived| (message.created, message.source, message.destination) == (40, 0, to);
        let message = found.iter().find(is_it).expect("it arrives");
        message.completed - message.created
    };
    assert_eq!(took(free), 55, "as alone");
    assert!(took(15) > 55 + 3 * 8, "the other waits for those before it: {} cycles", took(15));
}

/// Flits that a source sends in a cycle, by flow.
fn loads(text: &str) -> Vec<f64> {
    resolve_text(text).workload.flows.iter().map(|flow| flow.phases()[0].load).collect()
}

fn is(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
}

/// The loads of hot and other outputs of sections 6.3 and 6.4 of the paper with 64 ports.
#[test]
fn loads_of_destinations_are_shared_by_all_inputs() {
    let flows = |cold: &str, hot: &str, [outside, load]: [&str; 2]| {
        format!(
            "{}[[traffic]]\nname = \"cold\"\ndestination_load = {cold}\npattern.uniform = {{ among = {{ outside = {outside} }}, with_self = true }}\n\
             [[traffic]]\nname = \"hot\"\ndestination_load = {hot}\npattern.uniform = {{ among = {load}, with_self = true }}\n[measure]\ncycles = 100\n",
            network(8)
        )
    };
    // Two hot outputs get 1.1 each, 62 others 0.5.
    let [cold, hot] = loads(&flows("0.5", "1.1", ["[3, 40]"; 2]))[..] else { panic!("two flows") };
    is(cold, 0.5 * 62.0 / 64.0);
    is(hot, 1.1 * 2.0 / 64.0);
    // One of six outputs gets 30, the 58 that are never hot 0.5: an input sends 0.9219.
    let [cold, hot] = loads(&flows("0.5", "30.0", ["[1, 2, 3, 4, 5, 6]", "[1]"]))[..] else { panic!("two flows") };
    is(cold, 0.453_125);
    is(hot, 0.468_75);
    is(cold + hot, 0.921_875);
}

/// Half to the own output, half to all alike: 0.5 + 0.5 / 64 goes to the own one.
#[test]
fn half_unbalanced_traffic_has_0_5078_for_the_own_output() {
    let half =
        "{ share = 50, pattern = \"itself\" }, { share = \"rest\", pattern = { uniform = { with_self = true } } }";
    let flow = format!("[[traffic]]\nload = 0.4\nsize = 8\ncount = 400\npattern.mix = [{half}]\n");
    let found = arrivals(&format!("{}{flow}", network(8)));
    assert_eq!(found.len(), 64 * 400);
    let own = found.iter().filter(|message| message.source == message.destination).count();
    // Five standard deviations of what is drawn so many times.
    let (share, all) = (own as f64 / found.len() as f64, found.len() as f64);
    assert!((share - 0.5078).abs() < 5.0 * (0.25 / all).sqrt(), "{share}");
}

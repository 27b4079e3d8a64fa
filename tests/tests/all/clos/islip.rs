//! iSLIP: who crosses in which slot, worked out by hand and by a model that is nothing but its definition, and what comes of it under load.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Arrived, arrivals, flow, report_on};

/// An input-queued switch in which a flit crosses in a cycle. With room for one packet less its output queues would lose slots.
fn switch(nodes: usize, packet_flits: usize, iterations: usize) -> String {
    format!(
        "routing = \"direct\"\ntopology.single-switch.nodes = {nodes}\n\
         [links]\ninjection = {{ latency = 1, buffer = 60000 }}\nejection = {{ latency = 1 }}\n\
         [router]\nspeedup = 1\ncrossbar_delay = \"1 cycles\"\nvirtual_output_queues = true\norder = \"output-first\"\n\
         iterations = {iterations}\nturns_move = \"first-round\"\noutput_queue = {}\n\
         [nic]\npacket_flits = {packet_flits}\n",
        packet_flits + 1
    )
}

/// By slot: which input crosses to which output.
type Slots = Vec<Vec<(usize, usize)>>;

/// What crosses in which slot, of messages to some outputs, from the one in which the first could.
fn slots(arrivals: &[Arrived], first: usize, outputs: usize) -> Slots {
    let mut slots = Slots::new();
    for &Arrived { source, destination, completed, .. } in arrivals {
        if destination < outputs && completed >= first {
            let slot = completed - first;
            slots.resize(slots.len().max(slot + 1), Vec::new());
            slots[slot].push((source, destination));
        }
    }
    slots.iter_mut().for_each(|slot| slot.sort_unstable());
    slots
}

/// The slots of the first `ports` inputs and outputs of a switch, which has as many others. In the first, all packets of `queued`, an input and an output each, wait, and all pointers
/// are at 0, where they are not at first: until then the other inputs have held the outputs, each with one long packet, and each input has had a packet for one of the other outputs, so
/// the turn is at what comes behind those. What comes from then on, in cycle 200 or later, is in `later`.
fn from_queues(ports: usize, queued: &[(usize, usize)], later: &str, switch: &str) -> Slots {
    const HELD: usize = 200;
    let mut text = switch.to_owned();
    let mut used = vec![0; ports];
    let mut at: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for &(input, output) in queued {
        used[input] += 1;
        at.entry((input, output)).or_default().push(used[input]);
    }
    assert!(used.iter().all(|&used| used < HELD), "all is there before outputs are free");
    at.iter().for_each(|(&(input, output), at)| text += &flow(input, output, 1, at));
    for port in 0..ports {
        text += &flow(port, ports + port, 1, &[0]);
        text += &flow(ports + port, port, HELD, &[0]);
    }
    let arrivals = arrivals(&format!("{text}{later}"));
    let held: Vec<usize> = arrivals.iter().filter(|all| all.source >= ports).map(|all| all.completed).collect();
    assert!(held.len() == ports && held.iter().all(|&until| until == held[0]), "outputs are free at once: {held:?}");
    slots(&arrivals, held[0] + 1, ports)
}

/// So many packets wait in each queue of a switch.
fn full_queues(ports: usize, packets: usize) -> Vec<(usize, usize)> {
    let pairs = (0..ports).flat_map(|input| (0..ports).map(move |output| (input, output)));
    (0..packets).flat_map(|_| pairs.clone()).collect()
}

/// An example of three ports: input 0 has packets for outputs 0 and 1, input 1 for 0, input 2 for 1 and 2, two of each. In tables, g are the pointers of outputs and
/// a those of inputs before a slot, 1→0 is what input 1 has for output 0, and a dash is for an output that nobody asks.
///
/// | slot | g       | a       | outputs grant | inputs accept |
/// |------|---------|---------|---------------|---------------|
/// | 0    | 0, 0, 0 | 0, 0, 0 | 0→0, 0→1, 2→2 | 0→0, 2→2      |
/// | 1    | 1, 0, 0 | 1, 0, 0 | 1→0, 0→1, 2→2 | all           |
/// | 2    | 2, 1, 0 | 2, 1, 0 | 0→0, 2→1, –   | all           |
/// | 3    | 1, 0, 0 | 1, 1, 2 | 1→0, 0→1, –   | all           |
/// | 4    | 2, 1, 0 | 2, 1, 2 | –, 2→1, –     | all           |
///
/// A second iteration finds nothing: in slot 0 input 1 is left, and has none for output 1.
#[test]
fn the_three_by_three_example_crosses_as_by_hand() {
    let once = [(0, 0), (0, 1), (1, 0), (2, 1), (2, 2)];
    let expected =
        [vec![(0, 0), (2, 2)], vec![(0, 1), (1, 0), (2, 2)], vec![(0, 0), (2, 1)], vec![(0, 1), (1, 0)], vec![(2, 1)]];
    for iterations in [1, 2] {
        let found = from_queues(3, &[once, once].concat(), "", &switch(6, 200, iterations));
        assert_eq!(found, expected, "{iterations} iterations");
    }
}

/// Three packets in each queue, one iteration. All outputs grant input 0 first, and pointers move only where that is accepted:
///
/// | slot | g       | a       | outputs grant | inputs accept |
/// |------|---------|---------|---------------|---------------|
/// | 0    | 0, 0, 0 | 0, 0, 0 | 0→0, 0→1, 0→2 | 0→0           |
/// | 1    | 1, 0, 0 | 1, 0, 0 | 1→0, 0→1, 0→2 | 1→0, 0→1      |
/// | 2    | 2, 1, 0 | 2, 1, 0 | 2→0, 1→1, 0→2 | all           |
/// | 3    | 0, 2, 1 | 0, 2, 1 | 0→0, 2→1, 1→2 | all           |
/// | 4    | 1, 0, 2 | 1, 0, 2 | 1→0, 0→1, 2→2 | all           |
///
/// Slot 5 is as slot 2, and so on, until queues are empty.
#[test]
fn three_inputs_with_full_queues_are_out_of_step_after_two_slots() {
    let round = [vec![(0, 2), (1, 1), (2, 0)], vec![(0, 0), (1, 2), (2, 1)], vec![(0, 1), (1, 0), (2, 2)]];
    let found = from_queues(3, &full_queues(3, 3), "", &switch(6, 200, 1));
    assert_eq!(found[..2], [vec![(0, 0)], vec![(0, 1), (1, 0)]]);
    assert_eq!(found[2..9], [0, 1, 2, 0, 1, 2, 0].map(|slot| round[slot].clone()));
    // The last packets of the queues that came first in slots 2, 3 and 4.
    assert_eq!(found[9..], [vec![(1, 2), (2, 1)], vec![(2, 2)]]);
}

/// The same with two iterations. What the second finds moves no pointer, so slot 1 grants as above, and the slots from 2 on are the same.
///
/// | slot | first iteration | left                  | second iteration                                              |
/// |------|-----------------|-----------------------|---------------------------------------------------------------|
/// | 0    | 0→0             | inputs, outputs 1, 2  | both outputs grant input 1 (g is 0), which takes 1 (a is 0): 1→1 |
/// | 1    | 1→0, 0→1        | input and output 2    | 2→2                                                           |
///
/// If it moved them, both g and a would be 1, 2, 0 before slot 1: output 0 would grant input 1, output 1 input 2, and output 2 input 0.
#[test]
fn a_second_iteration_finds_more_and_moves_no_pointer() {
    let queued = full_queues(3, 4);
    let expected = [
        vec![(0, 0), (1, 1)],
        vec![(0, 1), (1, 0), (2, 2)],
        vec![(0, 2), (1, 1), (2, 0)],
        vec![(0, 0), (1, 2), (2, 1)],
        vec![(0, 1), (1, 0), (2, 2)],
    ];
    let two = switch(6, 200, 2);
    assert_eq!(from_queues(3, &queued, "", &two)[..5], expected);
    let moves = two.replace("first-round", "every-round");
    let expected = [vec![(0, 0), (1, 1)], vec![(0, 2), (1, 0), (2, 1)]];
    assert_eq!(from_queues(3, &queued, "", &moves)[..2], expected);
}

/// Eight inputs have packets for all outputs at all times: in each slot one more finds its turn, and from the eighth on all cross, with one iteration.
#[test]
fn backlogged_inputs_lose_no_slot_once_they_are_out_of_step() {
    const PORTS: usize = 8;
    const UNTIL: usize = 600;
    // An input has ten packets for each output when outputs become free in slot 200, and gets one in each slot then.
    let mut later = String::new();
    for (input, output) in full_queues(PORTS, 1) {
        let at: Vec<usize> = (200 + output..UNTIL).step_by(PORTS).collect();
        later += &flow(input, output, 1, &at);
    }
    let found = from_queues(PORTS, &full_queues(PORTS, 10), &later, &switch(2 * PORTS, 200, 1));
    let crossed: Vec<usize> = found.iter().map(Vec::len).collect();
    assert_eq!(crossed[..PORTS], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(crossed[PORTS..UNTIL - 200], [PORTS; UNTIL - 200 - PORTS]);
}

/// Half of all packets go to the own output, half to all alike.
#[test]
fn unbalanced_traffic_gets_what_iterations_find() {
    let half = "{ share = 1, pattern = \"itself\" }, { share = 1, pattern = { uniform = { with_self = true } } }";
    for (iterations, expected) in [(1, 0.64), (2, 0.80), (4, 0.80)] {
        let flow = format!("[[traffic]]\nsize = 1\nload = 1.0\nsaturates = true\npattern.mix = [{half}]\n");
        let text = format!("{}{flow}[measure]\nwarmup = 4000\ncycles = 4000\n", switch(64, 1, iterations));
        let found = report_on(&text).total.accepted_load;
        assert!((found - expected).abs() <= 0.01, "{found} with {iterations} iterations");
    }
}

/// iSLIP as it is defined: the slots of packets that come to inputs, in each slot one or none at each. All pointers are at port 1 first.
fn by_definition(arrivals: &[Vec<Option<usize>>], iterations: usize) -> Slots {
    let ports = arrivals[0].len();
    let (mut granting, mut accepting) = (vec![1; ports], vec![1; ports]);
    let mut waiting = vec![vec![0; ports]; ports];
    let from = |pointer: usize| (0..ports).map(move |step| (pointer + step) % ports);
    let mut slots = Slots::new();
    for slot in 0.. {
        for (input, output) in arrivals.get(slot).into_iter().flatten().enumerate() {
            output.iter().for_each(|&output| waiting[input][output] += 1);
        }
        if slot >= arrivals.len() && waiting.iter().flatten().all(|&packets| packets == 0) {
            break;
        }
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for iteration in 0..iterations {
            let is_free = |output: &usize| !taken.values().any(|other| other == output);
            let asks = |input: &usize, output: usize| !taken.contains_key(input) && waiting[*input][output] > 0;
            let grant = |output: usize| from(granting[output]).find(|input| is_free(&output) && asks(input, output));
            let grants: Vec<Option<usize>> = (0..ports).map(grant).collect();
            for (input, accepting) in accepting.iter_mut().enumerate() {
                if let Some(output) = from(*accepting).find(|&output| grants[output] == Some(input)) {
                    taken.insert(input, output);
                    if iteration == 0 {
                        (*accepting, granting[output]) = ((output + 1) % ports, (input + 1) % ports);
                    }
                }
            }
        }
        taken.iter().for_each(|(&input, &output)| waiting[input][output] -= 1);
        slots.push(taken.into_iter().collect());
    }
    slots
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn packets_cross_when_the_definition_says_so(
        ports in 2..6usize,
        iterations in 1..4usize,
        drawn in prop::collection::vec(prop::collection::vec((0..10usize, 0..64usize), 5), 1..60),
    ) {
        // Nine of ten slots bring a packet to an input, and four of ten one for output 0, so that queues fill.
        let output = |(chance, output): (usize, usize)| match chance {
            0 => None,
            1..5 => Some(0),
            _ => Some(output % ports),
        };
        let arriving: Vec<Vec<Option<usize>>> =
            drawn.iter().map(|slot| slot[..ports].iter().map(|&drawn| output(drawn)).collect()).collect();
        let mut text = switch(ports, 1, iterations);
        for (from, to) in full_queues(ports, 1) {
            let at: Vec<usize> = (0..arriving.len()).filter(|&slot| arriving[slot][from] == Some(to)).collect();
            if !at.is_empty() {
                text += &flow(from, to, 1, &at);
            }
        }
        prop_assume!(text.contains("traffic"));
        // A packet alone takes a cycle on each link, one in the switch, and one for its flit less the one in which it comes.
        let found = slots(&arrivals(&text), 3, ports);
        let mut expected = by_definition(&arriving, iterations);
        while expected.last().is_some_and(Vec::is_empty) {
            expected.pop();
        }
        prop_assert_eq!(found, expected);
    }
}

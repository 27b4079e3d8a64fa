//! How fast flows are, and when they are let go on: all protocols on a node by hand.

use super::node::{Answer, Node, PACKET};
use super::{H, U, X, build};
use crate::{MVCM, PFISTER, RENATO};

/// The least round-trip time of the 4-ary 5-fly: 305 cycles there, 49 back.
const ROUND_TRIP: u64 = 354;

/// The departures of packets for one destination that are there from the beginning on.
fn departures(protocol: &dyn tailback_protocol::Protocol, packets: usize, marks: &[u8]) -> Vec<u64> {
    let mut node = Node::new(protocol);
    node.offer(vec![(0, 7); packets]);
    node.run(|number, _| Answer { after: ROUND_TRIP, marks: marks.get(number).copied().unwrap_or(U) });
    node.departures.iter().map(|departure| departure.0).collect()
}

/// Section 7.2 of the sheet: a window of one leaves 0.785 of the link, one of two all of it.
#[test]
fn one_flow_alone_is_as_fast_as_its_window() {
    let spacing = |protocol: &dyn tailback_protocol::Protocol| {
        let times = departures(protocol, 10, &[]);
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|&gap| gap == gaps[0]), "{gaps:?}");
        gaps[0]
    };
    assert_eq!(spacing(build(&RENATO, &[]).as_ref()), ROUND_TRIP);
    assert_eq!(spacing(build(&MVCM, &[("window", "1")]).as_ref()), ROUND_TRIP);
    for full in [build(&MVCM, &[]), build(&PFISTER, &[]), build(&RENATO, &[("window", "2")])] {
        assert_eq!(spacing(full.as_ref()), u64::from(PACKET));
    }
}

/// Section 2.2: after acknowledgements M M M U packets wait 354, 708, 1062 and 708.
#[test]
fn renatos_flow_waits_a_slot_more_for_each_mark() {
    let renato = build(&RENATO, &[]);
    let times = departures(renato.as_ref(), 5, &[X, X, X, U]);
    let waits: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0] - ROUND_TRIP).collect();
    assert_eq!(waits, [354, 708, 1062, 708]);
    // From the end of departures on, what is shorter than the round trip does not show.
    let times = departures(build(&RENATO, &[("wait_from", "departure")]).as_ref(), 4, &[X, X, X]);
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [278 + 354, 278 + 708, 278 + 1062]);
}

/// A window of 2 that shrinks to 1 with two packets on their way: nothing leaves before both are acknowledged.
#[test]
fn a_window_that_shrinks_is_waited_for() {
    let times = departures(build(&MVCM, &[]).as_ref(), 3, &[H, U]);
    // The second acknowledgement restores the window, at 278 + 354.
    assert_eq!(times, [0, 278, 278 + ROUND_TRIP]);
    // Two validated ones: the first makes the window 1, the second begins to wait.
    let times = departures(build(&MVCM, &[]).as_ref(), 3, &[H, H]);
    assert_eq!(times, [0, 278, 278 + ROUND_TRIP + 354]);
    let times = departures(build(&MVCM, &[("wait_from", "departure")]).as_ref(), 3, &[H, H]);
    assert_eq!(times, [0, 278, 278 + 278 + 354]);
}

/// A message for an empty flow makes it begin anew; one packet that is not acknowledged, and it is not empty.
#[test]
fn an_empty_flow_begins_anew() {
    let last = |reset: &str, offered: u64| {
        let mvcm = build(&MVCM, &[("reset", reset)]);
        let mut node = Node::new(mvcm.as_ref());
        // Three validated acknowledgements, at 354, 632 and 1340: a window of 1 and a wait of 4 slots from 1340 on.
        node.offer([(0, 7), (0, 7), (0, 7), (offered, 7)]);
        node.run(|_, _| Answer { after: ROUND_TRIP, marks: H });
        assert_eq!(node.departures[..3], [(0, 7), (278, 7), (632 + 354, 7)]);
        node.departures[3].0
    };
    let waited = 1340 + 4 * 354;
    assert_eq!(["acknowledged", "sent", "never"].map(|reset| last(reset, 1341)), [1341, 1341, waited]);
    // While the last one is on its way: the flow that begins anew has a window of 2, and its packet leaves at once.
    assert_eq!(["acknowledged", "sent", "never"].map(|reset| last(reset, 1300)), [waited, 1300, waited]);
}

/// Windows and waits of a node concern all its destinations, those of a destination no other.
#[test]
fn a_flow_is_what_goes_to_a_destination_or_all_of_a_node() {
    let times = |scope| {
        let mvcm = build(&MVCM, &[("scope", scope), ("reset", "never"), ("window", "1")]);
        let mut node = Node::new(mvcm.as_ref());
        node.offer([(0, 7), (1, 8), (2, 7)]);
        node.run(|_, _| Answer { after: ROUND_TRIP, marks: H });
        (node.departures, node.most)
    };
    // The first packet is acknowledged at 354, its flow waits a slot, and the other has a window of its own.
    assert_eq!(times("destination"), (vec![(0, 7), (278, 8), (708, 7)], (1, 2)));
    // One after the other: the second leaves a slot after 354, and four slots follow its acknowledgement at 1062.
    assert_eq!(times("source"), (vec![(0, 7), (708, 8), (1062 + 4 * 354, 7)], (1, 1)));
}

/// Without windows several packets are on their way, and what is heard of one shortens the wait of the next.
#[test]
fn a_wait_ends_as_soon_as_an_unmarked_packet_is_heard_of() {
    let mvcm = build(&MVCM, &[("window", "unlimited")]);
    let mut node = Node::new(mvcm.as_ref());
    node.offer([(0, 7), (0, 7), (0, 7), (0, 7)]);
    node.run(|number, _| Answer { after: 600, marks: if number == 0 { H } else { U } });
    // At 600 a slot begins that would last until 954; the acknowledgement of the second, at 878, ends it.
    assert_eq!(node.departures.iter().map(|departure| departure.0).collect::<Vec<_>>(), [0, 278, 556, 878]);
}

/// A pause may end before anything more is heard of what is on its way: then a timer ends it.
#[test]
fn a_wait_ends_in_time_while_packets_are_on_their_way() {
    let pfister = build(&PFISTER, &[]);
    let mut node = Node::new(pfister.as_ref());
    node.offer([(0, 7), (0, 7), (0, 7), (0, 7)]);
    node.run(|number, _| if number == 0 { Answer { after: 300, marks: X } } else { Answer { after: 9000, marks: U } });
    // The second packet is gone at 556, and an index of 4 is a pause of 1,112.
    assert_eq!(node.departures[2..], [(556 + 1112, 7), (556 + 1112 + 278 + 1112, 7)]);
}

/// What waits is counted as long as it does, whatever is heard meanwhile.
#[test]
fn a_flow_in_which_something_waits_is_not_empty() {
    let mvcm = build(&MVCM, &[("window", "1")]);
    let mut node = Node::new(mvcm.as_ref());
    node.offer([(0, 7), (0, 7), (0, 7), (800, 7)]);
    // Unmarked at 354, validated at 708; the third waits a slot, is validated at 1416, and the fourth waits four.
    node.run(|number, _| Answer { after: ROUND_TRIP, marks: if number == 0 { U } else { H } });
    assert_eq!(node.departures, [(0, 7), (354, 7), (708 + 354, 7), (1416 + 4 * 354, 7)]);
}

/// Section 2.3: marks at 0, 5,000 and 7,000 make a pause of 3,336 cycles, which the timer shortens at 15,900 and 24,800.
#[test]
fn pfisters_pause_is_that_of_the_index_when_it_ends() {
    let pfister = build(&PFISTER, &[]);
    let times = departures(pfister.as_ref(), 4, &[X, X, X]);
    // The first two leave at once. The mark of the first, at 354, is a pause of 1,112 after the second is gone at 556, and
    // that of the second, at 632, one of 2,224: the third leaves at 2,780, and is heard of at 3,134: 3,336 after 3,058.
    assert_eq!(times, [0, 278, 556 + 2224, 3058 + 3336]);
}

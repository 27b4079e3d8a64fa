//! Two ranks, and a network between them that delivers in any order.

use std::collections::VecDeque;

use proptest::prelude::*;
use tailback_workload::Action;

use crate::endpoint::{AnnouncedSend, Done, Endpoint, Message, Transport};
use crate::matching::{ANY_TAG, Source};

/// Messages of more than 4 flits are announced.
const SOME_EAGER: Transport = Transport { eager_flits: 4, ..Transport::EAGER };

/// Two ranks with what is under way to each.
#[derive(Default)]
struct Pair {
    ranks: [Endpoint; 2],
    under_way: [Vec<u64>; 2],
    done: [Vec<Done>; 2],
    /// The sizes of everything that crossed.
    flits: Vec<u32>,
}

impl Pair {
    /// Puts what a rank wants sent on its way; it has left at once.
    fn act(&mut self, rank: usize, actions: Vec<Action>) {
        let mut left: VecDeque<Action> = actions.into();
        while let Some(action) = left.pop_front() {
            let Action::Send { to, flits, word } = action else { panic!("an endpoint only sends") };
            assert_eq!(to as usize, 1 - rank);
            self.under_way[1 - rank].push(word);
            self.flits.push(flits);
            self.ranks[rank].sent(to, word, &mut self.done[rank]);
        }
    }

    fn send(&mut self, tag: u32, flits: u32, send: u32) {
        let mut actions = Vec::new();
        if self.ranks[0].send(Message { to: 1, tag, flits, send }, &SOME_EAGER, &mut actions) {
            self.done[0].push(Done::Send(send));
        }
        self.act(0, actions);
    }

    fn receive(&mut self, tag: Option<u32>, receive: u32) {
        let mut actions = Vec::new();
        let source = Source { from: tag.map(|_| 0), tag };
        if self.ranks[1].receive(source, receive, &SOME_EAGER, &mut actions) {
            self.done[1].push(Done::Receive(receive));
        }
        self.act(1, actions);
    }

    /// Delivers one of the messages that are under way to a rank.
    fn deliver(&mut self, rank: usize, which: usize) {
        let word = self.under_way[rank].remove(which);
        let (mut actions, mut done) = (Vec::new(), Vec::new());
        self.ranks[rank].received(1 - rank as u32, word, &SOME_EAGER, &mut actions, &mut done);
        self.done[rank].extend(done);
        self.act(rank, actions);
    }

    fn deliver_all(&mut self) {
        while let Some(rank) = (0..2).find(|&rank| !self.under_way[rank].is_empty()) {
            self.deliver(rank, 0);
        }
    }
}

#[test]
fn a_small_message_crosses_at_once_and_a_large_one_when_it_is_wanted() {
    let mut pair = Pair::default();
    pair.send(7, 4, 0);
    assert_eq!((pair.done[0].as_slice(), pair.flits.as_slice()), ([Done::Send(0)].as_slice(), [4].as_slice()));
    pair.send(8, 5, 1);
    pair.deliver_all();
    assert_eq!((pair.done[0].len(), pair.flits.as_slice()), (1, [4, 1].as_slice()), "nobody has asked for it");
    assert_eq!(pair.ranks[0].wants()[0].what, "rank 1 to receive a message with tag 8");
    pair.receive(Some(8), 5);
    assert_eq!(pair.ranks[1].wants()[0].what, "a message that rank 0 has announced");
    pair.deliver_all();
    assert_eq!(pair.flits, [4, 1, 1, 5]);
    assert_eq!(
        (pair.done[0].as_slice(), pair.done[1].as_slice()),
        ([Done::Send(0), Done::Send(1)].as_slice(), [Done::Receive(5)].as_slice())
    );
    pair.receive(Some(7), 6);
    assert_eq!(pair.done[1][1], Done::Receive(6), "it has been there all the time");
    assert!(pair.ranks.iter().all(|rank| rank.wants().is_empty()));
}

#[test]
fn the_send_of_a_schedule_is_done_when_its_receive_has_matched() {
    let transport = Transport { announced_send: AnnouncedSend::Matched, ..SOME_EAGER };
    let (mut rank, mut actions, mut done) = (Endpoint::default(), Vec::new(), Vec::new());
    assert!(!rank.send(Message { to: 1, tag: 8, flits: 5, send: 3 }, &transport, &mut actions));
    let (mut other, mut answers) = (Endpoint::default(), Vec::new());
    other.receive(Source { from: Some(0), tag: Some(8) }, 9, &transport, &mut answers);
    let Action::Send { word, .. } = actions[0] else { panic!("it is announced") };
    other.received(0, word, &transport, &mut answers, &mut done);
    let Action::Send { word, .. } = answers[0] else { panic!("it is answered") };
    rank.received(1, word, &transport, &mut actions, &mut done);
    assert_eq!(done, [Done::Send(3)], "nothing of the data has left");
    assert!(matches!(actions[1], Action::Send { to: 1, flits: 5, .. }));
    assert!(rank.wants().is_empty() && !transport.hears_of_departures());
}

#[test]
fn a_message_for_receives_of_all_tags_goes_to_the_first_from_its_rank() {
    let mut pair = Pair::default();
    pair.receive(Some(3), 0);
    pair.receive(None, 1);
    for (tag, send) in [(ANY_TAG, 0), (4, 1), (ANY_TAG, 2), (7, 3)] {
        pair.send(tag, 1, send);
    }
    pair.deliver_all();
    assert_eq!(pair.done[1], [Done::Receive(0), Done::Receive(1)], "the second has taken the message with tag 4");
    pair.receive(Some(7), 2);
    pair.receive(Some(7), 3);
    assert_eq!(
        pair.done[1][2..],
        [Done::Receive(2), Done::Receive(3)],
        "the first has taken what suits all, which came before"
    );
}

#[test]
fn of_two_receives_that_would_take_it_a_message_goes_to_the_first() {
    let mut pair = Pair::default();
    pair.receive(None, 0);
    pair.receive(Some(3), 1);
    assert_eq!(pair.ranks[1].wants().len(), 2);
    pair.send(3, 1, 0);
    pair.send(3, 1, 1);
    pair.deliver(1, 1);
    assert!(pair.done[1].is_empty(), "the second waits for its turn");
    pair.deliver(1, 0);
    assert_eq!(pair.done[1], [Done::Receive(0), Done::Receive(1)]);
}

#[test]
fn what_came_first_is_taken_first_by_a_receive_that_takes_anything() {
    let mut pair = Pair::default();
    pair.send(9, 1, 0);
    pair.send(2, 1, 1);
    pair.deliver_all();
    pair.receive(None, 0);
    pair.receive(Some(9), 1);
    assert_eq!(pair.done[1], [Done::Receive(0)], "the message with tag 9 is gone");
}

/// What may happen, as a test draws it.
#[derive(Clone, Debug)]
enum Happening {
    Send { tag: u32, flits: u32 },
    Receive { tag: u32 },
    Deliver { rank: usize, which: usize },
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        (0u32..3, 1u32..9).prop_map(|(tag, flits)| Happening::Send { tag, flits }),
        (0u32..3).prop_map(|tag| Happening::Receive { tag }),
        (0usize..2, any::<usize>()).prop_map(|(rank, which)| Happening::Deliver { rank, which }),
    ]
}

proptest! {
    /// Whatever the order in which the network delivers, the receives with a tag are done that have a message of it, and nobody waits for
    /// what has been sent. A state that is written down and read back goes on as before.
    #[test]
    fn every_message_is_received_once(happenings in prop::collection::vec(happening(), 1..60)) {
        let mut pair = Pair::default();
        let (mut sent, mut received) = ([0u32; 3], [0u32; 3]);
        for (operations, happening) in (0..).zip(happenings) {
            match happening {
                Happening::Send { tag, flits } => {
                    pair.send(tag, flits, operations);
                    sent[tag as usize] += 1;
                }
                Happening::Receive { tag } => {
                    pair.receive(Some(tag), operations * 3 + tag);
                    received[tag as usize] += 1;
                }
                Happening::Deliver { rank, which } => {
                    if !pair.under_way[rank].is_empty() {
                        pair.deliver(rank, which % pair.under_way[rank].len());
                    }
                }
            }
            let bytes = postcard::to_allocvec(&pair.ranks).expect("plain data can be written");
            pair.ranks = postcard::from_bytes(&bytes).expect("it was just written");
        }
        pair.deliver_all();
        let done = |tag: u32| {
            let of_tag = |done: &&Done| matches!(done, Done::Receive(receive) if receive % 3 == tag);
            pair.done[1].iter().filter(of_tag).count() as u32
        };
        for tag in 0..3 {
            let (sent, received) = (sent[tag as usize], received[tag as usize]);
            prop_assert_eq!(done(tag), sent.min(received));
        }
        let wanted = (0..3).any(|tag: usize| received[tag] > sent[tag]);
        prop_assert_eq!(pair.ranks[1].wants().is_empty(), !wanted);
    }
}

//! Messages that are sent at given times, and wait for nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_workload::{Action, Machine, Program, Want};

use crate::snapshot::{remember, write_down};

/// A message of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedMessage {
    /// Ticks after the start of the program.
    pub tick: u64,
    /// The rank that sends it.
    pub from: u32,
    /// The rank that it is for, another one.
    pub to: u32,
    /// Its size.
    pub flits: u32,
}

/// A program whose ranks send the messages of a list at their times. A rank is done when it has sent its own and received those for it.
#[derive(Clone, Debug)]
pub struct MessageList {
    /// By rank and time, those of a time in the order of the list.
    messages: Arc<[ListedMessage]>,
    /// By rank: the first of its messages, and at the end how many there are.
    first: Arc<[usize]>,
    /// By rank: how many messages are for it.
    expected: Arc<[u64]>,
}

impl MessageList {
    /// The program of a list, with as many ranks as it names and no fewer than `ranks`.
    ///
    /// # Panics
    /// When a message is for its own sender.
    #[must_use]
    pub fn new(mut messages: Vec<ListedMessage>, ranks: u32) -> Self {
        assert!(messages.iter().all(|message| message.from != message.to), "messages are for others");
        // The order of the list stays where times agree.
        messages.sort_by_key(|message| (message.from, message.tick));
        let named = messages.iter().map(|message| message.from.max(message.to) + 1).max().unwrap_or(0);
        let ranks = named.max(ranks);
        let first = (0..=ranks).map(|rank| messages.partition_point(|message| message.from < rank)).collect();
        let mut expected = vec![0; ranks as usize];
        messages.iter().for_each(|message| expected[message.to as usize] += 1);
        Self { messages: messages.into(), first, expected: expected.into() }
    }

    fn of(&self, rank: u32) -> &[ListedMessage] {
        &self.messages[self.first[rank as usize]..self.first[rank as usize + 1]]
    }
}

impl Program for MessageList {
    fn ranks(&self) -> u32 {
        self.expected.len() as u32
    }

    fn phases(&self) -> Vec<String> {
        vec!["all".to_owned()]
    }

    fn messages(&self) -> u64 {
        self.messages.len() as u64
    }

    fn messages_between(&self, holds: &dyn Fn(u32, u32) -> bool) -> u64 {
        self.messages.iter().filter(|message| holds(message.from, message.to)).count() as u64
    }

    fn hears_of_departures(&self) -> bool {
        false
    }

    fn machine(&self, rank: u32) -> Box<dyn Machine> {
        Box::new(Sender { list: self.clone(), rank, state: State::default() })
    }
}

/// A rank of a list.
#[derive(Debug)]
struct Sender {
    list: MessageList,
    rank: u32,
    state: State,
}

/// What changes of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct State {
    now: u64,
    sent: u32,
    received: u64,
}

impl Sender {
    /// Sends what is due, and waits for the next.
    fn go_on(&mut self, actions: &mut Vec<Action>) {
        let own = self.list.of(self.rank);
        while let Some(message) = own.get(self.state.sent as usize) {
            if message.tick > self.state.now {
                actions.push(Action::Wait { ticks: message.tick - self.state.now, token: 0 });
                break;
            }
            actions.push(Action::Send { to: message.to, flits: message.flits, word: 0 });
            self.state.sent += 1;
        }
    }

    fn is_done(&self) -> bool {
        let own = self.list.of(self.rank).len();
        self.state.sent as usize == own && self.state.received == self.list.expected[self.rank as usize]
    }

    fn tell_if_done(&self, actions: &mut Vec<Action>) {
        if self.is_done() {
            actions.push(Action::Reached { phase: 0 });
        }
    }
}

impl Machine for Sender {
    fn start(&mut self, actions: &mut Vec<Action>) {
        // A message within a node takes no time if it need not: the last one for this rank may have been here before the rank began, and told.
        let is_told = self.state.received > 0 && self.is_done();
        self.go_on(actions);
        if !is_told {
            self.tell_if_done(actions);
        }
    }

    fn received(&mut self, _: u32, _: u64, actions: &mut Vec<Action>) {
        self.state.received += 1;
        self.tell_if_done(actions);
    }

    fn elapsed(&mut self, _: u32, actions: &mut Vec<Action>) {
        self.state.now = self.list.of(self.rank)[self.state.sent as usize].tick;
        self.go_on(actions);
        self.tell_if_done(actions);
    }

    fn wants(&self) -> Vec<Want> {
        let missing = self.list.expected[self.rank as usize] - self.state.received;
        let unsent = self.list.of(self.rank).len() - self.state.sent as usize;
        let messages = (missing > 0).then(|| format!("{missing} messages of the list"));
        let times = (unsent > 0).then(|| format!("the times of {unsent} messages"));
        messages.into_iter().chain(times).map(|what| Want { of: None, what }).collect()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.state, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.state = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_sent_at_their_times_in_the_order_of_the_list() {
        let message = |tick, from, to, flits| ListedMessage { tick, from, to, flits };
        let list = MessageList::new(vec![message(9, 1, 0, 4), message(0, 1, 2, 5), message(9, 1, 2, 6)], 2);
        assert_eq!((list.ranks(), list.messages()), (3, 3));
        let (mut sender, mut actions) = (list.machine(1), Vec::new());
        sender.start(&mut actions);
        let send = |to, flits| Action::Send { to, flits, word: 0 };
        assert_eq!(actions, [send(2, 5), Action::Wait { ticks: 9, token: 0 }]);
        assert_eq!(sender.wants()[0].what, "the times of 2 messages");
        actions.clear();
        sender.elapsed(0, &mut actions);
        assert_eq!(actions, [send(0, 4), send(2, 6), Action::Reached { phase: 0 }]);
        let (mut receiver, mut actions) = (list.machine(2), Vec::new());
        receiver.start(&mut actions);
        receiver.received(1, 0, &mut actions);
        assert_eq!((actions.as_slice(), receiver.wants()[0].what.as_str()), ([].as_slice(), "1 messages of the list"));
        receiver.received(1, 0, &mut actions);
        assert_eq!(actions, [Action::Reached { phase: 0 }]);
    }

    /// As ranks of a node do that began before it and whose messages within the node take no time.
    #[test]
    fn a_rank_that_has_got_all_before_it_begins_is_done_once() {
        let message = |from, to| ListedMessage { tick: 0, from, to, flits: 4 };
        let list = MessageList::new(vec![message(0, 1), message(0, 2), message(2, 0)], 4);
        let done = |rank: u32| {
            let (mut machine, mut actions) = (list.machine(rank), Vec::new());
            (0..list.expected[rank as usize]).for_each(|_| machine.received(0, 0, &mut actions));
            machine.start(&mut actions);
            actions.iter().filter(|action| matches!(action, Action::Reached { .. })).count()
        };
        // Some only receive, some send as well, and one does neither.
        assert_eq!([0, 1, 2, 3].map(done), [1; 4]);
    }
}

//! Messages that wait at their nodes.
//!
//! A node has one *injection queue* of waiting messages, or one per virtual channel where destinations are dealt out to
//! channels, or take them in turn. An injection queue is a list of messages in order of arrival, or a ring of queues, one for each
//! destination that something waits for. Queues exist only while they hold something. Or queues of destinations take turns by number, all of
//! a node together.

mod in_turn;
mod records;
mod saved;

use serde::{Deserialize, Serialize};
use tailback_hardware::InjectionVc;
use tailback_protocol::Routes;

use self::in_turn::{InTurn, Next};
use self::records::{Destination, Store, append};
pub(crate) use self::records::{EMPTY, List, Waiting};
use self::saved::Saved;
use super::by_flow::ByFlow;
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::time::Time;

/// All waiting messages of a region.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct SourceQueues {
    order: Order,
    dealing: Dealing,
    injection_queues_per_node: usize,
    /// What they begin and end with: messages, or queues of destinations. Where these take turns by number, the first one only if it is known, as it is
    /// asked for several times until it has its turn.
    injection_queues: Vec<List>,
    /// For each node a bit for each of its injection queues whose first one is known, where destinations take turns by number.
    known: Vec<u32>,
    messages: Store<Waiting>,
    destinations: Store<Destination>,
    /// The queue of each flow that something waits of, where destinations have queues.
    directory: ByFlow<u32>,
    /// The injection queue of the next packet of each flow that has sent one, where flows take them in turn.
    turns: ByFlow<u8>,
}

/// No packet has been sent.
const NO_TURN: u8 = u8::MAX;

/// How destinations are dealt out to injection queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Dealing {
    /// There is one.
    One,
    /// In equal consecutive shares of so many nodes.
    Shares { nodes: u32 },
    /// The packets of a flow take them in turn. All flows begin at the first one if they are in step.
    Turns { in_step: bool },
}

/// In which order the messages of an injection queue are sent.
///
/// With a tag of its own: it is looked at more often than anything else here.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(u8)]
enum Order {
    Fifo,
    PerDestination,
    /// Destinations take turns by number.
    InTurn(InTurn),
}

impl SourceQueues {
    pub fn new(fabric: &Fabric, nodes: usize) -> Self {
        let vcs = usize::from(fabric.spec.classes[0].vcs[0]);
        let destinations = fabric.topology.nodes();
        let (dealing, injection_queues_per_node) = match fabric.spec.nic.vc_choice {
            InjectionVc::ByDestination if vcs > 1 => (Dealing::Shares { nodes: destinations }, vcs),
            InjectionVc::Rotation { in_step } if vcs > 1 => (Dealing::Turns { in_step }, vcs),
            _ => (Dealing::One, 1),
        };
        let order = match fabric.spec.nic.queues {
            tailback_hardware::SourceQueues::Fifo => Order::Fifo,
            tailback_hardware::SourceQueues::PerDestination => Order::PerDestination,
            tailback_hardware::SourceQueues::InTurn => {
                Order::InTurn(InTurn::new(nodes, injection_queues_per_node, destinations))
            }
        };
        let nodes_if = |exist: bool| if exist { nodes as u32 } else { 0 };
        let have_queues = !matches!(order, Order::Fifo);
        let have_turns = matches!(dealing, Dealing::Turns { .. });
        let take_turns = matches!(order, Order::InTurn(_));
        Self {
            order,
            dealing,
            injection_queues_per_node,
            injection_queues: vec![EMPTY; nodes * injection_queues_per_node],
            known: vec![0; if take_turns { nodes } else { 0 }],
            messages: Store::new(),
            destinations: Store::new(),
            directory: ByFlow::new(nodes_if(have_queues), destinations, NONE),
            turns: ByFlow::new(nodes_if(have_turns), destinations, NO_TURN),
        }
    }

    pub fn injection_queues_per_node(&self) -> usize {
        self.injection_queues_per_node
    }

    /// Where an injection queue of a node is among those of all nodes.
    #[inline]
    fn position(&self, node: u32, injection_queue: usize) -> usize {
        node as usize * self.injection_queues_per_node + injection_queue
    }

    /// The injection queue of the next packet that a node, whose number in the network is `source`, sends to a destination.
    #[inline]
    fn injection_queue_of(&self, node: u32, source: u32, destination: u32) -> usize {
        match self.dealing {
            Dealing::One => 0,
            Dealing::Shares { nodes } => {
                (u64::from(destination) * self.injection_queues_per_node as u64 / u64::from(nodes)) as usize
            }
            Dealing::Turns { in_step } => self.injection_queue_in_turn(node, source, destination, in_step),
        }
    }

    /// The same where the packets of a flow take injection queues in turn. Apart, so that others do not carry its code.
    #[cold]
    fn injection_queue_in_turn(&self, node: u32, source: u32, destination: u32, in_step: bool) -> usize {
        match self.turns.get(node, destination) {
            NO_TURN => {
                let routes = Routes { count: self.injection_queues_per_node as u32, in_step };
                routes.first(source, destination) as usize
            }
            turn => turn.into(),
        }
    }

    /// Adds a message of a node, whose number in the network is `source`, at the end of its queue.
    #[inline(always)]
    pub fn push(&mut self, node: u32, source: u32, message: Waiting) {
        let destination = message.destination;
        let injection_queue = self.injection_queue_of(node, source, destination);
        let slot = self.messages.insert(message);
        if matches!(self.order, Order::Fifo) {
            let position = self.position(node, injection_queue);
            let injection_queue = &mut self.injection_queues[position];
            let last = std::mem::replace(&mut injection_queue.last, slot);
            if injection_queue.first == NONE {
                injection_queue.first = slot;
            } else {
                self.messages.records[last as usize].next = slot;
            }
        } else {
            self.push_for_destination(node, injection_queue, destination, slot);
        }
    }

    /// Adds a message, which has a place, at the end of the queue of its destination.
    #[inline(never)]
    fn push_for_destination(&mut self, node: u32, injection_queue: usize, destination: u32, slot: u32) {
        let entry = self.directory.get_mut(node, destination);
        if *entry != NONE {
            let queue = &mut self.destinations.records[*entry as usize];
            let last = std::mem::replace(&mut queue.last, slot);
            if queue.first == NONE {
                queue.first = slot; // what it held was withdrawn
            } else {
                self.messages.records[last as usize].next = slot;
            }
            return;
        }
        let queue = Destination { node, destination, first: slot, last: slot, next: NONE, refused_since: None };
        *entry = self.destinations.insert(queue);
        let queue = *entry;
        self.put(node, injection_queue, queue);
    }

    /// The first of an injection queue, if there is one.
    #[inline]
    fn first(&self, node: u32, injection_queue: usize) -> u32 {
        let first = self.injection_queues[self.position(node, injection_queue)].first;
        if first == NONE && self.take_turns() { self.first_in_turn(node, injection_queue) } else { first }
    }

    /// The same where destinations take turns by number. Apart, so that others do not carry its code.
    #[cold]
    fn first_in_turn(&self, node: u32, injection_queue: usize) -> u32 {
        let Order::InTurn(turns) = &self.order else { return NONE };
        turns.first(node, injection_queue).map_or(NONE, |destination| self.directory.get(node, destination))
    }

    /// Others may come first in the injection queues of a node, where destinations take turns by number.
    fn forget_first(&mut self, node: u32) {
        let mut known = std::mem::take(&mut self.known[node as usize]);
        while known != 0 {
            let position = self.position(node, known.trailing_zeros() as usize);
            self.injection_queues[position] = EMPTY;
            known &= known - 1;
        }
    }

    /// The destination that an injection queue serves next, where destinations have queues.
    pub fn first_destination(&self, node: u32, injection_queue: usize) -> Option<u32> {
        if matches!(self.order, Order::Fifo) {
            return None;
        }
        let first = self.first(node, injection_queue);
        (first != NONE).then(|| self.destinations.records[first as usize].destination)
    }

    /// Takes `queue`, which is the first of an injection queue, out of it.
    #[inline]
    fn take_first(&mut self, node: u32, injection_queue: usize, queue: u32) {
        let position = self.position(node, injection_queue);
        let Destination { destination, next, .. } = self.destinations.records[queue as usize];
        match &mut self.order {
            Order::InTurn(turns) => {
                turns.take(node, injection_queue, destination);
                self.forget_first(node);
            }
            _ => self.injection_queues[position].first = next,
        }
    }

    /// Puts a queue into an injection queue: behind all others, if they do not take turns by number.
    #[inline]
    fn put(&mut self, node: u32, injection_queue: usize, queue: u32) {
        let position = self.position(node, injection_queue);
        match &mut self.order {
            Order::InTurn(turns) => {
                turns.put(node, injection_queue, self.destinations.records[queue as usize].destination);
                self.forget_first(node);
            }
            _ => append(&mut self.injection_queues[position], queue, &mut self.destinations.records),
        }
    }

    /// A queue, which is in no injection queue, is no more.
    fn remove(&mut self, queue: u32) {
        let Destination { node, destination, .. } = self.destinations.records[queue as usize];
        self.directory.clear(node, destination);
        self.destinations.free.push(queue);
    }

    /// Of the injection queues of a node in which destinations wait for their turn by number, and which are not among those `tried`, the one whose first
    /// has its turn next.
    #[cold]
    pub fn next_turn(&mut self, node: u32, tried: u32) -> Option<usize> {
        let Order::InTurn(turns) = &self.order else { return None };
        let Next { injection_queue, destination } = turns.next(node, tried)?;
        let position = self.position(node, injection_queue);
        self.injection_queues[position].first = self.directory.get(node, destination);
        self.known[node as usize] |= 1 << injection_queue;
        Some(injection_queue)
    }

    /// Whether destinations take turns by number.
    #[inline]
    pub fn take_turns(&self) -> bool {
        matches!(self.order, Order::InTurn(_))
    }

    /// The message whose packet is next in an injection queue. Always inline: it is asked for at each attempt to send.
    #[inline(always)]
    pub fn front(&mut self, node: u32, injection_queue: usize) -> Option<&mut Waiting> {
        let first = self.first(node, injection_queue);
        if first == NONE {
            return None;
        }
        let mut message = first;
        if !matches!(self.order, Order::Fifo) {
            message = self.destinations.records[first as usize].first;
            if message == NONE {
                message = self.skip_withdrawn(node, injection_queue)?;
            }
        }
        Some(&mut self.messages.records[message as usize])
    }

    /// Takes queues away from which all that they held was withdrawn, until there is one with a message.
    #[cold]
    fn skip_withdrawn(&mut self, node: u32, injection_queue: usize) -> Option<u32> {
        loop {
            let first = self.first(node, injection_queue);
            if first == NONE {
                return None;
            }
            let message = self.destinations.records[first as usize].first;
            if message != NONE {
                return Some(message);
            }
            self.take_first(node, injection_queue, first);
            self.remove(first);
            if self.take_turns() {
                return None; // the next may be in another injection queue
            }
        }
    }

    /// Takes a packet's worth off the front message, and says what that was before. With a queue for each destination it is the
    /// next one's turn.
    #[inline(always)]
    pub fn advance(&mut self, node: u32, injection_queue: usize, flits: u16) -> Waiting {
        let first = self.first(node, injection_queue);
        let is_fifo = matches!(self.order, Order::Fifo);
        let message = if is_fifo { first } else { self.destinations.records[first as usize].first };
        let message = &mut self.messages.records[message as usize];
        let before = message.clone();
        message.flits_left -= u32::from(flits);
        message.index += 1;
        message.drawn_vc = None;
        let (done, next) = (message.flits_left == 0, message.next);
        let position = self.position(node, injection_queue);
        if is_fifo {
            if done {
                self.messages.free.push(first);
                self.injection_queues[position].first = next;
            }
            return before;
        }
        let queue = &mut self.destinations.records[first as usize];
        if done {
            self.messages.free.push(std::mem::replace(&mut queue.first, next));
        }
        if matches!(self.order, Order::InTurn(_)) || matches!(self.dealing, Dealing::Turns { .. }) {
            self.take_turn(node, injection_queue, first);
            return before;
        }
        let injection_queue = &mut self.injection_queues[position];
        injection_queue.first = queue.next;
        if queue.first == NONE {
            self.remove(first);
        } else {
            append(injection_queue, first, &mut self.destinations.records);
        }
        before
    }

    /// The first queue of an injection queue has had its turn among destinations, and goes on in the next injection queue if flows take these in turn, if it
    /// holds anything. Apart, for the same reason.
    #[cold]
    fn take_turn(&mut self, node: u32, injection_queue: usize, queue: u32) {
        let position = self.position(node, injection_queue);
        let Destination { destination, first, next, .. } = self.destinations.records[queue as usize];
        match &mut self.order {
            Order::InTurn(turns) => {
                turns.serve(node, injection_queue, destination);
                self.forget_first(node);
            }
            _ => self.injection_queues[position].first = next,
        }
        let mut injection_queue = injection_queue;
        if matches!(self.dealing, Dealing::Turns { .. }) {
            injection_queue = (injection_queue + 1) % self.injection_queues_per_node;
            *self.turns.get_mut(node, destination) = injection_queue as u8;
        }
        if first == NONE {
            self.remove(queue);
        } else {
            self.put(node, injection_queue, queue);
        }
    }

    /// Takes the first queue of an injection queue out of its ring, until it is put back; returns its destination. Only where
    /// destinations have queues.
    #[inline]
    pub fn park(&mut self, node: u32, injection_queue: usize) -> u32 {
        let first = self.first(node, injection_queue);
        self.take_first(node, injection_queue, first);
        self.destinations.records[first as usize].destination
    }

    /// Puts the queue of a destination back into the ring of its injection queue; the number of the node in the network is `source`.
    pub fn unpark(&mut self, node: u32, source: u32, destination: u32) {
        let injection_queue = self.injection_queue_of(node, source, destination);
        self.put(node, injection_queue, self.directory.get(node, destination));
    }

    /// The source does not let the next packet of an injection queue go: it waits from now on, if it does not yet. Only where destinations
    /// have queues.
    #[inline]
    pub fn refuse(&mut self, node: u32, injection_queue: usize, now: Time) {
        let first = self.first(node, injection_queue);
        self.destinations.records[first as usize].refused_since.get_or_insert(now);
    }

    /// The source lets it go: since when it has waited, if it has.
    #[inline]
    pub fn let_go(&mut self, node: u32, injection_queue: usize) -> Option<Time> {
        let first = self.first(node, injection_queue);
        self.destinations.records[first as usize].refused_since.take()
    }

    /// Takes what is left of message `serial` out of its queue, whose first it is, if anything is left; and since when its next packet waits that
    /// the source did not let go. Only where destinations have queues.
    pub fn withdraw(&mut self, node: u32, destination: u32, serial: u32) -> Option<(Waiting, Option<Time>)> {
        let queue = self.directory.get(node, destination);
        let queue = self.destinations.records.get_mut(queue as usize)?;
        let first = queue.first;
        let record = self.messages.records.get_mut(first as usize).filter(|message| message.serial == serial)?;
        let message = record.clone();
        record.flits_left = 0;
        queue.first = message.next;
        self.messages.free.push(first);
        Some((message, queue.refused_since.take()))
    }

    /// The flits of all messages that wait: slots that are free have none left.
    pub fn waiting_flits(&self) -> u64 {
        self.messages.records.iter().map(|message| u64::from(message.flits_left)).sum()
    }
}

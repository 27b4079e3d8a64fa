//! What a model gives the kernel: regions, and what they send each other.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{NEVER, Tick};

/// A part of the simulated world that advances on its own for one window at a time.
pub trait Region: Send {
    /// What regions send to each other.
    type Message: Send + Sync + Serialize + DeserializeOwned;

    /// A tick before which this region has nothing to do; [`NEVER`] when it is idle for good.
    ///
    /// It may be too early, never too late: the kernel jumps to the earliest of all regions.
    fn next_tick(&self) -> Tick;

    /// Takes over what another region sent. Messages of one sender come in the order they were sent;
    /// their effect must not depend on the order in which senders are served.
    fn receive(&mut self, messages: &[Envelope<Self::Message>]);

    /// Simulates everything before `until`, and puts what is for other regions into `outbox`.
    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Self::Message>);
}

/// A message and when it arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<M> {
    /// When it arrives.
    pub tick: Tick,
    /// What arrives.
    pub message: M,
}

/// What one region sent during one window, sorted by receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outbox<M> {
    window_end: Tick,
    earliest: Tick,
    /// The receivers that something was sent to in this window.
    used: Vec<u32>,
    /// By receiver; `None` where no channel leads.
    slots: Vec<Option<Vec<Envelope<M>>>>,
}

impl<M> Outbox<M> {
    /// An empty outbox towards `receivers`, of `regions` regions.
    #[must_use]
    pub(crate) fn new(regions: usize, receivers: &[u32]) -> Self {
        let mut slots: Vec<_> = (0..regions).map(|_| None).collect();
        for &to in receivers {
            slots[to as usize] = Some(Vec::new());
        }
        Self { window_end: 0, earliest: NEVER, used: Vec::new(), slots }
    }

    /// Sends `message`, to arrive at region `to` at `tick`.
    ///
    /// # Panics
    /// When it would arrive inside the current window, or no channel leads to `to`: the model then broke
    /// what it declared, and going on would give wrong results.
    #[inline]
    pub fn send(&mut self, to: u32, tick: Tick, message: M) {
        assert!(
            tick >= self.window_end,
            "a message arrives at {tick}, inside the window that ends at {}",
            self.window_end
        );
        self.earliest = self.earliest.min(tick);
        let slot = self.slots[to as usize].as_mut().expect("no channel was declared to the receiver");
        if slot.is_empty() {
            self.used.push(to);
        }
        slot.push(Envelope { tick, message });
    }

    /// Empties the outbox for a window that ends at `window_end`.
    pub(crate) fn open(&mut self, window_end: Tick) {
        self.window_end = window_end;
        self.earliest = NEVER;
        for to in self.used.drain(..) {
            self.slots[to as usize].iter_mut().for_each(Vec::clear);
        }
    }

    /// What is for region `to`.
    pub(crate) fn for_region(&self, to: usize) -> &[Envelope<M>] {
        self.slots[to].as_deref().unwrap_or_default()
    }

    /// When the first of all messages arrives.
    pub(crate) fn earliest(&self) -> Tick {
        self.earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbox_sorts_by_receiver_and_forgets_when_opened() {
        let mut outbox = Outbox::new(3, &[0, 2]);
        outbox.open(10);
        outbox.send(2, 12, 'a');
        outbox.send(0, 11, 'b');
        outbox.send(2, 10, 'c');
        assert_eq!(outbox.earliest(), 10);
        let of =
            |outbox: &Outbox<char>, to| outbox.for_region(to).iter().map(|e| (e.tick, e.message)).collect::<Vec<_>>();
        assert_eq!(of(&outbox, 2), [(12, 'a'), (10, 'c')]);
        assert_eq!(of(&outbox, 0), [(11, 'b')]);
        outbox.open(20);
        assert_eq!(outbox.earliest(), NEVER);
        assert!((0..3).all(|to| outbox.for_region(to).is_empty()));
    }

    #[test]
    #[should_panic(expected = "a message arrives at 9, inside the window that ends at 10")]
    fn nothing_may_arrive_inside_its_own_window() {
        let mut outbox = Outbox::new(1, &[0]);
        outbox.open(10);
        outbox.send(0, 9, ());
    }

    #[test]
    #[should_panic(expected = "no channel was declared to the receiver")]
    fn nothing_may_be_sent_where_no_channel_leads() {
        let mut outbox = Outbox::new(2, &[0]);
        outbox.open(10);
        outbox.send(1, 10, ());
    }
}

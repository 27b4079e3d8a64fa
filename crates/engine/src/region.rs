//! What a model gives the kernel: regions, and what they send each other.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{NEVER, Tick};

/// A part of the simulated world that advances on its own for one window at a time.
pub trait Region: Send {
    /// What one region has for another at the end of a window.
    type Mail: Mail;

    /// A tick before which this region has nothing to do; [`NEVER`] when it is idle for good.
    ///
    /// It may be too early, never too late: the kernel jumps to the earliest of all regions.
    fn next_tick(&self) -> Tick;

    /// Takes over what another region sent. The effect must not depend on the order in which senders are served.
    fn receive(&mut self, mail: &Self::Mail);

    /// Simulates everything before `until`, and puts what is for other regions into `outbox`.
    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Self::Mail>);
}

/// What one region sends another in one window, kept as suits the model.
pub trait Mail: Default + Send + Sync + Serialize + DeserializeOwned {
    /// Empties it.
    fn clear(&mut self);
}

/// The simplest mail: a list of messages, each with the tick of its arrival.
impl<M: Send + Sync + Serialize + DeserializeOwned> Mail for Vec<(Tick, M)> {
    fn clear(&mut self) {
        self.clear();
    }
}

/// What one region sent during one window, sorted by receiver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outbox<B> {
    window_end: Tick,
    earliest: Tick,
    /// The receivers that something was sent to in this window.
    used: Vec<u32>,
    /// By receiver; `None` where no channel leads.
    slots: Vec<Option<Slot<B>>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Slot<B> {
    used: bool,
    mail: B,
}

impl<B: Mail> Outbox<B> {
    /// An empty outbox towards `receivers`, of `regions` regions.
    #[must_use]
    pub(crate) fn new(regions: usize, receivers: &[u32]) -> Self {
        let mut slots: Vec<_> = (0..regions).map(|_| None).collect();
        for &to in receivers {
            slots[to as usize] = Some(Slot { used: false, mail: B::default() });
        }
        Self { window_end: 0, earliest: NEVER, used: Vec::new(), slots }
    }

    /// The mail for region `to`, to add something that arrives at `tick`.
    ///
    /// # Panics
    /// When it would arrive inside the current window, or no channel leads to `to`: the model then broke
    /// what it declared, and going on would give wrong results.
    #[inline]
    pub fn mail(&mut self, to: u32, tick: Tick) -> &mut B {
        assert!(tick >= self.window_end, "mail arrives at {tick}, inside the window that ends at {}", self.window_end);
        self.earliest = self.earliest.min(tick);
        let slot = self.slots[to as usize].as_mut().expect("no channel was declared to the receiver");
        if !slot.used {
            slot.used = true;
            self.used.push(to);
        }
        &mut slot.mail
    }

    /// Empties the outbox for a window that ends at `window_end`.
    pub(crate) fn open(&mut self, window_end: Tick) {
        self.window_end = window_end;
        self.earliest = NEVER;
        for to in self.used.drain(..) {
            let slot = self.slots[to as usize].as_mut().expect("it was used");
            slot.used = false;
            slot.mail.clear();
        }
    }

    /// What is for region `to`, if anything.
    pub(crate) fn for_region(&self, to: usize) -> Option<&B> {
        self.slots[to].as_ref().filter(|slot| slot.used).map(|slot| &slot.mail)
    }

    /// The receivers that something was sent to.
    pub(crate) fn used(&self) -> &[u32] {
        &self.used
    }

    /// When the first of all mail arrives.
    pub(crate) fn earliest(&self) -> Tick {
        self.earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outbox_sorts_by_receiver_and_forgets_when_opened() {
        let mut outbox: Outbox<Vec<(Tick, char)>> = Outbox::new(3, &[0, 2]);
        outbox.open(10);
        for (to, tick, message) in [(2, 12, 'a'), (0, 11, 'b'), (2, 10, 'c')] {
            outbox.mail(to, tick).push((tick, message));
        }
        assert_eq!(outbox.earliest(), 10);
        assert_eq!(outbox.for_region(2).unwrap()[..], [(12, 'a'), (10, 'c')]);
        assert_eq!(outbox.for_region(0).unwrap()[..], [(11, 'b')]);
        outbox.open(20);
        assert_eq!(outbox.earliest(), NEVER);
        assert!((0..3).all(|to| outbox.for_region(to).is_none()));
    }

    #[test]
    #[should_panic(expected = "mail arrives at 9, inside the window that ends at 10")]
    fn nothing_may_arrive_inside_its_own_window() {
        let mut outbox: Outbox<Vec<(Tick, ())>> = Outbox::new(1, &[0]);
        outbox.open(10);
        outbox.mail(0, 9);
    }

    #[test]
    #[should_panic(expected = "no channel was declared to the receiver")]
    fn nothing_may_be_sent_where_no_channel_leads() {
        let mut outbox: Outbox<Vec<(Tick, ())>> = Outbox::new(2, &[0]);
        outbox.open(10);
        outbox.mail(1, 10);
    }
}

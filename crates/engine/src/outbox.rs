//! What one region sends during one window.
//!
//! **The invariant it keeps:** an outbox holds only what was sent. A receiver costs four bytes, by its position among the
//! receivers of the sender; mail is taken from a pool as receivers are written to, and its buffers are used again.

use crate::{Mail, NEVER, Tick};

/// No mail for this receiver in this window.
const NONE: u32 = u32::MAX;

/// What one region sent during one window, sorted by receiver. It shares no cache line with another, as threads write
/// several at once.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub struct Outbox<B> {
    window_end: Tick,
    earliest: Tick,
    /// By receiver, as the sender counts those it may send to: the number of its mail. Empty before the first window.
    slots: Vec<u32>,
    /// The receiver of each mail of this window.
    used: Vec<u32>,
    /// Mail of this window, and behind it empty mail whose buffers wait to be used again.
    mails: Vec<B>,
}

impl<B: Mail> Outbox<B> {
    /// An empty outbox, which holds nothing before it is opened.
    pub(crate) fn new() -> Self {
        Self { window_end: 0, earliest: NEVER, slots: Vec::new(), used: Vec::new(), mails: Vec::new() }
    }

    /// The mail for a receiver, to add something that arrives at `tick`. Receivers are counted by
    /// [`crate::ChannelMap::position`].
    ///
    /// # Panics
    /// When it would arrive inside the current window, or there is no such receiver: the model then broke what it
    /// declared, and going on would give wrong results.
    #[inline(always)]
    pub fn mail(&mut self, receiver: u32, tick: Tick) -> &mut B {
        assert!(tick >= self.window_end, "mail arrives at {tick}, inside the window that ends at {}", self.window_end);
        self.earliest = self.earliest.min(tick);
        assert!((receiver as usize) < self.slots.len(), "no channel was declared to the receiver");
        let mut slot = self.slots[receiver as usize];
        if slot == NONE {
            slot = self.add(receiver);
        }
        &mut self.mails[slot as usize]
    }

    /// The first mail for a receiver in this window.
    #[inline(never)]
    fn add(&mut self, receiver: u32) -> u32 {
        let slot = self.used.len() as u32;
        self.slots[receiver as usize] = slot;
        self.used.push(receiver);
        if self.mails.len() < self.used.len() {
            self.mails.push(B::default());
        }
        slot
    }

    /// Empties the outbox of a region with so many receivers for a window that ends at `window_end`.
    pub(crate) fn open(&mut self, receivers: usize, window_end: Tick) {
        self.window_end = window_end;
        self.earliest = NEVER;
        self.slots.resize(receivers, NONE);
        for (slot, receiver) in self.used.drain(..).enumerate() {
            self.slots[receiver as usize] = NONE;
            self.mails[slot].clear();
        }
    }

    /// Whether it was opened for the window that ended at `window_end`.
    pub(crate) fn is_of_window(&self, window_end: Tick) -> bool {
        self.window_end == window_end
    }

    /// The receivers of this window's mail, in the order of its numbers.
    pub(crate) fn receivers(&self) -> &[u32] {
        &self.used
    }

    /// The mail of this number.
    pub(crate) fn numbered(&self, slot: u32) -> &B {
        &self.mails[slot as usize]
    }

    /// When the first of all mail arrives.
    pub(crate) fn earliest(&self) -> Tick {
        self.earliest
    }

    /// Bytes that it takes, without what is in the mail.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of::<Self>() + 4 * (self.slots.capacity() + self.used.capacity()) + self.mails.capacity() * size_of::<B>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Letters = Vec<(Tick, char)>;

    fn sent(outbox: &Outbox<Letters>) -> Vec<(u32, Letters)> {
        let receivers = outbox.receivers().iter();
        receivers.zip(0..).map(|(&receiver, slot)| (receiver, outbox.numbered(slot).clone())).collect()
    }

    #[test]
    fn an_outbox_sorts_by_receiver_and_forgets_when_opened() {
        let mut outbox: Outbox<Letters> = Outbox::new();
        outbox.open(2, 10);
        for (to, tick, message) in [(1, 12, 'a'), (0, 11, 'b'), (1, 10, 'c')] {
            outbox.mail(to, tick).push((tick, message));
        }
        assert_eq!(outbox.earliest(), 10);
        assert_eq!(sent(&outbox), [(1, vec![(12, 'a'), (10, 'c')]), (0, vec![(11, 'b')])]);
        outbox.open(2, 20);
        assert_eq!(outbox.earliest(), NEVER);
        assert!(sent(&outbox).is_empty());
        outbox.mail(0, 20).push((20, 'd'));
        assert_eq!(sent(&outbox), [(0, vec![(20, 'd')])]);
    }

    #[test]
    fn an_outbox_holds_only_what_was_sent() {
        let mut outbox: Outbox<Letters> = Outbox::new();
        let unused = outbox.bytes();
        outbox.open(10_000, 10);
        outbox.mail(9_999, 10).push((10, 'a'));
        assert!(outbox.bytes() - unused < 10_000 * 4 + 500, "{} bytes", outbox.bytes());
    }

    #[test]
    #[should_panic(expected = "mail arrives at 9, inside the window that ends at 10")]
    fn nothing_may_arrive_inside_its_own_window() {
        let mut outbox: Outbox<Letters> = Outbox::new();
        outbox.open(1, 10);
        outbox.mail(0, 9);
    }

    #[test]
    #[should_panic(expected = "no channel was declared to the receiver")]
    fn nothing_may_be_sent_where_no_channel_leads() {
        let mut outbox: Outbox<Letters> = Outbox::new();
        outbox.open(1, 10);
        outbox.mail(1, 10);
    }
}

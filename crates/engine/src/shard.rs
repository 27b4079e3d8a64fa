//! What one region does in one window, whoever has it do so.

use crate::inbox::{Buffers, Inboxes};
use crate::{ChannelMap, NEVER, Outbox, Region, Tick};

/// A region, and what is known about its work.
#[derive(Debug)]
pub(crate) struct Shard<R> {
    pub region: R,
    /// Events it had handled when regions were dealt out to threads last.
    pub events_dealt: u64,
}

/// A window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub until: Tick,
    /// The buffer of outboxes that is written.
    pub buffer: usize,
    /// The buffers whose mail is received.
    pub unread: Buffers,
}

/// What regions did in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// Events handled.
    pub events: u64,
    /// When the first mail of all that was sent arrives.
    pub earliest: Tick,
}

impl Done {
    pub const NOTHING: Self = Self { events: 0, earliest: NEVER };

    pub fn add(&mut self, other: Self) {
        self.events += other.events;
        self.earliest = self.earliest.min(other.earliest);
    }
}

/// How mail gets from region to region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Post<'a> {
    pub channels: &'a ChannelMap,
    pub inboxes: &'a Inboxes,
}

impl Post<'_> {
    /// Lets region `index` receive its mail, which `receive` looks up by buffer, sender and number, and do what it has to do
    /// in a window. Costs nothing but a look at its status if there is neither.
    #[inline]
    pub fn run<R: Region>(
        self,
        index: usize,
        region: &mut R,
        window: Window,
        sending: &mut Outbox<R::Mail>,
        mut receive: impl FnMut(&mut R, usize, usize, u32),
    ) -> Done {
        let Self { channels, inboxes } = self;
        inboxes.take(channels, index, window.unread, |buffer, from, number| receive(region, buffer, from, number));
        let mut done = Done::NOTHING;
        if region.next_tick() < window.until {
            let before = region.events();
            sending.open(channels.receivers(index).len(), window.until);
            region.advance(window.until, sending);
            inboxes.deliver(channels, index, window.buffer, sending);
            done = Done { events: region.events() - before, earliest: sending.earliest() };
        }
        inboxes.set_next(index, region.next_tick());
        done
    }
}

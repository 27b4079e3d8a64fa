//! What waits for each region: when it has something to do next, and who has sent it something.
//!
//! A region that sends leaves the number of its mail in a word of the receiver, and sets a flag there; a receiver without a
//! flag is not looked at. All of it is atomic, so that threads can send while others receive; the order between a sender and
//! its receiver is that of the barrier between their windows.
//!
//! **The invariant it keeps:** what is taken from an inbox is taken once, in ascending order of senders.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::{ChannelMap, Mail, NEVER, Outbox, Tick};

/// A set of buffers of outboxes, which are used in turn: bit `b` stands for buffer `b`.
pub(crate) type Buffers = u32;

/// Cache lines come in pairs.
const LINE_BYTES: usize = 128;

/// With so few regions each has a line of its own, so that threads do not wait for each other's.
const FEW: usize = 32;

/// What a window asks about each region: small, as all are asked.
#[derive(Debug)]
struct Status {
    next: AtomicU64,
    /// The buffers in which there is mail for it.
    mailed: AtomicU32,
}

/// The inboxes of all regions.
#[derive(Debug)]
pub(crate) struct Inboxes {
    regions: usize,
    /// From one region's status to the next.
    stride: usize,
    status: Vec<Status>,
    /// By region: its first word.
    first: Vec<u32>,
    /// By buffer, then by receiver and sender: one more than the number of the mail, 0 if there is none.
    words: Vec<Vec<AtomicU32>>,
}

impl Inboxes {
    pub fn new(channels: &ChannelMap, buffers: usize) -> Self {
        let regions = channels.regions();
        let stride = if regions <= FEW { LINE_BYTES / size_of::<Status>() } else { 1 };
        let status = || Status { next: AtomicU64::new(NEVER), mailed: AtomicU32::new(0) };
        let mut words = 0;
        let first = (0..regions).map(|region| {
            let here = words;
            words += channels.senders(region).len().next_multiple_of(LINE_BYTES / size_of::<AtomicU32>());
            here as u32
        });
        Self {
            regions,
            stride,
            first: first.collect(),
            status: (0..regions * stride).map(|_| status()).collect(),
            words: (0..buffers).map(|_| (0..words).map(|_| AtomicU32::new(0)).collect()).collect(),
        }
    }

    fn status(&self, region: usize) -> &Status {
        &self.status[region * self.stride]
    }

    /// The first tick at which any region has something to do, but for mail.
    pub fn next_tick(&self) -> Tick {
        let all = self.status.iter().step_by(self.stride);
        all.fold(NEVER, |least, status| least.min(status.next.load(Ordering::Relaxed)))
    }

    /// Notes when a region has something to do next.
    #[inline]
    pub fn set_next(&self, region: usize, tick: Tick) {
        self.status(region).next.store(tick, Ordering::Relaxed);
    }

    /// Whether a region has something to do before `until`, or mail in one of `buffers`.
    #[inline]
    pub fn is_active(&self, region: usize, until: Tick, buffers: Buffers) -> bool {
        let status = self.status(region);
        status.next.load(Ordering::Relaxed) < until || status.mailed.load(Ordering::Relaxed) & buffers != 0
    }

    /// Tells the receivers of what region `from` has sent in `buffer`.
    pub fn deliver<B: Mail>(&self, channels: &ChannelMap, from: usize, buffer: usize, outbox: &Outbox<B>) {
        for (&receiver, number) in outbox.receivers().iter().zip(1..) {
            let (to, place) = channels.target(from, receiver);
            self.words[buffer][(self.first[to as usize] + place) as usize].store(number, Ordering::Relaxed);
            let (mailed, flag) = (&self.status(to as usize).mailed, 1 << buffer);
            // Other threads may be reading the line: it is written once.
            if mailed.load(Ordering::Relaxed) & flag == 0 {
                mailed.fetch_or(flag, Ordering::Relaxed);
            }
        }
    }

    /// Takes all mail for region `to` out of `buffers`: `visit` is told the buffer, the sender and the number of the mail.
    #[inline]
    pub fn take(&self, channels: &ChannelMap, to: usize, buffers: Buffers, visit: impl FnMut(usize, usize, u32)) {
        let mailed = &self.status(to).mailed;
        let found = mailed.load(Ordering::Relaxed) & buffers;
        if found != 0 {
            mailed.fetch_and(!found, Ordering::Relaxed);
            let take = |word: &AtomicU32| {
                let number = word.load(Ordering::Relaxed);
                word.store(0, Ordering::Relaxed);
                number
            };
            self.visit(channels, to, found, take, visit);
        }
    }

    /// Shows all mail for region `to` without taking it.
    pub fn show(&self, channels: &ChannelMap, to: usize, visit: impl FnMut(usize, usize, u32)) {
        let found = self.status(to).mailed.load(Ordering::Relaxed);
        self.visit(channels, to, found, |word| word.load(Ordering::Relaxed), visit);
    }

    fn visit(
        &self,
        channels: &ChannelMap,
        to: usize,
        mut buffers: Buffers,
        read: impl Fn(&AtomicU32) -> u32,
        mut visit: impl FnMut(usize, usize, u32),
    ) {
        let first = self.first[to] as usize;
        while buffers != 0 {
            let buffer = buffers.trailing_zeros() as usize;
            buffers &= buffers - 1;
            for (word, &from) in self.words[buffer][first..].iter().zip(channels.senders(to)) {
                // Most are empty, and need not be written.
                if word.load(Ordering::Relaxed) != 0 {
                    visit(buffer, from as usize, read(word) - 1);
                }
            }
        }
    }

    /// Tells one receiver of mail that region `from` has sent in `buffer`: its number, counted from one.
    pub fn put(&self, channels: &ChannelMap, from: usize, receiver: u32, buffer: usize, number: u32) {
        let (to, place) = channels.target(from, receiver);
        self.words[buffer][(self.first[to as usize] + place) as usize].store(number, Ordering::Relaxed);
        self.status(to as usize).mailed.fetch_or(1 << buffer, Ordering::Relaxed);
    }

    /// Looks no more at what is there for a region.
    pub fn forget(&self, region: usize) {
        self.status(region).mailed.store(0, Ordering::Relaxed);
    }

    /// Forgets all mail.
    pub fn clear(&self) {
        for region in 0..self.regions {
            self.status(region).mailed.store(0, Ordering::Relaxed);
        }
        for word in self.words.iter().flatten() {
            word.store(0, Ordering::Relaxed);
        }
    }
}

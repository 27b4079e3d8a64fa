//! The window loop.

use std::ops::ControlFlow;

use crate::snapshot::{Snapshot, SnapshotError, read_value, write_value};
use crate::{ChannelMap, Executor, Outbox, Region, Tick};

/// First word of a snapshot; the last digit is the version of its format.
const MAGIC: u64 = 0x7461_696c_6261_6b01;

/// How a call of [`Simulation::run_until`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything before the requested tick has been simulated.
    Reached,
    /// The observer asked to stop; the simulation stands at a window boundary and can go on.
    Stopped,
}

/// A region and what it is sending in the current window.
#[derive(Debug)]
struct Shard<R: Region> {
    index: usize,
    region: R,
    sending: Outbox<R::Mail>,
    /// The regions that sent something to this one in the last window, in ascending order.
    senders: Vec<u32>,
}

/// A set of regions that advance together.
#[derive(Debug)]
pub struct Simulation<R: Region> {
    channels: ChannelMap,
    shards: Vec<Shard<R>>,
    /// What each region sent in the last window, not yet received.
    sent: Vec<Outbox<R::Mail>>,
    now: Tick,
    longest_window: Tick,
}

impl<R: Region> Simulation<R> {
    /// A simulation of `regions` joined by `channels`, at tick 0.
    ///
    /// # Panics
    /// When the number of regions differs from that of `channels`.
    pub fn new(regions: Vec<R>, channels: ChannelMap) -> Self {
        let count = regions.len();
        assert_eq!(count, channels.regions(), "one region for each that the channels know");
        let outbox = |index| Outbox::new(count, channels.receivers(index));
        let shard = |(index, region)| Shard { index, region, sending: outbox(index), senders: Vec::new() };
        Self {
            shards: regions.into_iter().enumerate().map(shard).collect(),
            sent: (0..count).map(outbox).collect(),
            channels,
            now: 0,
            longest_window: Tick::MAX,
        }
    }

    /// Bounds the length of a window, so that the observer of [`Simulation::run_until`] is called at least
    /// that often. It cannot change results.
    ///
    /// # Panics
    /// When `ticks` is 0.
    #[must_use]
    pub fn with_longest_window(mut self, ticks: Tick) -> Self {
        assert!(ticks > 0, "a window has at least one tick");
        self.longest_window = ticks;
        self
    }

    /// The tick up to which everything has been simulated.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// The regions.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = &R> {
        self.shards.iter().map(|shard| &shard.region)
    }

    /// The regions, to be changed between windows.
    pub fn regions_mut(&mut self) -> impl ExactSizeIterator<Item = &mut R> {
        self.shards.iter_mut().map(|shard| &mut shard.region)
    }

    /// What region `to` has been sent and has not yet received.
    pub fn in_transit(&self, to: usize) -> impl Iterator<Item = &R::Mail> {
        self.channels.senders(to).iter().filter_map(move |&from| self.sent[from as usize].for_region(to))
    }

    /// Simulates everything before `end`. After each window `observe` sees the regions and may stop the run.
    pub fn run_until(
        &mut self,
        end: Tick,
        executor: &impl Executor,
        mut observe: impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Outcome {
        while self.now < end {
            let start = self.next_tick().max(self.now);
            if start >= end {
                self.now = end;
                break;
            }
            let longest = self.channels.lookahead().min(self.longest_window);
            let until = start.saturating_add(longest).min(end);
            self.run_window(until, executor);
            if observe(self).is_break() {
                return Outcome::Stopped;
            }
        }
        Outcome::Reached
    }

    /// The first tick at which anything can happen anywhere.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        let inside = self.shards.iter().map(|shard| shard.region.next_tick());
        let between = self.sent.iter().map(Outbox::earliest);
        inside.chain(between).min().unwrap_or(crate::NEVER)
    }

    fn run_window(&mut self, until: Tick, executor: &impl Executor) {
        self.announce_senders();
        let sent = &self.sent;
        executor.for_each(&mut self.shards, |shard| {
            for &from in &shard.senders {
                let mail = sent[from as usize].for_region(shard.index).expect("its sender was announced");
                shard.region.receive(mail);
            }
            shard.sending.open(until);
            shard.region.advance(until, &mut shard.sending);
        });
        for (shard, sent) in self.shards.iter_mut().zip(&mut self.sent) {
            std::mem::swap(&mut shard.sending, sent);
        }
        self.now = until;
    }
}

impl<R: Region> Simulation<R> {
    /// Tells each region who sent it something, so that nobody has to ask all who could have.
    fn announce_senders(&mut self) {
        for shard in &mut self.shards {
            shard.senders.clear();
        }
        for (from, outbox) in self.sent.iter().enumerate() {
            for &to in outbox.used() {
                self.shards[to as usize].senders.push(from as u32);
            }
        }
    }
}

impl<R: Region + Snapshot> Snapshot for Simulation<R> {
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        write_value(&(MAGIC, self.shards.len() as u64, self.now), bytes)?;
        for (shard, sent) in self.shards.iter().zip(&self.sent) {
            shard.region.save(bytes)?;
            write_value(sent, bytes)?;
        }
        Ok(())
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        let (magic, regions, now): (u64, u64, Tick) = read_value(bytes)?;
        let expect = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(SnapshotError::Mismatch { what, found, expected }) }
        };
        expect("as its format", magic, MAGIC)?;
        expect("regions", regions, self.shards.len() as u64)?;
        for (shard, sent) in self.shards.iter_mut().zip(&mut self.sent) {
            shard.region.load(bytes)?;
            *sent = read_value(bytes)?;
        }
        self.now = now;
        Ok(())
    }
}

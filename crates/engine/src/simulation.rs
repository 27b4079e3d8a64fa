//! A set of regions, and the loop over windows.

use std::ops::{ControlFlow, Range};

use crate::batch::{Batch, Windows};
use crate::crew::Crew;
use crate::deal::Deal;
use crate::inbox::{Buffers, Inboxes};
use crate::shard::{Done, Post, Shard, Window};
use crate::{ChannelMap, Executor, NEVER, Outbox, Region, Tick};

/// A lookahead of so many ticks is short: threads then hear of each other too late to wait for each other in each window.
const SHORT_LOOKAHEAD: Tick = 64;

/// A window with fewer events is short: a thread would be through with the regions of another before it has found them.
pub(crate) const SHORT_WINDOW_EVENTS: u64 = 2000;

/// How a call of [`Simulation::run_until`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything before the requested tick has been simulated.
    Reached,
    /// The observer asked to stop; the simulation stands at a window boundary and can go on.
    Stopped,
}

/// A set of regions that advance together.
#[derive(Debug)]
pub struct Simulation<R: Region> {
    pub(crate) channels: ChannelMap,
    /// The number of the first region that is held here. Others are held by other ranks, and nothing of them is here but what
    /// they send.
    pub(crate) first: usize,
    pub(crate) shards: Vec<Shard<R>>,
    /// By buffer, then by region: what was sent in the last windows, which use buffers in turn.
    pub(crate) outboxes: Vec<Vec<Outbox<R::Mail>>>,
    pub(crate) inboxes: Inboxes,
    /// The buffer of the last window, and all that have not been received.
    pub(crate) buffer: usize,
    pub(crate) unread: Buffers,
    /// When the first of all mail arrives that has not been received.
    pub(crate) mail_earliest: Tick,
    /// Whether regions may have been changed from outside, so that when they have something to do is not known.
    pub(crate) changed: bool,
    pub(crate) now: Tick,
    pub(crate) longest_window: Tick,
    pub(crate) observed_every: Tick,
    pub(crate) observe_at: Tick,
    deal: Deal,
    /// Events per tick, about.
    pub(crate) rate: f64,
}

impl<R: Region> Simulation<R> {
    /// A simulation of `regions` joined by `channels`, at tick 0.
    ///
    /// # Panics
    /// When the number of regions differs from that of `channels`.
    pub fn new(regions: Vec<R>, channels: ChannelMap) -> Self {
        assert_eq!(regions.len(), channels.regions(), "one region for each that the channels know");
        Self::part(regions, 0, channels)
    }

    /// The part of a simulation that a rank holds: `regions`, which come one after the other from number `first` on.
    ///
    /// # Panics
    /// When there are not so many regions in all.
    pub fn part(regions: Vec<R>, first: usize, channels: ChannelMap) -> Self {
        let count = channels.regions();
        assert!(first + regions.len() <= count, "regions are some of those that the channels know");
        let lag = if (2..=SHORT_LOOKAHEAD).contains(&channels.lookahead()) { 2 } else { 1 };
        let outboxes = || (0..count).map(|_| Outbox::new()).collect();
        Self {
            shards: regions.into_iter().map(|region| Shard { region, events_dealt: 0 }).collect(),
            outboxes: (0..2 * lag).map(|_| outboxes()).collect(),
            inboxes: Inboxes::new(&channels, 2 * lag),
            channels,
            first,
            buffer: 0,
            unread: 0,
            mail_earliest: NEVER,
            changed: true,
            now: 0,
            longest_window: Tick::MAX,
            observed_every: 0,
            observe_at: 0,
            deal: Deal::default(),
            rate: 0.0,
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

    /// Has the observer of [`Simulation::run_until`] called when at least that many ticks have passed since the last
    /// time, not after each window: for models whose windows are so short that looking costs more than what happens in
    /// them. It cannot change results.
    #[must_use]
    pub fn with_observation_every(mut self, ticks: Tick) -> Self {
        self.observed_every = ticks;
        self
    }

    /// The tick up to which everything has been simulated.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// The numbers of the regions that are held here: of all, but in the part of a rank.
    #[must_use]
    pub fn held(&self) -> Range<usize> {
        self.first..self.first + self.shards.len()
    }

    /// The regions that are held here.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = &R> {
        self.shards.iter().map(|shard| &shard.region)
    }

    /// The same, to be changed between windows.
    pub fn regions_mut(&mut self) -> impl ExactSizeIterator<Item = &mut R> {
        self.changed = true;
        self.shards.iter_mut().map(|shard| &mut shard.region)
    }

    /// What region `to` has been sent and has not yet received.
    pub fn in_transit(&self, to: usize) -> impl Iterator<Item = &R::Mail> {
        let mut found = Vec::new();
        self.inboxes.show(&self.channels, to, |buffer, from, number| {
            found.push(self.outboxes[buffer][from].numbered(number));
        });
        found.into_iter()
    }

    /// Simulates everything before `end`. After each window, or as often as [`Simulation::with_observation_every`]
    /// says, `observe` sees the regions and may stop the run. It is called by one of the threads that make steps.
    pub fn run_until(
        &mut self,
        end: Tick,
        executor: &impl Executor,
        observe: impl FnMut(&mut Self) -> ControlFlow<()> + Send,
    ) -> Outcome {
        executor.enter(|crew| self.run_windows(end, crew, observe))
    }

    fn run_windows(
        &mut self,
        end: Tick,
        crew: &mut Crew<'_>,
        mut observe: impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Outcome {
        let window = self.channels.lookahead().min(self.longest_window);
        while self.now < end {
            let start = self.next_tick().max(self.now);
            if start >= end {
                self.now = end;
                break;
            }
            self.note_changes();
            let until = start.saturating_add(window).min(end);
            let events = (self.rate * (until - start) as f64) as u64;
            let members = if self.shards.len() > 1 { crew.gather(events) } else { 1 };
            let done = if members > 1 {
                let end = self.observe_at.clamp(until, end);
                let windows = self.windows(start, end, window, events);
                self.run_batch(windows, members, crew)
            } else {
                self.run_window(until)
            };
            self.rate += (done.events as f64 / (self.now - start) as f64 - self.rate) / 8.0;
            if self.now >= self.observe_at {
                self.observe_at = self.now.saturating_add(self.observed_every);
                if observe(self).is_break() {
                    return Outcome::Stopped;
                }
            }
        }
        Outcome::Reached
    }

    /// The first tick at which anything can happen anywhere.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        let inside = if self.changed {
            self.regions().map(Region::next_tick).min().unwrap_or(NEVER)
        } else {
            self.inboxes.next_tick()
        };
        inside.min(self.mail_earliest)
    }

    /// Looks again when regions have something to do, if they may have been changed.
    pub(crate) fn note_changes(&mut self) {
        if std::mem::take(&mut self.changed) {
            for (index, shard) in (self.first..).zip(&self.shards) {
                self.inboxes.set_next(index, shard.region.next_tick());
            }
        }
    }

    /// Advances all regions one after the other.
    pub(crate) fn run_window(&mut self, until: Tick) -> Done {
        let buffer = (self.buffer + 1) % self.outboxes.len();
        let window = Window { until, buffer, unread: self.unread };
        let mut sending = std::mem::take(&mut self.outboxes[buffer]);
        let post = Post { channels: &self.channels, inboxes: &self.inboxes };
        let mut done = Done::NOTHING;
        for (index, shard) in (self.first..).zip(&mut self.shards) {
            if post.inboxes.is_active(index, until, window.unread) {
                let receive = |region: &mut R, buffer: usize, from: usize, number| {
                    region.receive(self.outboxes[buffer][from].numbered(number));
                };
                done.add(post.run(index, &mut shard.region, window, &mut sending[index], receive));
            }
        }
        self.outboxes[buffer] = sending;
        self.finish(until, buffer, 1 << buffer, done);
        done
    }

    /// The windows from `start` to `end`, of which one of length `window` has about so many events.
    fn windows(&self, start: Tick, end: Tick, window: Tick, events: u64) -> Windows {
        let buffers = self.outboxes.len();
        let helping = events >= SHORT_WINDOW_EVENTS;
        let lag = if helping || window < 2 { 1 } else { buffers as u64 / 2 };
        Windows {
            start,
            end,
            length: window / lag,
            lag,
            first_buffer: (self.buffer + 1) % buffers,
            buffers,
            unread: self.unread,
            helping,
        }
    }

    /// Has several threads advance the regions.
    pub(crate) fn run_batch(&mut self, windows: Windows, members: usize, crew: &mut Crew<'_>) -> Done {
        if self.deal.is_over(members) {
            let work = self.shards.iter_mut().map(|shard| {
                let events = shard.region.events();
                events.saturating_sub(std::mem::replace(&mut shard.events_dealt, events))
            });
            self.deal.renew(members, &work.collect::<Vec<_>>());
        }
        let post = Post { channels: &self.channels, inboxes: &self.inboxes };
        let batch = Batch::new(windows, members, post, (&self.deal, self.first), &mut self.shards, &mut self.outboxes);
        crew.share(members, &|member| batch.work(member));
        crew.learn(batch.is_held_up());
        let done = batch.done();
        self.finish(windows.end, windows.last_buffer(), windows.left_unread(), done);
        done
    }

    fn finish(&mut self, until: Tick, buffer: usize, unread: Buffers, done: Done) {
        (self.now, self.buffer, self.unread, self.mail_earliest) = (until, buffer, unread, done.earliest);
    }
}
